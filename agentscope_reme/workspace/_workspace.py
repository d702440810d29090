# -*- coding: utf-8 -*-
"""One person's folder: where everything lies, and the guard that keeps every path inside it."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from .._errors import PathNotAllowedError, StorageError
from ..storage import make_folder, write_atomic
from ._confined import folder_of, open_file
from ._names import component_fault

__all__ = ["Workspace"]

_MAX_PATH_CHARS = 4096


class Workspace:
    """The folder of one person, and the only way to turn a path that somebody else wrote into one to open.

    Nothing is created before ``create``. Paths are checked twice: ``resolve`` follows symbolic links and refuses what
    ends outside; reading and writing then walk down from the root without following any, so that a link swapped in
    between leads nowhere.

    Args:
        root (`str | Path`):
            The folder; ``~`` is expanded, and a relative one is taken from the current folder, now.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).expanduser().absolute()

    @property
    def memory_md(self) -> Path:
        """The long-lived notes, ``MEMORY.md``."""
        return self.root / "MEMORY.md"

    @property
    def notes_dir(self) -> Path:
        """The daily notes, ``memory/``."""
        return self.root / "memory"

    @property
    def dialog_dir(self) -> Path:
        """The archive of messages, ``dialog/``."""
        return self.root / "dialog"

    @property
    def tool_result_dir(self) -> Path:
        """The full texts of truncated tool results, ``tool_result/``."""
        return self.root / "tool_result"

    @property
    def state_dir(self) -> Path:
        """What is the package's alone, ``.state/``."""
        return self.root / ".state"

    @property
    def sessions_dir(self) -> Path:
        """The sessions' journals, ``.state/sessions/``."""
        return self.state_dir / "sessions"

    def create(self) -> None:
        """Make the folders that are missing, with mode 0700; folders that are there keep the mode they have.

        Raises:
            `StorageError`: a folder cannot be made, or a file is in its place.
        """
        for folder in (self.root, self.notes_dir, self.dialog_dir, self.tool_result_dir, self.sessions_dir):
            make_folder(folder)

    def resolve(self, path: str | os.PathLike, *, inside: Path | None = None) -> Path:
        """Turn a path into the real one it names, if that lies in the workspace.

        Args:
            path (`str | PathLike`):
                Absolute, or relative to the root. It need not exist.
            inside (`Path | None`, optional):
                A folder of the workspace that the path must lie in; the whole workspace where left out.

        Returns:
            `Path`: absolute, with every symbolic link followed.

        Raises:
            `PathNotAllowedError`: it leads out (``..``, a link, an absolute path elsewhere), or its name would not be
            the same file on every system.
        """
        named = self._named(path)
        real = Path(os.path.realpath(named))
        self._check_parts(path, named)
        self._check_parts(path, real)
        root = self._real_root()
        area = root if inside is None else Path(os.path.realpath(inside))
        if not real.is_relative_to(area) or not area.is_relative_to(root):
            place = "the workspace" if inside is None else f"{Path(inside).name}/"
            raise PathNotAllowedError(
                f"the path {os.fspath(path)!r} is not allowed: it leads out of {place}; name one inside it",
            )
        return real

    def relative(self, path: str | os.PathLike) -> str:
        """Spell a path as seen from the root, with ``/`` between its parts.

        Args:
            path (`str | PathLike`):
                A path in the workspace.

        Returns:
            `str`: such as ``"memory/2025-01-31.md"``; ``"."`` for the root.

        Raises:
            `PathNotAllowedError`: it is not in the workspace.
        """
        return self.resolve(path).relative_to(self._real_root()).as_posix()

    def open(self, path: str | os.PathLike, *, inside: Path | None = None) -> BinaryIO:
        """Open a file of the workspace for reading bytes.

        Args:
            path (`str | PathLike`):
                As for ``resolve``.
            inside (`Path | None`, optional):
                As for ``resolve``.

        Returns:
            `BinaryIO`: the open file; close it.

        Raises:
            `PathNotAllowedError`: as ``resolve``, or a link was swapped in meanwhile.
            `StorageError`: it cannot be read, or is no regular file; ``errno`` is ``ENOENT`` where there is none.
        """
        return open_file(self._real_root(), self.resolve(path, inside=inside))

    def read_bytes(self, path: str | os.PathLike, *, inside: Path | None = None) -> bytes:
        """Read a whole file of the workspace; arguments and errors as for ``open``.

        Returns:
            `bytes`: its content, untranslated.
        """
        with self.open(path, inside=inside) as file:
            return file.read()

    def read_text(self, path: str | os.PathLike, *, inside: Path | None = None) -> str:
        """Read a whole text file of the workspace; arguments and errors as for ``open``.

        Returns:
            `str`: its content. Newlines are kept as they are; bytes that are no UTF-8 come back as lone surrogates
            (``surrogateescape``) and are written back as the same bytes by ``write_text``.
        """
        return self.read_bytes(path, inside=inside).decode("utf-8", "surrogateescape")

    def write_bytes(
        self,
        path: str | os.PathLike,
        data: bytes,
        *,
        inside: Path | None = None,
        durable: bool = True,
    ) -> Path:
        """Replace a file of the workspace in one step; missing folders are made with mode 0700.

        Args:
            path (`str | PathLike`):
                As for ``resolve``.
            data (`bytes`):
                The new content.
            inside (`Path | None`, optional):
                As for ``resolve``.
            durable (`bool`, defaults to `True`):
                Whether it must survive a power cut when this returns.

        Returns:
            `Path`: the real path of the file.

        Raises:
            `PathNotAllowedError`: as for ``open``.
            `StorageError`: the disk refused, or the path is a folder; the old file stands.
        """
        real = self.resolve(path, inside=inside)
        if real.is_dir():
            raise StorageError(errno.EISDIR, f"cannot write {os.fspath(path)!r}: it is a folder")
        make_folder(self.root)
        with folder_of(self._real_root(), real, make=True) as dir_fd:
            write_atomic(real if dir_fd is None else real.name, data, durable=durable, dir_fd=dir_fd)
        return real

    def write_text(
        self,
        path: str | os.PathLike,
        text: str,
        *,
        inside: Path | None = None,
        durable: bool = True,
    ) -> Path:
        """Replace a text file of the workspace in one step; as ``write_bytes``, as UTF-8 without newline translation.

        A lone surrogate that stands for a byte (see ``read_text``) is written as that byte, any other as the three
        bytes that UTF-8 would give it; nothing is dropped.

        Returns:
            `Path`: the real path of the file.
        """
        return self.write_bytes(path, _encode(text), inside=inside, durable=durable)

    def _real_root(self) -> Path:
        return Path(os.path.realpath(self.root))

    def _named(self, path: str | os.PathLike) -> Path:
        """The absolute path that is meant, unless it is nothing that a system could open."""
        text = os.fspath(path)
        if not isinstance(text, str):
            raise PathNotAllowedError(f"the path {path!r} is not allowed: give it as text")
        if not text or len(text) > _MAX_PATH_CHARS:
            raise PathNotAllowedError(f"a path of {len(text)} characters is not allowed: give 1 to {_MAX_PATH_CHARS}")
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            raise PathNotAllowedError(f"the path {text!r} is not allowed: it holds a NUL or half a character")
        return self.root / text

    def _check_parts(self, path: str | os.PathLike, absolute: Path) -> None:
        """Look at the parts below the root; what lies elsewhere is refused for that."""
        root = next((root for root in (self.root, self._real_root()) if absolute.is_relative_to(root)), absolute)
        for part in absolute.relative_to(root).parts:
            if part != os.pardir and (fault := component_fault(part)):
                raise PathNotAllowedError(f"the path {os.fspath(path)!r} is not allowed: {fault}")


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(_encode_char(char) for char in text)


def _encode_char(char: str) -> bytes:
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")
