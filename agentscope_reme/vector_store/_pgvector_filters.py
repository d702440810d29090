# -*- coding: utf-8 -*-
"""Conditions and orders as SQL over a PostgreSQL table of memories; they agree with `record.matches`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..record import FIELDS, Condition, memory_id_of
from ._pgvector_rows import LOWERED, STATE, json_value
from ._stored_text import storable

__all__ = ["Arguments", "order_by", "selective", "where"]

_COLUMNS = ("owner", "memory_id")


class Arguments:
    """The values of a statement, in the order of their numbers.

    Args:
        values (`Any`): the first ones.
    """

    def __init__(self, *values: Any) -> None:
        self.values: list[Any] = list(values)

    def add(self, value: Any, kind: str = "text") -> str:
        """Take a value in; what stands for it in the statement."""
        self.values.append(value)
        return f"${len(self.values)}::{kind}"


def where(conditions: Sequence[Condition], arguments: Arguments) -> str:
    """What a row has to meet, as SQL; the values go to the arguments."""
    return " AND ".join(_condition(each, arguments) for each in conditions) or "true"


def selective(conditions: Sequence[Condition]) -> bool:
    """Whether a condition is there that an ordered index answers, so that few rows are left and counted at once."""
    return any(each.field in _COLUMNS and each.operator in ("equal", "any_of") for each in conditions)


def order_by(sort_key: str, reverse: bool, arguments: Arguments) -> str:
    """The order of `in_order`, as SQL: numbers and flags below texts, what has no value last, equals by key."""
    direction = "DESC" if reverse else "ASC"
    if sort_key == "key":
        return f"key {direction}"
    if sort_key == "time_created":
        return f"created {direction}, key"
    if sort_key in STATE:
        return f"state->'{sort_key}' {direction} NULLS LAST, key"
    if sort_key in FIELDS:
        return f'{_text(sort_key)} COLLATE "C" {direction} NULLS LAST, key'
    value = f"facets->{arguments.add(storable(sort_key))}"
    kind = f"CASE jsonb_typeof({value}) WHEN 'string' THEN 1 WHEN 'array' THEN NULL ELSE 0 END"
    number = (
        f"CASE jsonb_typeof({value}) WHEN 'number' THEN ({value}#>>'{{}}')::numeric "
        f"WHEN 'boolean' THEN ({value})::boolean::int WHEN 'object' THEN 'NaN'::numeric END"
    )
    text = f"CASE jsonb_typeof({value}) WHEN 'string' THEN {value}#>>'{{}}' END"
    held = f"CASE WHEN {value} IS NOT NULL THEN {kind} END"
    return f'{held} {direction} NULLS LAST, {number} {direction}, {text} COLLATE "C" {direction}, key'


def _condition(condition: Condition, arguments: Arguments) -> str:
    first = condition.values[0] if condition.values else None
    if condition.operator == "contains":
        return _contains(condition.field, first, arguments) if isinstance(first, str) else "false"
    if condition.operator == "range":
        return _range(condition, arguments)
    values = [each for each in condition.values if each is not None and each == each]  # NaN equals nothing
    found = _one_of(condition.field, values, arguments) if values else "false"
    if None in condition.values:
        return f"({_absent(condition.field, arguments)} OR {found})"
    return found


def _one_of(field: str, values: Sequence[Any], arguments: Arguments) -> str:
    if field in (*_COLUMNS, "content"):
        texts = [each for each in values if isinstance(each, str)]
        if field == "content":
            texts = [memory_id_of(each) for each in texts]
        column = "memory_id" if field == "content" else field
        return f"{column} = ANY({arguments.add([storable(each) for each in texts], 'text[]')})"
    if field in STATE:
        return f"state->'{field}' = ANY({arguments.add([json_value(each) for each in values], 'jsonb[]')})"
    name, kind = json_value(field), FIELDS.get(field)
    held = []
    for value in map(json_value, values):
        if kind != "texts":
            held.append(f"{{{name}:{value}}}")
        if kind in (None, "texts"):
            held.append(f"{{{name}:[{value}]}}")
    return f"facets @> ANY({arguments.add(held, 'jsonb[]')})"


def _absent(field: str, arguments: Arguments) -> str:
    if field in (*_COLUMNS, "content"):
        return "false"
    return f"NOT {'state' if field in STATE else 'facets'} ? {arguments.add(storable(field))}"


def _contains(field: str, part: str, arguments: Arguments) -> str:
    kind = FIELDS.get(field)
    if kind not in (None, "text", "texts"):
        return "false"
    if kind == "text":
        return f'strpos({_lowered(field)} COLLATE "C", {arguments.add(storable(part.lower()))}) > 0'
    element = f"facets @> {arguments.add(f'{{{json_value(field)}:[{json_value(part)}]}}', 'jsonb')}"
    if kind == "texts":
        return element
    name = arguments.add(storable(field))
    own = arguments.add(storable(f"{LOWERED}{field}"))
    text = f'coalesce(facets->>{own}, facets->>{name}) COLLATE "C"'
    inside = f"strpos({text}, {arguments.add(storable(part.lower()))}) > 0"
    return f"CASE jsonb_typeof(facets->{name}) WHEN 'array' THEN {element} WHEN 'string' THEN {inside} ELSE false END"


def _range(condition: Condition, arguments: Arguments) -> str:
    ends = [int(end) if isinstance(end, bool) else end for end in condition.values]
    kinds = {isinstance(end, str) for end in ends if end is not None}
    if len(kinds) > 1 or any(isinstance(end, float) and math.isnan(end) for end in ends):
        return "false"
    field = condition.field
    if field in (*_COLUMNS, "content") or FIELDS.get(field) == "text":
        return "false" if kinds == {False} else _between(f'{_text(field)} COLLATE "C"', ends, arguments)
    value = f"state->'{field}'" if field in STATE else f"facets->{arguments.add(storable(field))}"
    options = []
    if kinds != {True}:
        held = [None if end is None else json_value(end) for end in ends]
        typed = f"jsonb_typeof({value}) IN ('number'{', ' + repr('object') if not kinds else ''})"
        options.append(f"{typed} AND {_between(value, held, arguments, 'jsonb')}")
    if kinds != {False}:
        between = _between(f"({value}#>>'{{}}') COLLATE \"C\"", ends, arguments)
        options.append(f"jsonb_typeof({value}) = 'string' AND {between}")
    return f"({' OR '.join(options)})"


def _between(value: str, ends: Sequence[Any], arguments: Arguments, kind: str = "text") -> str:
    parts = [f"{value} IS NOT NULL"]
    for end, compared in zip(ends, (">=", "<="), strict=True):
        if end is not None:
            parts.append(f"{value} {compared} {arguments.add(storable(end), kind)}")
    return f"({' AND '.join(parts)})"


def _text(field: str) -> str:
    """A field of `FIELDS` that holds a text, as it is."""
    return field if field in (*_COLUMNS, "content") else f"(facets->>'{field}')"


def _lowered(field: str) -> str:
    """The same in lower case."""
    if field == "content":
        return "coalesce(lowered, content)"
    if field == "memory_id":
        return "memory_id"
    if field == "owner":
        return f"({_lowered('memory_type')} || '/' || coalesce({_lowered('memory_target')}, ''))"
    return f"coalesce(facets->>'{LOWERED}{field}', facets->>'{field}')"
