# -*- coding: utf-8 -*-
"""The way down from a root to a file without following a symbolic link, so that none can be swapped in meanwhile."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .._errors import PathNotAllowedError, StorageError
from ..storage import storage_error

__all__ = ["folder_of", "open_file"]

_HAS_DIR_FD = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _CLOEXEC | _NOFOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | _CLOEXEC | getattr(os, "O_DIRECTORY", 0)


def open_file(root: Path, path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        root (`Path`):
            The real path of the folder to stay in.
        path (`Path`):
            The real path of a file below it.

    Returns:
        `BinaryIO`: the open file.

    Raises:
        `PathNotAllowedError`: a part of the way is a link now.
        `StorageError`: it cannot be read, or is no regular file (a pipe would block).
    """
    with folder_of(root, path) as dir_fd, refusing_links("read", path):
        descriptor = os.open(path if dir_fd is None else path.name, _READ, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(errno.EISDIR, f"cannot read {os.fspath(path)!r}: it is not a file")
    return os.fdopen(descriptor, "rb")


@contextlib.contextmanager
def folder_of(root: Path, path: Path, *, make: bool = False) -> Iterator[int | None]:
    """Hold the folder of a file open, reached part by part.

    Args:
        root (`Path`):
            The real path of the folder to stay in.
        path (`Path`):
            The real path of something below it.
        make (`bool`, defaults to `False`):
            Whether missing folders are made, with mode 0700.

    Yields:
        `int | None`: a descriptor of the folder; ``None`` on systems that cannot open relative to one.

    Raises:
        `PathNotAllowedError`: a part of the way is a link now.
        `StorageError`: a folder cannot be opened or made.
    """
    if not _HAS_DIR_FD:
        yield None
        return
    with refusing_links("open", path):
        descriptor = os.open(root, _FOLDER)
    try:
        for part in path.relative_to(root).parts[:-1]:
            with refusing_links("open", path):
                below = _open_folder(part, descriptor, make=make)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def refusing_links(action: str, path: Path) -> Iterator[None]:
    """Turn what the system says of a link, and what else it says, into our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise PathNotAllowedError(
                f"the path {os.fspath(path)!r} is not allowed: a symbolic link is in the way",
            ) from error
        raise storage_error(action, path, error) from error


def _open_folder(name: str, parent: int, *, make: bool) -> int:
    """Open a folder in a folder; a link is refused."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            os.fsync(parent)
    try:
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=parent)
    except NotADirectoryError:
        # Linux says so of a link too.
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "a symbolic link") from None
        raise
