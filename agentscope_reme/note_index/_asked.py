# -*- coding: utf-8 -*-
"""Which chunks a search is to look at: sources, paths and days, as callers and models write them."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._errors import ConfigError
from ..search import Columns
from ..storage import Database

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Day", "Limits", "names_of"]

Day = dt.date | dt.datetime | str | None
"""A day or a moment, or its ISO 8601 text."""

_SHOWN = 200
_FIRST, _LAST = float("-inf"), float("inf")


def names_of(value: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name, several, or none."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True)
class Limits:
    """Paths and days that chunks must be of.

    Args:
        paths (`tuple[str, ...]`): files, and folders with all in them; none for all.
        since (`float`): the first moment, as a proleptic day number with the part of the day that is over.
        until (`float`): the first moment after the last.
    """

    paths: tuple[str, ...] = ()
    since: float = _FIRST
    until: float = _LAST

    @classmethod
    def of(cls, paths: Iterable[str], since: Day, until: Day, timezone: dt.tzinfo | None) -> Limits:
        """Read what a caller gave: paths as hits have them, and days; ``until`` a day means to its end.

        Raises:
            `ConfigError`: it is no day, or no time is in between.
        """
        first = _number("since", since, timezone, _FIRST, 0.0)
        last = _number("until", until, timezone, _LAST, 1.0)
        if first >= last:
            raise ConfigError(f"since is '{since}' and until is '{until}': nothing is in between, swap them.")
        return cls(tuple(path for path in paths if path), first, last)

    @property
    def by_day(self) -> bool:
        """Whether days are limited."""
        return self.since > _FIRST or self.until < _LAST

    def allowed(
        self, database: Database, local_time: Callable[[str], dt.datetime | None]
    ) -> Callable[[Columns], np.ndarray] | set[int] | None:
        """What `HybridIndex.search` takes; blocking."""
        if self.paths:
            rows = database.read_sync(_chunks_below, self.paths)
            return {chunk for chunk, time in rows if not self.by_day or self._holds(local_time(time))}
        if self.by_day:
            return lambda columns: (columns.day >= self.since) & (columns.day < self.until)
        return None

    def _holds(self, time: dt.datetime | None) -> bool:
        return time is not None and self.since <= _day_number(time) < self.until


def _number(name: str, value: Day, timezone: dt.tzinfo | None, default: float, whole_day: float) -> float:
    if value is None or value == "":
        return default
    if isinstance(value, str):
        value = _parsed(name, value.strip())
    if not isinstance(value, dt.date):
        raise ConfigError(f"{name} is {repr(value)[:_SHOWN]}: give a day such as '2026-03-01'.")
    if not isinstance(value, dt.datetime):
        return value.toordinal() + whole_day
    return _day_number(value.astimezone(timezone) if value.tzinfo else value)


def _parsed(name: str, text: str) -> dt.date | dt.datetime:
    try:
        if len(text) <= 10:
            return dt.date(*map(int, text.replace("/", "-").split("-")))
        return dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (ValueError, TypeError):
        raise ConfigError(f"{name} is {text[:_SHOWN]!r}: give a day such as '2026-03-01'.") from None


def _day_number(time: dt.datetime) -> float:
    return time.toordinal() + (time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6) / 86_400


def _chunks_below(connection: sqlite3.Connection, paths: Sequence[str]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for path in paths:
        query = "SELECT c.id, c.time FROM chunk c JOIN file f ON f.id = c.file WHERE f.path = ? "
        query += "OR substr(f.path, 1, ?) = ?"
        found += connection.execute(query, (path, len(path) + 1, f"{path}/")).fetchall()
    return found
