# -*- coding: utf-8 -*-
"""Conditions as SQL over the tables of the local store; they agree with `record.matches`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ..record import FIELDS, Condition
from ._local_rows import readable, storable
from ._local_schema import NUMBERS

__all__ = ["Where", "define_functions", "order_by", "where"]

Where = tuple[str, list[Any]]
"""SQL with question marks, and what stands for them."""

_NEVER: Where = ("0", [])
_INDEXED = {"owner", "memory_id", "memory_target", "ref_memory_id"}
_COLUMNS = {name for name, kind in FIELDS.items() if kind != "texts"}


def define_functions(connection: sqlite3.Connection) -> None:
    """Give a connection the function that the SQL of `where` calls."""
    connection.create_function("reme_contains", 2, _contains, deterministic=True)


def where(collection: int, conditions: Sequence[Condition]) -> Where:
    """What memories `n` of a collection have to meet.

    Args:
        collection (`int`): its number.
        conditions (`Sequence[Condition]`): all of which must hold.
    """
    one_owner = any(each.field == "owner" and each.operator in ("equal", "any_of") for each in conditions)
    parts: list[Where] = [("n.collection = ?", [collection])]
    for condition in conditions:
        if condition.field in _COLUMNS:
            parts.append(_of_column(condition))
        else:
            parts.append(_of_facet(collection, condition, few=one_owner))
    return " AND ".join(sql for sql, _ in parts), [value for _, values in parts for value in values]


def order_by(sort_key: str, reverse: bool, conditions: Sequence[Condition] = ()) -> Where:
    """The order of memories `n`: by a field, those without a value last, equals by key.

    Where conditions leave few, these are put in order, and not all memories of the collection read in that order; the
    plus sign says so to SQLite.
    """
    direction, sign = "DESC" if reverse else "ASC", "+" if _leave_few(conditions, sort_key) else ""
    if sort_key == "key":
        return f"{sign}n.key {direction}", []
    if sort_key in NUMBERS:
        return f"{sign}n.{sort_key} {direction} NULLS LAST, n.key", []
    if sort_key in _COLUMNS:
        return f"CAST(n.{sort_key} AS BLOB) {direction} NULLS LAST, n.key", []
    value = "(SELECT {} FROM facet f WHERE f.node = n.id AND f.field = ? AND f.kind <> 'element')"
    texts, held = (
        value.format("kind = 'text'"),
        value.format("CASE kind WHEN 'text' THEN CAST(value AS BLOB) ELSE value END"),
    )
    field = storable(sort_key)
    return f"{texts} {direction} NULLS LAST, {held} {direction}, n.key", [field, field]


def _leave_few(conditions: Sequence[Condition], sort_key: str) -> bool:
    """Whether one of them is looked up in an index, and that one does not give the order too."""
    looked_up = [each for each in conditions if each.operator != "range" and None not in each.values]
    if any(each.field == "owner" and len(each.values) == 1 and each.operator != "contains" for each in looked_up):
        return sort_key != "time_created"
    return any(each.field not in _COLUMNS or each.field in _INDEXED for each in looked_up)


def _of_column(condition: Condition) -> Where:
    name = f"n.{condition.field}"
    kind = _kind(condition.field)
    first = condition.values[0] if condition.values else None
    if condition.operator == "range":
        if kind == "flag" or any(end is not None and _kind_of(end) != kind for end in condition.values):
            return _NEVER
        return _between(name, kind, condition.values)
    if condition.operator == "contains":
        return (f"reme_contains({name}, ?)", [storable(first)]) if kind == "text" and _is_text(first) else _NEVER
    values = [_value(each) for each in condition.values if each is not None and _kind_of(each) == kind]
    found = f"{name} IN ({_marks(values)})"
    if None in condition.values:
        return f"({name} IS NULL OR {found})", values
    return found, values


def _of_facet(collection: int, condition: Condition, *, few: bool) -> Where:
    field, first = storable(condition.field), condition.values[0] if condition.values else None
    if condition.operator == "contains":
        if not _is_text(first):
            return _NEVER
        part = storable(first)
        return _held(
            collection,
            field,
            few,
            "(f.kind = 'element' AND f.value = ? OR f.kind = 'text' AND reme_contains(f.value, ?))",
            [part, part],
        )
    if condition.operator == "range":
        return _range_of_facet(collection, field, condition, few)
    wanted = [_equal_to(each) for each in condition.values if each is not None]
    held = _held(
        collection, field, few, f"({' OR '.join(sql for sql, _ in wanted) or '0'})", [v for _, vs in wanted for v in vs]
    )
    if None not in condition.values:
        return held
    absent = "NOT EXISTS (SELECT 1 FROM facet f WHERE f.node = n.id AND f.field = ?)"
    return f"({absent} OR {held[0]})", [field, *held[1]]


def _range_of_facet(collection: int, field: Any, condition: Condition, few: bool) -> Where:
    kinds = {_kind_of(end) for end in condition.values if end is not None} or {"number", "text"}
    if (len(kinds) == 2 and condition.values != (None, None)) or "flag" in kinds:
        return _NEVER
    options = [(kind, _between("f.value", kind, condition.values)) for kind in sorted(kinds)]
    sql = " OR ".join(f"f.kind = '{kind}' AND {between}" for kind, (between, _) in options)
    return _held(collection, field, few, f"({sql})", [value for _, (_, values) in options for value in values])


def _held(collection: int, field: Any, few: bool, sql: str, values: list[Any]) -> Where:
    """Memories with such a facet: asked of each where few are left to ask, else looked up in the facets' order."""
    matching = f"f.collection = ? AND f.field = ? AND {sql}"
    if few:
        return f"EXISTS (SELECT 1 FROM facet f WHERE f.node = n.id AND {matching})", [collection, field, *values]
    return f"n.id IN (SELECT f.node FROM facet f WHERE {matching})", [collection, field, *values]


def _equal_to(value: Any) -> Where:
    if _is_text(value):
        return "f.kind IN ('text', 'element') AND f.value = ?", [storable(value)]
    return "f.kind = ? AND f.value = ?", [_kind_of(value), value]


def _between(name: str, kind: str, ends: Sequence[Any]) -> Where:
    held, mark = (f"CAST({name} AS BLOB)", "CAST(? AS BLOB)") if kind == "text" else (name, "?")
    sql, values = [f"{name} IS NOT NULL"], []
    for end, compared in zip(ends, (">=", "<="), strict=True):
        if end is not None:
            sql.append(f"{held} {compared} {mark}")
            values.append(_value(end))
    return f"({' AND '.join(sql)})", values


def _kind(field: str) -> str:
    kind = FIELDS[field]
    return "number" if kind == "time" else kind


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    return "text" if isinstance(value, str) else "number"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _value(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _contains(text: str | bytes | None, part: str | bytes) -> bool:
    return text is not None and readable(part).lower() in readable(text).lower()
