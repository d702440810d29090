# -*- coding: utf-8 -*-
"""A disk that refuses: at the n-th call, or all that concerns some path, until it is mended."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CAN_TELL = os.path.isdir("/proc/self/fd")
"""Whether this system says which path an open file has."""

NAMES = ("open", "write", "replace", "fsync", "mkdir", "unlink", "ftruncate")


class FaultyDisk:
    """Stands between this process and the disk while `broken()` is entered.

    Args:
        refuses (`Callable[[str, str, int], bool]`):
            Whether a call is refused, by its name, the path it concerns, and its number from 1.
        torn (`bool`):
            Whether a refused write puts half of its bytes down first.
        number (`int`):
            The error's number; `ENOSPC` unless given.
    """

    def __init__(
        self, refuses: Callable[[str, str, int], bool], *, torn: bool = False, number: int = errno.ENOSPC
    ) -> None:
        self.refuses, self.torn, self.number = refuses, torn, number
        self.calls: list[tuple[str, str]] = []
        self.refused = 0

    @contextmanager
    def broken(self) -> Iterator["FaultyDisk"]:
        real = {name: getattr(os, name) for name in NAMES}
        for name, call in real.items():
            setattr(os, name, self._standing_before(name, call))
        try:
            yield self
        finally:
            for name, call in real.items():
                setattr(os, name, call)

    def _standing_before(self, name: str, call: Callable) -> Callable:
        def asked(*args: Any, **options: Any) -> Any:
            path = path_of(args[0])
            if not _concerns_us(name, path, args):
                return call(*args, **options)
            self.calls.append((name, path))
            if not self.refuses(name, path, len(self.calls)):
                return call(*args, **options)
            self.refused += 1
            if self.torn and name == "write" and len(args[1]) > 1:
                return call(args[0], args[1][: len(args[1]) // 2])  # the next write of the rest is refused
            raise OSError(self.number, os.strerror(self.number))

        return asked


def path_of(target: Any) -> str:
    """The path that a call to the disk concerns, also where it names an open file."""
    if isinstance(target, int):
        try:
            return os.readlink(f"/proc/self/fd/{target}")
        except OSError:
            return ""
    return os.fspath(target)


def _concerns_us(name: str, path: str, args: tuple) -> bool:
    """Reading costs no space, and sockets are no files."""
    if name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return False
    return path.startswith(os.sep) and not path.endswith(".lock")
