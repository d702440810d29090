# -*- coding: utf-8 -*-
"""Days, weeks, months, seasons and years as spans of dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from re import Match
from typing import Literal

__all__ = ["Grain", "Rule", "Span", "Today"]

Grain = Literal["day", "week", "month", "season", "year"]
Span = tuple[date, date, Grain]
Rule = Callable[[Match[str], "Today"], Span]
"""What a matched expression means today; it raises ValueError or OverflowError where it means no date."""

_AHEAD = 31
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


@dataclass(frozen=True)
class Today:
    """The day from which relative expressions count.

    Args:
        day: the day itself.
        latest: the day that dates without a year lie before, or at most a month after.
        year: the one year that the text names, for its dates without a year.
    """

    day: date
    latest: date
    year: int | None = None

    def shifted(self, days: int) -> Span:
        """The day so many days from here."""
        return one_day(self.day + timedelta(days=days))

    def about(self, days: int, slack: int) -> Span:
        """The days around the one so many days from here."""
        centre, around = self.day + timedelta(days=days), timedelta(days=slack)
        return centre - around, centre + around, "week"

    def week(self, weeks: int = 0) -> Span:
        """Monday to Sunday of the week so many weeks from here."""
        monday = self.day - timedelta(days=self.day.weekday()) + timedelta(weeks=weeks)
        return monday, monday + timedelta(days=6), "week"

    def weekend(self, weeks: int = 0) -> Span:
        """Saturday and Sunday of that week."""
        start, end, _ = self.week(weeks)
        return start + timedelta(days=5), end, "week"

    def month(self, months: int = 0) -> Span:
        """The whole month so many months from here."""
        count = self.day.year * 12 + self.day.month - 1 + months
        return one_month(count // 12, count % 12 + 1)

    def weekday_of_week(self, weekday: int, weeks: int = 0) -> Span:
        """That weekday (Monday is 0) of the week so many weeks from here."""
        return one_day(self.week(weeks)[0] + timedelta(days=weekday))

    def weekday_before(self, weekday: int, today_counts: bool = False) -> Span:
        """The latest such weekday (Monday is 0) before today, or up to it."""
        back = (self.day.weekday() - weekday) % 7
        return self.shifted(-back if back or today_counts else -7)

    def weekday_after(self, weekday: int) -> Span:
        """The first such weekday (Monday is 0) after today."""
        return self.shifted((weekday - self.day.weekday() - 1) % 7 + 1)

    def year_of(self, month: int, day: int = 1) -> int:
        """The year that is meant by a month without one: the text's own, else the latest that fits."""
        if self.year is not None:
            return self.year
        ahead = (date(self.latest.year, month, 1) - self.latest).days + day - 1
        return self.latest.year if ahead <= _AHEAD else self.latest.year - 1

    def month_before(self, month: int) -> Span:
        """The latest such month before this one."""
        return one_month(self.day.year - (month >= self.day.month), month)

    def month_after(self, month: int) -> Span:
        """The first such month after this one."""
        return one_month(self.day.year + (month <= self.day.month), month)

    def season_before(self, name: str) -> Span:
        """The latest such season that is over."""
        span = one_season(self.day.year, name)
        return span if span[1] < self.day else one_season(self.day.year - 1, name)


def one_day(day: date) -> Span:
    """A day as a span."""
    return day, day, "day"


def one_month(year: int, month: int, part: str = "") -> Span:
    """A month, or its ``early``, ``mid`` or ``late`` third."""
    first = date(year, month, 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    if part == "early":
        last = first.replace(day=10)
    elif part == "mid":
        first, last = first.replace(day=10), first.replace(day=20)
    elif part == "late":
        first = first.replace(day=20)
    return first, last, "month"


def one_season(year: int, name: str) -> Span:
    """Three months of the northern hemisphere; the winter of a year ends in the next one's February."""
    start = date(year, _SEASONS[name], 1)
    return start, (start + timedelta(days=93)).replace(day=1) - timedelta(days=1), "season"


def one_year(year: int) -> Span:
    """A calendar year."""
    return date(year, 1, 1), date(year, 12, 31), "year"


def week_of_month(year: int, month: int, number: int) -> Span:
    """The first (1) to fourth week of a month by its days, or the last (-1)."""
    first, last, _ = one_month(year, month)
    if number < 0:
        return last - timedelta(days=6), last, "week"
    start = first + timedelta(weeks=number - 1)
    return start, min(start + timedelta(days=6), last), "week"
