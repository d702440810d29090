# -*- coding: utf-8 -*-
"""Where the files lie that are indexed, and which there are now."""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from .._errors import ConfigError, StorageError
from ..storage import storage_error
from ._file_state import FileState, Stamp

__all__ = ["DIALOG", "NOTES", "TOOLS", "Area", "FoundFile", "Places", "Scan", "areas_of", "read_file", "scan"]

NOTES = "notes"
DIALOG = "dialog"
TOOLS = "tools"
"""The results of tools in the archive, which are found as part of the dialog."""

_MARKDOWN = (".md", ".markdown")
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_READ |= getattr(os, "O_NONBLOCK", 0)
_MISSING = (errno.ENOENT, errno.ENOTDIR)
logger = logging.getLogger("agentscope_reme")


class Places(Protocol):
    """What the index needs to know of a workspace; `Workspace` has it."""

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""

    @property
    def memory_md(self) -> Path:
        """The long-lived notes."""

    @property
    def notes_dir(self) -> Path:
        """The folder of the daily notes."""

    @property
    def dialog_dir(self) -> Path:
        """The folder of the archive."""

    @property
    def state_dir(self) -> Path:
        """The folder of the index itself."""


@dataclass(frozen=True)
class Area:
    """A file or a folder whose files are indexed.

    Args:
        source (`str`): what its chunks belong to.
        kind (`Literal["note", "dialog"]`): how its files are read.
        place (`Path`): where it is.
        shown (`str`): how its path is shown; its files' paths begin with it.
        endings (`tuple[str, ...]`): of the files' names.
        deep (`bool`): whether folders in it are looked into.
    """

    source: str
    kind: Literal["note", "dialog"]
    place: Path
    shown: str
    endings: tuple[str, ...] = _MARKDOWN
    deep: bool = True


class FoundFile(NamedTuple):
    """A file that is there.

    Args:
        path (`str`): as it is shown: relative to the workspace, with slashes.
        place (`str`): as the system knows it.
        stamp (`Stamp`): what the system says of it.
        area (`Area`): the area it was found in.
    """

    path: str
    place: str
    stamp: Stamp
    area: Area


@dataclass(frozen=True)
class Scan:
    """What there is now, next to what was known.

    Args:
        paths (`set[str]`): of the files that are there.
        changed (`list[FoundFile]`): those of them that are not as they were, in the order of their paths.
        closed (`list[str]`): paths that could not be looked at; nothing is known of what lies below them.
    """

    paths: set[str] = field(default_factory=set)
    changed: list[FoundFile] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def is_gone(self, path: str) -> bool:
        """Whether a file that was there is not any more."""
        return path not in self.paths and not any(path == each or path.startswith(f"{each}/") for each in self.closed)


def areas_of(places: Places, extra: Iterable[str | Path] | Mapping[str, str | Path] = ()) -> list[Area]:
    """The areas of a workspace, MEMORY.md first.

    Args:
        places (`Places`): the workspace.
        extra (`Iterable[str | Path] | Mapping[str, str | Path]`): more folders of Markdown or text; a mapping gives
            them names, else a folder's own name is its source.

    Raises:
        `ConfigError`: they are no folders, or two sources have one name.
    """
    root = places.root
    areas = [
        Area(NOTES, "note", places.memory_md, _shown(places.memory_md, root, "")),
        Area(NOTES, "note", places.notes_dir, _shown(places.notes_dir, root, "")),
        Area(DIALOG, "dialog", places.dialog_dir, _shown(places.dialog_dir, root, ""), (".jsonl",), deep=False),
    ]
    for name, folder in _named(extra, root):
        if name in (TOOLS, *(area.source for area in areas)):
            raise ConfigError(f"extra_folders has the name {name!r}, which is taken: give a mapping with other names.")
        place = Path(root, folder.expanduser())
        areas.append(Area(name, "note", place, _shown(place, root, name), (*_MARKDOWN, ".txt")))
    return areas


