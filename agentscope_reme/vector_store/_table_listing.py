# -*- coding: utf-8 -*-
"""How memories are listed of a table, which knows no order but that of keys."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing

from ..record import FIELDS, Condition, MemoryNode
from ._order import in_order
from ._tables import Table

__all__ = ["first_by_key", "in_any_order"]

_SORTED_AT_ONCE = 2_000
_FEW = 500
_HALVINGS = 20
_SINCE = tuple(86_400.0 * days for days in (0.05, 1, 7, 30, 180))
"""Seconds, in which the latest memories are looked for."""


async def first_by_key(
    table: Table, conditions: Sequence[Condition], limit: int | None, after: str | None
) -> list[MemoryNode]:
    """The memories with the least keys, by key.

    Args:
        table (`Table`): where they are.
        conditions (`Sequence[Condition]`): what they must meet.
        limit (`int | None`): how many at most.
        after (`str | None`): only keys above this one.
    """
    found: list[MemoryNode] = []
    size = 500 if limit is None else min(limit, 500)
    async with aclosing(table.scan(conditions, after=after, size=size)) as pages:
        async for page in pages:
            found += page
            if limit is not None and len(found) >= limit:
                return found[:limit]
    return found


async def in_any_order(
    table: Table,
    conditions: Sequence[Condition],
    limit: int | None,
    after: str | None,
    sort_key: str,
    reverse: bool,
) -> list[MemoryNode]:
    """Memories in order; where there is a limit, no more than that and a few pages are held at once.

    Args:
        table (`Table`): where they are.
        conditions (`Sequence[Condition]`): what they must meet.
        limit (`int | None`): how many at most.
        after (`str | None`): only keys above this one.
        sort_key (`str`), reverse (`bool`): see `in_order`.
    """
    found: list[MemoryNode] = []
    if limit is not None and reverse and after is None and FIELDS.get(sort_key) == "time":
        conditions = await _latest(table, conditions, limit, sort_key)
    async with aclosing(table.scan(conditions, after=after)) as pages:
        async for page in pages:
            found += page
            if limit is not None and len(found) > limit + _SORTED_AT_ONCE:
                found = in_order(found, sort_key, reverse)[:limit]
    return in_order(found, sort_key, reverse)[:limit]


async def _latest(table: Table, conditions: Sequence[Condition], limit: int, sort_key: str) -> Sequence[Condition]:
    """The conditions, narrowed to a time since which there is enough: counting costs less than reading."""
    if await table.count(conditions) <= limit + _FEW:
        return conditions
    now, short = time.time(), 0.0

    def since(seconds: float) -> Sequence[Condition]:
        return (*conditions, Condition(sort_key, "range", (now - seconds, None)))

    for seconds in _SINCE:
        count = await table.count(since(seconds))
        if count >= limit:
            break
        short = seconds
    else:
        return conditions
    for _ in range(_HALVINGS):
        if count <= limit + _FEW:
            break
        middle = (short + seconds) / 2
        fewer = await table.count(since(middle))
        if fewer >= limit:
            seconds, count = middle, fewer
        else:
            short = middle
    return since(seconds)
