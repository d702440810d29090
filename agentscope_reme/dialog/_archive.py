# -*- coding: utf-8 -*-
"""Writing and reading `dialog/YYYY-MM-DD.jsonl`."""

import json
import re
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Any

from agentscope.message import Msg

from ..message import local_day
from ..storage import JsonlFile, dump_line, parse_lines, short_lock, write_atomic
from ._day import Day, is_torn
from ._identity import message_digest
from ._line import archive_line, message_of

__all__ = ["DialogArchive"]

_DAY_FILE = re.compile(r"\d{4}-\d{2}-\d{2}\.jsonl\Z")
_KNOWN_DAYS = 8
"""How many days' files are known by heart: those used last."""


class DialogArchive:
    """The archive of one workspace, which several sessions and processes may share.

    Each message of a session stands in it once: the same id with the same content is not written again, however often
    it leaves a memory. What another session wrote is no reason not to write it, for that one may take it back.

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
        self._days: OrderedDict[str, Day] = OrderedDict()
        self._guard = threading.Lock()

    def day_of(self, msg: Msg) -> str:
        """The day that a message belongs to, `YYYY-MM-DD`: its own local day."""
        return local_day(msg, self.timezone).isoformat()

    def warm(self, days: Iterable[str]) -> None:
        """Read what the days' files hold, so that a following `append` has little to read. Meant for a thread."""
        for day in set(days):
            self._day(day).refresh()

    def probe(self, messages: Iterable[Msg]) -> None:
        """Try whether the disk would take messages: write as much beside the files, and remove it.

        Raises:
            `StorageError`: it would not.
        """
        data = b"".join(dump_line(archive_line(msg, None)) for msg in messages)
        with short_lock(self._lock):
            write_atomic(self.folder / ".probe", data)
            (self.folder / ".probe").unlink(missing_ok=True)

    def append(
        self,
        messages: Iterable[Msg],
        session_id: str | None = None,
        *,
        announce: Callable[[list[str], list[str]], None] | None = None,
    ) -> list[str]:
        """Write the messages that are not there yet and wait until the disk has them.

        Args:
            messages (`Iterable[Msg]`):
                The messages, in order.
            session_id (`str | None`):
                The session that they leave.
            announce (`Callable[[list[str], list[str]], None] | None`):
                Called with the ids about to be written and their digests, under the lock, before the first byte.

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
            written = [message_id for lines in fresh.values() for message_id, _, _ in lines]
            if announce and written:
                announce(written, [digest.hex() for lines in fresh.values() for _, digest, _ in lines])
            for day, lines in fresh.items():
                self._write(day, [line for _, _, line in lines])
        return written

    def remove(
        self,
        session_id: str | None,
        ids: Collection[str],
        days: Iterable[str],
        digests: Collection[str] | None = None,
    ) -> int:
        """Take back lines that a session wrote, as if it had not: for a fold that was cut off half-way.

        Args:
            session_id (`str | None`):
                The session; lines of others stay.
            ids (`Collection[str]`):
                The messages' ids.
            days (`Iterable[str]`):
                The days whose files to look through.
            digests (`Collection[str] | None`):
                The digests that were announced: another version of a message stays. All versions go without.

        Returns:
            `int`: how many lines went, a torn last one among them, which nobody was told of.

        Raises:
            `StorageError`: the disk refused; a day's file is either as it was or without the lines.
        """
        wanted, removed = set(ids), 0
        versions = None if digests is None else set(digests)
        with short_lock(self._lock):
            for path in (self._day(day).file.path for day in sorted(set(days))):
                lines = JsonlFile(path).read().splitlines(keepends=True)
                kept = [line for line in lines if not (_is_of(line, session_id, wanted, versions) or is_torn(line))]
                if len(kept) < len(lines):
                    write_atomic(path, b"".join(kept))
                    removed += len(lines) - len(kept)
        return removed

    def has_session(self, session_id: str) -> bool:
        """Whether a line is of this session."""
        return any(of_session for _, of_session in self.lines(session_id))

    def lines(self, session_id: str) -> Iterator[tuple[bytes, bool]]:
        """Every line of every day, and whether it is of this session."""
        for path in sorted(self._files()):
            for line in JsonlFile(path).read().splitlines(keepends=True):
                yield line, _session_of(line) == session_id

    def remove_session(self, session_id: str) -> int:
        """Remove every line of a session for good; a file that is empty then goes, too.

        Returns:
            `int`: how many lines went, a torn last one among them, which nobody was told of.

        Raises:
            `StorageError`: the disk refused; each day's file is either as it was or without the lines.
        """
        gone = 0
        with short_lock(self._lock):
            for path in sorted(self._files()):
                lines = JsonlFile(path).read().splitlines(keepends=True)
                kept = [line for line in lines if not (_session_of(line) == session_id or is_torn(line))]
                if kept and len(kept) < len(lines):
                    write_atomic(path, b"".join(kept))
                elif not kept:
                    path.unlink(missing_ok=True)
                gone += len(lines) - len(kept)
        return gone

    def find(self, ids: Iterable[str], days: Iterable[str]) -> list[Msg]:
        """The archived messages of these ids, in the order of the ids; those that are not there are left out."""
        wanted = dict.fromkeys(ids)
        found: dict[str, list[Msg]] = defaultdict(list)
        for day in sorted(set(days)):
            for line in self.read(day):
                if isinstance(line.get("id"), str) and line["id"] in wanted:
                    found[line["id"]].append(message_of(line))
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

    def _day(self, day: str) -> Day:
        with self._guard:
            known = self._days.setdefault(day, Day(self.folder / f"{day}.jsonl"))
            self._days.move_to_end(day)
            while len(self._days) > _KNOWN_DAYS:
                self._days.popitem(last=False)
            return known

    def _fresh_lines(self, day: str, messages: list[Msg], session_id: str | None) -> list[tuple[str, bytes, bytes]]:
        known = self._day(day)
        known.refresh()
        fresh: list[tuple[str, bytes, bytes]] = []
        taken: set[tuple[str, bytes]] = set()
        for msg in messages:
            line = dump_line(archive_line(msg, session_id))
            key = (msg.id, message_digest(line))
            if key not in taken and not known.has(*key, session_id):
                taken.add(key)
                fresh.append((*key, line))
        return fresh

    def _write(self, day: str, lines: list[bytes]) -> None:
        if not lines:
            return
        known = self._day(day)
        known.file.append(lines, durable=True)
        known.refresh()


def _session_of(line: bytes) -> str | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value.get("session_id") if isinstance(value, dict) else None


def _is_of(line: bytes, session_id: str | None, ids: set[str], digests: set[str] | None) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    if not isinstance(value, dict) or value.get("session_id") != session_id:
        return False
    if not isinstance(value.get("id"), str) or value["id"] not in ids:
        return False
    return digests is None or message_digest(line).hex() in digests
