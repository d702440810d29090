# -*- coding: utf-8 -*-
"""A session's journal: what happened to it, one record a line, checkpointed by atomic replacement.

It is written without waiting for the disk (that survives the death of the process) except where a record is said to be
durable (that survives the loss of power). A journal has one owner at a time.
"""

import glob
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._errors import SessionExistsError, SessionInUseError, SessionNotFoundError, StorageError
from ._atomic import storage_error, sync_folder, write_atomic
from ._jsonl import JsonlFile, dump_line, parse_lines
from ._locks import OwnerLock

__all__ = ["Journal"]

logger = logging.getLogger("agentscope_reme")


class Journal:
    """Records of one session under `<name>.jsonl`, and beside it the ids that left it for good under `<name>.past`.

    The past only grows and is only appended to, so that a checkpoint costs what is live, not what has ever been.

    Args:
        folder (`Path`):
            Where the journals lie.
        name (`str`):
            The session's id as a safe file name.
        session_id (`str | None`):
            The id itself, for what is said about it.
        head (`dict | None`):
            The record that a new journal begins with, written along with the first one.
    """

    def __init__(
        self, folder: Path, name: str, *, session_id: str | None = None, head: dict[str, Any] | None = None
    ) -> None:
        self.name = name
        self.session_id = name if session_id is None else session_id
        self.faults: list[str] = []
        """What `open` had to pass over, but for a torn last line."""
        self._head = head
        self._file = JsonlFile(folder / f"{name}.jsonl")
        self._past = JsonlFile(folder / f"{name}.past")
        self._lock = OwnerLock(folder / f"{name}.lock")
        self._closed_as: tuple[int, ...] | None = None

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def is_open(self) -> bool:
        return self._lock.held

    def create(self) -> None:
        """Become the owner of a journal that does not exist yet, or again of one that was this object's before `close`.

        Raises:
            `SessionInUseError`: somebody else owns it, or did since it was closed here.
            `SessionExistsError`: it exists.
        """
        self._lock.acquire(f"Session {self.session_id!r}")
        if self._closed_as is None and self.path.exists():
            self._lock.release()
            raise SessionExistsError(
                f"Session {self.session_id!r} exists: resume({self.session_id!r}) goes on with it, or take another id.",
            )
        if self._closed_as not in (None, self._version()):
            self._lock.release()
            raise SessionInUseError(
                f"Session {self.session_id!r} was gone on with elsewhere since it was closed here: "
                f"resume({self.session_id!r}).",
            )

    def open(self) -> list[dict]:
        """Become the owner of a journal that exists, and read its records.

        Raises:
            `SessionInUseError`: somebody else owns it.
            `SessionNotFoundError`: there is none.
            `StorageError`: it cannot be read.
        """
        if not self.path.exists():
            raise SessionNotFoundError(f"There is no session {self.session_id!r} in {self.path.parent}.")
        self._lock.acquire(f"Session {self.session_id!r}")
        try:
            self.faults = []
            records = list(parse_lines(self._file.read(), str(self.path), self.faults))
            self._head = None
        except StorageError:
            self._lock.release()
            raise
        return records

    def set_aside(self) -> Path:
        """Copy the journal as it is to a file beside it, durably: what could be read of it is about to replace it.

        Raises:
            `StorageError`: the disk refused.
        """
        number = 1
        while (copy := self.path.with_name(f"{self.path.name}.corrupt-{number}")).exists():
            number += 1
        write_atomic(copy, self._file.read())
        return copy

    def past(self) -> set[str]:
        """The ids that left the session for good, before the last checkpoint."""
        return {
            each
            for record in parse_lines(self._past.read(), str(self._past.path))
            if isinstance(record.get("ids"), list)
            for each in record["ids"]
            if isinstance(each, str)
        }

    def append(self, record: dict, *, durable: bool = False) -> None:
        """Add one record.

        Raises:
            `StorageError`: the disk refused, and the journal needs a `checkpoint` before the next record; or this
                process is a fork of the owner.
        """
        self._refuse_fork()
        line = dump_line(record)
        if self._head is None:
            self._file.append([line], durable=durable)
        else:
            self._file.append([dump_line(self._head), line], durable=durable)
            self._head = None

    def checkpoint(self, records: Iterable[dict], past: Iterable[str] = ()) -> None:
        """Replace all records by these, durably; `past` ids are put away first.

        Raises:
            `StorageError`: the disk refused, and the old records stand; or this process is a fork of the owner.
        """
        self._refuse_fork()
        gone = sorted(past)
        if gone:
            self._past.append([dump_line({"ids": gone})], durable=True)
        write_atomic(self.path, b"".join(dump_line(record) for record in records))
        self._head = None

    def delete(self) -> None:
        """Remove a journal that is open here, its past, its damaged copies and its lock for good.

        Raises:
            `StorageError`: the disk refused; this process is a fork of the owner.
        """
        self._refuse_fork()
        try:
            for path in (*self.copies(), self._past.path, self.path):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("remove", self.path, error) from error
        sync_folder(self.path.parent)
        self.close()

    def copies(self) -> list[Path]:
        """The copies that `set_aside` made."""
        return sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.corrupt-*"))

    def close(self) -> None:
        """Let go of the ownership. A session that nothing was put down for leaves no trace."""
        if not self.is_open:
            return
        self._closed_as = self._version()
        if not self._closed_as and not self._lock.is_inherited:
            self._lock.path.unlink(missing_ok=True)
        self._lock.release()

    def _refuse_fork(self) -> None:
        if self._lock.is_inherited:
            raise StorageError(
                f"Session {self.session_id!r} belongs to the process that this one was forked from: begin a session of "
                "another id here, or close the memory before the fork and resume it on one side.",
            )

    def _version(self) -> tuple[int, ...]:
        """What the file looks like, by which a change is noticed; empty where there is none."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
