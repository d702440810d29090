# -*- coding: utf-8 -*-
"""Which users speak in which sessions of a workspace, so that all that one of them said can be removed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .storage import JsonlFile, dump_line, parse_lines, short_lock, write_atomic

__all__ = ["SessionUsers"]


class SessionUsers:
    """A file of one session and its users a line. Several processes may share it.

    Args:
        folder (`Path`): where it is, the workspace's `state_dir`; it is made with the first session that has a user.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "session_users.jsonl"
        self._file = JsonlFile(self.path)
        self._noted: set[tuple[str, str]] = set()

    def note(self, session_id: str, users: Iterable[str]) -> None:
        """Users speak in a session.

        Raises:
            `StorageError`: the disk refused.
        """
        fresh = [user for user in users if (session_id, user) not in self._noted]
        if fresh:
            with self._locked():
                self._file.append([dump_line({"session_id": session_id, "users": fresh})])
            self._noted |= {(session_id, user) for user in fresh}

    def sessions_of(self, user: str) -> list[str]:
        """The ids of the sessions in which a user speaks, in the order in which they began."""
        return list(dict.fromkeys(str(line["session_id"]) for line in self._lines() if user in line["users"]))

    def forget(self, session_id: str) -> None:
        """A session is gone.

        Raises:
            `StorageError`: the disk refused; the file is as it was.
        """
        with self._locked():
            lines = self._lines()
            left = [line for line in lines if line["session_id"] != session_id]
            if len(left) < len(lines):
                write_atomic(self.path, map(dump_line, left))

    def _lines(self) -> list[dict[str, Any]]:
        lines = parse_lines(self._file.read(), str(self.path))
        return [line for line in lines if "session_id" in line and isinstance(line.get("users"), list)]

    def _locked(self) -> AbstractContextManager[None]:
        return short_lock(self.path.with_name(f".{self.path.name}.lock"))
