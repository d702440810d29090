# -*- coding: utf-8 -*-
"""Times in every notation, and the local day of a message."""

import datetime as dt
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from _message_histories import user
from agentscope.message import Msg
from hypothesis import example, given
from hypothesis import strategies as st

from agentscope_reme.message import host_timestamp, local_day, parsed_time

_SHANGHAI = dt.timezone(dt.timedelta(hours=8))


@pytest.fixture(autouse=True)
def _in_shanghai() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Shanghai"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def _at(timestamp: Any) -> Msg:
    msg = user("早")
    msg.timestamp = timestamp
    return msg


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-28 10:00:00", "2026-02-28 10:00:00.000"),
        ("2026-02-28 10:00:00.123", "2026-02-28 10:00:00.123"),
        ("2026-02-28T10:00:00.123456789", "2026-02-28 10:00:00.123"),
        ("2026-02-28T10:00:00Z", "2026-02-28 18:00:00.000"),
        ("2026-02-28T10:00:00.5-05:00", "2026-02-28 23:00:00.500"),
        ("2026-02-28 10:00:00 +0800", "2026-02-28 10:00:00.000"),
        ("2026/2/8 9:05", "2026-02-08 09:05:00.000"),
        (" 2026-02-28 ", "2026-02-28 00:00:00.000"),
        (1772244000, "2026-02-28 10:00:00.000"),
        (1772244000.25, "2026-02-28 10:00:00.250"),
        (1772244000250, "2026-02-28 10:00:00.250"),
        (dt.datetime(2026, 2, 28, 10), "2026-02-28 10:00:00.000"),
        (dt.datetime(2026, 2, 28, 2, tzinfo=dt.timezone.utc), "2026-02-28 10:00:00.000"),
    ],
)
def test_every_notation_becomes_the_host_s(value: Any, expected: str) -> None:
    moment = parsed_time(value)
    assert moment is not None
    assert host_timestamp(moment) == expected


@pytest.mark.parametrize(
    "value",
    ["", "昨天", "../../x 1", "2026-13-01", "2026-02-30 10:00:00", "2026-02-28 25:00", "2026-02-28T10:00+99:00", None,
     True, [], float("nan"), float("inf"), 10**400, -(10**30), "2026-02-28\n../x", "２０２６-02-28"],
)  # fmt: skip
def test_what_is_no_time(value: Any) -> None:
    assert parsed_time(value) is None
    before = dt.date.today()
    assert before <= local_day(_at(value)) <= dt.date.today()


@given(st.datetimes(min_value=dt.datetime(1971, 1, 1), max_value=dt.datetime(9000, 1, 1)))
def test_the_host_s_own_notation_is_read_back(moment: dt.datetime) -> None:
    written = moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    assert host_timestamp(moment) == written
    assert parsed_time(written) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert local_day(_at(written)) == moment.date()


@given(st.one_of(st.text(max_size=30), st.none(), st.integers(), st.floats(), st.datetimes(), st.binary(max_size=3)))
@example("0001-01-01T00:00:00+14:00")
@example("9999-12-31T23:59:59-12:00")
def test_the_day_is_always_a_real_date(timestamp: Any) -> None:
    for zone in (None, dt.timezone.utc, dt.timezone(dt.timedelta(hours=14))):
        day = local_day(_at(timestamp), zone)
        assert type(day) is dt.date
        assert "/" not in day.isoformat()


def test_the_day_is_where_its_people_are() -> None:
    """Field report G1: half past midnight in Shanghai is still yesterday in UTC."""
    assert local_day(_at("2026-09-15 00:30:00.000")) == dt.date(2026, 9, 15)
    assert local_day(_at("2026-09-15 00:30:00.000"), dt.timezone.utc) == dt.date(2026, 9, 14)
    assert local_day(_at("2026-09-14T16:30:00Z")) == dt.date(2026, 9, 15)
    assert local_day(_at("2026-09-14T16:30:00Z"), _SHANGHAI) == dt.date(2026, 9, 15)
