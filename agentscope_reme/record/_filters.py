# -*- coding: utf-8 -*-
"""Which memories are meant: the one filter grammar of all stores, read into conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from .._errors import ConfigError
from ._conditions import FIELDS, METADATA, Condition, Operator, Scalar, as_number

__all__ = ["parse_filters"]

_SHORT = {"type": "memory_type", "target": "memory_target", "memory_content": "content"}
_SHORT |= {"created": "time_created", "modified": "time_modified", "accessed": "last_accessed"}
_OPERATORS = ("equal", "any_of", "range", "contains")
_DAY = len("2026-03-01")


def parse_filters(
    filters: Mapping[str, Any] | Sequence[Condition] | None, timezone: tzinfo | None = None
) -> tuple[Condition, ...]:
    """Read a filter as callers write it. Conditions that were read already stay as they are.

    Args:
        filters (`Mapping[str, Any] | Sequence[Condition] | None`):
            By field: a value (equal), a list of two (a range, as in ReMe), or a dictionary of operators:
            ``{"equal": v}``, ``{"any_of": [...]}``, ``{"range": [low, high]}``, ``{"contains": v}``. Times are
            `datetime`, `date` or ISO 8601 text; equal to a day is all of that day, and as the upper end it is included.
            ``metadata.key``, or ``"metadata": {key: ...}``, is a key of the metadata.
        timezone (`tzinfo | None`):
            Whose days and wall clock are meant; None is this machine's.

    Returns:
        `tuple[Condition, ...]`: what a memory must meet.

    Raises:
        `ConfigError`: an unknown field or operator, or a value that does not go with it; the cure is named.
    """
    if isinstance(filters, (list, tuple)) and all(isinstance(each, Condition) for each in filters):
        return tuple(filters)
    return tuple(_conditions({} if filters is None else filters, timezone))


def _conditions(filters: Any, timezone: tzinfo | None) -> Iterator[Condition]:
    if not isinstance(filters, Mapping):
        raise ConfigError(f"filters is {filters!r}: give a dictionary from fields to values.")
    for name, spec in filters.items():
        if name == "metadata" and isinstance(spec, Mapping):
            yield from _conditions({f"{METADATA}{key}": value for key, value in spec.items()}, timezone)
            continue
        field: str = _SHORT.get(name, name) if isinstance(name, str) else ""
        if field not in FIELDS and not (field.startswith(METADATA) and field != METADATA):
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
    if operator == "equal" and kind == "time" and _is_day(value):
        return _condition(field, "range", (value, value), timezone)
    if operator == "any_of":
        if kind == "time" and isinstance(value, (list, tuple, set, frozenset)) and any(map(_is_day, value)):
            raise ConfigError(f"any_of on {field!r} is {value!r}: give moments, or a range of days.")
        if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple, set, frozenset)):
            raise ConfigError(f"any_of on {field!r} is {value!r}: give a list of values.")
        return Condition(field, "any_of", tuple(_scalar(field, kind, each, timezone) for each in value))
    if operator == "contains":
        if kind in ("number", "time", "flag") or not isinstance(value, str):
            raise ConfigError(f"contains on {field!r} is {value!r}: it takes a text, on a field of texts.")
        return Condition(field, "contains", (value,))
    if value is None or value == "":
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
    return as_number(value) if isinstance(value, (int, float)) else value


def _is_day(value: Any) -> bool:
    """Whether a time is a day without a time of day."""
    if isinstance(value, str):
        return len(value.strip()) <= _DAY
    return isinstance(value, date) and not isinstance(value, datetime)


def _seconds(field: str, value: Any, timezone: tzinfo | None, high: bool) -> float:
    try:
        if isinstance(value, str):
            text = value.strip().replace("/", "-").replace("Z", "+00:00")
            value = date.fromisoformat(text) if len(text) <= _DAY else datetime.fromisoformat(text)
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
