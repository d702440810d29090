# -*- coding: utf-8 -*-
"""The dates that a text speaks of, absolute and relative, in English and Chinese."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime

from ._calendar import Grain, Rule, Today
from ._chinese_dates import CHINESE_RULES
from ._english_dates import ENGLISH_RULES

__all__ = ["DateSpan", "date_mentions"]

_YEAR = re.compile(r"(?<![\d.\-/])(?:19|20)\d\d(?=\D|$)")
_LONGEST = 20_000


@dataclass(frozen=True)
class DateSpan:
    """The days that an expression means.

    Args:
        start: the first day.
        end: the last day, included.
        grain: how exact the expression was: ``day``, ``week``, ``month``, ``season`` or ``year``.
        text: the expression.
        position: where it begins in the text (in characters, after compatibility forms are resolved).
    """

    start: date
    end: date
    grain: Grain
    text: str
    position: int

    def days_away(self, day: date) -> int:
        """How many days ``day`` lies outside the span; 0 inside."""
        return max((self.start - day).days, (day - self.end).days, 0)


def date_mentions(text: str, now: datetime, latest: date | None = None) -> list[DateSpan]:
    """Find the dates in a text.

    Dates without a year are of the only year that the text names; else the latest that lie before ``latest`` or at
    most a month after it. Weeks begin on Monday; seasons are those of the northern hemisphere.

    Args:
        text (`str`):
            English, Chinese or both; what follows the first 20,000 characters is not read.
        now (`datetime`):
            When the text was written or asked, for ``yesterday`` and the like, in the writer's own time zone.
        latest (`date | None`):
            The last day that the text can be about, such as that of the newest note; by default the day of ``now``.

    Returns:
        The spans in the order of the text, none overlapping another in the text.
    """
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    years = {int(year) for year in _YEAR.findall(text)}
    today = Today(now.date(), latest or now.date(), years.pop() if len(years) == 1 else None)
    found: list[DateSpan] = []
    for pattern, rule in (*CHINESE_RULES, *ENGLISH_RULES):
        for match in pattern.finditer(text):
            if not any(match.start() < f.position + len(f.text) and f.position < match.end() for f in found):
                found.extend(_resolved(match, rule, today))
    return sorted(found, key=lambda span: span.position)


def _resolved(match: re.Match[str], rule: Rule, today: Today) -> list[DateSpan]:
    """The span of a match; none where the calendar has no such day."""
    try:
        start, end, grain = rule(match, today)
    except (ValueError, OverflowError):
        return []
    return [DateSpan(start, end, grain, match.group(), match.start())]
