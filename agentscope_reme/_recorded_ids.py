# -*- coding: utf-8 -*-
"""The ids of messages that were recorded, kept on disk so that no message is recorded twice."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakValueDictionary

from ._errors import StorageError
from ._loop_lock import LoopLock
from .storage import JsonlFile, dump_line, parse_lines, short_lock, write_atomic

__all__ = ["RecordedIds"]

_MOST = 50_000
"""Ids that are remembered; of more, those are forgotten that were not asked about for the longest time."""

_shared: WeakValueDictionary[Path, RecordedIds] = WeakValueDictionary()
_guard = threading.Lock()


class RecordedIds:
    """A set of ids, in a file that only grows until it is rewritten. Several processes may share the file.

    Its methods block for the length of one read or write.

    Args:
        path (`Path | None`):
            The file; without one they are remembered as long as this object.
        most (`int`):
            How many are remembered.
    """

    def __init__(self, path: Path | None, most: int = _MOST) -> None:
        self.turn = LoopLock()
        """Taken by whoever records, from the question what is new to the answer that it was recorded."""
        self._path, self._most = path, most
        self._file = None if path is None else JsonlFile(path)
        self._ids: dict[str, None] = {}
        self._read = 0
        self._identity: tuple[int, int] | None = None

    @classmethod
    def at(cls, path: Path) -> RecordedIds:
        """The one set over this file in this process."""
        with _guard:
            found = _shared.get(path)
            if found is None:
                _shared[path] = found = cls(path)
            return found

    def new(self, ids: Iterable[str]) -> list[str]:
        """Those that were not recorded yet, each once, in their order.

        Raises:
            `StorageError`: the file is there and cannot be read.
        """
        self._catch_up()
        asked = list(dict.fromkeys(ids))
        self._remember([each for each in asked if each in self._ids])
        return [each for each in asked if each not in self._ids]

    def add(self, ids: Iterable[str]) -> None:
        """Put down that these were recorded.

        Raises:
            `StorageError`: the disk refused; they are known to this process all the same.
        """
        added = list(dict.fromkeys(ids))
        if self._file is None or self._path is None:
            self._remember(added)
            self._forget()
            return
        try:
            with short_lock(self._path.with_suffix(".lock")):
                self._catch_up()
                self._remember(added)
                self._file.append([dump_line({"ids": added})], durable=True)
                if self._forget():
                    write_atomic(self._path, dump_line({"ids": list(self._ids)}))
                    self._identity = None
        except StorageError:
            self._remember(added)
            raise

    def _remember(self, ids: Iterable[str]) -> None:
        """Add ids as the last to be forgotten."""
        for each in ids:
            self._ids.pop(each, None)
            self._ids[each] = None

    def _catch_up(self) -> None:
        """Read what others have added."""
        if self._file is None:
            return
        identity = _identity(self._file.path)
        if identity != self._identity:
            self._identity, self._read = identity, 0
        data = self._file.read(self._read)
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in parse_lines(whole, str(self._path)):
            if isinstance(line.get("ids"), list):
                for each in line["ids"]:
                    self._ids.setdefault(str(each))

    def _forget(self) -> bool:
        """Forget the oldest where they are well over the limit, so that it is done seldom."""
        if len(self._ids) <= self._most + self._most // 4:
            return False
        self._ids = dict.fromkeys(list(self._ids)[-self._most :])
        return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
