# -*- coding: utf-8 -*-
"""The files that a model may look into: the archived messages and the offloaded texts of one workspace."""

import errno
import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import ConfigError, PathNotAllowedError, ReMeError, StorageError
from ..message import as_msgs, render
from ..workspace import Workspace

__all__ = ["ArchiveFiles", "Line", "lines_of"]

_NEWEST_SHOWN = 5
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Line:
    """One line of a dialog file.

    Attributes:
        number (`int`): its number, from 1.
        raw (`str`): the line itself.
    """

    number: int
    raw: str

    def rendered(self, without_tools: Collection[str] = ()) -> str:
        """The message as text, half characters as U+FFFD; the raw line where it is no message, for a torn one may hold
        something too.

        Args:
            without_tools (`Collection[str]`):
                Names of tools whose calls and results are left out.
        """
        try:
            msg = as_msgs([json.loads(self.raw)])[0]
        except (ReMeError, ValueError, RecursionError):
            return self.raw
        if without_tools and isinstance(msg.content, list):
            msg.content = [block for block in msg.content if not _is_of(block, without_tools)]
        return _LONE.sub("\ufffd", render(msg, thinking=True))


class ArchiveFiles:
    """Finds and reads files below ``dialog/`` and ``tool_result/``, and no others.

    Args:
        workspace (`Workspace`):
            Where they lie.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._suffixes = {workspace.dialog_dir: ".jsonl", workspace.tool_result_dir: ".txt"}

    def newest_first(self, spelling: str = "") -> list[Path]:
        """The files that are meant.

        Args:
            spelling (`str`):
                A file, one of the two folders, or ``""`` for all.

        Returns:
            `list[Path]`: the newest first.

        Raises:
            `PathNotAllowedError`: it leads elsewhere.
            `StorageError`: there is no such file.
        """
        folders, clean = list(self._suffixes), _unquoted(spelling).rstrip("/")
        if clean:
            folders = [folder for folder in folders if clean in (folder.name, str(folder))]
            if not folders:
                return [self.locate(spelling)]
        found = [each for folder in folders for each in _files_in(folder, self._suffixes[folder])]
        return [path for _, path in sorted(found, reverse=True)]

    def locate(self, spelling: str) -> Path:
        """The file that is meant: by an absolute path, one relative to the workspace, or its bare name.

        Raises:
            `PathNotAllowedError`: it leads elsewhere.
            `StorageError`: there is no such file; the message names some that there are.
        """
        clean = _unquoted(spelling)
        if not clean:
            raise ConfigError("file_path is empty: name a file such as tool_result/<name>.txt or dialog/<day>.jsonl")
        if os.path.basename(clean) == clean:
            for folder, suffix in self._suffixes.items():
                for name in (clean, clean + suffix):
                    if os.path.isfile(folder / name):
                        return self._inside(folder / name)
        path = self._inside(clean)
        if not path.is_file():
            raise self._missing(clean)
        return path

    def is_dialog(self, path: Path) -> bool:
        """Whether a located file holds archived messages."""
        return path.suffix == ".jsonl"

    def spelled(self, path: Path) -> str:
        """A located file as the model should write it."""
        return f"{path.parent.name}/{path.name}"

    def read(self, path: Path) -> bytes:
        """The content of a located file.

        Raises:
            `StorageError`: it is gone or cannot be read.
        """
        try:
            return self._workspace.read_bytes(path)
        except StorageError as error:
            raise (self._missing(self.spelled(path)) if error.errno == errno.ENOENT else error) from error

    def _inside(self, path: str | Path) -> Path:
        real = self._workspace.resolve(path)
        for folder, suffix in self._suffixes.items():
            if real.parent == Path(os.path.realpath(folder)) and real.suffix == suffix:
                return folder / real.name
        raise PathNotAllowedError(
            f"{os.fspath(path)!r} cannot be read here: only dialog/<day>.jsonl and tool_result/<name>.txt can",
        )

    def _missing(self, spelling: str) -> StorageError:
        newest = [self.spelled(path) for path in self.newest_first()[:_NEWEST_SHOWN]]
        there = f"the newest there are {', '.join(newest)}" if newest else "nothing has been stored yet"
        return StorageError(errno.ENOENT, f"there is no file {spelling}; {there}")


def lines_of(data: bytes) -> Iterator[Line]:
    """The lines of a dialog file that are not blank."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            yield Line(number, raw.decode("utf-8", "replace"))


def _files_in(folder: Path, suffix: str) -> list[tuple[float, Path]]:
    """The files of a folder with their times; links are not followed."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                    found.append((entry.stat(follow_symlinks=False).st_mtime, folder / entry.name))
    except FileNotFoundError:
        pass  # no folder yet, or a file that went away meanwhile
    return found


def _unquoted(spelling: str) -> str:
    """A path without what models like to put around it."""
    return spelling.strip(" \t\r\n'\"`")


def _is_of(block: Any, tools: Collection[str]) -> bool:
    return isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result") and block.get("name") in tools
