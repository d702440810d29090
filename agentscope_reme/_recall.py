# -*- coding: utf-8 -*-
"""What a model is shown of its long-term memory before a reply: MEMORY.md, and what a search finds."""

import hashlib
from collections.abc import Sequence

from agentscope.message import Msg

from ._config import RecallConfig
from ._events import EventKind
from ._lasting_notes import LastingNotes
from ._recall_search import search_all
from ._recall_sources import Question, RecallSource, StandingSource
from ._recall_text import KNOWLEDGE_TAG, MEMORIES_TAG, Listing, as_data, listed
from .message import MARK_KEY, is_user_request
from .record import MemoryNode
from .text import detect_language
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["Recall"]


_SHARE = 8
"""Whatever is configured, one kind takes at most this part of the threshold."""

_TURNS = 4
"""Requests before this one that a source may look at."""


class Recall:
    """Puts memories between the summary and the history of a session. They are marked: never stored, never noted.

    Args:
        services (`MemoryServices`):
            Folders, texts and the counter.
        config (`RecallConfig`):
            What to show and how much of it.
    """

    def __init__(self, services: MemoryServices, config: RecallConfig) -> None:
        self._services = services
        self._config = config
        self._lasting = LastingNotes(services, self._most(config.memory_md_tokens))

    async def show(
        self,
        memory: ReMeInMemoryMemory,
        asked: Sequence[Msg],
        sources: Sequence[RecallSource],
        standing: Sequence[StandingSource] = (),
    ) -> list[MemoryNode]:
        """Choose what the session's next reply is shown.

        Args:
            memory (`ReMeInMemoryMemory`):
                The session, without the new messages.
            asked (`Sequence[Msg]`):
                The new messages.
            sources (`Sequence[RecallSource]`):
                What is searched; their hits are shown in one order, the best first.
            standing (`Sequence[StandingSource]`):
                What is shown whatever is asked, behind the hits.

        Returns:
            `list[MemoryNode]`: the memories among it.
        """
        text = "\n".join(filter(None, (msg.get_text_content() for msg in asked)))
        language = detect_language(text) if self._services.language is None else self._services.language
        shown, there = list[Msg](), Listing("", "", [], [])
        if self._config.memory_md:
            lasting, goes_on = await self._lasting.shown(language)
            if lasting:
                introduction = self._text(language, "recall.memory_md") + goes_on
                shown.append(_message(introduction, lasting, source="MEMORY.md"))
        if (sources and text.strip()) or standing:
            there = await self._found(text, memory, sources, standing)
            if there.shown:
                shown.append(_message(self._text(language, "recall.found"), there.memories))
            if there.passages:
                shown.append(_message(self._text(language, "recall.knowledge"), there.knowledge, KNOWLEDGE_TAG))
        memory.shown = shown
        if there.shown or there.passages:
            self._services.events.emit(
                EventKind.RECALLED,
                session_id=memory.session_id,
                hits=len(there.shown),
                passages=len(there.passages),
            )
        return [each.memory for each in there.shown if each.memory is not None]

    async def _found(
        self,
        text: str,
        memory: ReMeInMemoryMemory,
        sources: Sequence[RecallSource],
        standing: Sequence[StandingSource],
    ) -> Listing:
        questions = [Question(text, _before(memory))]

        def failed(source: str, error: Exception) -> None:
            self._services.events.emit(
                EventKind.RECALL_FAILED, session_id=memory.session_id, error=error, source=source
            )

        config = self._config
        found = await search_all(sources, questions, config.max_memories, config.min_score, failed, standing=standing)
        return listed(found, config, self._most(config.max_tokens), self._services.tokens.text)

    def _most(self, tokens: int) -> int:
        return min(tokens, self._services.context.threshold // _SHARE)

    def _text(self, language: str, name: str) -> str:
        return self._services.book.text(language, name)


def _message(introduction: str, text: str, tag: str = MEMORIES_TAG, **attributes: str) -> Msg:
    content = as_data(introduction, text, tag, **attributes)
    message = Msg("user", content, "user", metadata={MARK_KEY: "recalled"})
    message.id = f"recalled-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return message


def _before(memory: ReMeInMemoryMemory) -> list[Msg]:
    """The last requests and the last answer, oldest first."""
    found = list[Msg]()
    requests = 0
    for msg, _ in reversed(memory.content):
        if is_user_request(msg):
            found.append(msg)
            requests += 1
        elif msg.role == "assistant" and not found:
            found.append(msg)
        if requests == _TURNS:
            break
    return found[::-1]
