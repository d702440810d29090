# -*- coding: utf-8 -*-
"""The tools with which an agent looks for memories, within the owners that the caller named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from ..message import parsed_time
from ..record import MemoryNode, parse_filters
from ._agent_tools import AgentTool, Say, as_texts
from ._conversations import Conversations
from ._history_text import history_text
from ._owner import Owner
from ._profile import ProfileBook
from ._retriever import MemoryRetriever
from ._shown import Shown, profile_text

__all__ = ["RetrievalTools"]

_MOST_QUERIES = 8
_QUERY_CHARS = 600
_MOST_FOUND = 30


class RetrievalTools:
    """Searches, reads histories and profiles. It changes nothing: only what helps in the end was found.

    Args:
        owners (`Sequence[Owner]`): whose memories.
        retriever (`MemoryRetriever`): searches.
        conversations (`Conversations`): the stored conversations.
        profiles (`ProfileBook | None`): the profiles, where there is one to be read.
        say (`Say`): the texts of the answers.
        options (`Mapping[str, Any]`): of each search: `limit`, `filters`, `hybrid_threshold`, `min_score`.
        timezone (`tzinfo | None`): whose days are meant; `None` is this machine's.
    """

    def __init__(
        self,
        owners: Sequence[Owner],
        retriever: MemoryRetriever,
        conversations: Conversations,
        profiles: ProfileBook | None,
        say: Say,
        options: Mapping[str, Any],
        timezone: tzinfo | None = None,
    ) -> None:
        self.shown = Shown(refs=True)
        self._owners, self._retriever = list(owners), retriever
        self._conversations, self._profiles = conversations, profiles
        self._say, self._options, self._timezone = say, options, timezone

    def functions(self) -> list[AgentTool]:
        """The tools."""
        tools: list[AgentTool] = [self.retrieve_memory, self.read_history]
        return [*tools, self.read_profile] if self._profiles is not None else tools

    # ------------------------------------------------------------------ the tools

    async def retrieve_memory(self, queries: list[str], since: str = "", until: str = "") -> str:
        """Search the memories. Each that is found is shown with an id, the time of what was said, and the ref of the
        conversation that it comes from.

        Args:
            queries (`list[str]`):
                One to five short queries, one subject each, in the words that a memory of it would hold.
            since (`str`, optional):
                The first day that is meant, such as "2026-01-31".
            until (`str`, optional):
                The last day that is meant.
        """
        wanted = [text[:_QUERY_CHARS] for text in as_texts(queries)][:_MOST_QUERIES]
        if not wanted:
            return self._say("missing_argument", argument="queries")
        nodes = await self._found(wanted, _moment(since, self._timezone), _moment(until, self._timezone, last=True))
        if not nodes:
            return self._say("nothing_found")
        return self._say("found", memories=self.shown.text(nodes[:_MOST_FOUND]))

    async def read_history(self, ref: str) -> str:
        """Read the conversation that a memory comes from.

        Args:
            ref (`str`):
                The ref of a memory that was shown to you.
        """
        wanted = ref.strip() if isinstance(ref, str) else ""
        owner = next(
            (node.owner for node in self.shown.memories.values() if node.ref_memory_id == wanted and wanted), None
        )
        if owner is None:
            return self._say("no_history", ref=wanted or "''")
        return await history_text(self._conversations, Owner.of_key(owner), wanted, self._say)

    async def read_profile(self, query: str = "") -> str:
        """Read what is known of a person in pairs of key and value.

        Args:
            query (`str`, optional):
                What is looked for; everything if left out.
        """
        if self._profiles is None:
            return self._say("no_profile")
        found: list[str] = []
        for owner in self._owners:
            profile = await self._profiles.read(owner.target, query if isinstance(query, str) else "")
            if profile:
                found.append(profile_text(profile, of=owner.target))
        return "\n".join(found) or self._say("no_profile")

    # ------------------------------------------------------------------ what they do

    async def _found(self, queries: list[str], since: datetime | None, until: datetime | None) -> list[MemoryNode]:
        """What the queries find; where a time is meant, by when it was said, and of what has no such time, by when it
        was stored."""
        if since is None and until is None:
            return await self._search(queries, {})
        span = {"range": [since, until]}
        said = await self._search(queries, {"message_time": span})
        stored = await self._search(queries, {"message_time": {"equal": None}, "time_created": span})
        return sorted([*said, *stored], key=lambda node: -node.score)

    async def _search(self, queries: list[str], when: Mapping[str, Any]) -> list[MemoryNode]:
        options = dict(self._options)
        given = options.pop("filters", None)
        if not isinstance(given, (list, tuple)):
            given = parse_filters(given, self._timezone)
        conditions = [*given, *parse_filters(when, self._timezone)]
        return await self._retriever.retrieve(queries, self._owners, filters=conditions, record_access=False, **options)


def _moment(given: Any, timezone: tzinfo | None, *, last: bool = False) -> datetime | None:
    """The time that a model gave; the end of the day for a day that is the last one."""
    moment = parsed_time(given) if isinstance(given, str) and given.strip() else None
    if moment is None:
        return None
    if last and isinstance(given, str) and len(given.strip()) <= len("2026-01-31"):
        moment = datetime.combine(date(moment.year, moment.month, moment.day), time.min) + timedelta(days=1)
        moment -= timedelta(microseconds=1)
    if moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=timezone) if timezone else moment.astimezone()
