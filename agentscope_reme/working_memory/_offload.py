# -*- coding: utf-8 -*-
"""The folder of full texts that were too long for the context: each stored once, named by its content."""

import errno
import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from .._errors import ConfigError, StorageError
from ..storage import read_bytes, short_lock, storage_error, sync_file, sync_folder, write_atomic
from ._expired import remains_of
from ._utf8 import decode_text, encode_text

__all__ = ["OffloadStore", "Stored"]

logger = logging.getLogger("agentscope_reme")

_SECONDS_PER_DAY = 86_400
_ID_DIGITS = 24
_NAME = re.compile(rf"[0-9a-f]{{{_ID_DIGITS}}}\.txt")


@dataclass(frozen=True)
class Stored:
    """Where a text lies.

    Attributes:
        name (`str`): the file's name in the folder.
        path (`Path`): the file.
        sha256 (`str`): of the text's UTF-8 bytes, as 64 hex digits.
        n_bytes (`int`): their number.
    """

    name: str
    path: Path
    sha256: str
    n_bytes: int


class OffloadStore:
    """The full texts of truncated tool results (and of other huge texts) in one folder.

    A text is written once, however often it is put; its name is the first 96 bits of its SHA-256. Its age counts from
    the last time it was put. Safe to use from several threads and processes at once.

    Args:
        folder (`Path`):
            The folder; made with mode 0700 when the first text is put.
        redact (`Callable[[str], str] | None`, optional):
            Takes secrets out of a text before it is written. What it raises is passed on, and nothing is written.
        lock (`Path | None`, optional):
            The lock file; ``.lock`` in the folder where left out.
    """

    def __init__(
        self,
        folder: Path,
        *,
        redact: Callable[[str], str] | None = None,
        lock: Path | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._redact = redact
        self._lock = Path(lock) if lock is not None else self.folder / ".lock"
        self._unsynced: set[str] = set()
        self._synced: set[str] = set()

    def redacted(self, text: str) -> str:
        """The text as it would be written.

        Args:
            text (`str`):
                Any text.

        Returns:
            `str`: the same, or what ``redact`` makes of it.

        Raises:
            `ConfigError`: ``redact`` returned something else than a string.
        """
        if self._redact is None:
            return text
        clean = self._redact(text)
        if not isinstance(clean, str):
            raise ConfigError(f"redact returned {type(clean).__name__}: it must return the text without its secrets.")
        return clean

    def put(self, text: str, *, redacted: bool = False) -> Stored:
        """Store a text, so that it survives the death of the process; ``sync`` makes it survive a power cut too.

        Args:
            text (`str`):
                Any text; newlines and lone surrogates are kept as they are.
            redacted (`bool`, defaults to `False`):
                Whether the text went through ``redacted`` already.

        Returns:
            `Stored`: where it lies.

        Raises:
            `StorageError`: the disk refused; show the text whole then.
        """
        text = text if redacted else self.redacted(text)
        data = encode_text(text)
        sha256 = hashlib.sha256(data).hexdigest()
        stored = Stored(f"{sha256[:_ID_DIGITS]}.txt", self._path(sha256), sha256, len(data))
        if os.path.lexists(stored.path):
            with short_lock(self._lock):
                written = not _refresh(stored.path, data)
                if written:
                    write_atomic(stored.path, data, durable=False)
        else:
            written = True
            write_atomic(stored.path, data, durable=False)
        if written or stored.name not in self._synced:
            self._synced.discard(stored.name)
            self._unsynced.add(stored.name)
        return stored

    def read(self, name: str) -> str | None:
        """Read a text back.

        Args:
            name (`str`):
                The file's name, as in ``Stored``.

        Returns:
            `str | None`: the text, byte for byte; ``None`` where it expired, is missing or was changed.

        Raises:
            `StorageError`: the file is there and cannot be read.
        """
        if not self.is_name(name) or not _is_plain_file(self.folder / name):
            return None
        data = read_bytes(self.folder / name)
        return decode_text(data) if _bears(name, data) else None

    def sync(self, names: Iterable[str] = ()) -> None:
        """Make what was put since the last call survive a power cut; a no-op where nothing was.

        Call it before anything durable refers to what was put. A file that is gone is passed over: nothing can bring
        it back, and what refers to it must not wait for it.

        Args:
            names (`Iterable[str]`):
                Names that an earlier process may have put, and that were not synced by this object yet.

        Raises:
            `StorageError`: the disk refused; the next call tries again.
        """
        pending = {name for name in (*self._unsynced, *names) if name not in self._synced and self.is_name(name)}
        for name in sorted(pending):
            try:
                sync_file(self.folder / name)
            except StorageError as error:
                if error.errno != errno.ENOENT:
                    raise
                logger.warning("The offloaded text %s is gone.", name)
        if pending:
            sync_folder(self.folder)
        self._unsynced -= pending
        self._synced |= pending

    def remove(self, names: Iterable[str]) -> None:
        """Remove texts for good.

        Raises:
            `StorageError`: the disk refused.
        """
        wanted = [name for name in names if self.is_name(name)]
        if not wanted:
            return
        with short_lock(self._lock):
            for name in wanted:
                try:
                    (self.folder / name).unlink(missing_ok=True)
                except OSError as error:
                    raise storage_error("remove", self.folder / name, error) from error
                self._synced.discard(name)
                self._unsynced.discard(name)

    def expire(
        self,
        retention_days: float | None,
        in_use: Collection[str] | Callable[[str], bool],
        *,
        now: float | None = None,
        head_tail_bytes: int = 1_000,
    ) -> list[str]:
        """Replace texts that are too old by their head, tail and hash.

        Only files of our own name pattern directly in the folder are looked at, and no link is followed. What is in
        use, shorter than what would remain, expired already, or no longer what its name says stays as it is. A file
        that the disk refuses is logged and left.

        Args:
            retention_days (`float | None`):
                Days since a text was last put, 0 or more; ``None`` keeps all for ever.
            in_use (`Collection[str] | Callable[[str], bool]`):
                The names that something still refers to.
            now (`float | None`, optional):
                Seconds since the epoch; the current time where left out.
            head_tail_bytes (`int`, defaults to `1000`):
                Bytes of UTF-8 that remain, half from each end.

        Returns:
            `list[str]`: the names that expired now.

        Raises:
            `ConfigError`: a negative retention.
            `StorageError`: the folder cannot be listed.
        """
        if retention_days is None:
            return []
        if not retention_days >= 0:
            raise ConfigError(f"retention_days is {retention_days!r}: give 0 or more, or None to keep for ever.")
        now = time.time() if now is None else now
        used = in_use if callable(in_use) else set(in_use).__contains__
        cutoff = now - retention_days * _SECONDS_PER_DAY
        old = [name for name in self._names_before(cutoff) if not used(name)]
        return [name for name in old if self._expire_one(name, cutoff, now, head_tail_bytes)]

    @staticmethod
    def is_name(name: str) -> bool:
        """Whether a string could be the name of a stored text."""
        return _NAME.fullmatch(name) is not None

    def _path(self, sha256: str) -> Path:
        return self.folder / f"{sha256[:_ID_DIGITS]}.txt"

    def _names_before(self, cutoff: float) -> list[str]:
        try:
            with os.scandir(self.folder) as entries:
                return sorted(entry.name for entry in entries if _NAME.fullmatch(entry.name) and _is_old(entry, cutoff))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("list", self.folder, error) from error

    def _expire_one(self, name: str, cutoff: float, now: float, keep: int) -> bool:
        """Replace one text, unless it was put again meanwhile; ``put`` takes the same lock before it trusts a file."""
        path = self.folder / name
        try:
            with short_lock(self._lock):
                data = read_bytes(path)
                if os.lstat(path).st_mtime > cutoff or len(data) <= keep or not _bears(name, data):
                    return False
                write_atomic(path, remains_of(data, now, keep), durable=False)
        except OSError as error:
            logger.warning("The old text %s stays as it is: %s", path, error)
            return False
        return True


def _refresh(path: Path, data: bytes) -> bool:
    """Let a text live longer, if it is this one and whole; a power cut or somebody's hand may have changed it."""
    try:
        if not _is_plain_file(path) or read_bytes(path) != data:
            return False
        os.utime(path)
    except StorageError:
        return False
    except OSError as error:
        raise storage_error("touch", path, error) from error
    return True


def _bears(name: str, data: bytes) -> bool:
    """Whether a file holds the text that it is named by."""
    return hashlib.sha256(data).hexdigest().startswith(name[:_ID_DIGITS])


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_old(entry: os.DirEntry, cutoff: float) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime <= cutoff
    except OSError:
        return False  # it went away meanwhile
