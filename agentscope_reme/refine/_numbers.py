# -*- coding: utf-8 -*-
"""Numbers and times of day in a text, however they are written: 1,200, 1200, 一千二百, 1.2k, twelve hundred."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

__all__ = ["Mention", "clock_mentions", "number_mentions"]


@dataclass(frozen=True)
class Mention:
    """A number, or a time of day in minutes since midnight.

    Args:
        text (`str`): as it is written.
        start (`int`), end (`int`): where.
        readings (`frozenset[Decimal]`): what it may mean: "5k" is 5 or 5000, "three o'clock" 180 or 900 minutes.
        sure (`bool`): whether it is meant as a number; 三 in 三明治 and "one" in "one of them" are not.
        written (`Decimal | None`): for a time of day, what it says on a clock of 24 hours.
    """

    text: str
    start: int
    end: int
    readings: frozenset[Decimal]
    sure: bool = True
    written: Decimal | None = None


_DIGIT = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
_UNIT = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}
_TIMES = {"k": 10**3, "m": 10**6, "b": 10**9, "thousand": 10**3, "million": 10**6, "billion": 10**9, "hundred": 100}
_TIMES |= {"万": 10**4, "亿": 10**8, "千": 1000, "百": 100, "百万": 10**6, "千万": 10**7, "dozen": 12}

_ARABIC = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<sign>(?<![\w)])[-−](?=\d))?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d)"
    r"(?:(?P<times>\s?(?:百万|千万|[万亿千百]|(?:hundred|thousand|million|billion|dozen)\b)|[kmb]\b))?",
    re.IGNORECASE,
)
_HAN_NUMBER = re.compile(r"(?<![周期拜])第?[零〇一二两俩三四五六七八九十百千万亿]+")
_MEASURE = (
    "个只次天年岁点块元人本位口周杯倍层楼张条件辆台家种名篇页遍场门节日月号斤克吨米分秒度套双顿碗瓶盒袋份笔步轮组期章集首部句"
    "幅座间栋栏行列枚颗粒朵棵株头匹公千厘毫小星礼季代届级班排队股成折"
)
_NOT_NUMBERS = re.compile(
    r"十分(?!之|钟)|万一|千万(?=[别不要记小注])|万万|一[一-鿿]?[二三]?[一-鿿]?意|三心二意|四面八方|七上八下|五花八门|乱七八糟|"
    r"三番[两五]次|丢三落四|接二连三|再三|三明治|五官|四季|九牛一毛|百般|千方百计|万分|十足|百姓|三角|四处|八卦|六神|两边|两旁"
)
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH = {word: value for value, word in enumerate(_WORDS.split())}
_ENGLISH |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)} | {"couple": 2, "dozen": 12}
_ENGLISH_RUN = re.compile(
    rf"\b(?:{'|'.join(_ENGLISH)}|hundred|thousand|million|billion)"
    rf"(?:[\s-]+(?:and\s+)?(?:{'|'.join(_ENGLISH)}|hundred|thousand|million|billion))*\b",
    re.IGNORECASE,
)

_PERIOD = r"(?P<period>凌晨|清晨|早上|早晨|上午|今早|中午|下午|傍晚|晚上|今晚|明晚|昨晚|夜里|半夜|晚)?"
_HAN_HOUR = r"(?:[01]?\d|2[0-4]|二十[一二三四]?|十[一二三四五六七八九]?|[零一二两三四五六七八九])"
_CLOCKS = (
    re.compile(r"\b(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b", re.IGNORECASE),
    re.compile(rf"{_PERIOD}(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:：](?P<minute>[0-5]\d)(?![\d:])"),
    re.compile(
        rf"{_PERIOD}(?<![\d.零一二两三四五六七八九十第])(?P<hour>{_HAN_HOUR})(?:点|时(?=\d|半|整|许|[零一二三四五]))"
        r"(?P<tail>半|[一三]刻|整|钟|(?P<minute>[0-5]?\d|[零一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九])分?)?"
    ),
    re.compile(
        rf"\b(?:(?P<past>half|quarter) (?P<way>past|to) )?(?P<hour>1[0-2]|[1-9]|{'|'.join(_WORDS.split()[1:13])})"
        r"(?P<tail> o'?clock)?\b",
        re.IGNORECASE,
    ),
)
_LATE = ("下午", "傍晚", "晚上", "今晚", "明晚", "昨晚", "夜里", "半夜", "晚", "中午")
_EARLY = ("凌晨", "清晨", "早上", "早晨", "上午", "今早")


def number_mentions(text: str) -> list[Mention]:
    """All numbers in a text, in order; the text should be in compatibility form (NFKC)."""
    found = [*_arabic(text), *_han(text), *_english(text)]
    return sorted(found, key=lambda each: (each.start, -each.end))


def clock_mentions(text: str) -> list[Mention]:
    """All times of day in a text, in order; where morning or evening is left open, both are readings."""
    found: list[Mention] = []
    for pattern in _CLOCKS:
        for match in pattern.finditer(text):
            mention = _clock(match)
            if mention and not any(mention.start < each.end and each.start < mention.end for each in found):
                found.append(mention)
    return sorted(found, key=lambda each: each.start)


def _arabic(text: str) -> Iterator[Mention]:
    for match in _ARABIC.finditer(text):
        try:
            value = Decimal(match["digits"].replace(",", "")) * (-1 if match["sign"] else 1)
        except InvalidOperation:
            continue
        readings = {value}
        if times := (match["times"] or "").strip().lower():
            readings.add(value * _TIMES[times])
            if times not in ("k", "m", "b", "百", "千"):
                readings.discard(value)
        yield Mention(match.group(), match.start(), match.end(), frozenset(_plain(each) for each in readings))


def _han(text: str) -> Iterator[Mention]:
    not_meant = [match.span() for match in _NOT_NUMBERS.finditer(text)] if not text.isascii() else []
    for match in _HAN_NUMBER.finditer(text) if not text.isascii() else ():
        ordinal = match.group().startswith("第")
        digits = match.group().lstrip("第")
        value = _han_value(digits)
        if value is None:
            continue
        inside = any(start < match.end() and match.start() < end for start, end in not_meant)
        vague = text[match.start() - 1 : match.start()] == "几" or text[match.end() : match.end() + 1] in (
            "几",
            "来",
            "多",
        )
        after = text[match.end() : match.end() + 1]
        counted = len(digits) > 1 or (digits not in "一十百千万亿零" and after != "" and after in _MEASURE)
        sure = not inside and not vague and digits[0] not in "百千万亿" and (ordinal or counted) and digits != "一"
        yield Mention(match.group(), match.start(), match.end(), frozenset([Decimal(value)]), sure)


def _han_value(digits: str) -> int | None:
    """一千二百 is 1200, 二〇二四 is 2024, 三万五 is 35000; None where it is no number."""
    if not digits:
        return None
    if not any(each in _UNIT or each in _LARGE for each in digits):
        return int("".join(str(_DIGIT[each]) for each in digits))
    total = section = current = 0
    unit = 1
    for each in digits:
        if each in _DIGIT:
            current = _DIGIT[each]
        elif each in _UNIT:
            unit = _UNIT[each]
            section += (current or 1) * unit
            current = 0
        else:
            unit = _LARGE[each]
            total = (total + section + current or 1) * unit
            section = current = 0
    short = digits[-1] in _DIGIT and len(digits) > 1 and digits[-2] in ("百", "千", "万", "亿")
    return total + section + current * (unit // 10 if short else 1)


def _english(text: str) -> Iterator[Mention]:
    for match in _ENGLISH_RUN.finditer(text):
        words = re.split(r"[\s-]+", match.group().lower())
        total = current = 0
        for word in words:
            if word in _ENGLISH:
                current += _ENGLISH[word]
            elif word == "hundred":
                current = (current or 1) * 100
            elif word in _TIMES:
                total += (current or 1) * _TIMES[word]
                current = 0
        sure = words not in (["one"], ["couple"], ["hundred"], ["thousand"], ["million"], ["zero"])
        yield Mention(match.group(), match.start(), match.end(), frozenset([Decimal(total + current)]), sure)


def _clock(match: re.Match[str]) -> Mention | None:
    groups = match.groupdict()
    hour = _hour(groups["hour"])
    tail, period = groups.get("tail") or "", groups.get("period") or ""
    minute = _minute(groups.get("minute"), tail)
    if groups.get("past"):
        minute = (30 if groups["past"].lower() == "half" else 15) * (1 if groups["way"].lower() == "past" else -1)
    if hour is None or hour > 24:
        return None
    written = 60 * hour + minute
    readings = {written}
    if groups.get("half"):
        readings = {60 * (hour % 12 + 12 * (groups["half"].lower() == "p")) + minute}
    elif period in _LATE:
        readings = {60 * (hour + 12) + minute if hour < 12 else written}
        if period in ("夜里", "半夜") or hour == 12:
            readings.add(60 * (hour % 12) + minute)
    elif period not in _EARLY and hour <= 12 and not _is_24(groups["hour"]):
        readings.add(60 * ((hour + 12) % 24) + minute)
    told = bool(groups.get("half") or period or tail.strip() or groups.get("minute") or groups.get("past"))
    return Mention(
        match.group(),
        match.start(),
        match.end(),
        frozenset(Decimal(each % 1440) for each in readings),
        told,
        Decimal(written % 1440) if written in readings else None,
    )


def _is_24(hour: str) -> bool:
    return hour.startswith("0") and len(hour) == 2


def _hour(text: str) -> int | None:
    lowered = text.lower()
    return _ENGLISH[lowered] if lowered in _ENGLISH else int(text) if text.isdigit() else _han_value(text)


def _minute(text: str | None, tail: str) -> int:
    if text:
        return int(text) if text.isdigit() else _han_value(text) or 0
    return {"半": 30, "一刻": 15, "三刻": 45}.get(tail, 0)


def _plain(value: Decimal) -> Decimal:
    """1.50 and 1.5 are one number."""
    return value.normalize() + 0
