# -*- coding: utf-8 -*-
"""What one day's file is known to hold."""

import json
import re
import threading
from collections import defaultdict
from pathlib import Path

from ..storage import JsonlFile, storage_error
from ._identity import message_digest

__all__ = ["Day", "is_torn"]

_ID = re.compile(rb'\A\{"id": ("(?:[^"\\]|\\.)*")')


class Day:
    """Where the lines of each message id lie in a day's file, up to an offset. Threads may look at the same time."""

    def __init__(self, path: Path) -> None:
        self.file = JsonlFile(path)
        self._guard = threading.Lock()
        self._inode = 0
        self._offset = 0
        self._spans: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def refresh(self) -> None:
        """Read what was added since the last look; all of it where the file was replaced."""
        with self._guard:
            try:
                stat = self.file.path.stat()
            except FileNotFoundError:
                self._forget(0)
                return
            except OSError as error:
                raise storage_error("read", self.file.path, error) from error
            if stat.st_ino != self._inode or stat.st_size < self._offset:
                self._forget(stat.st_ino)
            if stat.st_size > self._offset:
                self._read_on()

    def has(self, message_id: str, digest: bytes, session_id: str | None) -> bool:
        """Whether a session wrote a line of this id with this content. Only lines of the id are read again."""
        with self._guard:
            spans = list(self._spans.get(message_id, ()))
        lines = (self.file.read(start, length) for start, length in spans)
        return any(
            message_digest(line) == digest and json.loads(line).get("session_id") == session_id for line in lines
        )

    def _read_on(self) -> None:
        for line in self.file.read(self._offset).splitlines(keepends=True):
            if is_torn(line):
                break
            match = _ID.match(line)
            if match:
                self._spans[json.loads(match[1])].append((self._offset, len(line)))
            if line.endswith(b"\n"):  # else a writer died right before it, and the next append mends that
                self._offset += len(line)

    def _forget(self, inode: int) -> None:
        self._inode, self._offset = inode, 0
        self._spans.clear()


def is_torn(line: bytes) -> bool:
    """Whether it is a last line that was not written to its end."""
    if line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False
