# -*- coding: utf-8 -*-
"""Append-only files of one JSON object a line, whose last line may be torn."""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._errors import StorageError
from ._atomic import make_folder, sync_folder
from ._plain import plain

__all__ = ["JsonlFile", "dump_line", "parse_lines"]

logger = logging.getLogger("agentscope_reme")

_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


_LONE = re.compile("[\ud800-\udfff]")
_LINE_ENDS = (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=plain).encode


def dump_line(value: Any) -> bytes:
    """One JSON line in UTF-8, with its newline; it takes any value.

    What JSON does not know (other objects, keys that are no strings, NaN, a list in itself) is written as text; lone
    surrogates are escaped, and so is what other readers take for the end of a line.
    """
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError):
        text = _encode(plain(value))
    if not text.isascii():
        for character, escaped in _LINE_ENDS:
            text = text.replace(character, escaped)  # much faster than `translate` where there is none
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8") + b"\n"


def parse_lines(data: bytes, origin: str, faults: list[str] | None = None) -> Iterator[dict]:
    """The objects of the lines; a line that is no JSON object is logged by its number and passed over.

    Args:
        data (`bytes`):
            The lines.
        origin (`str`):
            What they are of, for the log.
        faults (`list[str] | None`):
            Gets a word on each line that was passed over, but for a torn last one.
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield value
            continue
        logger.warning("%s, line %d is not a JSON object and is passed over.", origin, number)
        if faults is not None and number < len(lines):
            faults.append(f"line {number} is not a JSON object")


class JsonlFile:
    """One file to append to. Not locked: whoever shares it takes a lock around `append`.

    It is open while something is appended only, so that there may be more files than a process may hold open.

    Args:
        path (`Path`):
            The file; it and its folder are made at the first append, for the owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end = -1
        self._has_new_name = False

    def append(self, lines: Iterable[bytes], *, durable: bool = False) -> None:
        """Write the lines in one go and, if `durable`, wait until the disk has them.

        Raises:
            `StorageError`: the disk refused; a part of the lines may have been written.
        """
        data = b"".join(lines)
        if not data:
            return
        try:
            with self._opened() as fd:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                if durable:
                    os.fsync(fd)
                    self._make_name_durable()
                self._end = os.lseek(fd, 0, os.SEEK_CUR)
        except OSError as error:
            self._end = -1
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

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            fd = os.open(self.path, _APPENDING, 0o600)
        except FileNotFoundError:
            make_folder(self.path.parent)
            fd = os.open(self.path, _APPENDING, 0o600)
        try:
            size = os.fstat(fd).st_size
            if size == 0:
                self._has_new_name = True
            elif size != self._end:  # somebody else wrote to it, perhaps not to the end
                _mend_tail(fd, size, self.path)
            yield fd
        finally:
            os.close(fd)

    def _make_name_durable(self) -> None:
        if self._has_new_name:
            sync_folder(self.path.parent)
            self._has_new_name = False


def _mend_tail(fd: int, size: int, path: Path) -> None:
    """End the last line: a whole object gets its newline, a torn one, which was never acknowledged, is cut off."""
    if _read_at(fd, size - 1, 1) == b"\n":
        return
    start = _last_newline(fd, size)
    try:
        json.loads(_read_at(fd, start, size - start))
        os.write(fd, b"\n")
    except (ValueError, RecursionError):
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
