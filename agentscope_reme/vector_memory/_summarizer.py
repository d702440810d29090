# -*- coding: utf-8 -*-
"""Memories drawn from a conversation for any number of people, tasks and tools, and stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agentscope.message import Msg

from .._errors import ConfigError
from ..message import as_msgs, estimate_tokens
from ..record import MemoryNode
from ..text import PromptBook
from ._agent_extraction import AgentExtractor
from ._bank import MemoryBank
from ._conversations import Conversations
from ._extraction import Extractor, in_thread
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._memory_writer import MemoryWriter
from ._model_access import ModelAccess
from ._owner import Owner
from ._profile import ProfileBook
from ._similar import SimilarMemories
from ._small_talk import small_talk
from ._summary_round import SummaryRound
from ._tool_guide import ToolGuides
from ._tool_records import ToolRecords
from ._utterances import own_messages
from ._workshop import Talk, Workshop
from .kinds import PERSONAL, PROCEDURAL, TOOL, MemoryKind, kinds_by_name

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["MemorySummarizer", "Mode"]

Mode = Literal["cheap", "agentic"]
"""How memories are drawn: in one reply, or by agents with tools."""


class MemorySummarizer:
    """Draws memories from conversations, and guides to tools from records of their calls.

    - ``"cheap"``: one structured reply for each target (and for each part of a long conversation).
    - ``"agentic"``: an agent with tools for each target; where there are several, another one says first which of them
      the conversation concerns. It costs some five calls for each target and takes more time to look at what is known.

    What a model proposes is checked either way: it names no other target, changes no memory that it was not shown, and
    what only the agent or a tool said is no fact about a person. Then it is reconciled with what is known (see
    `reconcile`) and stored, with the messages that it comes from. A reply that cannot be used twice stores nothing.
    What is learned from records of calls takes one reply in both modes, and none without a model.

    Args:
        bank (`MemoryBank`):
            The memories.
        model (`ChatModelBase | Callable[[], ChatModelBase | None] | None`):
            The model, a function that returns it and is asked at each use, or `None`.
        formatter (`FormatterBase | Callable[[], FormatterBase | None] | None`):
            The formatter that goes with the model, likewise.
        book (`PromptBook | None`):
            The prompts.
        kinds (`Iterable[MemoryKind]`):
            The kinds of memory.
        mode (`"cheap" | "agentic"`):
            See above.
        profiles (`ProfileBook | None`):
            The profiles.
        records (`ToolRecords | None`):
            The records of tool calls.
        count (`Callable[[str], int]`):
            Tokens in a text.
        max_input_tokens (`int`):
            Tokens that a request and its reply may have together.
        timeout (`float | None`), agent_timeout (`float | None`):
            Seconds for one reply, and for the run of one agent.
        max_steps (`int`):
            How often one agent may ask the model.
        enable_thinking_params (`bool`):
            Whether each tool of an agent takes a ``thinking`` argument first.

    Raises:
        `ConfigError`: a number or a mode that cannot work, a model without a formatter, kinds that share a name.
    """

    def __init__(
        self,
        bank: MemoryBank,
        *,
        model: ChatModelBase | Callable[[], ChatModelBase | None] | None = None,
        formatter: FormatterBase | Callable[[], FormatterBase | None] | None = None,
        book: PromptBook | None = None,
        kinds: Iterable[MemoryKind] = (PERSONAL, PROCEDURAL, TOOL),
        mode: Mode = "cheap",
        profiles: ProfileBook | None = None,
        records: ToolRecords | None = None,
        count: Callable[[str], int] = estimate_tokens,
        max_input_tokens: int = 24_000,
        timeout: float | None = 120,
        agent_timeout: float | None = 600,
        max_steps: int = 12,
        enable_thinking_params: bool = False,
    ) -> None:
        if mode not in ("cheap", "agentic"):
            raise ConfigError(f"mode is {mode!r}: give 'cheap' or 'agentic'.")
        self.kinds = kinds_by_name(kinds)
        self.records = records or ToolRecords(bank)
        access = ModelAccess(
            model=model,
            formatter=formatter,
            book=book or PromptBook(),
            count=count,
            max_input_tokens=max_input_tokens,
            timeout=timeout,
            agent_timeout=agent_timeout,
            max_steps=max_steps,
            enable_thinking_params=enable_thinking_params,
        )
        profiles, similar = profiles or ProfileBook(bank), SimilarMemories(bank)
        agentic = AgentExtractor(access, similar, profiles, Conversations(bank))
        self.access = access
        """The model and the bounds of what it is asked."""
        self._workshop = Workshop(
            access,
            bank.events,
            self.kinds,
            drawing=agentic if mode == "agentic" else Extractor(access, similar, profiles),
            writer=MemoryWriter(bank, similar, profiles),
            guides=ToolGuides(bank, self.records, access),
            records=self.records,
            phrases=small_talk(access.book),
            delegating=mode == "agentic",
        )

    async def summarize(
        self,
        messages: Sequence[Msg | dict[str, Any]],
        owners: Sequence[Owner],
        *,
        description: str = "",
        language: str | None = None,
        rules: KeepingRules = AS_DRAWN,
    ) -> list[MemoryNode]:
        """Draw memories from a conversation and store them. What fails for one target fails for it alone.

        Args:
            messages (`Sequence[Msg | dict]`):
                The conversation, oldest first; see `message.as_msgs`. Summaries, system prompts and recalled memories
                in it are passed over, and small talk asks no model.
            owners (`Sequence[Owner]`):
                The targets; there will be no others.
            description (`str`):
                What the conversation is about, for the model.
            language (`str | None`):
                The language that memories are written in; `None` is the conversation's own.
            rules (`KeepingRules`):
                How they are kept beside what is known.

        Returns:
            `list[MemoryNode]`: the memories that are new or were changed, target by target.

        Raises:
            `ConfigError`: no target, or one of a kind that there is not.
            `MissingModelError`: there is no model, and no target can do without.
            `ModelReplyError`: no reply could be used for any of the targets; nothing was stored.
        """
        owners = list(dict.fromkeys(owners))
        self._check(owners)
        own = await in_thread(own_messages, as_msgs(messages))
        spoken = [text for msg in own if msg.role != "system" and (text := msg.get_text_content())]
        told = bool(spoken) or language is not None
        chosen = await in_thread(self.access.language, language, spoken) if told else None
        person = self._person(owners)
        talk = Talk(tuple(own), chosen, language is not None, description.strip(), person, rules=rules)
        return await SummaryRound(self._workshop, talk).run(owners)

    async def update_guides(
        self, tools: Iterable[str], *, language: str | None = None, by_model: bool = True
    ) -> list[MemoryNode]:
        """Bring the guides of tools up to date with the records of their calls; without a model too.

        Args:
            tools (`Iterable[str]`): the tools' names.
            language (`str | None`): of the guides; `None` is that of each guide, or of the calls.
            by_model (`bool`): let the model, if there is one, judge the calls and write the guides; else only the
                figures are brought up to date.

        Returns:
            `list[MemoryNode]`: the guides in which something is new.

        Raises:
            `ModelReplyError`: no reply could be used for any of the tools.
        """
        kinds = [kind for kind in self.kinds.values() if kind.from_records]
        owners = [kind.owner(name) for name in dict.fromkeys(tools) for kind in kinds]
        talk = Talk((), language, language is not None, by_model=by_model)
        return await SummaryRound(self._workshop, talk).run(owners)

    def _person(self, owners: Sequence[Owner]) -> str:
        """Who spoke where a message of a user names nobody: the one person that is named, where it is one."""
        people = [owner.target for owner in owners if self.kinds[owner.memory_type].people_only]
        return people[0] if len(people) == 1 else ""

    def _check(self, owners: Sequence[Owner]) -> None:
        if not owners:
            arguments = ", ".join(kind.argument for kind in self.kinds.values())
            raise ConfigError(f"Nobody is named whose memories are to be drawn: give {arguments}.")
        for owner in owners:
            if owner.memory_type not in self.kinds:
                known = ", ".join(self.kinds)
                raise ConfigError(f"There is no kind of memory {owner.memory_type!r}, only {known}: give it in kinds=.")
