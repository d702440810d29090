# -*- coding: utf-8 -*-
"""Notes that a model writes: an agent with the file tools, and what is checked before and after it runs."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from .._errors import ModelReplyError
from ..message import delimited
from ..text import PromptBook
from ._changes import Guard
from ._extractive import entries
from ._extractive_writer import ExtractiveWriter
from ._file_tools import FileTools
from ._note_agent import run_agent
from ._note_result import NoteResult
from ._note_store import Note, NoteStore
from ._reading import Piece
from ._user_words import UserWords

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["AgentWriter"]

logger = logging.getLogger("agentscope_reme")

_NOTHING_CHARS = 300


class AgentWriter:
    """Has an agent note down pieces of a conversation.

    Args:
        store (`NoteStore`):
            The notes.
        book (`PromptBook`):
            The prompts.
        memory (`str`):
            The path of the lasting notes.
        extractive (`ExtractiveWriter`):
            Gives the lasting notes the users' own words where the agent's were turned away.
        max_steps (`int`):
            How often the agent may ask its model for a piece.
        timeout (`float | None`):
            Seconds for a piece.
        max_read_bytes (`int`):
            How much of a file it is shown at once.
    """

    def __init__(
        self,
        store: NoteStore,
        book: PromptBook,
        memory: str,
        extractive: ExtractiveWriter,
        *,
        max_steps: int,
        timeout: float | None,
        max_read_bytes: int,
    ) -> None:
        self._store, self._book, self._memory, self._extractive = store, book, memory, extractive
        self._max_steps, self._timeout, self._max_read_bytes = max_steps, timeout, max_read_bytes

    async def write(
        self,
        piece: Piece,
        words: UserWords,
        journal: str,
        language: str,
        model: ChatModelBase,
        formatter: FormatterBase,
    ) -> NoteResult:
        """Note down a piece.

        Args:
            piece (`Piece`):
                The piece.
            words (`UserWords`):
                What was said on its day: what users said anywhere on it may become a lasting note.
            journal (`str`):
                The path of the day's file.
            language (`str`):
                The language of prompts and notes.
            model (`ChatModelBase`), formatter (`FormatterBase`):
                The agent's model, and what goes with it.

        Raises:
            `ModelReplyError`: the model failed, or did not get anything written.
            `StorageError`: the disk refused.
        """
        before = await _in_thread(self._loaded, journal)
        standing = [line.shown for line in (await _in_thread(self._loaded, self._memory)).lines]
        turned_away = words.users_and(self._turned_away(before, language))
        await _in_thread(words.learn)  # not while a file is locked
        tools = FileTools(
            self._store.workspace,
            writable=(self._memory, journal),
            readable=(self._memory, "memory/"),
            max_read_bytes=self._max_read_bytes,
            book=self._book,
            language=language,
            guard=Guard(
                self._memory,
                journal,
                lambda line: words.is_foreign(line, standing) or turned_away.takes_over(line),
                words.may_leave,
                lambda line: self._text(language, "foreign", line=line.lstrip("-*+ ")),
            ),
        )
        system = self._text(language, "system", day=piece.day, journal=journal)
        request = await self._request(piece, journal, tools, language)
        try:
            answer = await run_agent(
                model, formatter, tools, system, request, max_steps=self._max_steps, timeout=self._timeout
            )
        finally:
            await self._settle(piece, before, tools, words, language)
        if not tools.changed:
            self._check_idle(answer, tools)
        files = tuple(path for path in tools.changed if path != self._store.workspace.relative(self._memory))
        return NoteResult(
            files=files,
            memory_md=len(files) < len(tools.changed),
            text=answer,
            source="model" if tools.changed else "nothing",
            foreign=tuple(tools.foreign),
        )

    async def _request(self, piece: Piece, journal: str, tools: FileTools, language: str) -> str:
        """What the agent is asked: both files as they stand, and the piece."""
        shown = [await tools.read(path) for path in (journal, self._memory)]
        files = "\n\n".join(str(block["text"]) for each in shown for block in each.content if block["type"] == "text")
        values = {"number": piece.number, "total": piece.total}
        return self._text(
            language,
            "request",
            day=piece.day,
            files=files,
            part=self._text(language, "part", **values) if piece.total > 1 else "",
            conversation=delimited(piece.text, "conversation", day=piece.day),
        )

    def _loaded(self, path: str) -> Note:
        with self._store.locked():
            return self._store.load(path)

    def _turned_away(self, journal: Note, language: str) -> list[str]:
        """The lines of a journal that were kept out of MEMORY.md before."""
        label = self._text(language, "foreign", line="").strip()
        return [line.shown.removeprefix(label) for line in journal.lines if line.shown.startswith(label)]

    async def _settle(self, piece: Piece, before: Note, tools: FileTools, words: UserWords, language: str) -> None:
        """After the run, however it ended: see that nothing of a person is missing from the journal; and where some
        statement was turned away, that MEMORY.md has in the users' own words what it does not have yet."""
        with anyio.CancelScope(shield=True):
            await _in_thread(self._settled, piece, before, tools, words, language)

    def _settled(self, piece: Piece, before: Note, tools: FileTools, words: UserWords, language: str) -> None:
        tools.retire()
        left = tools.changed.get(before.path)
        if left is not None and (missing := self._store.restore(before, left.version)):
            logger.error("%d hand-written lines were missing from %s and are back.", len(missing), before.path)
        if tools.foreign:
            lines = [line.shown for line in self._loaded(self._memory).lines]
            found = entries(piece.messages)
            own = [entry for entry in found if entry.is_request or not words.is_told(entry.text, lines)]
            self._extractive.promote(piece.day, own, language)

    def _check_idle(self, answer: str, tools: FileTools) -> None:
        """A run that changed nothing is fine if the model found nothing new, not if it failed to write.

        Raises:
            `ModelReplyError`: it did.
        """
        if tools.failures:
            raise ModelReplyError(f"The note writer wrote nothing: {tools.failures} of its {tools.calls} calls failed.")
        if not tools.calls and not self._says_nothing(answer):
            raise ModelReplyError(f"The note writer called no tool and answered {answer[:80]!r}.")

    def _says_nothing(self, answer: str) -> bool:
        patterns = [each for name in self._book.languages() for each in self._book.list(name, "notes.nothing_patterns")]
        return len(answer) <= _NOTHING_CHARS and any(re.search(each, answer, re.IGNORECASE) for each in patterns)

    def _text(self, language: str, name: str, /, **values: Any) -> str:
        return self._book.text(language, f"notes.{name}", **values)


async def _in_thread(call: Callable[..., Any], *arguments: Any) -> Any:
    return await anyio.to_thread.run_sync(partial(call, *arguments))
