# -*- coding: utf-8 -*-
"""Chinese expressions for dates, the more specific first."""

from __future__ import annotations

import re
from datetime import date, timedelta
from re import Match

from ._calendar import Rule, Span, Today, one_day, one_month, one_season, one_year

__all__ = ["CHINESE_RULES"]

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMBER = r"\d{1,4}|[零〇一二两三四五六七八九十]{1,4}"
_COUNT = rf"(?P<count>{_NUMBER}|几|半)"
_YEAR = r"(?P<year>(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3})年"
_WHICH_YEAR = r"(?P<which>大前年|前年|去年|今年|本年|明年|后年)"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月份?"
_DIGIT = "[一二三四五六七八九]"
_DAY = rf"(?P<day>3[01]|[12]\d|0?[1-9]|三十一?|二十{_DIGIT}?|十{_DIGIT}?|{_DIGIT})(?:日|号)"
_SEASON = r"(?P<season>[春夏秋冬])(?:天|季)"
_PART = r"(?P<part>上旬|中旬|下旬|初|中|底|末)"
_WEEK = r"(?:个)?(?:周|星期|礼拜)"
_WEEKDAY = r"(?P<weekday>[一二三四五六日天])"

_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_DAYS = {"大前天": -3, "前天": -2, "前晚": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_PARTS = {"上旬": "early", "初": "early", "中旬": "mid", "中": "mid", "下旬": "late", "底": "late", "末": "late"}
_UNITS = {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}


def _number(text: str) -> int:
    """12 and 十二 and 二三; 十 is 10 alone, before and after other digits."""
    if text.isdigit():
        return int(text)
    if "十" not in text:
        return int("".join(str(_DIGITS[character]) for character in text))
    tens, _, ones = text.partition("十")
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _named_year(match: Match[str], today: Today) -> int:
    groups = match.groupdict()
    if groups.get("year"):
        return _number(groups["year"])
    return today.day.year + _YEARS[groups["which"]]


def _year_month_day(match: Match[str], today: Today) -> Span:
    return one_day(date(_named_year(match, today), _number(match["month"]), _number(match["day"])))


def _month_day(match: Match[str], today: Today) -> Span:
    month, day = _number(match["month"]), _number(match["day"])
    return one_day(date(today.year_of(month, day), month, day))


def _year_month(match: Match[str], today: Today) -> Span:
    return one_month(_named_year(match, today), _number(match["month"]), _PARTS.get(match["part"] or "", ""))


def _month(match: Match[str], today: Today) -> Span:
    month = _number(match["month"])
    return one_month(today.year_of(month), month, _PARTS.get(match["part"] or "", ""))


def _year_part(match: Match[str], today: Today) -> Span:
    """The first or last two months, or the four in the middle."""
    year, part = _named_year(match, today), _PARTS[match["part"]]
    first, last = {"early": (1, 2), "mid": (5, 8), "late": (11, 12)}[part]
    return date(year, first, 1), one_month(year, last)[1], "season"


def _season(match: Match[str], today: Today) -> Span:
    return one_season(_named_year(match, today), _SEASONS[match["season"]])


def _step_month(match: Match[str], today: Today) -> Span:
    start, end, grain = today.month(_STEPS[match["step"]])
    if match["day"]:
        return one_day(start.replace(day=_number(match["day"])))
    part = _PARTS.get(match["part"] or "", "")
    return one_month(start.year, start.month, part) if part else (start, end, grain)


def _step_week(match: Match[str], today: Today) -> Span:
    steps = _STEPS[match["step"]]
    if match["end"]:
        return today.weekend(steps)
    return today.weekday_of_week(_weekday(match), steps) if match["weekday"] else today.week(steps)


def _weekday(match: Match[str]) -> int:
    return 6 if match["weekday"] in "日天" else _DIGITS[match["weekday"]] - 1


def _day_name(match: Match[str], today: Today) -> Span:
    return today.shifted(_DAYS[match["name"]])


def _away(match: Match[str], today: Today) -> Span:
    """So many units before or after; 半年 is six months, 几 is a few."""
    unit, count, sign = match["unit"], match["count"], -1 if match["side"] == "前" else 1
    if count == "半":
        return today.month(6 * sign) if unit == "年" else today.about(sign * _UNITS[unit] // 2, slack=3)
    if count == "几":
        return today.about(4 * sign * _UNITS[unit], slack=max(3, 2 * _UNITS[unit]))
    steps = sign * _number(count)
    if unit == "月":
        return today.month(steps)
    if unit == "年":
        return one_year(today.day.year + steps)
    days = steps * _UNITS[unit]
    return today.shifted(days) if _UNITS[unit] == 1 else today.about(days, slack=3)


def _lately(match: Match[str], today: Today) -> Span:
    days = max(1, _number(match["count"])) * _UNITS[match["unit"]]
    return today.day - timedelta(days=days), today.day, "week"


_STEP = r"(?P<step>上上|下下|上|这|本|下)"
_UNIT = r"(?:个)?(?P<unit>天|日|周|星期|礼拜|月|年)"

CHINESE_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in [
        (rf"(?:{_YEAR}|{_WHICH_YEAR}的?)\s*{_MONTH}\s*{_DAY}", _year_month_day),
        (rf"(?:{_YEAR}|{_WHICH_YEAR}的?)\s*{_MONTH}{_PART}?", _year_month),
        (rf"(?:{_YEAR}|{_WHICH_YEAR}的?)\s*{_SEASON}", _season),
        (rf"(?:{_YEAR}|{_WHICH_YEAR}年?){_PART}", _year_part),
        (rf"(?<![\d年]){_MONTH}\s*{_DAY}", _month_day),
        (rf"{_STEP}个?月的?(?:{_DAY}|{_PART})?", _step_month),
        (rf"{_STEP}{_WEEK}(?:{_WEEKDAY}|(?P<end>末))?", _step_week),
        (rf"(?:{_COUNT}){_UNIT}(?:之|以)?(?P<side>前|后)", _away),
        (rf"(?:最近|近|过去)(?:的)?(?P<count>{_NUMBER}){_UNIT}", _lately),
        (
            r"(?P<name>大前天|前天|前晚|昨(?=[天日晚夜])|今(?=[天日晚早])|明(?=[天日晚早])|大后天|后天)[天日晚夜早]?",
            _day_name,
        ),
        (rf"(?:周|星期|礼拜){_WEEKDAY}(?![\u4e00-\u9fff]*[年])", lambda m, t: t.weekday_before(_weekday(m), True)),
        (r"(?:周末)", lambda m, today: today.weekend(0 if today.day.weekday() > 4 else -1)),
        (rf"(?<![\d年十一二三四五六七八九]){_MONTH}{_PART}?", _month),
        (_YEAR, lambda m, today: one_year(_named_year(m, today))),
        (_WHICH_YEAR, lambda m, today: one_year(_named_year(m, today))),
    ]
)
