# -*- coding: utf-8 -*-
"""Which memories are meant: the one filter grammar of all stores, as checked conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, Literal

from .._errors import ConfigError
from ._memory_node import MemoryNode

__all__ = ["FIELDS", "Condition", "Scalar", "flat_fields", "matches", "meets", "parse_filters"]

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

_SHORT = {"type": "memory_type", "target": "memory_target", "created": "time_created", "modified": "time_modified"}
_OPERATORS = ("equal", "any_of", "range", "contains")
_METADATA = "metadata."


@dataclass(frozen=True)
class Condition:
    """One condition that a memory must meet; a filter is a sequence of them, all of which must hold.

    Args:
        field (`str`): a name of `FIELDS`, or ``metadata.`` and a key.
        operator (`str`): ``equal``; ``any_of``: one of several; ``range``: both ends included, None for an open end;
            ``contains``: a text has this part (any case), a list this element.
        values (`tuple`): one value; for ``any_of`` any number; for ``range`` two. Times are seconds since the epoch.
            ``equal`` None means that there is nothing in the field.
    """

    field: str
    operator: Operator
    values: tuple[Scalar | None, ...]


def parse_filters(filters: Mapping[str, Any] | None, timezone: tzinfo | None = None) -> tuple[Condition, ...]:
    """Read a filter as callers write it.

    Args:
        filters (`Mapping[str, Any] | None`):
            By field: a value (equal), a list of two (a range, as in ReMe), or a dictionary of operators:
            ``{"equal": v}``, ``{"any_of": [...]}``, ``{"range": [low, high]}``, ``{"contains": v}``. Times are
            `datetime`, `date` or ISO 8601 text; a day as the upper end includes that day. ``metadata.key``, or
            ``"metadata": {key: ...}``, is a key of the metadata.
        timezone (`tzinfo | None`):
            Whose days and wall clock are meant; None is this machine's.

    Returns:
        `tuple[Condition, ...]`: what a memory must meet.

    Raises:
        `ConfigError`: an unknown field or operator, or a value that does not go with it; the cure is named.
    """
    return tuple(_conditions(filters or {}, timezone))


def matches(node: MemoryNode, conditions: Sequence[Condition]) -> bool:
    """Whether a memory meets all conditions: what every store must agree with."""
    if not conditions:
        return True
    values = flat_fields(node)
    return all(meets(values.get(each.field), each) for each in conditions)


def flat_fields(node: MemoryNode) -> dict[str, Scalar | list[str]]:
    """The fields of a memory as stores keep and compare them, without those that are empty.

    Times are seconds since the epoch. Of the metadata there is what is a text, a number, a flag or a list of texts.
    """
    values: dict[str, Any] = {name: getattr(node, name) for name in FIELDS}
    for key, value in node.metadata.items():
        values[f"{_METADATA}{key}"] = value
    flat: dict[str, Scalar | list[str]] = {}
    for name, value in values.items():
        if isinstance(value, datetime):
            flat[name] = value.timestamp()
        elif isinstance(value, (bool, int, float)) or (isinstance(value, str) and value):
            flat[name] = value
        elif isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value):
            flat[name] = list(value)
    return flat


def _conditions(filters: Mapping[str, Any], timezone: tzinfo | None) -> Iterator[Condition]:
    if not isinstance(filters, Mapping):
        raise ConfigError(f"filters is {filters!r}: give a dictionary from fields to values.")
    for name, spec in filters.items():
        if name == "metadata" and isinstance(spec, Mapping):
            yield from _conditions({f"{_METADATA}{key}": value for key, value in spec.items()}, timezone)
            continue
        field = _SHORT.get(name, name)
        if field not in FIELDS and not (field.startswith(_METADATA) and field != _METADATA):
            known = ", ".join((*FIELDS, "metadata.<key>"))
            raise ConfigError(f"A filter names {name!r}, which is no field: there are {known}.")
        for operator, value in _operations(name, spec):
            yield _condition(field, operator, value, timezone)


def _operations(name: str, spec: Any) -> Iterator[tuple[Operator, Any]]:
    if isinstance(spec, Mapping):
        for operator, value in spec.items():
            if operator not in _OPERATORS:
                known = ", ".join(_OPERATORS)
                raise ConfigError(f"The filter on {name!r} has the operator {operator!r}: there are {known}.")
            yield operator, value
        if not spec:
            raise ConfigError(f"The filter on {name!r} is an empty dictionary: name an operator, or leave it out.")
    elif isinstance(spec, (list, tuple, set, frozenset)):
        if isinstance(spec, (set, frozenset)) or len(spec) != 2:
            raise ConfigError(
                f"The filter on {name!r} is a list of {len(spec)} values: write {{'any_of': [...]}}; a list of two is "
                "a range.",
            )
        yield "range", spec
    else:
        yield "equal", spec


def _condition(field: str, operator: Operator, value: Any, timezone: tzinfo | None) -> Condition:
    kind = FIELDS.get(field, "")
    if operator == "range":
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ConfigError(f"The range on {field!r} is {value!r}: give [low, high], None for an open end.")
        if kind in ("text", "texts", "flag"):
            raise ConfigError(
                f"{field!r} has no range: write {{'any_of': {list(value)!r}}} for one of several values.",
            )
        ends = [
            None if end is None else _scalar(field, kind, end, timezone, high=at == 1) for at, end in enumerate(value)
        ]
        if (
            any(isinstance(end, bool) for end in ends)
            or len({isinstance(end, str) for end in ends if end is not None}) > 1
        ):
            raise ConfigError(f"The range on {field!r} is {value!r}: both ends must be of one kind.")
        return Condition(field, "range", tuple(ends))
    if operator == "any_of":
        if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple, set, frozenset)):
            raise ConfigError(f"any_of on {field!r} is {value!r}: give a list of values.")
        return Condition(field, "any_of", tuple(_scalar(field, kind, each, timezone) for each in value))
    if operator == "contains":
        if kind in ("number", "time", "flag") or not isinstance(value, str):
            raise ConfigError(f"contains on {field!r} is {value!r}: it takes a text, on a field of texts.")
        return Condition(field, "contains", (value,))
    if value is None:
        return Condition(field, "equal", (None,))
    return Condition(field, "equal", (_scalar(field, kind, value, timezone),))


def _scalar(field: str, kind: str, value: Any, timezone: tzinfo | None, *, high: bool = False) -> Scalar:
    if kind == "time":
        return _seconds(field, value, timezone, high)
    if isinstance(value, datetime):
        return _seconds(field, value, timezone, high)
    fits: Callable[[Any], bool] = {
        "text": lambda v: isinstance(v, str),
        "texts": lambda v: isinstance(v, str),
        "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
        "flag": lambda v: isinstance(v, bool),
    }.get(kind, lambda v: isinstance(v, (str, int, float, bool)))
    if not fits(value):
        raise ConfigError(f"The filter on {field!r} compares it with {value!r}: give a {kind or 'plain value'}.")
    return value


def _seconds(field: str, value: Any, timezone: tzinfo | None, high: bool) -> float:
    try:
        if isinstance(value, str):
            text = value.strip().replace("/", "-").replace("Z", "+00:00")
            value = date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, datetime):
            value = datetime.combine(value + timedelta(days=1), time.min) if high else datetime.combine(value, time.min)
            moment = value.replace(tzinfo=timezone) if timezone else value.astimezone()
            return moment.timestamp() - (1e-6 if high else 0.0)
        if value.tzinfo is None:
            value = value.replace(tzinfo=timezone) if timezone else value.astimezone()
        return value.timestamp()
    except (ValueError, TypeError, OverflowError) as error:
        raise ConfigError(
            f"The filter on {field!r} has the time {value!r}: give a day such as '2026-03-01'."
        ) from error


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
        if end is not None and isinstance(end, str) is not isinstance(value, str):
            return False
    return (low is None or low <= value) and (high is None or value <= high)  # type: ignore[operator]


def _same(value: Scalar | None, other: Scalar | None) -> bool:
    """Equal, and both flags or neither: 1 is not True."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)
