# -*- coding: utf-8 -*-
"""The notes of a workspace on disk: read with their version, replaced whole, one writer at a time."""

import errno
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from .._errors import StorageError
from ..storage import short_lock
from ..workspace import Workspace
from ._ledger import LineLedger
from ._lines import Line, merged, parse, to_bytes, unparted

__all__ = ["Note", "NoteStore"]


@dataclass(frozen=True)
class Note:
    """A note as it was when it was read.

    Args:
        path (`str`):
            As seen from the workspace, with slashes.
        data (`bytes | None`):
            Its content; `None` where there is no such file.
        lines (`tuple[Line, ...]`):
            Its lines, each with its mark of who wrote it.
    """

    path: str
    data: bytes | None
    lines: tuple[Line, ...] = ()

    @cached_property
    def version(self) -> str | None:
        """Tells two contents apart; `None` where there is no file."""
        return None if self.data is None else hashlib.blake2b(self.data, digest_size=16).hexdigest()

    @property
    def is_text(self) -> bool:
        """Whether lines can be made out in it: not in an image, and not in UTF-16."""
        return self.data is None or b"\0" not in self.data

    @property
    def by_hand(self) -> list[Line]:
        """What a person wrote in it, blank lines left out."""
        return [line for line in self.lines if line.hand and line.key]


class NoteStore:
    """Reads and replaces notes. Whoever changes one holds `locked()` from reading it to saving it.

    Args:
        workspace (`Workspace`):
            Where the notes lie.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._ledger = LineLedger(workspace.state_dir / "notes")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other tasks, threads and processes from changing a note meanwhile. It is not reentrant.

        Raises:
            `StorageError`: another writer held it for too long.
        """
        with short_lock(self.workspace.state_dir / "notes.lock"):
            yield

    def load(self, path: str) -> Note:
        """A note as it is now.

        Raises:
            `PathNotAllowedError`: the path leads out of the workspace.
            `StorageError`: it is there and cannot be read.
        """
        try:
            data = self.workspace.read_bytes(path)
        except StorageError as error:
            if error.errno != errno.ENOENT:
                raise
            return Note(path, None)
        return Note(path, data, tuple(self._ledger.marked(path, parse(data))))

    def save(self, path: str, lines: Sequence[Line]) -> Note:
        """Replace a note in one step; missing folders are made. The note as it is then.

        Raises:
            `PathNotAllowedError`: the path leads out of the workspace.
            `StorageError`: the disk refused; the old content stands.
        """
        data = to_bytes(lines)
        self.workspace.write_bytes(path, data)
        self._ledger.record(path, lines)
        return Note(path, data, tuple(lines))

    def restore(self, before: Note, version: str | None) -> list[Line]:
        """Bring hand-written lines back into a note whose present content is ours.

        Args:
            before (`Note`):
                The note before we changed it.
            version (`str | None`):
                The version that our last change left. Where the note has another by now, somebody else has changed it
                since, perhaps to remove what he wrote, and it is left alone.

        Returns:
            `list[Line]`: what was missing.
        """
        with self.locked():
            now = self.load(before.path)
            missing = unparted(before.by_hand, now.lines)[1]
            if not missing or now.version != version:
                return []
            self.save(before.path, merged(before.lines, [line.hand for line in before.lines], now.lines)[0])
            return missing