def _named(extra: object, root: Path) -> Iterator[tuple[str, Path]]:
    """The further folders with the names of their sources.

    Raises:
        `ConfigError`: it is neither a list of folders nor a mapping from names to folders.
    """
    if isinstance(extra, (str, bytes, os.PathLike)) or not isinstance(extra, Iterable):
        raise ConfigError(f"extra_folders is {extra!r}: give a list of folders, such as ['docs'].")
    for each in extra.items() if isinstance(extra, Mapping) else extra:
        name, folder = each if isinstance(extra, Mapping) else (None, each)
        if not isinstance(folder, (str, os.PathLike)) or not str(folder).strip():
            raise ConfigError(f"extra_folders has {folder!r}: give the path of a folder, such as 'docs'.")
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ConfigError(f"extra_folders has the name {name!r}: give the folder {str(folder)!r} a name.")
        yield Path(root, folder).name if name is None else name, Path(folder)


def shown_path(areas: Sequence[Area], root: Path, path: str) -> str:
    """A path as hits have it, also where it is given as an absolute one; "" for the workspace itself."""
    text = path.strip().replace("\\", "/").rstrip("/").removeprefix("./")
    for place, shown in ((root, ""), *((area.place, area.shown) for area in areas)):
        above = place.as_posix()
        if text == above or text.startswith(f"{above}/"):
            return f"{shown}{text[len(above) :]}".lstrip("/")
    return "" if text == "." else text


def scan(areas: Sequence[Area], root: Path, known: Mapping[str, FileState]) -> Scan:
    """Look which files there are. Symbolic links are not followed, hidden files and folders are left out.

    It runs before each search: of a file that is as it was nothing is made that outlives the look at it, since what
    survives counts towards the next collection of all garbage, which stops every thread.

    Args:
        areas (`Sequence[Area]`): where to look; a file belongs to the first in which it is found.
        root (`Path`): the workspace.
        known (`Mapping[str, FileState]`): the files that were there, by their path.
    """
    found, taken = Scan(), set[str]()
    for area in areas:
        if place := _real_place(area, root):
            for path, entry, status in _files(area, place, area.shown, found.closed):
                if entry in taken or path in found.paths:
                    continue
                taken.add(entry)
                found.paths.add(path)
                state, stamp = known.get(path), Stamp.of(status)
                if state is None or state.source != area.source or not state.is_current(stamp):
                    found.changed.append(FoundFile(path, entry, stamp, area))
    found.changed.sort(key=lambda file: file.path)
    return found


def read_file(file: FoundFile) -> tuple[bytes, Stamp, int]:
    """The content of a file, its stamp, and the clock before it was read.

    Raises:
        `StorageError`: it cannot be read, or is no regular file.
    """
    read_at = time.time_ns()
    try:
        descriptor = os.open(file.place, _READ)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise StorageError(errno.EISDIR, f"cannot read {file.path!r}: it is not a file")
            return opened.read(), Stamp.of(status), read_at
    except StorageError:
        raise
    except OSError as error:
        raise storage_error("read", file.path, error) from error


def _shown(place: Path, root: Path, name: str) -> str:
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else name


def _real_place(area: Area, root: Path) -> str:
    """Where an area is; "" for one of the workspace that is a link which leads out of it."""
    place = os.fspath(area.place)
    if not os.path.islink(place):
        return place
    real = os.path.realpath(place)
    if not area.place.is_relative_to(root) or Path(real).is_relative_to(os.path.realpath(root)):
        return real
    logger.warning("%s is a symbolic link that leads out of the workspace; it is not indexed.", area.shown)
    return ""


def _files(area: Area, place: str, shown: str, closed: list[str]) -> Iterator[tuple[str, str, os.stat_result]]:
    """The files of an area: how each is shown, where it is, what the system says of it."""
    try:
        status = os.stat(place)
        if stat.S_ISREG(status.st_mode):
            yield _display(shown), place, status
            return
        with os.scandir(place) as entries:
            listed = list(entries)
    except OSError as error:
        if error.errno not in _MISSING:
            closed.append(shown)
            logger.warning("%s cannot be looked into (%s); what was indexed of it stays.", shown, error.strerror)
        return
    for entry in listed:
        name = entry.name
        if name[0] == "." or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if area.deep:
                yield from _files(area, entry.path, f"{shown}/{name}", closed)
        elif name.lower().endswith(area.endings):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it went away meanwhile
            if stat.S_ISREG(status.st_mode):
                yield _display(f"{shown}/{name}"), entry.path, status


def _display(path: str) -> str:
    """A path that can be stored and shown: of a name in another encoding, bytes that are no UTF-8 are escaped."""
    if not path.isascii():
        try:
            path.encode()
        except UnicodeEncodeError:
            return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path
