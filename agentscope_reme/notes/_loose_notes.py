# -*- coding: utf-8 -*-
"""Messages of no session that wait for the note writer, put down so that the next start finds them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from agentscope.message import Msg

from .._errors import SessionError, StorageError
from ..dialog import message_of, message_record
from ..storage import Journal

__all__ = ["LooseNotes"]

logger = logging.getLogger("agentscope_reme")

_FORMAT = 1
_HEAD = {"op": "loose", "version": _FORMAT}
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, AssertionError)

Batch = tuple[list[Msg], "str | None"]


class LooseNotes:
    """A journal of batches, each there from when it is given until it is noted; it goes with the last of them.

    It has one owner, whose death the system tells: `left_behind` takes over what dead owners left. What the disk
    refuses is put down with the next batch, or at the end.

    Args:
        folder (`Path`):
            Where these journals lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal: Journal | None = None
        self._waiting: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._is_whole = True
        self._is_damaged = False

    @classmethod
    def left_behind(cls, folder: Path) -> list[LooseNotes]:
        """The journals whose owners are gone, now this process's, each with something in it."""
        found = [each for path in sorted(folder.glob("*.jsonl")) if (each := cls._opened(folder, path.stem))]
        return [each for each in found if each.waiting or each.close()]

    @property
    def waiting(self) -> list[int]:
        """The numbers of the batches that wait, in order."""
        return sorted(self._waiting)

    def batch(self, number: int) -> Batch:
        """The messages of a batch that waits, and the language of their notes."""
        record = self._waiting[number]
        return [message_of(each) for each in record["messages"]], record["language"]

    def add(self, messages: Iterable[Msg], language: str | None) -> int:
        """Put a batch down, without waiting for the disk. Its number comes back. The messages must not change."""
        self._number += 1
        records = [message_record(msg) for msg in messages]
        record = {"op": "add", "number": self._number, "language": language, "messages": records}
        self._waiting[self._number] = record
        self._write(record)
        return self._number

    def done(self, number: int) -> None:
        """Put down that a batch is noted."""
        if self._waiting.pop(number, None) is None:
            return
        if self._waiting:
            self._write({"op": "done", "number": number})
        else:
            self.close()

    def close(self) -> Sequence[int]:
        """Let go of what is left, for the next start. The numbers of batches that the disk did not take come back."""
        if self._waiting and not self._is_whole:
            self._write(None)
        lost = [] if self._is_whole else self.waiting
        journal, self._journal = self._journal, None
        if journal is not None and journal.is_open:
            try:
                journal.close() if self._waiting or self._is_damaged else journal.delete()
            except StorageError as error:  # what is noted already is noted again, then, and found there
                logger.warning("%s stays although it is noted: %s", journal.path, error)
                journal.close()
        self._is_whole = True
        return lost

    @classmethod
    def _opened(cls, folder: Path, name: str) -> LooseNotes | None:
        self, journal = cls(folder), Journal(folder, name)
        try:
            records = journal.open()
        except SessionError:
            return None  # somebody is at work on it, or was and has finished
        except StorageError as error:
            logger.warning("What waits for its notes in %s cannot be read now: %s", journal.path, error)
            return None
        self._journal = journal
        try:
            faults = [*journal.faults, *self._replay(records)]
        except SessionError as error:
            logger.warning("%s", error)
            journal.close()
            return None
        if faults:
            self._is_damaged = True
            logger.error("%d parts of %s cannot be read (%s); it is kept.", len(faults), journal.path, faults[0])
        return self

    def _replay(self, records: Iterable[dict[str, Any]]) -> list[str]:
        """Take in what a journal says; what could not be read of it comes back.

        Raises:
            `SessionError`: a later version of this package wrote it.
        """
        faults = []
        for record in records:
            try:
                if record["op"] == "loose" and record["version"] > _FORMAT:
                    raise SessionError(f"{self._journal and self._journal.path} is of a later version: upgrade.")
                if record["op"] == "add":
                    self._waiting[record["number"]] = {"language": None, **record}
                    self.batch(record["number"])
                    self._number = max(self._number, record["number"])
                elif record["op"] == "done":
                    self._waiting.pop(record["number"], None)
            except _UNREADABLE as error:
                self._waiting.pop(record.get("number", 0), None)
                faults.append(repr(error))
        return faults

    def _write(self, record: dict[str, Any] | None) -> None:
        """Put down a record, or all that waits where an earlier one is missing."""
        try:
            if self._journal is None:
                self._journal = Journal(self._folder, uuid4().hex, head=_HEAD)
                self._journal.create()
            if self._is_whole and record is not None:
                self._journal.append(record)
            else:
                self._journal.checkpoint([_HEAD, *self._waiting.values()])
            self._is_whole = True
        except (StorageError, SessionError) as error:
            self._is_whole = False
            logger.error("Messages that wait for their notes cannot be put down: %s", error)
