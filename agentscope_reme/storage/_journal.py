# -*- coding: utf-8 -*-
"""A session's journal: what happened to it, one record a line, checkpointed by atomic replacement.

It is written without waiting for the disk (that survives the death of the process) except where a record is said to be
durable (that survives the loss of power). A journal has one owner at a time.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

from .._errors import SessionExistsError, SessionInUseError, SessionNotFoundError, StorageError
from ._atomic import write_atomic
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
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
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
        self._lock.acquire(f"Session {self.name!r}")
        if self._closed_as is None and self.path.exists():
            self._lock.release()
            raise SessionExistsError(
                f"Session {self.name!r} exists: go on with it by resume({self.name!r}), or take another id.",
            )
        if self._closed_as not in (None, self._version()):
            self._lock.release()
            raise SessionInUseError(
                f"Session {self.name!r} was gone on with elsewhere since it was closed here: resume({self.name!r}).",
            )

    def open(self) -> list[dict]:
        """Become the owner of a journal that exists, and read its records.

        Raises:
            `SessionInUseError`: somebody else owns it.
            `SessionNotFoundError`: there is none.
            `StorageError`: it cannot be read.
        """
        if not self.path.exists():
            raise SessionNotFoundError(f"There is no session {self.name!r} in {self.path.parent}.")
        self._lock.acquire(f"Session {self.name!r}")
        try:
            return list(parse_lines(self._file.read(), str(self.path)))
        except StorageError:
            self._lock.release()
            raise

    def past(self) -> set[str]:
        """The ids that left the session for good, before the last checkpoint."""
        return {i for record in parse_lines(self._past.read(), str(self._past.path)) for i in record.get("ids", ())}

    def append(self, record: dict, *, durable: bool = False) -> None:
        """Add one record.

        Raises:
            `StorageError`: the disk refused; the journal needs a `checkpoint` before the next record.
        """
        self._file.append([dump_line(record)], durable=durable)

    def checkpoint(self, records: Iterable[dict], past: Iterable[str] = ()) -> None:
        """Replace all records by these, durably; `past` ids are put away first.

        Raises:
            `StorageError`: the disk refused; the old records stand.
        """
        gone = sorted(past)
        if gone:
            self._past.append([dump_line({"ids": gone})], durable=True)
        write_atomic(self.path, b"".join(dump_line(record) for record in records))
        self._file.close()

    def close(self) -> None:
        """Let go of the files and of the ownership. A session that nothing was put down for leaves no trace."""
        self._file.close()
        self._past.close()
        if not self.is_open:
            return
        self._closed_as = self._version()
        if not self._closed_as:
            self._lock.path.unlink(missing_ok=True)
        self._lock.release()

    def _version(self) -> tuple[int, ...]:
        """What the file looks like, by which a change is noticed; empty where there is none."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
