# -*- coding: utf-8 -*-
"""Bringing the index to what the files hold. Blocking: it runs in a thread."""

from __future__ import annotations

import errno
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from .._errors import StorageError
from ._areas import Area, FoundFile, Scan, read_file, scan
from ._catalog import Catalog, Reading
from ._chunks import CHUNKER
from ._draft import Draft
from ._file_state import FileState
from ._notes import note_drafts
from ._shelves import Shelves
from ._turns import TurnReader

__all__ = ["Changes", "Reconciler", "Words"]

_LINES_A_TIME = 500
_TEXTS_A_TIME = 200
_TRIES = 5
_LOOK = 1.0  # seconds after which searches are shown what is there so far
_LARGEST_NOTE = 32 << 20
logger = logging.getLogger("agentscope_reme")


class Words(Protocol):
    """What cuts texts and queries into words; `WordTokenizer` does."""

    @property
    def name(self) -> str:
        """Who cuts; an index cut by another is cut again."""

    def tokens(self, text: str) -> list[str]:
        """The words of a text, in order and with repetitions."""

    def query_tokens(self, text: str) -> list[str]:
        """The distinct words of a query."""


@dataclass
class Changes:
    """What a synchronization found changed."""

    read: int = 0
    """Files whose chunks were brought up to date."""
    removed: int = 0
    """Files that are gone."""

    def __bool__(self) -> bool:
        return bool(self.read or self.removed)


class _Stopped(Exception):
    """The index is being closed."""


