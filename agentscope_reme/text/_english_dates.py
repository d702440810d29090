# -*- coding: utf-8 -*-
"""English expressions for dates, the more specific first."""

from __future__ import annotations

import re
from datetime import date, timedelta
from re import Match

from ._calendar import Rule, Span, Today, one_day, one_month, one_season, one_year, week_of_month

__all__ = ["ENGLISH_RULES"]

_MONTH_NAMES = "january february march april may june july august september october november december"
_DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_COUNTED = "one two three four five six seven eight nine ten eleven twelve"

_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_DAYS = {name: number for number, name in enumerate(_DAY_NAMES.split())}
_NUMBERS = {word: number for number, word in enumerate(_COUNTED.split(), 1)}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1}
_PARTS = {"early": "early", "start": "early", "beginning": "early", "mid": "mid", "middle": "mid", "late": "late"}
_PARTS["end"] = "late"
_DAYS_AWAY = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0}
_DAYS_AWAY |= {"the day after tomorrow": 2, "tomorrow": 1}
_UNITS = {"day": 1, "night": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}

_ALONE = r"(?<![A-Za-z0-9_-])(?:{})(?![A-Za-z0-9_]|-\d)"
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_BARE_MONTH = r"(?P<month>" + "|".join(name for name in _MONTH_NAMES.split() if name not in ("may", "march")) + r")"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_THEN_YEAR = rf"(?:,?\s*(?:of\s+)?{_YEAR})"
_COUNT = (
    r"(?:(?P<vague>a\s+couple|a\s+few|couple|few|several)(?:\s+of)?|(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r"))"
)
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_PART = r"(?:the\s+)?(?P<part>early|mid|late|start|beginning|middle|end)(?:\s+of)?[\s-]+"
_WEEKDAY = r"(?P<weekday>" + "|".join(_DAYS) + r")"
_WHICH = r"(?P<which>last|this|next|past|previous|coming)"


