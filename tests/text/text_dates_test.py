# -*- coding: utf-8 -*-
"""Dates in text: absolute ones in every form, relative ones against a Wednesday, and what is none."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.text import date_mentions

NOW = datetime(2026, 3, 18, 10, 0)  # a Wednesday
MONTHS = "January February March April May June July August September October November December"


def only(text: str, now: datetime = NOW) -> tuple[str, str, str]:
    (span,) = date_mentions(text, now)
    return span.start.isoformat(), span.end.isoformat(), span.grain


@pytest.mark.parametrize(
    ("text", "start", "end", "grain"),
    [
        ("last May", "2025-05-01", "2025-05-31", "month"),
        ("what happened two weeks ago?", "2026-03-01", "2026-03-07", "week"),
        ("yesterday", "2026-03-17", "2026-03-17", "day"),
        ("the day before yesterday", "2026-03-16", "2026-03-16", "day"),
        ("in the summer of 2022", "2022-06-01", "2022-08-31", "season"),
        ("last summer", "2025-06-01", "2025-08-31", "season"),
        ("last winter", "2025-12-01", "2026-02-28", "season"),
        ("last year", "2025-01-01", "2025-12-31", "year"),
        ("last week", "2026-03-09", "2026-03-15", "week"),
        ("this weekend", "2026-03-21", "2026-03-22", "week"),
        ("last Friday", "2026-03-13", "2026-03-13", "day"),
        ("next Monday", "2026-03-23", "2026-03-23", "day"),
        ("on Tuesday", "2026-03-17", "2026-03-17", "day"),
        ("3 months ago", "2025-12-01", "2025-12-31", "month"),
        ("a couple of days ago", "2026-03-14", "2026-03-18", "week"),
        ("ten days from now", "2026-03-28", "2026-03-28", "day"),
        ("the second week of November", "2025-11-08", "2025-11-14", "week"),
        ("late June 2023", "2023-06-20", "2023-06-30", "month"),
        ("in May", "2025-05-01", "2025-05-31", "month"),
        ("12/25/2023", "2023-12-25", "2023-12-25", "day"),
        ("25/12/2023", "2023-12-25", "2023-12-25", "day"),
        ("memory/2026-03-01.md", "2026-03-01", "2026-03-01", "day"),
        ("在2023-05-07提到的", "2023-05-07", "2023-05-07", "day"),
        ("上周三", "2026-03-11", "2026-03-11", "day"),
        ("上上周五", "2026-03-06", "2026-03-06", "day"),
        ("这个星期天", "2026-03-22", "2026-03-22", "day"),
        ("周五", "2026-03-13", "2026-03-13", "day"),
        ("去年五月", "2025-05-01", "2025-05-31", "month"),
        ("去年五月二十三号", "2025-05-23", "2025-05-23", "day"),
        ("前天", "2026-03-16", "2026-03-16", "day"),
        ("大前天", "2026-03-15", "2026-03-15", "day"),
        ("昨天晚上", "2026-03-17", "2026-03-17", "day"),
        ("三天前", "2026-03-15", "2026-03-15", "day"),
        ("两个星期前", "2026-03-01", "2026-03-07", "week"),
        ("半年前", "2025-09-01", "2025-09-30", "month"),
        ("最近三天", "2026-03-15", "2026-03-18", "week"),
        ("3月1日", "2026-03-01", "2026-03-01", "day"),
        ("十二月二十五号", "2025-12-25", "2025-12-25", "day"),
        ("上个月3号", "2026-02-03", "2026-02-03", "day"),
        ("3月中旬", "2026-03-10", "2026-03-20", "month"),
        ("今年", "2026-01-01", "2026-12-31", "year"),
        ("去年年底", "2025-11-01", "2025-12-31", "season"),
        ("前年春天的事", "2024-03-01", "2024-05-31", "season"),
        ("二〇二三年十二月", "2023-12-01", "2023-12-31", "month"),
        ("２０２３年５月７号", "2023-05-07", "2023-05-07", "day"),
        ("31 February 2023", "2023-02-01", "2023-02-28", "month"),
    ],
)
def test_an_expression_means(text: str, start: str, end: str, grain: str) -> None:
    assert only(text) == (start, end, grain)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may go, march on",
        "INV-2023-7",
        "port 20230507",
        "the 5th",
        "第三周",
        "一个月",
        "20年",
        "version 3.14.15",
        "他今后",
    ],
)
def test_no_date(text: str) -> None:
    assert date_mentions(text, NOW) == []


def test_several_in_the_order_of_the_text() -> None:
    spans = date_mentions("between August 11 and August 15 2023, 后来又在去年五月", NOW)
    assert [str(span.start) for span in spans] == ["2023-08-11", "2023-08-15", "2025-05-01"]
    assert [span.text for span in spans] == ["August 11", "August 15 2023", "去年五月"]


def test_without_a_year_it_is_the_latest_that_the_notes_can_speak_of() -> None:
    (span,) = date_mentions("in October", NOW, latest=date(2023, 12, 30))
    assert span.start == date(2023, 10, 1)
    (span,) = date_mentions("5月2日", NOW, latest=date(2023, 6, 1))
    assert span.start == date(2023, 5, 2)
    (span,) = date_mentions("yesterday", NOW, latest=date(2023, 6, 1))
    assert span.start == date(2026, 3, 17)


def test_days_away() -> None:
    (span,) = date_mentions("May 2023", NOW)
    assert span.days_away(date(2023, 5, 31)) == 0
    assert span.days_away(date(2023, 4, 29)) == 2
    assert span.days_away(date(2023, 6, 1)) == 1


DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
FORMS = [
    lambda d: d.isoformat(),
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d.day} {MONTHS.split()[d.month - 1]} {d.year}",
    lambda d: f"{MONTHS.split()[d.month - 1][:3]} {d.day}, {d.year}",
    lambda d: f"{d.year}年{d.month}月{d.day}日",
    lambda d: f"{d.year}年 {d.month:02}月 {d.day:02}号",
]


@settings(max_examples=100, deadline=None)
@given(DAYS, st.sampled_from(FORMS), st.sampled_from(["{}", "我们{}见面。", "It was on {}, I think."]))
def test_every_day_in_every_form(day: date, form, frame: str) -> None:  # type: ignore[no-untyped-def]
    (span,) = date_mentions(frame.format(form(day)), NOW)
    assert (span.start, span.end, span.grain) == (day, day, "day")


PIECES = st.sampled_from(
    [
        *MONTHS.split(),
        "last",
        "next",
        "week",
        "ago",
        "two",
        "of",
        "31",
        "2023",
        "上",
        "周",
        "三",
        "月",
        "年",
        "前",
        "号",
        "去年",
        "-",
        "/",
        " ",
    ],
)


@given(st.lists(PIECES | st.text(st.characters(codec=None), max_size=3), max_size=12), st.datetimes())
def test_whatever_stands_there_gives_spans_in_order(pieces: list[str], now: datetime) -> None:
    spans = date_mentions("".join(pieces), now)
    end = 0
    for span in spans:
        assert span.start <= span.end
        assert span.position >= end
        end = span.position + len(span.text)
