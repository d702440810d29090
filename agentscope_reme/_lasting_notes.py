# -*- coding: utf-8 -*-
"""MEMORY.md as a model is shown it: whatever editor wrote it, and as much of it as there is room for."""

import logging
from collections.abc import Callable, Sequence

import anyio

from ._errors import ReMeError
from ._events import EventKind
from .text import decode_text, split_lines
from .working_memory import MemoryServices

__all__ = ["LastingNotes", "ends"]

logger = logging.getLogger("agentscope_reme")

_LINE_SHARE = 4
"""A line takes at most this part of the room where not all of them fit."""

_CHARS_A_TOKEN = 8
"""More characters than a token holds of nearly all texts: what is longer is cut before it is counted."""

_LEFT_OUT = "[…]"


class LastingNotes:
    """Reads MEMORY.md anew when it has changed. A file that cannot be read is told once, and nothing is shown of it.

    Args:
        services (`MemoryServices`):
            The file, the counter, and who is told.
        most (`int`):
            The most tokens of it.
    """

    def __init__(self, services: MemoryServices, most: int) -> None:
        self._services, self._most = services, most
        self._stamp: tuple[int, ...] = ()
        self._text: tuple[str, int | None] = ("", None)
        self._told = ""

    async def shown(self, language: str) -> tuple[str, str]:
        """What is shown of it, and a word on how to read the rest where something is left out."""
        try:
            stat = self._services.workspace.memory_md.stat()
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if stamp != self._stamp:
                self._text = await anyio.to_thread.run_sync(self._read)
                self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._text = (), ("", None)
        except (OSError, ReMeError) as error:
            self._stamp, self._text = (), ("", None)
            self._tell(error)
        else:
            self._told = ""
        text, line = self._text
        return text, "" if line is None else self._services.book.text(language, "recall.goes_on", line=line)

    def _read(self) -> tuple[str, int | None]:
        data = self._services.workspace.read_bytes(self._services.workspace.memory_md)
        lines, line = ends(split_lines(decode_text(data).text), self._most, self._services.tokens.text)
        return "\n".join(lines).strip(), line

    def _tell(self, error: Exception) -> None:
        if str(error) == self._told:
            return
        self._told = str(error)
        logger.warning("MEMORY.md cannot be read and is not shown: %s", error)
        self._services.events.emit(EventKind.RECALL_FAILED, error=error, source="MEMORY.md")


def ends(lines: Sequence[str], most: int, count: Callable[[str], int]) -> tuple[list[str], int | None]:
    """The lines that fit into so many tokens: all of them, or the first and the last, the long ones among them cut.

    Args:
        lines (`Sequence[str]`):
            The lines.
        most (`int`):
            The most tokens.
        count (`Callable[[str], int]`):
            Tokens in a text.

    Returns:
        `tuple[list[str], int | None]`: the lines, and the number of the first that is not shown whole, counted from 1;
        `None` where all are.
    """
    whole = _taken(lines, most, count, most)
    if whole == list(lines):
        return list(lines), None
    share = most // _LINE_SHARE
    first = _taken(lines, most // 2, count, share)
    last = _taken(
        lines[: len(first) - 1 : -1] if first else lines[::-1], most // 2 - count(_LEFT_OUT) - 1, count, share
    )
    shown = [*first, *([_LEFT_OUT] if len(first) + len(last) < len(lines) else []), *last[::-1]]
    cut = (at for at, (line, part) in enumerate(zip(lines, first, strict=False)) if line != part)
    return shown, next(cut, len(first)) + 1


def _taken(lines: Sequence[str], most: int, count: Callable[[str], int], share: int) -> list[str]:
    """The first lines that fit, none of them longer than its share."""
    taken, left = list[str](), most
    for line in lines:
        part = _cut(line, share, count)
        left -= count(part) + 1
        if left < 0:
            break
        taken.append(part)
    return taken


def _cut(line: str, most: int, count: Callable[[str], int]) -> str:
    """A line, or its beginning, of so many tokens at most."""
    part = line[: most * _CHARS_A_TOKEN]
    if len(part) == len(line) and count(line) < most:
        return line
    while part and (size := count(f"{part} {_LEFT_OUT}") + 1) > most:
        part = part[: min(int(len(part) * most / size * 0.9), len(part) - 1)]
    return f"{part.rstrip()} {_LEFT_OUT}"
