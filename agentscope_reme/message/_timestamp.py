# -*- coding: utf-8 -*-
"""When a message was said: the host's timestamp, other notations of a time, and the local day."""

import datetime as dt
import re
from typing import Any

from agentscope.message import Msg

__all__ = ["host_timestamp", "local_day", "parsed_time"]

_NOTATION = re.compile(
    r"\s*(\d{4})[-/](\d{1,2})[-/](\d{1,2})"
    r"(?:[T\s]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:(Z)|([+-])(\d{2}):?(\d{2})?)?)?\s*\Z",
    re.ASCII | re.IGNORECASE,
)
_MILLISECONDS_FROM = 1e11
"""Numbers from here on are epoch milliseconds: as seconds they would lie after the year 5000."""


def parsed_time(value: Any) -> dt.datetime | None:
    """Read a time in any notation that messages carry.

    Args:
        value (`str | int | float | datetime | Any`):
            `YYYY-MM-DD[ HH:MM[:SS[.fraction]]]`, ISO 8601 with or without a zone, epoch seconds (or milliseconds, from
            100 billion on), or a `datetime`.

    Returns:
        `datetime | None`: aware where the value named a zone or is a number, else naive, which means local time; `None`
        where the value is not a time.
    """
    if isinstance(value, dt.datetime):
        return value
    try:
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return dt.datetime.fromtimestamp(seconds, dt.timezone.utc)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def host_timestamp(moment: dt.datetime) -> str:
    """A time as the host writes it: `YYYY-MM-DD HH:MM:SS.mmm`, local.

    Raises:
        `OverflowError`: the local time lies outside the years 1 to 9999.
    """
    local = moment if moment.tzinfo is None else moment.astimezone()
    return local.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def local_day(msg: Msg, tz: dt.tzinfo | None = None) -> dt.date:
    """The day on which a message was said, where its people are.

    Args:
        msg (`Msg`):
            The message; its timestamp may be any string or none.
        tz (`tzinfo | None`):
            The zone whose days count; `None` is this machine's own.

    Returns:
        `date`: always a real date; today where the timestamp cannot be read.
    """
    moment = parsed_time(getattr(msg, "timestamp", None))
    if moment is None:
        return dt.datetime.now(tz).date()
    if tz is None and moment.tzinfo is None:
        return moment.date()
    try:
        return moment.astimezone(tz).date()
    except (ValueError, OverflowError, OSError):
        return moment.date()


def _from_text(text: str) -> dt.datetime | None:
    match = _NOTATION.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, utc, sign, zone_hours, zone_minutes = match.groups()
    microsecond = int((fraction or "0").ljust(6, "0")[:6])
    moment = dt.datetime(
        int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), microsecond
    )
    if utc:
        return moment.replace(tzinfo=dt.timezone.utc)
    if sign is None:
        return moment
    offset = dt.timedelta(hours=int(zone_hours), minutes=int(zone_minutes or 0))
    return moment.replace(tzinfo=dt.timezone(offset if sign == "+" else -offset))
