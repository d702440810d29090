# -*- coding: utf-8 -*-
"""What a memory has to meet: conditions on its fields, and when they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._memory_node import MemoryNode

__all__ = ["FIELDS", "METADATA", "Condition", "Operator", "Scalar", "as_number", "flat_fields", "matches", "meets"]

Scalar = str | float | int | bool
Operator = Literal["equal", "any_of", "range", "contains"]

FIELDS: dict[str, Literal["text", "number", "time", "flag", "texts"]] = {
    "memory_id": "text",
    "owner": "text",
    "memory_type": "text",
    "memory_target": "text",
    "category": "text",
    "ref_memory_id": "text",
    "author": "text",
    "content": "text",
    "when_to_use": "text",
    "importance": "number",
    "score": "number",
    "access_count": "number",
    "is_active": "flag",
    "message_time": "time",
    "time_created": "time",
    "time_modified": "time",
    "last_accessed": "time",
    "expires_at": "time",
    "tags": "texts",
    "entities": "texts",
    "source_ids": "texts",
}
"""The fields that a filter may name, and what they hold. Stores keep times as seconds since the epoch."""

METADATA = "metadata."
"""What the names of metadata fields begin with."""


@dataclass(frozen=True)
class Condition:
    """One condition that a memory must meet; a filter is a sequence of them, all of which must hold.

    Args:
        field (`str`): a name of `FIELDS`, or ``metadata.`` and a key.
        operator (`str`): ``equal``; ``any_of``: one of several; ``range``: both ends included, None for an open end;
            ``contains``: a text has this part (any case), a list this element.
        values (`tuple`): one value; for ``any_of`` any number; for ``range`` two. Times are seconds since the epoch.
            ``equal`` None means that there is nothing in the field (an empty text is nothing).
    """

    field: str
    operator: Operator
    values: tuple[Scalar | None, ...]


def matches(node: MemoryNode, conditions: Sequence[Condition]) -> bool:
    """Whether a memory meets all conditions: what every store must agree with."""
    if not conditions:
        return True
    values = flat_fields(node)
    return all(meets(values.get(each.field), each) for each in conditions)


def flat_fields(node: MemoryNode) -> dict[str, Scalar | list[str]]:
    """The fields of a memory as stores keep and compare them, without those that are empty.

    Times are seconds since the epoch. Of the metadata there is what is a text, a number, a flag or a list of texts;
    integers that 64 bits do not hold are compared as floats.
    """
    values: dict[str, Any] = {name: getattr(node, name) for name in FIELDS}
    for key, value in node.metadata.items():
        values[f"{METADATA}{key}"] = value
    flat: dict[str, Scalar | list[str]] = {}
    for name, value in values.items():
        if isinstance(value, datetime):
            flat[name] = value.timestamp()
        elif isinstance(value, (int, float)):
            if value == value:  # nan is nothing
                flat[name] = as_number(value)
        elif isinstance(value, str) and value:
            flat[name] = value
        elif isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value):
            flat[name] = list(value)
    return flat


def meets(value: Scalar | list[str] | None, condition: Condition) -> bool:
    """Whether a value of `flat_fields`, or None where there is none, meets a condition on its field."""
    first = condition.values[0] if condition.values else None
    if condition.operator == "contains":
        if isinstance(value, list):
            return first in value
        return isinstance(value, str) and isinstance(first, str) and first.lower() in value.lower()
    if condition.operator == "range":
        return _between(value, condition.values)
    if condition.operator == "equal" and first is None:
        return value is None
    if isinstance(value, list):
        return any(each in value for each in condition.values)
    return any(_same(value, each) for each in condition.values)


def _between(value: Scalar | list[str] | None, ends: Sequence[Scalar | None]) -> bool:
    low, high = ends
    if value is None or isinstance(value, (list, bool)):
        return False
    for end in (low, high):
        if isinstance(end, bool) or (end is not None and isinstance(end, str) is not isinstance(value, str)):
            return False
    return (low is None or low <= value) and (high is None or value <= high)  # type: ignore[operator]


def _same(value: Scalar | None, other: Scalar | None) -> bool:
    """Equal, and both flags or neither: 1 is not True."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)


def as_number(value: float) -> float:
    """The number as every store can hold it."""
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
