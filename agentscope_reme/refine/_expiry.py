# -*- coding: utf-8 -*-
"""When a memory stops being of use: by its category, after the last day that it names."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from ..record import MemoryNode
from ..text import DateSpan, date_mentions
from ._config import RefinerConfig

__all__ = ["expiry_of", "last_day_named", "with_expiry"]

_AHEAD = timedelta(days=330)
_WEEKDAY = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天]|(?:周末)|(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE
)


def last_day_named(text: str, said: datetime) -> date | None:
    """The last day that a text about what is to come names, seen from when it was said; None where it names none.

    A weekday alone ("周三开会") is the next one, and a date without a year lies within the eleven months ahead where it
    can.
    """
    spans = date_mentions(text, said, said.date() + _AHEAD)
    return max((_ahead(span, said.date()) for span in spans), default=None)


def expiry_of(node: MemoryNode, config: RefinerConfig) -> datetime | None:
    """When a memory stops being of use by the rules for its category; None for never.

    Args:
        node (`MemoryNode`): the memory; its message time, else its creation, is when it was said.
        config (`RefinerConfig`): `expiry_days` and `undated_expiry_days`.
    """
    said = (node.message_time or node.time_created).astimezone()
    if node.category in config.expiry_days:
        day = last_day_named(node.content, said)
        if day is not None:
            return _end_of(day, config.expiry_days[node.category], said)
    if node.category in config.undated_expiry_days:
        return _end_of(said.date(), config.undated_expiry_days[node.category], said)
    return None


def with_expiry(node: MemoryNode, config: RefinerConfig) -> MemoryNode:
    """The memory with the end that the rules give it; one that has an end, or never fades, is left as it is."""
    if node.expires_at is not None or node.importance >= config.protect_from:
        return node
    expires = expiry_of(node, config)
    return node if expires is None else replace(node, expires_at=expires)


def _ahead(span: DateSpan, said: date) -> date:
    is_weekday = _WEEKDAY.fullmatch(span.text.strip())
    return span.end + timedelta(days=7) if is_weekday and span.end < said else span.end


def _end_of(day: date, days: float, said: datetime) -> datetime | None:
    """The end of a day and so many days more, in the zone of the one who spoke."""
    try:
        return datetime.combine(day, time.max, said.tzinfo) + timedelta(days=days)
    except OverflowError:
        return None