def _month(match: Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _count(match: Match[str]) -> int:
    if match["vague"]:
        return _NUMBERS[match["vague"].lower().split()[-1]]
    count = match["count"].lower()
    return int(count) if count.isdigit() else _NUMBERS[count]


def _direction(match: Match[str]) -> int:
    return {"this": 0, "next": 1, "coming": 1}.get(match["which"].lower(), -1)


def _iso(match: Match[str], today: Today) -> Span:
    return one_day(date(int(match["year"]), int(match["number"]), int(match["day"])))


def _slashes(match: Match[str], today: Today) -> Span:
    """Month before day, as in the United States, unless it cannot be."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= 12 else (second, first)
    return one_day(date(int(match["year"]), month, day))


def _month_day(match: Match[str], today: Today) -> Span:
    month, day = _month(match), int(match["day"])
    return one_day(date(int(match["year"] or today.year_of(month, day)), month, day))


def _part_of_month(match: Match[str], today: Today) -> Span:
    month = _month(match)
    return one_month(int(match["year"] or today.year_of(month)), month, _PARTS[match["part"].lower()])


def _week_of(match: Match[str], today: Today) -> Span:
    month = _month(match)
    return week_of_month(int(match["year"] or today.year_of(month)), month, _ORDINALS[match["ordinal"].lower()])


def _which_month(match: Match[str], today: Today) -> Span:
    month, direction = _month(match), _direction(match)
    if direction:
        return today.month_before(month) if direction < 0 else today.month_after(month)
    return one_month(today.day.year, month)


def _plain_month(match: Match[str], today: Today) -> Span:
    month = _month(match)
    return one_month(today.year_of(month), month)


def _season_name(match: Match[str]) -> str:
    return "autumn" if match["season"].lower() == "fall" else match["season"].lower()


def _which_season(match: Match[str], today: Today) -> Span:
    direction = _direction(match)
    if direction < 0:
        return today.season_before(_season_name(match))
    return one_season(today.day.year + direction, _season_name(match))


def _which_unit(match: Match[str], today: Today) -> Span:
    unit, direction = match["unit"].lower(), _direction(match)
    if match["which"].lower() == "past":
        return today.day - timedelta(days=_UNITS[unit]), today.day, "week"
    if unit == "month":
        return today.month(direction)
    if unit == "year":
        return one_year(today.day.year + direction)
    return today.weekend(direction) if unit == "weekend" else today.week(direction)


def _which_weekday(match: Match[str], today: Today) -> Span:
    weekday, direction = _DAYS[match["weekday"].lower()], _direction(match)
    if direction:
        return today.weekday_before(weekday) if direction < 0 else today.weekday_after(weekday)
    return today.weekday_of_week(weekday)


def _from_now(match: Match[str], today: Today, sign: int) -> Span:
    """So many units away; the longer the unit, the wider the span."""
    count, unit = sign * _count(match), match["unit"].lower()
    if unit == "month":
        return today.month(count)
    if unit == "year":
        return one_year(today.day.year + count)
    if unit in ("day", "night") and not match["vague"]:
        return today.shifted(count)
    return today.about(count * _UNITS[unit], slack=max(2, _UNITS[unit] // 2))


def _day_away(match: Match[str], today: Today) -> Span:
    return today.shifted(_DAYS_AWAY[" ".join(match.group().lower().split())])


def _compiled(rules: list[tuple[str, Rule]]) -> tuple[tuple[re.Pattern[str], Rule], ...]:
    return tuple((re.compile(_ALONE.format(pattern), re.IGNORECASE), rule) for pattern, rule in rules)


ENGLISH_RULES = _compiled(
    [
        (rf"{_YEAR}(?P<sep>[-/.])(?P<number>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})(?:T[\d:.]+Z?)?", _iso),
        (rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/{_YEAR}", _slashes),
        (rf"{_DAY}\s+(?:of\s+)?{_MONTH}{_THEN_YEAR}?", _month_day),
        (rf"{_MONTH}\s+(?:the\s+)?{_DAY}{_THEN_YEAR}?", _month_day),
        (rf"(?:the\s+)?(?P<ordinal>{'|'.join(_ORDINALS)})\s+week\s+(?:of|in)\s+{_MONTH}{_THEN_YEAR}?", _week_of),
        (rf"{_PART}{_MONTH}{_THEN_YEAR}?", _part_of_month),
        (rf"{_MONTH}{_THEN_YEAR}", lambda m, today: one_month(int(m["year"]), _month(m))),
        (rf"{_YEAR}-(?P<number>0[1-9]|1[0-2])", lambda m, today: one_month(int(m["year"]), int(m["number"]))),
        (rf"{_WHICH}\s+{_MONTH}", _which_month),
        (rf"{_SEASON}{_THEN_YEAR}", lambda m, today: one_season(int(m["year"]), _season_name(m))),
        (rf"{_WHICH}\s+{_SEASON}", _which_season),
        (rf"{_WHICH}\s+(?P<unit>weekend|week|month|year)", _which_unit),
        (rf"{_WHICH}\s+{_WEEKDAY}", _which_weekday),
        (
            rf"{_COUNT}\s+(?P<unit>day|night|week|weekend|month|year)s?\s+(?:ago|before|earlier|back)",
            lambda m, today: _from_now(m, today, -1),
        ),
        (rf"(?:in\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?)", lambda m, today: _from_now(m, today, 1)),
        (
            rf"{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+(?:from\s+now|later)",
            lambda m, today: _from_now(m, today, 1),
        ),
        ("|".join(name.replace(" ", r"\s+") for name in _DAYS_AWAY), _day_away),
        (_WEEKDAY, lambda m, today: today.weekday_before(_DAYS[m["weekday"].lower()], today_counts=True)),
        (_BARE_MONTH, _plain_month),
        (r"(?:in|of|since|until|by|during)\s+(?P<month>may|march)", _plain_month),
        (_YEAR, lambda m, today: one_year(int(m["year"]))),
    ],
)
