# -*- coding: utf-8 -*-
"""What a model is shown of its long-term memory before a reply: MEMORY.md, and what a search finds."""

import hashlib
from collections.abc import Sequence

from agentscope.message import Msg

from ._config import RecallConfig
from ._events import EventKind
from ._lasting_notes import LastingNotes
from ._recall_sources import Recalled, RecallSource, StandingSource, search_all
from ._recall_text import as_data, listed
from .message import MARK_KEY, is_user_request
from .record import MemoryNode
from .text import detect_language
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["Recall"]

_CONTEXT_WEIGHT = 0.8
"""What a hit is worth that only the query with the last turn finds."""

_SHARE = 8
"""Whatever is configured, one kind takes at most this part of the threshold."""

_CONTEXT_CHARS = 300


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
        shown, there = list[Msg](), list[Recalled]()
        if self._config.memory_md:
            lasting, goes_on = await self._lasting.shown(language)
            if lasting:
                introduction = self._text(language, "recall.memory_md") + goes_on
                shown.append(_message(introduction, lasting, source="MEMORY.md"))
        if (sources and text.strip()) or standing:
            found, there = await self._found(text, memory, sources, standing)
            if there:
                shown.append(_message(self._text(language, "recall.found"), found))
        memory.shown = shown
        if there:
            self._services.events.emit(EventKind.RECALLED, session_id=memory.session_id, hits=len(there))
        return [each.memory for each in there if each.memory is not None]

    async def _found(
        self,
        text: str,
        memory: ReMeInMemoryMemory,
        sources: Sequence[RecallSource],
        standing: Sequence[StandingSource],
    ) -> tuple[str, list[Recalled]]:
        context = _last_turn(memory) if text.strip() else ""
        queries = [(text, 1.0), *([(f"{context}\n{text}", _CONTEXT_WEIGHT)] if context else [])]

        def failed(source: str, error: Exception) -> None:
            self._services.events.emit(
                EventKind.RECALL_FAILED, session_id=memory.session_id, error=error, source=source
            )

        config = self._config
        found = await search_all(sources, queries, config.max_memories, config.min_score, failed, standing=standing)
        return listed(found, config, self._most(config.max_tokens), self._services.tokens.text)

    def _most(self, tokens: int) -> int:
        return min(tokens, self._services.context.threshold // _SHARE)

    def _text(self, language: str, name: str) -> str:
        return self._services.book.text(language, name)


def _message(introduction: str, text: str, **attributes: str) -> Msg:
    content = as_data(introduction, text, **attributes)
    message = Msg("user", content, "user", metadata={MARK_KEY: "recalled"})
    message.id = f"recalled-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return message


def _last_turn(memory: ReMeInMemoryMemory) -> str:
    """The last request and what was answered, briefly: a question such as "any cheaper ones?" means nothing without."""
    parts: list[str] = []
    for msg, _ in reversed(memory.content):
        if msg.role == "assistant" and not parts:
            parts.append((msg.get_text_content() or "")[:_CONTEXT_CHARS])
        if is_user_request(msg):
            parts.append((msg.get_text_content() or "")[:_CONTEXT_CHARS])
            break
    return "\n".join(part for part in reversed(parts) if part.strip())
