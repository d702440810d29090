# -*- coding: utf-8 -*-
"""What a model is shown of its long-term memory before a reply: MEMORY.md, and what a search finds."""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio
from agentscope.message import Msg

from ._config import RecallConfig
from ._errors import StorageError
from ._events import EventKind
from .message import MARK_KEY, delimited, is_user_request
from .record import SearchHit
from .text import detect_language
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["Recall", "Search"]

logger = logging.getLogger("agentscope_reme")

Search = Callable[[str, int, float], Awaitable[Sequence[SearchHit]]]
"""Finds the best hits for a query: at most so many, of at least this score."""

_CONTEXT_WEIGHT = 0.8
"""What a hit is worth that only the query with the last turn finds."""

_SHARE = 8
"""Whatever is configured, one kind takes at most this part of the threshold."""

_CONTEXT_CHARS = 300
_TAG = "memories"


class Recall:
    """Puts memories between the summary and the history of a session. They are marked: never stored, never noted.

    Args:
        services (`MemoryServices`):
            Folders, texts and the counter.
        config (`RecallConfig`):
            What to show and how much of it.
        search (`Search`):
            Where to search.
    """

    def __init__(self, services: MemoryServices, config: RecallConfig, search: Search) -> None:
        self._services = services
        self._config = config
        self._search = search
        self._memory_md: tuple[float, str] = (0.0, "")

    async def show(self, memory: ReMeInMemoryMemory, asked: Sequence[Msg]) -> None:
        """Choose what the session's next reply is shown.

        Args:
            memory (`ReMeInMemoryMemory`):
                The session, without the new messages.
            asked (`Sequence[Msg]`):
                The new messages.
        """
        text = "\n".join(filter(None, (msg.get_text_content() for msg in asked)))
        language = detect_language(text) if self._services.language is None else self._services.language
        shown, hits = list[Msg](), list[SearchHit]()
        if self._config.memory_md and (lasting := await self._lasting()):
            shown.append(self._message(language, "recall.memory_md", lasting, source="MEMORY.md"))
        if self._config.enabled and text.strip():
            hits = await self._found(text, memory)
            if hits:
                shown.append(self._message(language, "recall.found", self._rendered(hits)))
        memory.shown = shown
        if hits:
            self._services.events.emit(EventKind.RECALLED, session_id=memory.session_id, hits=len(hits))

    async def _lasting(self) -> str:
        path = self._services.workspace.memory_md
        try:
            stamp = path.stat().st_mtime
            if stamp != self._memory_md[0]:
                text = await anyio.to_thread.run_sync(self._services.workspace.read_text, path)
                self._memory_md = (
                    stamp,
                    "\n".join(self._fitting(text.splitlines(), self._config.memory_md_tokens)).strip(),
                )
        except FileNotFoundError:
            self._memory_md = (0.0, "")
        except (OSError, StorageError) as error:
            logger.warning("MEMORY.md cannot be read and is not shown: %s", error)
            return ""
        return self._memory_md[1]

    async def _found(self, text: str, memory: ReMeInMemoryMemory) -> list[SearchHit]:
        config = self._config
        alone = await self._search(text, config.max_memories, config.min_score)
        context = _last_turn(memory)
        around = await self._search(f"{context}\n{text}", config.max_memories, config.min_score) if context else ()
        best = {(hit.chunk.path, hit.chunk.start_line): (hit.score, hit) for hit in alone}
        for hit in around:
            score = hit.score * _CONTEXT_WEIGHT
            key = (hit.chunk.path, hit.chunk.start_line)
            if key not in best or best[key][0] < score:
                best[key] = (score, hit)
        ranked = sorted(best.values(), key=lambda pair: -pair[0])
        return [hit for _, hit in ranked[: config.max_memories]]

    def _rendered(self, hits: Sequence[SearchHit]) -> str:
        if self._config.form == "json":
            lines = [json.dumps(hit.to_dict(), ensure_ascii=False) for hit in hits]
            return "[" + ",\n".join(self._fitting(lines, self._config.max_tokens)) + "]"
        lines = [f"- [{hit.chunk.path}:{hit.chunk.start_line}] {' '.join(hit.snippet.split())}" for hit in hits]
        return "\n".join(self._fitting(lines, self._config.max_tokens))

    def _fitting(self, lines: Sequence[str], tokens: int) -> list[str]:
        """The first lines that fit."""
        count, kept, used = self._services.tokens.text, list[str](), 0
        tokens = min(tokens, self._services.context.threshold // _SHARE)
        for line in lines:
            size = count(line) + 1
            if used + size > tokens:
                break
            kept.append(line)
            used += size
        return kept

    def _message(self, language: str, name: str, text: str, **attributes: str) -> Msg:
        content = f"{self._services.book.text(language, name)}\n{delimited(text, _TAG, **attributes)}"
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
