# -*- coding: utf-8 -*-
"""The tools with which an agent takes down the memories of one owner. Nothing is stored before it has finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ._agent_tools import AgentTool, Say, as_texts
from ._checks import Checks
from ._claims import plain
from ._conversations import Conversations
from ._extraction import in_thread
from ._history_text import history_text
from ._proposal import Proposal, Refusal
from ._shown import Shown
from ._similar import SimilarMemories

__all__ = ["MemoryTools"]

_SIMILAR = 4
_MOST_SIMILAR = 12


class MemoryTools:
    """Takes down what a model proposes, checked as in a single reply.

    The tools know one owner, and no argument names another one.

    Args:
        checks (`Checks`): what is checked, and whose memories they are.
        shown (`Shown`): what the model has seen.
        similar (`SimilarMemories`): finds what is known already.
        conversations (`Conversations`): the stored conversations.
        say (`Say`): the texts of the answers.
    """

    def __init__(
        self, checks: Checks, shown: Shown, similar: SimilarMemories, conversations: Conversations, say: Say
    ) -> None:
        self.refusals: list[Refusal] = []
        self.used = False
        """Whether any tool was called."""
        self._checks, self._shown, self._similar, self._say = checks, shown, similar, say
        self._conversations = conversations

    def functions(self) -> list[AgentTool]:
        """The tools."""
        return [
            self.draft_memories,
            self.retrieve_similar,
            self.add_memory,
            self.update_memory,
            self.supersede_memory,
            self.read_history,
        ]

    # ------------------------------------------------------------------ the tools

    async def draft_memories(self, drafts: list[str]) -> str:
        """Put down everything that is worth remembering, as drafts, before you store any of it. The answer shows for
        each draft the known memories that are most like it, with their ids, so that you can decide what to do with it.

        Args:
            drafts (`list[str]`):
                One full sentence for each subject.
        """
        self.used = True
        texts = as_texts(drafts)
        if not texts:
            return self._say("missing_argument", argument="drafts")
        entries = [await self._entry(number, text) for number, text in enumerate(texts, 1)]
        return self._say("drafted", drafts="\n\n".join(entries))

    async def retrieve_similar(self, texts: list[str]) -> str:
        """Look for known memories that are like some texts.

        Args:
            texts (`list[str]`):
                What the memories may say, one subject a text.
        """
        self.used = True
        wanted = as_texts(texts)
        if not wanted:
            return self._say("missing_argument", argument="texts")
        nodes = await self._similar.like(self._checks.owner, wanted, _MOST_SIMILAR)
        if not nodes:
            return self._say("nothing_similar")
        return self._say("found", memories=self._shown.text(nodes))

    async def add_memory(
        self,
        content: str,
        when_to_use: str = "",
        category: str = "",
        message_numbers: list[int] | None = None,
        entities: list[str] | None = None,
        importance: float | None = None,
        tags: list[str] | None = None,
    ) -> str:
        """Store a memory about something that no known memory speaks of.

        Args:
            content (`str`):
                The memory: one subject in full sentences, with real names and dates.
            when_to_use (`str`, optional):
                The situation in which it is of use, where your instructions ask for it.
            category (`str`, optional):
                Its category, one of those in your instructions.
            message_numbers (`list[int]`, optional):
                The numbers of the messages that it comes from.
            entities (`list[str]`, optional):
                The names of people, places, organizations and products in it.
            importance (`float`, optional):
                From 0 to 1, how much it will matter later: 0.9 and more for health, safety and what was asked to be
                remembered, 0.7 for what is repeated or strongly felt, 0.5 for an ordinary fact.
            tags (`list[str]`, optional):
                Its tags, where your instructions ask for them.
        """
        return await self._take(
            "add",
            content,
            when_to_use=when_to_use,
            category=category,
            numbers=message_numbers,
            entities=entities,
            importance=importance,
            tags=tags,
        )

    async def update_memory(
        self,
        memory_id: str,
        content: str,
        when_to_use: str = "",
        category: str = "",
        message_numbers: list[int] | None = None,
        entities: list[str] | None = None,
        importance: float | None = None,
        tags: list[str] | None = None,
    ) -> str:
        """Complete a known memory, all of which is still true.

        Args:
            memory_id (`str`):
                The id of the memory, as it was shown to you.
            content (`str`):
                The whole new text, with everything that stays true in it.
            when_to_use (`str`, optional):
                The situation in which it is of use, where your instructions ask for it.
            category (`str`, optional):
                Its category, one of those in your instructions.
            message_numbers (`list[int]`, optional):
                The numbers of the messages that the new part comes from.
            entities (`list[str]`, optional):
                The names of people, places, organizations and products in it.
            importance (`float`, optional):
                From 0 to 1, how much it will matter later: 0.9 and more for health, safety and what was asked to be
                remembered, 0.7 for what is repeated or strongly felt, 0.5 for an ordinary fact.
            tags (`list[str]`, optional):
                Its tags, where your instructions ask for them.
        """
        return await self._take(
            "update",
            content,
            memory_id,
            when_to_use=when_to_use,
            category=category,
            numbers=message_numbers,
            entities=entities,
            importance=importance,
            tags=tags,
        )

    async def supersede_memory(
        self,
        memory_id: str,
        content: str,
        no_longer_true: str,
        when_to_use: str = "",
        category: str = "",
        message_numbers: list[int] | None = None,
        entities: list[str] | None = None,
        importance: float | None = None,
        tags: list[str] | None = None,
    ) -> str:
        """Store a memory in the place of a known one that is not true any more. The old one is kept, and not found.

        Args:
            memory_id (`str`):
                The id of the old memory, as it was shown to you.
            content (`str`):
                What holds now.
            no_longer_true (`str`):
                The words of the old memory that do not hold any more, copied exactly.
            when_to_use (`str`, optional):
                The situation in which it is of use, where your instructions ask for it.
            category (`str`, optional):
                Its category, one of those in your instructions.
            message_numbers (`list[int]`, optional):
                The numbers of the messages that it comes from.
            entities (`list[str]`, optional):
                The names of people, places, organizations and products in it.
            importance (`float`, optional):
                From 0 to 1, how much it will matter later: 0.9 and more for health, safety and what was asked to be
                remembered, 0.7 for what is repeated or strongly felt, 0.5 for an ordinary fact.
            tags (`list[str]`, optional):
                Its tags, where your instructions ask for them.
        """
        return await self._take(
            "supersede",
            content,
            memory_id,
            no_longer_true=no_longer_true,
            when_to_use=when_to_use,
            category=category,
            numbers=message_numbers,
            entities=entities,
            importance=importance,
            tags=tags,
        )

    async def read_history(self, ref: str) -> str:
        """Read the conversation that a known memory comes from.

        Args:
            ref (`str`):
                The ref of a memory that was shown to you.
        """
        return await history_text(self._conversations, self._checks.owner, ref, self._say)

    # ------------------------------------------------------------------ what they do

    async def _entry(self, number: int, draft: str) -> str:
        nodes = await self._similar.like(self._checks.owner, [draft], _SIMILAR)
        shown = self._shown.text(nodes) if nodes else self._say("nothing_similar")
        return self._say("draft_entry", number=number, draft=draft, similar=shown)

    async def _take(
        self,
        action: str,
        content: str,
        memory_id: str = "",
        *,
        numbers: Any = None,
        entities: Any = None,
        **fields: Any,
    ) -> str:
        self.used = True
        given = {"action": action, "content": content, "id": memory_id, "from": numbers}
        item = {**given, "entities": as_texts(entities), **fields}
        checks = replace(self._checks, shown=self._shown.names)
        if action != "add" and not memory_id:
            return self._say("missing_argument", argument="memory_id")
        answer = await in_thread(checks.proposal, item)
        if isinstance(answer, Refusal):
            self.refusals.append(answer)
            return self._say(f"refused_{answer.reason}", value=answer.value)
        if answer is None or self._is_known(answer):
            return self._say("known_already")
        name = self._shown.propose(replace(answer, target=self._shown.resolve(answer.target)))
        return self._say("staged", id=name, action=action)

    def _is_known(self, proposal: Proposal) -> bool:
        texts: Sequence[str] = [
            *(node.content for node in self._shown.memories.values()),
            *(each.content for each in self._shown.proposals.values()),
        ]
        return plain(proposal.content) in {plain(text) for text in texts}
