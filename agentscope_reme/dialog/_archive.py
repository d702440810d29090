# -*- coding: utf-8 -*-
"""Writing and reading `dialog/YYYY-MM-DD.jsonl`."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from datetime import tzinfo
from pathlib import Path
from typing import Any

from agentscope.message import Msg

from ..message import local_day, msg_to_dict
from ..storage import JsonlFile, dump_line, parse_lines, short_lock, storage_error, write_atomic
from ._identity import message_digest

__all__ = ["DialogArchive", "archive_line"]

_DAY_FILE = re.compile(r"\d{4}-\d{2}-\d{2}\.jsonl\Z")
_ID = re.compile(rb'\A\{"id": ("(?:[^"\\]|\\.)*")')


def archive_line(msg: Msg, session_id: str | None) -> dict[str, Any]:
    """A message as the archive keeps it: `Msg.to_dict()`, its `invocation_id` and the session's id."""
    return {**msg_to_dict(msg), "session_id": session_id}


class _Day:
    """What one day's file is known to hold: where the lines of each message id lie, up to an offset."""

    def __init__(self, path: Path) -> None:
        self.file = JsonlFile(path)
        self._inode = 0
        self._offset = 0
        self._spans: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def refresh(self) -> None:
        """Read what was added since the last look; all of it where the file was replaced."""
        try:
            stat = self.file.path.stat()
        except FileNotFoundError:
            self._forget(0)
            return
        except OSError as error:
            raise storage_error("read", self.file.path, error) from error
        if stat.st_ino != self._inode or stat.st_size < self._offset:
            self._forget(stat.st_ino)
        for line in self.file.read(self._offset).splitlines(keepends=True):
            if _is_torn(line):
                break
            match = _ID.match(line)
            if match:
                self._spans[json.loads(match[1])].append((self._offset, len(line)))
            if line.endswith(b"\n"):  # else a writer died right before it, and the next append mends that
                self._offset += len(line)

    def has(self, message_id: str, digest: bytes) -> bool:
        """Whether a line of this id with this content is there. Only lines of the id are read again."""
        return any(
            message_digest(self.file.read(start, length)) == digest for start, length in self._spans.get(message_id, ())
        )

    def _forget(self, inode: int) -> None:
        self._inode, self._offset = inode, 0
        self._spans.clear()


class DialogArchive:
    """The archive of one workspace, which several sessions and processes may share.

    Each message stands in it once: the same id with the same content is not written again, however often it leaves a
    memory.

    Args:
        folder (`Path`):
            The `dialog/` folder.
        lock (`Path`):
            The lock file that writers take for the length of one write.
        timezone (`tzinfo | None`):
            Whose days they are; `None` is this machine's zone.
    """

    def __init__(self, folder: Path, lock: Path, *, timezone: tzinfo | None = None) -> None:
        self.folder = folder
        self._lock = lock
        self.timezone = timezone
        self._days: dict[str, _Day] = {}

    def day_of(self, msg: Msg) -> str:
        """The day that a message belongs to, `YYYY-MM-DD`: its own local day."""
        return local_day(msg, self.timezone).isoformat()

    def warm(self, days: Iterable[str]) -> None:
        """Read what the days' files hold, so that a following `append` has little to read. Meant for a thread."""
        for day in set(days):
            self._day(day).refresh()

    def append(
        self,
        messages: Iterable[Msg],
        session_id: str | None = None,
        *,
        announce: Callable[[list[str]], None] | None = None,
    ) -> list[str]:
        """Write the messages that are not there yet and wait until the disk has them.

        Args:
            messages (`Iterable[Msg]`):
                The messages, in order.
            session_id (`str | None`):
                The session that they leave.
            announce (`Callable[[list[str]], None] | None`):
                Called with the ids about to be written, under the lock, before the first byte.

        Returns:
            `list[str]`: the ids that were written.

        Raises:
            `StorageError`: the disk refused; what was written before that is taken back where that is possible.
        """
        by_day: dict[str, list[Msg]] = defaultdict(list)
        for msg in messages:
            by_day[self.day_of(msg)].append(msg)
        with short_lock(self._lock):
            fresh = {day: self._fresh_lines(day, msgs, session_id) for day, msgs in by_day.items()}
            written = [message_id for lines in fresh.values() for message_id, _ in lines]
            if announce and written:
                announce(written)
            for day, lines in fresh.items():
                self._write(day, [line for _, line in lines])
        return written

    def remove(self, session_id: str | None, ids: Collection[str], days: Iterable[str]) -> int:
        """Take back lines that a session wrote, as if it had not: for a fold that was cut off half-way.

        Args:
            session_id (`str | None`):
                The session; lines of others stay.
            ids (`Collection[str]`):
                The messages' ids.
            days (`Iterable[str]`):
                The days whose files to look through.

        Returns:
            `int`: how many lines went, a torn last one among them, which nobody was told of.

        Raises:
            `StorageError`: the disk refused; a day's file is either as it was or without the lines.
        """
        wanted, removed = set(ids), 0
        with short_lock(self._lock):
            for path in (self._day(day).file.path for day in sorted(set(days))):
                lines = JsonlFile(path).read().splitlines(keepends=True)
                kept = [line for line in lines if not (_is_of(line, session_id, wanted) or _is_torn(line))]
                if len(kept) < len(lines):
                    write_atomic(path, b"".join(kept))
                    removed += len(lines) - len(kept)
        return removed

    def find(self, ids: Iterable[str], days: Iterable[str]) -> list[Msg]:
        """The archived messages of these ids, in the order of the ids; those that are not there are left out."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, list[Msg]] = defaultdict(list)
        for day in sorted(set(days)):
            for line in self.read(day):
                if line.get("id") in wanted:
                    found[line["id"]].append(Msg.from_dict(line))
        return [msg for each in wanted for msg in found[each]]

    def read(self, day: str) -> list[dict[str, Any]]:
        """The lines of one day, oldest first; lines that are no JSON objects are passed over."""
        return list(parse_lines(self.read_bytes(day), f"{day}.jsonl"))

    def read_bytes(self, day: str) -> bytes:
        """The file of one day as it is; nothing where there is none."""
        return self._day(day).file.read()

    def days(self) -> list[str]:
        """The days that have a file, oldest first."""
        return sorted(path.stem for path in self._files())

    def close(self) -> None:
        """Forget what the days' files hold."""
        self._days.clear()

    def _files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for path in self.folder.iterdir() if _DAY_FILE.match(path.name) and not path.is_symlink()]

    def _day(self, day: str) -> _Day:
        if day not in self._days:
            self._days[day] = _Day(self.folder / f"{day}.jsonl")
        return self._days[day]

    def _fresh_lines(self, day: str, messages: list[Msg], session_id: str | None) -> list[tuple[str, bytes]]:
        known = self._day(day)
        known.refresh()
        fresh: list[tuple[str, bytes]] = []
        taken: set[tuple[str, bytes]] = set()
        for msg in messages:
            line = dump_line(archive_line(msg, session_id))
            key = (msg.id, message_digest(line))
            if not known.has(*key) and key not in taken:
                taken.add(key)
                fresh.append((msg.id, line))
        return fresh

    def _write(self, day: str, lines: list[bytes]) -> None:
        if not lines:
            return
        self._day(day).file.append(lines, durable=True)
        self._day(day).refresh()


def _is_torn(line: bytes) -> bool:
    """Whether it is a last line that was not written to its end."""
    if line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def _is_of(line: bytes, session_id: str | None, ids: set[str]) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("session_id") == session_id and value.get("id") in ids
