# -*- coding: utf-8 -*-
"""Reading lines of an indexed file, a message of the archive as a person would."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentscope.message import Msg

from .._errors import PathNotAllowedError
from ..message import render
from ..text import decode_text, mended, split_lines
from ._areas import Area, FoundFile, read_file
from ._file_state import Stamp

__all__ = ["Excerpt", "read_excerpt"]

_MESSAGE_CHARS = 4_000
_SHOWN_PATH = 200


@dataclass(frozen=True)
class Excerpt:
    """Lines of a file.

    Args:
        path (`str`): the file, relative to the workspace.
        start_line (`int`): the first line, counted from 1.
        end_line (`int`): the last line, included; less than ``start_line`` where there are none.
        total_lines (`int`): how many lines the file has.
        text (`str`): the lines; of an archive one message a line, readable.
        is_cut (`bool`): whether the last line is not shown to its end.
    """

    path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    is_cut: bool = False


def read_excerpt(areas: Sequence[Area], root: Path, path: str, start_line: int, limit: int, max_chars: int) -> Excerpt:
    """Read whole lines from one on, as many as are wanted and fit; of a first line that does not fit, its beginning.

    Raises:
        `PathNotAllowedError`: the path is none of the indexed files.
        `StorageError`: it cannot be read.
    """
    file = _located(areas, root, path)
    data, _, _ = read_file(file)
    lines = [line.decode("utf-8", "replace") for line in data.splitlines()] if file.area.kind == "dialog" else []
    lines = lines or split_lines(decode_text(data).text)
    shown: list[str] = []
    room, is_cut = max_chars, False
    for line in lines[start_line - 1 : start_line - 1 + limit]:
        readable = _message(line) if file.area.kind == "dialog" else line
        room -= len(readable) + 1
        if room < 0 and shown:
            break
        is_cut = room < 0
        shown.append(readable[:max_chars])
    return Excerpt(file.path, start_line, start_line + len(shown) - 1, len(lines), "\n".join(shown), is_cut)


def _located(areas: Sequence[Area], root: Path, path: str) -> FoundFile:
    """The file that is meant, if it is one that would be indexed."""
    shown = path.strip().replace("\\", "/").removeprefix("./")
    if shown.startswith(f"{root.as_posix()}/"):
        shown = shown[len(root.as_posix()) + 1 :]
    parts = shown.split("/")
    if not shown or len(path) > 4096 or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise _refusal(areas, path)
    for area in areas:
        if shown == area.shown or shown.startswith(f"{area.shown}/"):
            place = Path(f"{area.place}{shown[len(area.shown) :]}")
            if _is_indexed(area, place, root):
                return FoundFile(shown, os.path.realpath(place), Stamp(0, 0, 0, 0), area)
    raise _refusal(areas, path)


def _is_indexed(area: Area, place: Path, root: Path) -> bool:
    base = Path(os.path.realpath(area.place))
    real = Path(os.path.realpath(place))
    if not real.is_relative_to(base) or any(part.startswith(".") for part in real.relative_to(base).parts):
        return False
    if area.place.is_relative_to(root) and not real.is_relative_to(os.path.realpath(root)):
        return False
    return real.name.lower().endswith(area.endings)


def _refusal(areas: Sequence[Area], path: str) -> Exception:
    places = ", ".join(
        dict.fromkeys(f"{area.shown}" if area.shown.endswith(".md") else f"{area.shown}/" for area in areas)
    )
    return PathNotAllowedError(f"the path {path[:_SHOWN_PATH]!r} is none of the notes: they are in {places}")


def _message(line: str) -> str:
    """A line of the archive as an entry of a transcript; as it is where it is none."""
    try:
        value = json.loads(line)
        msg = Msg.from_dict({**value, "metadata": value.get("metadata") or {}})
        return mended(render(msg, _MESSAGE_CHARS)) or "(nothing to show)"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, AssertionError):
        return mended(line[:_MESSAGE_CHARS])
