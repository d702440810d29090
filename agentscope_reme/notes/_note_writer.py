# -*- coding: utf-8 -*-
"""Writes what a conversation tells into the journal of its day, and what stays true into MEMORY.md."""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from agentscope.message import Msg

from .._errors import ConfigError, ModelReplyError
from ..message import estimate_tokens, redacted
from ..text import PromptBook, detect_language, normalize_language
from ..workspace import Workspace
from ._agent_writer import AgentWriter
from ._extractive_writer import ExtractiveWriter
from ._note_result import NoteResult
from ._note_store import NoteStore
from ._reading import Piece, agent_texts, by_day, noteworthy, pieces, tool_texts, user_names, user_texts
from ._user_words import UserWords

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["NoteWriter"]

logger = logging.getLogger("agentscope_reme")

_MEMORY_MD = "MEMORY.md"
_TRANSCRIPT_SHARE = 0.4
_READ_BYTES_PER_TOKEN = 0.4
_READ_BYTES = (1_024, 16_384)
_LEAST_CAPACITY = 256


class NoteWriter:
    """Notes down conversations: a journal file a day, `memory/YYYY-MM-DD.md`, and `MEMORY.md` for what stays true.

    A `ReActAgent` with file tools reads what stands in both files and adds what is new. It can reach the day's file and
    MEMORY.md only, and neither can lose a hand-written line by it (`FileTools`). A line for MEMORY.md whose words are
    not a user's, or are those of a tool or the agent, goes into the journal instead (`UserWords`), and a line of
    MEMORY.md that no user spoke of is not removed. Without a model, and where the model fails, the notes are made of
    the messages' own sentences; what stands in the files already is not added twice.

    Args:
        workspace (`Workspace`):
            Where the notes lie.
        model (`ChatModelBase | Callable[[], ChatModelBase | None] | None`):
            The model, a function that returns it and is asked at each use, or `None` for extractive notes.
        formatter (`FormatterBase | Callable[[], FormatterBase | None] | None`):
            The formatter that goes with the model, likewise.
        book (`PromptBook`):
            The prompts.
        language (`str | None`):
            The language of the notes; `None` is the conversation's, "" is English.
        timezone (`tzinfo | None`):
            Whose days they are; `None` is this machine's zone.
        count (`Callable[[str], int]`):
            Tokens in a text.
        max_input_tokens (`int`):
            The model's window. A part of the messages takes at most two fifths of it; what is longer is shown in parts.
        max_steps (`int`):
            How often the agent may ask the model for a part.
        timeout (`float | None`):
            Seconds for a part.
        redact (`Callable[[str], str] | None`):
            Applied to every text before it is read.

    Raises:
        `ConfigError`: a number that cannot work, or a model without a formatter.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        model: ChatModelBase | Callable[[], ChatModelBase | None] | None,
        formatter: FormatterBase | Callable[[], FormatterBase | None] | None,
        book: PromptBook,
        language: str | None = None,
        timezone: dt.tzinfo | None = None,
        count: Callable[[str], int] = estimate_tokens,
        max_input_tokens: int = 48_000,
        max_steps: int = 12,
        timeout: float | None = 180,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        for name, number in (("max_input_tokens", max_input_tokens), ("max_steps", max_steps)):
            if not isinstance(number, int) or number < 1:
                raise ConfigError(f"{name} is {number!r}: give a positive whole number.")
        if model is not None and formatter is None:
            raise ConfigError("A model for notes needs the formatter that goes with it: give formatter too.")
        self.workspace = workspace
        self._model, self._formatter = model, formatter
        self._book, self._language, self._timezone, self._count = book, language, timezone, count
        self._capacity = max(_LEAST_CAPACITY, int(max_input_tokens * _TRANSCRIPT_SHARE))
        self._redact = redact
        store = NoteStore(workspace)
        self._extractive = ExtractiveWriter(store, book, journal_path, _MEMORY_MD, _archive_path)
        least, most = _READ_BYTES
        self._agent = AgentWriter(
            store,
            book,
            _MEMORY_MD,
            self._extractive,
            max_steps=max_steps,
            timeout=timeout,
            max_read_bytes=max(least, min(most, int(max_input_tokens * _READ_BYTES_PER_TOKEN))),
        )

    async def write(
        self,
        messages: Sequence[Msg],
        *,
        language: str | None = None,
        fallback: bool = True,
        progress: set[Any] | None = None,
    ) -> NoteResult:
        """Note down messages, each on the day on which it was said.

        Args:
            messages (`Sequence[Msg]`):
                The messages in their original form. System prompts, summaries, hints and recalled memories among them
                are passed over.
            language (`str | None`):
                The language of the notes; the writer's own if left out.
            fallback (`bool`):
                Whether notes are extracted where the model fails.
            progress (`set | None`):
                Filled with what was done; what is in it is not done again. For whoever calls again after a failure.

        Returns:
            `NoteResult`: what was written.

        Raises:
            `ModelReplyError`: the model failed and `fallback` is off.
            `StorageError`: the disk refused.
            `PromptError`: there are no prompts in the language that was asked for.
        """
        started = time.monotonic()
        days = await _in_thread(self._days, messages)
        spoken = await _in_thread(self._spoken_language, language, days)
        finished = set() if progress is None else progress
        results = []
        for day, group in days.items():
            words = UserWords(user_texts(group), tool_texts(group), agent_texts(group), user_names(group))
            if _now(self._model) is None:
                parts = [Piece(day, 1, 1, tuple(group), "")]
            else:
                parts = await _in_thread(pieces, day, group, self._capacity, self._count)
            for piece in parts:
                key = (day.isoformat(), piece.number, piece.total)
                if key not in finished:
                    results.append(await self._noted(piece, words, spoken, fallback))
                    finished.add(key)
        return NoteResult.joined(results, time.monotonic() - started)

    async def _noted(self, piece: Piece, words: UserWords, language: str, fallback: bool) -> NoteResult:
        """One piece, by the model where there is one, else extractively."""
        model, formatter = _now(self._model), _now(self._formatter)
        if model is None or formatter is None:
            return await self._extracted(piece, language)
        try:
            return await self._agent.write(piece, words, journal_path(piece.day), language, model, formatter)
        except ModelReplyError as error:
            if not fallback:
                raise
            logger.warning("The notes of %s are extractive: %s", piece.day, error)
            return await self._extracted(piece, language, str(error))

    async def _extracted(self, piece: Piece, language: str, error: str | None = None) -> NoteResult:
        added = await _in_thread(self._extractive.write, piece.day, piece.messages, language)
        texts = [self._text(language, "extracted", count=count, path=path) for path, count in added.items()]
        return NoteResult(
            files=tuple(path for path in added if path != _MEMORY_MD),
            memory_md=_MEMORY_MD in added,
            text="\n".join(texts),
            source="extractive" if added else "nothing",
            error=error,
        )

    def _days(self, messages: Sequence[Msg]) -> dict[dt.date, list[Msg]]:
        redact = self._redact
        clean = messages if redact is None else [redacted(msg, redact) for msg in messages]
        return by_day(noteworthy(clean), self._timezone)

    def _spoken_language(self, language: str | None, days: dict[dt.date, list[Msg]]) -> str:
        wanted = self._language if language is None else language
        if wanted is not None:
            wanted = normalize_language(wanted)
            self._book.names(wanted)
            return wanted
        messages = [msg for group in days.values() for msg in group]
        detected = detect_language([*user_texts(messages), *agent_texts(messages)])
        return detected if detected in self._book.languages() else "en"

    def _text(self, language: str, name: str, /, **values: Any) -> str:
        return self._book.text(language, f"notes.{name}", **values)


def journal_path(day: dt.date) -> str:
    """The file of a day's notes, as seen from the workspace."""
    return f"memory/{day.isoformat()}.md"


def _archive_path(day: dt.date) -> str:
    return f"dialog/{day.isoformat()}.jsonl"


def _now(given: Any) -> Any:
    """What was given, or what a function that was given returns. A model is no function, though it can be called."""
    if inspect.isfunction(given) or inspect.ismethod(given) or isinstance(given, functools.partial):
        return given()
    return given


async def _in_thread(call: Callable[..., Any], *arguments: Any) -> Any:
    return await anyio.to_thread.run_sync(functools.partial(call, *arguments))
