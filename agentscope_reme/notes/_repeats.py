# -*- coding: utf-8 -*-
"""What of a text that is to be added to a note stands in it already."""

import re
from collections.abc import Iterator, Sequence

from ._lines import Line

__all__ = ["squashed", "without_standing"]

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_NOT_WORD = re.compile(r"[\W_]+")
_PARTICULAR = 12
"""Letters and digits (a Chinese character counts twice) from which on a line says the same under any heading."""


def squashed(text: str) -> str:
    """What two texts share that differ only in case, spaces and punctuation."""
    return _NOT_WORD.sub("", text.casefold())


def without_standing(standing: Sequence[Line], fresh: Sequence[Line]) -> list[Line]:
    """The lines of a text that are not in a note yet, so that adding the same twice adds it once.

    A line is known where it stands under the same heading or, if it is long enough to be unmistakable, anywhere. Code
    blocks are left alone. A heading that nothing is left under goes too, and one that the note ends in is not repeated.

    Args:
        standing (`Sequence[Line]`):
            The note.
        fresh (`Sequence[Line]`):
            What is to be added at its end.
    """
    known: set[tuple[str, str]] = set()
    heading = ""
    for heading, line, in_code in _under_headings(standing, ""):
        if not in_code:
            known.update({(heading, _key(line)), ("", _key(line)) if _is_particular(line) else (heading, _key(line))})
    kept: list[Line] = []
    waiting: Line | None = None
    for above, line, in_code in _under_headings(fresh, heading):
        if not in_code and _HEADING.match(line.body):
            waiting = line if above != heading or kept else None
            continue
        if not in_code and line.key and ((above, _key(line)) in known or ("", _key(line)) in known):
            continue
        if line.key and waiting is not None:
            kept.append(waiting)
            waiting = None
        if line.key or in_code or (kept and kept[-1].key):
            kept.append(line)
    while kept and not kept[-1].key:
        kept.pop()
    return kept


def _under_headings(lines: Sequence[Line], heading: str) -> Iterator[tuple[str, Line, bool]]:
    """Each line with the heading it stands under, its own if it is one, and whether it is part of a code block."""
    in_code = False
    for line in lines:
        border = bool(_FENCE.match(line.body))
        if not in_code and not border and _HEADING.match(line.body):
            heading = _key(line)
        yield heading, line, in_code or border
        in_code ^= border


def _key(line: Line) -> str:
    return " ".join(line.shown.split())


def _is_particular(line: Line) -> bool:
    size = sum(1 + (char > "\u2e80") for char in line.shown if char.isalnum())
    return size >= _PARTICULAR and not _HEADING.match(line.body)
