# -*- coding: utf-8 -*-
"""Tools with which a model reads and writes the notes, and nothing else."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio
from agentscope.message import TextBlock
from agentscope.tool import Toolkit, ToolResponse

from .._errors import ConfigError, PathNotAllowedError, ReMeError
from ..message import delimited
from ..text import PromptBook, normalize_language
from ..workspace import Workspace
from ._arguments import as_number, as_path, as_text
from ._changes import Change, Guard, appended, edited, refused, rewritten
from ._note_store import Note, NoteStore
from ._sightings import Sightings

__all__ = ["FileTools"]

logger = logging.getLogger("agentscope_reme")

_MOST_LINES = 5_000
_PATH_CHARS = 200

Work = Callable[[str], Change]


class FileTools:
    """The tools `read`, `write`, `edit` and `append` over a few files of a workspace.

    A path that leads elsewhere is refused, whatever way it goes. Files are replaced in one step, missing folders are
    made, line ends and bytes that are no UTF-8 stay as they are where nothing is changed.

    Two rules keep what others wrote. *Versions*: `write` needs the whole file to have been read, and `write` and `edit`
    are refused where the file has changed since these tools read it last, so that of two writers none loses a line.
    *Hand-written lines*: a line that no tools of this kind wrote was written by a person, and stays as it is, in its
    order, whatever the model asks for. Where `write` leaves such lines out, they are kept in their places and the rest
    is written; an `edit` that would change one is refused. `append` adds what does not stand in the file yet.

    One set is meant for one agent: it knows what that agent has seen. Any number of sets may share a workspace.

    Args:
        workspace (`Workspace`):
            Where the files lie.
        writable (`Sequence[str]`):
            The files, and the folders (with a slash at the end), that may be written.
        readable (`Sequence[str] | None`):
            Those that may be read; the writable ones if left out.
        max_read_bytes (`int`):
            The most bytes of a file that one `read` shows.
        max_failures (`int`):
            How often in a row `write` and `edit` may fail on a file. After that they answer at once that `append` has
            to be used, until an `append` worked.
        book (`PromptBook | None`), language (`str`):
            The texts that the tools answer with.
        guard (`Guard | None`):
            Keeps one of the files to statements of a certain origin.

    Raises:
        `ConfigError`: a number or an area that cannot work.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        writable: Sequence[str] = ("MEMORY.md", "memory/"),
        readable: Sequence[str] | None = None,
        max_read_bytes: int = 32_768,
        max_failures: int = 3,
        book: PromptBook | None = None,
        language: str = "en",
        guard: Guard | None = None,
    ) -> None:
        for name, number in (("max_read_bytes", max_read_bytes), ("max_failures", max_failures)):
            if not isinstance(number, int) or number < 1:
                raise ConfigError(f"{name} is {number!r}: give a whole number of at least 1.")
        if isinstance(writable, str) or isinstance(readable, str):
            raise ConfigError("writable and readable are lists of files and of folders that end in '/'.")
        self.workspace = workspace
        self.writable = tuple(writable)
        self.readable = self.writable if readable is None else tuple(readable)
        self.changed: dict[str, Note] = {}
        """The files that were changed, each as the last change left it."""
        self.foreign: list[str] = []
        """Lines that the guard turned away."""
        self.failures = 0
        """How often a call did not do what it was asked for."""
        self.calls = 0
        """How often something was to be changed."""
        self._max_read_bytes, self._max_failures = max_read_bytes, max_failures
        self._book, self._language, self._guard = book or PromptBook(), normalize_language(language), guard
        self._store = NoteStore(workspace)
        self._sightings = Sightings()
        self._in_a_row: dict[tuple[str, str], int] = {}
        self._mutex = threading.Lock()
        self._retired = False

    # ------------------------------------------------------------------ the tools

    async def read(self, file_path: str, start_line: int = 1, limit: int = 400) -> ToolResponse:
        """Read a note file. Read a file before you write to it or edit it.

        Args:
            file_path (`str`):
                The file, such as "MEMORY.md" or "memory/2025-01-31.md".
            start_line (`int`, optional):
                The first line to show, counted from 1.
            limit (`int`, optional):
                How many lines to show.
        """
        return await self._answer(self._read, file_path, start_line, limit)

    async def write(self, file_path: str, content: str) -> ToolResponse:
        """Create a note file, or replace the whole content of one that you have read completely. To add something to a
        file use append, to change a part of it use edit. Lines that a person wrote stay in the file in any case.

        Args:
            file_path (`str`):
                The file, such as "memory/2025-01-31.md".
            content (`str`):
                The whole new content, with everything that is to stay.
        """
        return await self._answer(self._change, "write", file_path, partial(self._write, content))

    async def edit(self, file_path: str, old_text: str, new_text: str) -> ToolResponse:
        """Replace one piece of text in a note file. Lines that a person wrote cannot be changed.

        Args:
            file_path (`str`):
                The file, such as "MEMORY.md".
            old_text (`str`):
                The text to replace, exactly as it stands in the file. It must occur there exactly once.
            new_text (`str`):
                The text to put in its place; "" to remove it.
        """
        return await self._answer(self._change, "edit", file_path, partial(self._edit, old_text, new_text))

    async def append(self, file_path: str, content: str) -> ToolResponse:
        """Add lines at the end of a note file, which is created if it does not exist. Lines that stand in the file
        already are not added again.

        Args:
            file_path (`str`):
                The file, such as "memory/2025-01-31.md".
            content (`str`):
                The lines to add.
        """
        return await self._answer(self._change, "append", file_path, partial(self._append, content))

    def functions(self) -> list[Callable[..., Any]]:
        """The tools, to be registered in a toolkit."""
        return [self.read, self.append, self.edit, self.write]

    def toolkit(self) -> Toolkit:
        """A new toolkit with the tools in it."""
        toolkit = Toolkit()
        for function in self.functions():
            toolkit.register_tool_function(function)
        return toolkit

    def retire(self) -> None:
        """Change nothing from now on, once what is under way is done. An agent that goes on nevertheless is interrupted
        at its next call."""
        with self._mutex:
            self._retired = True

    # ------------------------------------------------------------------ answers

    async def _answer(self, work: Callable[..., tuple[str, bool]], *arguments: Any) -> ToolResponse:
        """Do the work in a thread; whatever goes wrong becomes an answer."""
        try:
            text, ok = await anyio.to_thread.run_sync(partial(self._alone, work, *arguments))
        except Exception as error:
            logger.exception("A file tool failed.")
            text, ok = self._say("failed", reason=f"{type(error).__name__}: {error}"), False
        return ToolResponse(content=[TextBlock(type="text", text=text)], metadata={"ok": ok})

    def _alone(self, work: Callable[..., tuple[str, bool]], *arguments: Any) -> tuple[str, bool]:
        with self._mutex:
            if self._retired:
                raise asyncio.CancelledError
            return work(*arguments)

    def _say(self, name: str, **values: Any) -> str:
        return self._book.text(self._language, f"notes.{name}", **values)

    # ------------------------------------------------------------------ reading

    def _read(self, file_path: Any, start_line: Any, limit: Any) -> tuple[str, bool]:
        try:
            path = self._located(file_path, self.readable)
            note = self._store.load(path)
        except ReMeError as error:
            return self._say("failed", reason=error), False
        if not note.is_text:
            return self._say("no_text", path=path), False
        if note.version is None:
            self._sightings.saw(note, range(0))
            return self._say("missing", path=path), True
        first = as_number(start_line, 1, max(1, len(note.lines)))
        return self._shown(note, first, as_number(limit, 400, _MOST_LINES)), True

    def _shown(self, note: Note, first: int, count: int) -> str:
        """Whole lines of a note from one on, as many as there is room for; of a single line too long, its beginning."""
        room, shown = self._max_read_bytes, []
        for line in note.lines[first - 1 : first - 1 + count]:
            room -= len(line.shown.encode()) + 1
            if room < 0:
                break
            shown.append(line.shown)
        cut = not shown and first <= len(note.lines)
        if cut:
            shown = [note.lines[first - 1].shown.encode()[: self._max_read_bytes].decode("utf-8", "ignore")]
        last = first + len(shown) - 1
        self._sightings.saw(note, range(0) if cut else range(first, last + 1))
        text = delimited("\n".join(shown), "note_file", path=note.path, lines=f"{first}-{last}", of=len(note.lines))
        if cut:
            text += "\n" + self._say("cut_line", line=first, bytes=self._max_read_bytes)
        return text if last >= len(note.lines) else text + "\n" + self._say("read_on", line=last + 1)

    # ------------------------------------------------------------------ changing

    def _change(self, kind: str, file_path: Any, work: Work) -> tuple[str, bool]:
        """Locate the file and do the work, unless it has failed too often; tell the outcome."""
        self.calls += 1
        group = "append" if kind == "append" else "replace"
        key = (group, str(file_path)[:_PATH_CHARS])
        if self._in_a_row.get(key, 0) >= self._max_failures:
            self.failures += 1
            return self._say(f"stopped_{group}", path=key[1]), False
        try:
            change = work(self._located(file_path, self.writable))
        except ReMeError as error:
            change = refused("failed", reason=error)
        text = self._told(change)
        if not change.ok:
            self.failures += 1
            self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
            if self._in_a_row[key] >= self._max_failures:
                text += "\n" + self._say(f"stopped_{group}", path=key[1])
        elif group == "append":
            self._in_a_row.clear()
        else:
            self._in_a_row.pop(key, None)
        return text, change.ok

    def _write(self, content: Any, path: str) -> Change:
        text = as_text(content)
        if text is None or not text.strip():
            return refused("no_content", argument="content")
        return self._applied(path, "write", lambda note: rewritten(note, text, self._guard_of(path)))

    def _edit(self, old_text: Any, new_text: Any, path: str) -> Change:
        old, new = as_text(old_text), as_text(new_text)
        if not old:
            return refused("no_content", argument="old_text")
        if new is None or new == old:
            return refused("same_text")
        return self._applied(path, "edit", lambda note: edited(note, old, new, self._guard_of(path)))

    def _append(self, content: Any, path: str) -> Change:
        text = as_text(content)
        if text is None or not text.strip():
            return refused("no_content", argument="content")
        return self._applied(path, "append", lambda note: appended(note, text, self._guard_of(path)))

    def _applied(self, path: str, kind: str, plan: Callable[[Note], Change]) -> Change:
        """Decide over the file as it is now and replace it, with nobody else in between."""
        with self._store.locked():
            note = self._store.load(path)
            fault = "no_text" if not note.is_text else self._sightings.fault(note, kind)
            change = refused(fault, path=path) if fault else plan(note)
            if change.lines is not None and change.lines != list(note.lines):
                saved = self._store.save(path, change.lines)
                self._sightings.changed(note, saved, whole=kind == "write")
                self.changed[path] = saved
        if change.foreign and self._guard is not None:
            self._divert(change.foreign, self._guard)
        return change

    def _divert(self, lines: Sequence[str], guard: Guard) -> None:
        """Put down elsewhere what must not stand in the guarded file."""
        self.foreign += lines
        text = "\n".join(map(guard.labelled, lines))
        self._applied(guard.elsewhere, "append", lambda note: appended(note, text))

    def _guard_of(self, path: str) -> Guard | None:
        guard = self._guard
        return guard if guard is not None and self.workspace.relative(guard.path) == path else None

    def _told(self, change: Change) -> str:
        texts = [self._say(change.answer, **change.values)]
        if change.returned:
            texts.append(self._say("kept", count=len(change.returned)))
        if change.foreign and change.answer != "all_screened":
            texts.append(self._say("screened", count=len(change.foreign)))
        return "\n".join(texts)

    def _located(self, file_path: Any, areas: Sequence[str]) -> str:
        """The file that is meant, as seen from the workspace.

        Raises:
            `PathNotAllowedError`: it lies in none of the areas.
        """
        path = as_path(file_path)
        real = self.workspace.resolve(path)
        for area in areas:
            if area.endswith("/"):
                folder = self.workspace.root / area
                if real != self.workspace.resolve(area) and self._is_inside(path, folder):
                    return self.workspace.relative(real)
            elif real == self.workspace.resolve(area):
                return self.workspace.relative(real)
        raise PathNotAllowedError(f"the path {path[:_PATH_CHARS]!r} is not allowed: use {' or '.join(areas)}")

    def _is_inside(self, path: str, folder: Any) -> bool:
        try:
            self.workspace.resolve(path, inside=folder)
        except PathNotAllowedError:
            return False
        return True