class Reconciler:
    """Compares files with the index, and reads those that differ.

    Args:
        catalog (`Catalog`): what the index knows.
        shelves (`Shelves`): told when there is something new.
        areas (`Sequence[Area]`): where to look.
        root (`Path`): the workspace.
        words (`Words`): cuts the texts.
        limit (`int`): tokens of a chunk.
        redact (`Callable[[str], str] | None`): applied to every text before it is stored.
    """

    def __init__(
        self,
        catalog: Catalog,
        shelves: Shelves,
        areas: Sequence[Area],
        root: Path,
        words: Words,
        *,
        limit: int,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self.faults: dict[str, str] = {}
        """By path, what is wrong with files that could not be read, or not as UTF-8."""
        self.stopping = threading.Event()
        self._catalog, self._shelves, self._areas, self._root = catalog, shelves, areas, root
        self._words, self._limit, self._redact = words, limit, redact
        self._is_level = False
        self._may_be_stale = True
        self._latest: dict[int, tuple[int, dict[str, tuple[int, float]]]] = {}

    def settle(self) -> None:
        """Note how files and words are cut, once after the database was opened."""
        self._catalog.settle_facts(f"{CHUNKER} {self._limit}", self._words.name)
        self._is_level, self._may_be_stale = False, True

    def run(self, others_wrote: bool) -> Changes:
        """Make the index hold what the files hold.

        Args:
            others_wrote (`bool`): whether the catalog has been changed by somebody else since the last time.
        """
        changes, looked = Changes(), time.monotonic()
        if others_wrote:
            self._is_level = False
        found = scan(self._areas, self._root, self._catalog.files)
        vanished = set()
        for file in found.changed:
            self._is_level = False
            try:
                outcome = self._take_in(file)
            except _Stopped:
                return changes
            changes.read += outcome == "read"
            vanished |= {file.path} if outcome == "vanished" else set()
            if changes.read and time.monotonic() - looked > _LOOK:
                self._shelves.refresh()
                looked = time.monotonic()
        changes.removed = self._forget(found, vanished)
        if self._may_be_stale:
            self._cut_stale()
        if not self._is_level:
            self._shelves.refresh()
            self._is_level = True
        return changes

    def _forget(self, found: Scan, vanished: set[str]) -> int:
        gone = [state for path, state in self._catalog.files.items() if found.is_gone(path) or path in vanished]
        if gone:
            self._is_level = False
            self._catalog.forget(gone)
        for path in [path for path in self.faults if path not in found.paths]:
            del self.faults[path]
        return len(gone)

    def _cut_stale(self) -> None:
        while texts := self._catalog.stale(_TEXTS_A_TIME):
            if self.stopping.is_set():
                return
            self._is_level = False
            self._catalog.set_words([(chunk, self._cut(text)) for chunk, text in texts])
        self._may_be_stale = False

    # ------------------------------------------------------------------ one file

    def _take_in(self, file: FoundFile) -> str:
        """Read a file; "read", "same", "vanished" or "unreadable"."""
        for _ in range(_TRIES):
            try:
                data, stamp, read_at = read_file(file)
            except StorageError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR):
                    return "vanished"
                return self._complain(file.path, f"it cannot be read: {error.strerror or error}", "unreadable")
            if file.area.kind == "note" and len(data) > _LARGEST_NOTE:
                return self._complain(file.path, f"it is larger than {_LARGEST_NOTE >> 20} MB", "vanished")
            known = self._catalog.files.get(file.path)
            if known is not None and known.source != file.area.source:
                self._catalog.forget([known])
                known = None
            after = FileState(0, file.path, file.area.source, 0, stamp, read_at, 0, len(data), b"")
            taken = (self._archive if file.area.kind == "dialog" else self._note)(known, after, data)
            if taken:
                return taken
            self._catalog.refresh()
        return "same"  # others keep changing it: the next synchronization looks again

    def _note(self, known: FileState | None, after: FileState, data: bytes) -> str:
        """Bring a note up to date; "" where somebody else did so meanwhile."""
        after = after._replace(digest=_hash(data).digest())
        if known is not None and (known.digest, known.size) == (after.digest, after.size):
            return self._same(known, after)
        drafts, fault = note_drafts(after.path, data, self._limit)
        if fault:
            self._complain(after.path, fault, "")
        else:
            self.faults.pop(after.path, None)
        return self._put(Reading(known, after, 0, drafts))

    def _archive(self, known: FileState | None, after: FileState, data: bytes) -> str:
        """Read the lines that were added to an archive, or all of it where something before them has changed."""
        self.faults.pop(after.path, None)
        start, lines, latest, at_once = 0, 0, {}, _LINES_A_TIME
        digest = _hash(b"")
        if known is not None:
            digest = _hash(data[: known.size])
            if known.size <= len(data) and digest.digest() == known.digest:
                start, lines, latest = known.size, known.lines, self._latest_turns(known)
            else:
                digest, at_once = _hash(b""), 0  # in one go, so that what stays is found again
        reader = TurnReader(after.path, self._limit, latest)
        outcome = "same"
        for end, count, drafts in _portions(data, start, lines, at_once, reader):
            digest.update(data[start:end])
            state = after._replace(lines=count, size=end, digest=digest.digest())
            put = self._put(Reading(known, state, lines, drafts))
            if not put:
                return ""
            outcome = "read" if put == "read" else outcome
            known, start, lines = self._catalog.files[after.path], end, count
            self._latest = {known.id: (known.revision, reader.latest())}
        return outcome

    def _latest_turns(self, known: FileState) -> dict[str, tuple[int, float]]:
        revision, latest = self._latest.get(known.id, (0, {}))
        return latest if revision == known.revision else self._catalog.latest_turns(known)

    def _put(self, reading: Reading) -> str:
        if self._redact is not None:
            reading = replace(reading, drafts=[_redacted(draft, self._redact) for draft in reading.drafts])
        fresh = self._catalog.new_drafts(reading)
        if fresh is None and reading.before is not None:
            after = reading.after
            return self._same(reading.before._replace(lines=after.lines, size=after.size, digest=after.digest), after)
        words = self._catalog.words_of(draft.twin for draft in fresh or ())
        for draft in fresh or ():
            if self.stopping.is_set():
                raise _Stopped
            if draft.twin not in words:
                words[draft.twin] = self._cut(draft.searched)
        return "read" if self._catalog.apply(reading, words) else ""

    def _same(self, known: FileState, after: FileState) -> str:
        self._catalog.note_stamp(known._replace(stamp=after.stamp, read_at=after.read_at))
        return "same"

    def _cut(self, text: str) -> str:
        return "\n".join(self._words.tokens(text))

    def _complain(self, path: str, fault: str, outcome: str) -> str:
        if self.faults.get(path) != fault:
            logger.warning("%s: %s.", path, fault)
            self.faults[path] = fault
        return outcome


def _portions(
    data: bytes, start: int, lines: int, at_once: int, reader: TurnReader
) -> Iterator[tuple[int, int, list[Draft]]]:
    """Lines a portion at a time: where it ends, how many lines that are, and its drafts.

    A last line without its end is read with the last portion, and not counted: it may go on.
    """
    rest = data[start:].split(b"\n")
    tail = rest.pop()
    step = at_once or max(1, len(rest))
    for first in range(0, max(1, len(rest)), step):
        drafts = []
        for line in rest[first : first + step]:
            lines += 1
            start += len(line) + 1
            drafts += reader.read(lines, line)
        whole = start, lines
        if first + step >= len(rest) and tail.strip():
            drafts += reader.read(lines + 1, tail)
        yield (*whole, drafts)


def _redacted(draft: Draft, redact: Callable[[str], str]) -> Draft:
    return replace(draft, text=redact(draft.text), heading=redact(draft.heading) if draft.heading else "")


def _hash(data: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(data, digest_size=16)
