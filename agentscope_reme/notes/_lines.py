# -*- coding: utf-8 -*-
"""A note as lines: bytes that come back as they were, and ways to change some lines while others stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

__all__ = [
    "Line",
    "aligned",
    "clean_text",
    "merged",
    "new_lines",
    "occurrences",
    "parse",
    "replaced",
    "to_bytes",
    "unparted",
]

_BOM = "\ufeff"
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TELLING = 4  # letters and digits in a line that is worth recognizing elsewhere


class Line(NamedTuple):
    """One line of a note.

    Args:
        body (`str`): The line without its end. Bytes that are no UTF-8 are lone surrogates (`surrogateescape`).
        end (`str`): "\\n", "\\r\\n", or "" for the last line of a file that does not end in a newline.
        hand (`bool`): Whether a person wrote it.
    """

    body: str
    end: str
    hand: bool

    @property
    def shown(self) -> str:
        """The line as a model sees it: always encodable, character for character as long as `body` without its BOM."""
        return _SURROGATES.sub("\ufffd", self.body.removeprefix(_BOM))

    @property
    def key(self) -> str:
        """What two lines share that differ only in what a model cannot see or does not keep."""
        return self.shown.rstrip()


def parse(data: bytes) -> list[Line]:
    """The lines of a file, all taken for hand-written; only a line feed ends one."""
    *whole, rest = data.decode("utf-8", "surrogateescape").split("\n")
    lines = [Line(*((each[:-1], "\r\n") if each.endswith("\r") else (each, "\n")), True) for each in whole]
    return [*lines, Line(rest, "", True)] if rest else lines


def to_bytes(lines: Sequence[Line]) -> bytes:
    """The file of these lines. A line that has come to stand before others gets the end that the others have."""
    end = line_end(lines)
    text = [line.body + (line.end or end) for line in lines[:-1]] + [line.body + line.end for line in lines[-1:]]
    return "".join(text).encode("utf-8", "surrogateescape")


def line_end(lines: Sequence[Line]) -> str:
    """The end that most lines have."""
    ends = Counter(line.end for line in lines if line.end)
    return "\r\n" if ends["\r\n"] > ends["\n"] else "\n"


def clean_text(text: str) -> str:
    """A model's text as it may be stored: whole characters, no control characters, line feeds only."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def new_lines(text: str, like: Sequence[Line]) -> list[Line]:
    """A clean text as lines of the writer's own, ended as the lines are that they join."""
    end = line_end(like)
    return [Line(each, end, False) for each in text.removesuffix("\n").split("\n")]


def merged(old: Sequence[Line], stays: Sequence[bool], new: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """A new text with every line of the old one in it that has to stay, each where it was, in the old order.

    Args:
        old (`Sequence[Line]`):
            The lines so far.
        stays (`Sequence[bool]`):
            Which of them have to stay.
        new (`Sequence[Line]`):
            The lines that were to take their place. Where one equals an old line, the old one is used, bytes and all.

    Returns:
        `tuple[list[Line], list[Line]]`: the lines, and those among them that the new text had left out.
    """
    blocks = list(aligned([line.key for line in old], [line.key for line in new]))
    returned = [line for _, at, to, *_ in _changes(blocks) for line in _staying(old[at:to], stays[at:to])]
    moved = Counter(line.key for line in returned if sum(map(str.isalnum, line.key)) >= _TELLING)
    lines: list[Line] = []
    for same, at, to, new_at, new_to in blocks:
        if same:
            lines += old[at:to]
            continue
        lines += _staying(old[at:to], stays[at:to])
        for line in new[new_at:new_to]:
            if moved[line.key]:
                moved[line.key] -= 1
            else:
                lines.append(line)
    found = Counter(line.key for line in new)
    return lines, [line for line in returned if line.key and not _took(found, line.key)]


def replaced(lines: Sequence[Line], at: int, length: int, text: str) -> tuple[int, int, list[Line]]:
    """Put a text in the place of a part of the shown text.

    Args:
        lines (`Sequence[Line]`):
            The lines.
        at (`int`), length (`int`):
            The part, in characters of the shown lines joined by line feeds.
        text (`str`):
            A clean text.

    Returns:
        `tuple[int, int, list[Line]]`: the first line that is touched, the first after it that is not, and what takes
        their place. Characters around the part are kept as they are, and so is the end of the last line.
    """
    first, column = _position(lines, at)
    last, last_column = _position(lines, at + length)
    tail = lines[last] if last < len(lines) else Line("", "", False)
    head = lines[first].body[:column] if first < len(lines) else ""
    middle = head + text + tail.body[last_column:]
    end = line_end(lines)
    bodies = middle.split("\n")
    fresh = [Line(body, end, False) for body in bodies[:-1]] + [Line(bodies[-1], tail.end, False)]
    if last >= len(lines) and not bodies[-1]:
        fresh.pop()
    return first, min(last + 1, len(lines)), fresh


def occurrences(lines: Sequence[Line], text: str) -> list[int]:
    """Where a text stands in the shown lines joined by line feeds, also where two places overlap."""
    view = "".join(line.shown + ("\n" if line.end else "") for line in lines)
    found, at = [], view.find(text)
    while at >= 0:
        found.append(at)
        at = view.find(text, at + 1)
    return found


def unparted(stay: Sequence[Line], lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Find lines again, in their order, among others.

    Returns:
        `tuple[list[Line], list[Line]]`: the other lines, each found one with its mark of who wrote it; and the lines
        that were not found.
    """
    rest = list(stay)
    marked = []
    for line in lines:
        known = bool(rest) and rest[0].body == line.body
        marked.append(line._replace(hand=rest.pop(0).hand) if known else line)
    return marked, rest


def aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Runs of lines that two texts share and runs in which they differ, in order; blank lines alone tie nothing.

    Yields:
        `tuple`: whether the run is shared, its borders in the old text, and its borders in the new one.
    """
    shortest = min(len(old), len(new))
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    most = shortest - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    yield True, 0, head, 0, head
    inner = SequenceMatcher(
        lambda key: not key.strip(), old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    for tag, at, to, new_at, new_to in inner.get_opcodes():
        yield tag == "equal", head + at, head + to, head + new_at, head + new_to
    yield True, len(old) - tail, len(old), len(new) - tail, len(new)


def _changes(blocks: list[tuple[bool, int, int, int, int]]) -> list[tuple[bool, int, int, int, int]]:
    return [block for block in blocks if not block[0]]


def _staying(lines: Sequence[Line], stays: Sequence[bool]) -> list[Line]:
    """The lines of a run that has to go which stay; the blank ones among them only beside others."""
    kept = [line for line, stay in zip(lines, stays, strict=True) if stay]
    return kept if any(line.key for line in kept) else []


def _took(counts: Counter[str], key: str) -> bool:
    """Whether one more of this key is there; it is used up."""
    counts[key] -= 1
    return counts[key] >= 0


def _position(lines: Sequence[Line], offset: int) -> tuple[int, int]:
    """The line at an offset of the shown text, and the column in its body."""
    for number, line in enumerate(lines):
        length = len(line.shown)
        if offset <= length and (offset < length or line.end or number + 1 == len(lines)):
            return number, offset + len(line.body) - length
        offset -= length + 1
    return len(lines), 0
