# -*- coding: utf-8 -*-
"""Append-only files of one JSON object a line, whose last line may be torn."""

import json
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .._errors import StorageError
from ._atomic import sync_folder

__all__ = ["JsonlFile", "dump_line", "parse_lines"]

logger = logging.getLogger("agentscope_reme")

_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


_LINE_ENDS = (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))


def dump_line(value: Any) -> bytes:
    """One JSON line in UTF-8, with its newline. What JSON does not know is written as its `str()`; lone surrogates are
    escaped, and so is what other readers take for the end of a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if not text.isascii():
        for character, escaped in _LINE_ENDS:
            text = text.replace(character, escaped)  # much faster than `translate` where there is none
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, default=str).encode("ascii") + b"\n"


def parse_lines(data: bytes, origin: str) -> Iterator[dict]:
    """The objects of the lines; a line that is no JSON object is logged by its number and passed over."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield value
        else:
            logger.warning("%s, line %d is not a JSON object and is passed over.", origin, number)


class JsonlFile:
    """One file, kept open for appending. Not locked: whoever shares it takes a lock around `append`.

    Args:
        path (`Path`):
            The file; it and its folder are made at the first append, for the owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._is_new = False

    def append(self, lines: Iterable[bytes], *, durable: bool = False) -> None:
        """Write the lines in one go and, if `durable`, wait until the disk has them.

        Raises:
            `StorageError`: the disk refused; a part of the lines may have been written.
        """
        data = b"".join(lines)
        if not data:
            return
        try:
            fd = self._open()
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if durable:
                os.fsync(fd)
                self._make_name_durable()
        except OSError as error:
            self.close()
            raise StorageError(
                f"Could not append to {self.path}: {error}. Check the disk's space and rights."
            ) from error

    def read(self, offset: int = 0, length: int = -1) -> bytes:
        """The bytes from `offset` on, at most `length` if that is not negative; nothing where there is no file.

        Raises:
            `StorageError`: the file is there and cannot be read.
        """
        try:
            with open(self.path, "rb") as file:
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StorageError(f"Could not read {self.path}: {error}.") from error

    def close(self) -> None:
        """Let go of the file; the next append opens it again."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def _open(self) -> int:
        if self._fd is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._is_new = not self.path.exists()
            fd = os.open(self.path, _APPENDING, 0o600)
            self._fd = fd
            _mend_tail(fd, self.path)
        return self._fd

    def _make_name_durable(self) -> None:
        if self._is_new:
            sync_folder(self.path.parent)
            self._is_new = False


def _mend_tail(fd: int, path: Path) -> None:
    """End the last line: a whole object gets its newline, a torn one, which was never acknowledged, is cut off."""
    size = os.fstat(fd).st_size
    if size == 0 or _read_at(fd, size - 1, 1) == b"\n":
        return
    start = _last_newline(fd, size)
    try:
        json.loads(_read_at(fd, start, size - start))
        os.write(fd, b"\n")
    except ValueError:
        logger.warning("%s ended in a torn line of %d bytes, which was cut off.", path, size - start)
        os.ftruncate(fd, start)


def _last_newline(fd: int, size: int, block: int = 65_536) -> int:
    end = size
    while end > 0:
        start = max(0, end - block)
        at = _read_at(fd, start, end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _read_at(fd: int, start: int, length: int) -> bytes:
    os.lseek(fd, start, os.SEEK_SET)
    return os.read(fd, length)
