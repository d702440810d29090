# -*- coding: utf-8 -*-
"""A note file to chunks, with the day that it or one of its headings names."""

from __future__ import annotations

import datetime as dt
import re

from ..text import decode_text, split_lines
from ._chunks import sections
from ._draft import Draft

__all__ = ["note_drafts", "path_day"]

_DAY = re.compile(
    r"(?<!\d)(\d{4})(?:(\d{2})(\d{2})|[-_./年](\d{1,2})[-_./月](\d{1,2})日?)(?!\d)",
)
_HEADING_DAY = re.compile(r"(?<![\d.])(\d{4})[-/年](\d{1,2})[-/月](\d{1,2})日?(?!\d)")


def note_drafts(path: str, data: bytes, limit: int) -> tuple[list[Draft], str]:
    """Cut a note into chunks.

    Args:
        path (`str`): Its path; a day in its name is the time of its chunks, unless a heading names another.
        data (`bytes`): Its content.
        limit (`int`): Tokens of a chunk.

    Returns:
        `tuple[list[Draft], str]`: the chunks, and what is wrong with the file, "" where nothing is.
    """
    decoded = decode_text(data)
    day = path_day(path)
    drafts = [
        Draft(
            "note",
            section.start_line,
            section.end_line,
            section.text,
            heading=section.heading,
            offset=section.offset,
            time=_heading_day(section.heading, section.text) or day,
        )
        for section in sections(split_lines(decoded.text), limit)
    ]
    if decoded.whole and all(encoding.startswith("utf") for encoding in decoded.encodings):
        return drafts, ""
    replaced = "" if decoded.whole else "; what could not be read is replaced"
    return drafts, f"it is not all UTF-8 and was read as {' and '.join(decoded.encodings)}{replaced}"


def path_day(path: str) -> str:
    """The last day that a path names, also as ``2026-09/09.md``, ISO 8601; "" where it names none."""
    days = [day for match in _DAY.finditer(path) if (day := _iso(match))]
    return days[-1] if days else ""


def _heading_day(heading: str, text: str) -> str:
    """The day in the innermost heading that names exactly one."""
    own = [line.lstrip("# ") for line in text.split("\n", 3)[:3] if line.startswith("#")]
    for title in reversed([*heading.split(" > "), *own]):
        days = {day for match in _HEADING_DAY.finditer(title) if (day := _iso(match))}
        if len(days) == 1:
            return days.pop()
    return ""


def _iso(match: re.Match[str]) -> str:
    try:
        return dt.date(*(int(part) for part in match.groups() if part)).isoformat()
    except ValueError:
        return ""
