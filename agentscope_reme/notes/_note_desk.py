# -*- coding: utf-8 -*-
"""What the file tools do, apart from being tools: paths located, versions compared, notes changed, the outcome told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._errors import PathNotAllowedError, ReMeError
from ..message import delimited
from ..text import PromptBook
from ..workspace import Workspace
from ._arguments import as_number, as_path, as_text
from ._changes import Change, Guard, appended, edited, refused, rewritten
from ._lines import clean_text
from ._note_store import Note, NoteStore
from ._sightings import Sightings

__all__ = ["Answer", "NoteDesk"]

_MOST_LINES = 5_000
_PATH_CHARS = 200

Answer = tuple[str, bool]
"""What the model is told, and whether it got what it wanted."""


class NoteDesk:
    """Reads and changes notes for one model. Not meant for several threads at once.

    Args:
        workspace (`Workspace`):
            Where the files lie.
        writable (`Sequence[str]`), readable (`Sequence[str]`):
            The files and folders that may be written and read.
        max_read_bytes (`int`):
            The most bytes of a file that are shown at once.
        max_failures (`int`):
            How often in a row a change of a file may fail.
        book (`PromptBook`), language (`str`):
            The texts of the answers.
        guard (`Guard | None`):
            Keeps one of the files to statements of a certain origin.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        writable: Sequence[str],
        readable: Sequence[str],
        max_read_bytes: int,
        max_failures: int,
        book: PromptBook,
        language: str,
        guard: Guard | None,
    ) -> None:
        self.workspace, self.writable, self.readable = workspace, tuple(writable), tuple(readable)
        self.changed: dict[str, Note] = {}
        self.foreign: list[str] = []
        self.failures = self.calls = 0
        self._max_read_bytes, self._max_failures = max_read_bytes, max_failures
        self._book, self._language, self._guard = book, language, guard
        self._store = NoteStore(workspace)
        self._sightings = Sightings()
        self._in_a_row: dict[tuple[str, str], int] = {}

    def say(self, name: str, /, **values: Any) -> str:
        """A text of the prompt book."""
        return self._book.text(self._language, f"notes.{name}", **values)

    def read(self, file_path: Any, start_line: Any, limit: Any) -> Answer:
        """Show lines of a file."""
        try:
            path = self._located(file_path, self.readable)
            note = self._store.load(path)
        except ReMeError as error:
            return self.say("failed", reason=error), False
        if not note.is_text:
            return self.say("no_text", path=path), False
        if note.version is None:
            self._sightings.saw(note, range(0))
            return self.say("missing", path=path), True
        first = as_number(start_line, 1, max(1, len(note.lines)))
        return self._shown(note, first, as_number(limit, 400, _MOST_LINES)), True

    def write(self, file_path: Any, content: Any) -> Answer:
        """Replace a whole file."""
        return self._change("replace", file_path, partial(self._write, content))

    def edit(self, file_path: Any, old_text: Any, new_text: Any) -> Answer:
        """Replace a piece of a file."""
        return self._change("replace", file_path, partial(self._edit, old_text, new_text))

    def append(self, file_path: Any, content: Any) -> Answer:
        """Add to a file."""
        return self._change("append", file_path, partial(self._append, content))

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
            text += "\n" + self.say("cut_line", line=first, bytes=self._max_read_bytes)
        return text if last >= len(note.lines) else text + "\n" + self.say("read_on", line=last + 1)

    def _change(self, group: str, file_path: Any, work: Callable[[str], Change]) -> Answer:
        """Locate the file and do the work, unless it has failed too often; tell the outcome."""
        self.calls += 1
        key = (group, clean_text(str(file_path))[:_PATH_CHARS])
        if self._in_a_row.get(key, 0) >= self._max_failures:
            self.failures += 1
            return self.say(f"stopped_{group}", path=key[1]), False
        try:
            change = work(self._located(file_path, self.writable))
        except ReMeError as error:
            change = refused("failed", reason=error)
        text = self._told(change)
        if not change.ok:
            self.failures += 1
            self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
            if self._in_a_row[key] >= self._max_failures:
                text += "\n" + self.say(f"stopped_{group}", path=key[1])
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
        texts = [self.say(change.answer, **change.values)]
        if change.returned:
            texts.append(self.say("kept", count=len(change.returned)))
        if change.foreign and change.answer != "all_screened":
            texts.append(self.say("screened", count=len(change.foreign)))
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
