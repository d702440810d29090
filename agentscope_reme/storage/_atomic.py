# -*- coding: utf-8 -*-
"""Files that are replaced whole: a reader sees the old bytes or the new ones, never half, and so does a crash."""

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._errors import StorageError

__all__ = [
    "make_folder",
    "read_bytes",
    "remove_leftovers",
    "storage_error",
    "sync_file",
    "sync_folder",
    "write_atomic",
]

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")

_PRIVATE = 0o600

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def storage_error(action: str, path: str | os.PathLike, error: OSError) -> StorageError:
    """Make the error that says what failed on which path; ``errno`` is kept, so a missing file can be told apart.

    Args:
        action (`str`):
            What was tried, as in "cannot <action> <path>".
        path (`str | PathLike`):
            The path it was tried on.
        error (`OSError`):
            What the system said.

    Returns:
        `StorageError`: the error to raise ``from`` the one given.
    """
    reason = f"cannot {action} {os.fspath(path)!r}: {error.strerror or error}"
    return StorageError(error.errno, reason) if error.errno is not None else StorageError(reason)


@contextlib.contextmanager
def _saying(action: str, path: str | os.PathLike) -> Iterator[None]:
    """Turn what the system raises inside into a ``StorageError`` that names the path."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise storage_error(action, path, error) from error


def read_bytes(path: str | os.PathLike) -> bytes:
    """Read a whole file.

    Args:
        path (`str | PathLike`):
            The file.

    Returns:
        `bytes`: its content, untranslated.

    Raises:
        `StorageError`: the file cannot be read; ``errno`` is ``ENOENT`` where there is none.
    """
    with _saying("read", path), open(path, "rb") as file:
        return file.read()


def make_folder(path: str | os.PathLike) -> None:
    """Make a folder and its missing parents, each of mode 0700; what is there already is left as it is.

    Args:
        path (`str | PathLike`):
            The folder.

    Raises:
        `StorageError`: it cannot be made, or a file of that name is in the way.
    """
    folder = Path(path)
    if folder.is_dir():
        return
    with _saying("make the folder", folder):
        if folder.parent != folder:
            make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            sync_folder(folder.parent)
        if not folder.is_dir():
            raise FileExistsError(None, "a file of that name is in the way")


def sync_file(path: str | os.PathLike) -> None:
    """Force a file's bytes onto the disk.

    Args:
        path (`str | PathLike`):
            A file that was written before, by this process or another.

    Raises:
        `StorageError`: the disk refused.
    """
    # Windows syncs only what is open for writing.
    with _saying("sync", path), open(path, "r+b" if os.name == "nt" else "rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: str | os.PathLike | int) -> None:
    """Force a folder's entries (new, renamed and removed names) onto the disk; nothing to do on Windows.

    Args:
        folder (`str | PathLike | int`):
            The folder, or a descriptor of it.

    Raises:
        `StorageError`: the disk refused.
    """
    if isinstance(folder, int):
        os.fsync(folder)
        return
    if os.name == "nt":
        return
    with _saying("sync", folder):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_atomic(
    path: str | os.PathLike, data: bytes | Iterable[bytes], *, durable: bool = True, dir_fd: int | None = None
) -> None:
    """Replace a file's content in one step, through a temporary file in the same folder.

    After a failure the old file stands and no temporary one is left. A file that is there keeps its mode, a new one
    gets 0600. A symbolic link of that name is replaced itself; what it points to is not touched.

    Args:
        path (`str | PathLike`):
            The file; missing parents are made with mode 0700.
        data (`bytes | Iterable[bytes]`):
            The new content, or parts of it, which are written as they come.
        durable (`bool`, defaults to `True`):
            Whether the bytes and the name must survive a power cut when this returns. Without it they survive the
            death of the process, and ``sync_file`` and ``sync_folder`` can follow later.
        dir_fd (`int | None`, optional):
            A descriptor of the folder; ``path`` is then a bare name in it, and no parent is made.

    Raises:
        `StorageError`: the disk refused; the message names the path.
    """
    folder, name = os.path.split(os.fspath(path))
    if dir_fd is None:
        make_folder(folder or os.curdir)
    temporary, target = os.path.join(folder, f".{secrets.token_hex(8)}.tmp"), os.path.join(folder, name)
    with _saying("write", path):
        try:
            _write_new(temporary, data, _mode_for(target, dir_fd), durable=durable, dir_fd=dir_fd)
            os.replace(temporary, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=dir_fd)
            raise
        if durable:
            sync_folder(dir_fd if dir_fd is not None else folder or os.curdir)


def _mode_for(path: str, dir_fd: int | None) -> int:
    """The permissions of the file that is there; those of a new one where there is none, or a link."""
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            return mode & 0o777
    return _PRIVATE


def _write_new(path: str, data: bytes | Iterable[bytes], mode: int, *, durable: bool, dir_fd: int | None) -> None:
    """Write a file that must not exist yet. While it is written it is its owner's alone."""
    with open(os.open(path, _CREATE, _PRIVATE, dir_fd=dir_fd), "wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)
        file.flush()
        if mode != _PRIVATE and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        if durable:
            os.fsync(file.fileno())


def remove_leftovers(folders: Iterable[Path], *, older_than: float = 3_600) -> int:
    """Remove the temporary files that writers left behind which were killed.

    Args:
        folders (`Iterable[Path]`):
            Where to look, not below. A missing one, and what cannot be removed, is passed over.
        older_than (`float`, defaults to `3600`):
            Seconds since the file was last written to; a younger one may be somebody's who is at work.

    Returns:
        `int`: how many are gone.
    """
    gone, before = 0, time.time() - older_than
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not _TEMPORARY.fullmatch(entry.name):
                    continue
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(entry.path)
                        gone += 1
    return gone
