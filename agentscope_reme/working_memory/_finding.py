# -*- coding: utf-8 -*-
"""Finding a literal in long texts, and showing each place in a few words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Place", "literal", "places"]

_WHOLE_LINE = 300
_BEFORE, _AFTER = 80, 160


@dataclass(frozen=True)
class Place:
    """What to show of a text around one match.

    Attributes:
        line (`int`): the line of the match, from 1.
        begin (`int`): the first character to show.
        end (`int`): the character behind the last one to show.
        whole (`bool`): whether that is the whole line; else it is a window in a long one.
    """

    line: int
    begin: int
    end: int
    whole: bool

    def byte_in(self, text: str) -> int:
        """Where the shown part begins in the text's UTF-8 bytes, from 0.

        Args:
            text (`str`):
                The text that was searched, decoded with ``surrogateescape``.
        """
        return self.begin if text.isascii() else len(text[: self.begin].encode("utf-8", "surrogateescape"))


def literal(pattern: str) -> re.Pattern[str]:
    """A pattern that matches the text itself, in upper or lower case.

    Args:
        pattern (`str`):
            What to find; nothing in it is special.
    """
    return re.compile(re.escape(pattern), re.IGNORECASE)


def places(text: str, pattern: re.Pattern[str]) -> Iterator[Place]:
    """All places to show, in order; matches that an earlier place shows already are passed over.

    Args:
        text (`str`):
            The text.
        pattern (`re.Pattern`):
            From ``literal``.
    """
    line, counted, shown = 1, 0, 0
    for match in pattern.finditer(text):
        start, stop = match.span()
        if start < shown:
            continue
        line += text.count("\n", counted, start)
        counted = start
        begin, end = _line_around(text, start, stop)
        whole = end - begin <= _WHOLE_LINE
        if not whole:
            begin, end = max(begin, start - _BEFORE), min(end, stop + _AFTER)
        shown = end
        yield Place(line, begin, end, whole)


def _line_around(text: str, start: int, stop: int) -> tuple[int, int]:
    """The ends of the line, looked for no further than needed to know that it is a long one."""
    near, far = max(0, start - _WHOLE_LINE - 1), min(len(text), stop + _WHOLE_LINE + 1)
    newline = text.rfind("\n", near, start)
    end = text.find("\n", stop, far)
    return (newline + 1 if newline >= 0 else near), (end if end >= 0 else far)
