# -*- coding: utf-8 -*-
"""Memories found by an agent that searches several times, reads on where it has to, and says which of them help."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from agentscope.message import Msg

from .._errors import ConfigError, ModelReplyError, ReMeError
from .._events import EventKind
from ..chat import parse_json
from ..message import delimited
from ..record import MemoryNode
from ._agent_tools import Say, as_texts, toolkit_of
from ._bank import Filters, MemoryBank
from ._conversations import Conversations
from ._data_tags import escaped
from ._delegation import delegate, targets_text
from ._extraction import in_thread
from ._memory_agent import run_agent
from ._model_access import ModelAccess
from ._owner import Owner
from ._profile import ProfileBook
from ._prompts import sections
from ._reply_items import says_nothing
from ._retrieval_tools import RetrievalTools
from ._retriever import MemoryRetriever
from ._utterances import own_messages, passages, utterances
from .kinds import PERSONAL, PROCEDURAL, TOOL, MemoryKind, kinds_by_name

__all__ = ["AgentRetriever"]

logger = logging.getLogger("agentscope_reme")

_RECENT = 12
_TALK_TOKENS = 4_000
_TOOL_CHARS = 300
_HANDLE = re.compile(r"\bm\d+\b|\b[0-9a-f]{16}\b")


class AgentRetriever:
    """Finds memories with a model: slower and dearer than `MemoryRetriever`, and better at questions of several steps.

    Of one kind of target, an agent looks at once. Of several, one agent says where to look, and then one for each looks
    at the same time as the others. What they name at last is what comes back; ids that they were not shown are passed
    over. Where the model fails, or names nothing although it does not say that there is nothing, the plain retrieval
    takes its place, and an event tells it.

    Args:
        bank (`MemoryBank`): the memories.
        retriever (`MemoryRetriever`): searches, for the agents and where the model fails.
        access (`ModelAccess`): the model and the bounds.
        kinds (`Mapping[str, MemoryKind] | None`): the kinds of memory by their names; those of the package if left out.
        profiles (`ProfileBook | None`): the profiles.
        conversations (`Conversations | None`): the stored conversations.
    """

    def __init__(
        self,
        bank: MemoryBank,
        retriever: MemoryRetriever,
        access: ModelAccess,
        kinds: Mapping[str, MemoryKind] | None = None,
        profiles: ProfileBook | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        self._bank, self._retriever, self._access = bank, retriever, access
        self._kinds = kinds_by_name((PERSONAL, PROCEDURAL, TOOL)) if kinds is None else kinds
        self._profiles = profiles or ProfileBook(bank)
        self._conversations = conversations or Conversations(bank)

    async def retrieve(
        self,
        query: str,
        owners: Sequence[Owner],
        *,
        messages: Sequence[Msg] = (),
        limit: int = 20,
        filters: Filters = None,
        hybrid_threshold: float | None = None,
        min_score: float | None = None,
        language: str | None = None,
    ) -> list[MemoryNode]:
        """Find the memories that help to answer a request.

        Args:
            query (`str`): the request.
            owners (`Sequence[Owner]`): whose memories; no others are looked at.
            messages (`Sequence[Msg]`): what was said before; the last messages are shown to the agent.
            limit (`int`): how many memories at most.
            filters, hybrid_threshold, min_score: of each search; see `MemoryRetriever.retrieve`.
            language (`str | None`): of the prompts; `None` is that of the request.

        Returns:
            `list[MemoryNode]`: the most helpful first, none twice.

        Raises:
            `MissingModelError`: there is no model.
            `ConfigError`: no request.
        """
        self._access.pair("Retrieving memories with an agent")
        owners = list(dict.fromkeys(owners))
        options: dict[str, Any] = {
            "limit": limit,
            "filters": filters,
            "hybrid_threshold": hybrid_threshold,
            "min_score": min_score,
        }
        if not query.strip():
            raise ConfigError("There is no request: say what is looked for.")
        chosen = self._access.language(language, [query])
        request = await self._request(query, messages, chosen)
        groups = self._groups(owners)
        found: dict[str, list[MemoryNode]] = {}
        failures: list[ReMeError] = []

        async def look(group: Owner) -> None:
            try:
                found[group.key] = await self._looked(groups[group], request, chosen, options)
            except ReMeError as error:
                failures.append(error)

        try:
            if len(groups) == 1:
                await look(next(iter(groups)))
            elif groups:
                await self._delegated(groups, look, request, chosen)
        except ReMeError as error:
            failures.append(error)
        if failures:
            logger.warning("An agent could not retrieve memories, so they are retrieved without: %s", failures[0])
            self._bank.events.emit(
                EventKind.RETRIEVAL_FALLBACK, error=failures[0], owners=[owner.key for owner in owners]
            )
            return await self._retriever.retrieve(query, owners, **options)
        named = {node.key: node for node in _in_turn([found.get(group.key, []) for group in groups])}
        chosen_nodes = list(named.values())[:limit]
        self._bank.found(chosen_nodes, actor="agent retriever", cause="found by an agent's search")
        return chosen_nodes

    def _groups(self, owners: Sequence[Owner]) -> dict[Owner, list[Owner]]:
        """The owners of each kind, by the target that stands for them."""
        groups: dict[Owner, list[Owner]] = {}
        for owner in owners:
            of_kind = [each for each in owners if each.memory_type == owner.memory_type]
            groups.setdefault(Owner(owner.memory_type, ", ".join(each.target for each in of_kind)), of_kind)
        return groups

    async def _delegated(self, groups: Mapping[Owner, Sequence[Owner]], look: Any, request: str, language: str) -> None:
        targets = list(groups)
        system = self._text(language, "find_delegating", targets=targets_text(targets))
        await delegate(self._access, targets, look, language=language, system=system, request=request, parts=groups)

    async def _looked(
        self, owners: Sequence[Owner], request: str, language: str, options: Mapping[str, Any]
    ) -> list[MemoryNode]:
        """What one agent names that looks at these owners."""
        say = Say(self._access.book, language)
        kind = self._kinds.get(owners[0].memory_type)
        profiles = self._profiles if kind is not None and kind.keeps_profile else None
        tools = RetrievalTools(
            owners, self._retriever, self._conversations, profiles, say, options, self._bank.timezone
        )
        now = f"{self._bank.clock().astimezone(self._bank.timezone):%Y-%m-%d %H:%M (%A)}"
        system = self._text(language, "find", targets=targets_text(owners), now=now)
        toolkit = toolkit_of(tools.functions(), say, thinking=self._access.enable_thinking_params)
        answer = await run_agent(self._access, f"retrieval of {owners[0].memory_type}", system, request, toolkit)
        names = _named(answer)
        nodes = [tools.shown.memories[name] for name in map(tools.shown.resolve, names or ()) if name]
        if names is None and not says_nothing(answer, self._access.nothing_patterns()):
            raise ModelReplyError(f"The retrieving agent named no memories and answered {answer[:80]!r}.")
        if names and not nodes:
            raise ModelReplyError(f"The retrieving agent named only memories that there are not: {names!r}.")
        return nodes

    async def _request(self, query: str, messages: Sequence[Msg], language: str) -> str:
        text = await in_thread(self._talk, messages) if messages else ""
        return sections(
            self._text(language, "conversation", conversation=delimited(text, "conversation")) if text else "",
            self._text(language, "find_request", request=delimited(escaped(query), "request")),
        )

    def _talk(self, messages: Sequence[Msg]) -> str:
        """The last messages, as many of them as fit."""
        said = utterances(own_messages(messages), tool_chars=_TOOL_CHARS)[-_RECENT:]
        parts = passages(said, _TALK_TOKENS, self._access.count)
        return parts[-1].text if parts else ""

    def _text(self, language: str, name: str, **values: object) -> str:
        return self._access.book.get(language, f"memory_agent.{name}").fill(**values)


def _in_turn(lists: Sequence[Sequence[MemoryNode]]) -> list[MemoryNode]:
    """The best of each list, then the second best, and so on: each agent ordered its own."""
    return [node for rank in zip_longest(*lists) for node in rank if node is not None]


def _named(answer: str) -> list[str] | None:
    """The ids that an answer names, in its order; `None` where it holds no list and names none."""
    try:
        value = parse_json(answer)
    except ReMeError:
        return list(dict.fromkeys(_HANDLE.findall(answer))) or None
    if isinstance(value, Mapping):
        lists: Iterable[Any] = (each for each in value.values() if isinstance(each, (list, str)))
        value = next(iter(lists), None)
    if value is None:
        return None
    texts = [each.get("id", each.get("memory_id")) if isinstance(each, Mapping) else each for each in _listed(value)]
    return as_texts([each for each in texts if isinstance(each, str)])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
