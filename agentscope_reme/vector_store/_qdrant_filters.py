# -*- coding: utf-8 -*-
"""Conditions as a filter of Qdrant: exact where it can say them, else wider, to be finished with `record.matches`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..record import FIELDS, Condition
from ._plain_node import UNSEEN, PlainFields, is_exact, plain_number, plain_text

__all__ = ["INDEXED", "QdrantFilter", "payload_of", "qdrant_filter"]

_TEXT, _NUMBER, _FLAG, _LIST = "text", "number", "flag", "list"
_OTHER = re.compile(r"[^A-Za-z0-9_]")

INDEXED = {
    f"{_TEXT}.owner": "keyword",
    f"{_TEXT}.memory_type": "keyword",
    f"{_TEXT}.memory_id": "keyword",
    f"{_TEXT}.category": "keyword",
    f"{_TEXT}.ref_memory_id": "keyword",
    f"{_LIST}.tags": "keyword",
    f"{_FLAG}.is_active": "bool",
    f"{_NUMBER}.importance": "float",
    f"{_NUMBER}.message_time": "float",
    f"{_NUMBER}.time_created": "float",
    f"{_NUMBER}.last_accessed": "float",
    f"{_NUMBER}.expires_at": "float",
}
"""What a server indexes of the payload, and as what."""


@dataclass(frozen=True)
class QdrantFilter:
    """A filter and what it leaves open.

    Args:
        filter (`Any`): a `Filter`; None for everything.
        exact (`bool`): whether it says just what the conditions say.
        empty (`bool`): nothing can meet the conditions.
    """

    filter: Any = None
    exact: bool = True
    empty: bool = False


def payload_of(fields: PlainFields) -> dict[str, dict[str, Any]]:
    """The fields of a memory as a payload, a dictionary for each kind of value."""
    payload: dict[str, dict[str, Any]] = {_TEXT: {}, _NUMBER: {}, _FLAG: {}, _LIST: {}}
    for name, value in fields.values.items():
        kind = _TEXT if isinstance(value, str) else _FLAG if isinstance(value, bool) else _NUMBER
        payload[kind][_key(name)] = value
    payload[_LIST].update((_key(name), values) for name, values in fields.lists.items())
    return payload


def qdrant_filter(conditions: Sequence[Condition]) -> QdrantFilter:
    """Say conditions in Qdrant's words.

    Args:
        conditions (`Sequence[Condition]`): what memories must meet.
    """
    from qdrant_client import models

    must: list[Any] = []
    exact = True
    for condition in conditions:
        if condition.operator == "any_of" and not condition.values:
            return QdrantFilter(empty=True)
        parts, said = _said(condition)
        must += parts
        exact = exact and said
    return QdrantFilter(models.Filter(must=must) if must else None, exact)


def _said(condition: Condition) -> tuple[list[Any], bool]:
    """Wider or equal conditions in Qdrant's words, all of which must hold; and whether they are equal."""
    from qdrant_client import models

    name, values = _key(plain_text(condition.field)), condition.values
    if condition.field in UNSEEN:
        return [], False
    if condition.operator == "equal" and values[0] is None:
        fields = [models.PayloadField(key=f"{kind}.{name}") for kind in (_TEXT, _NUMBER, _FLAG, _LIST)]
        return [models.IsEmptyCondition(is_empty=field) for field in fields], condition.field in FIELDS
    if condition.operator == "range":
        return _range(name, values)
    if condition.operator == "contains":
        return ([_matched(_LIST, name, values)], True) if FIELDS.get(condition.field) == "texts" else ([], False)
    return _any_of(name, values)


def _range(name: str, ends: Sequence[Any]) -> tuple[list[Any], bool]:
    from qdrant_client import models

    given = [end for end in ends if end is not None]
    if not given or any(isinstance(end, str) or end != end for end in given):
        return [], False
    low, high = (None if end is None else plain_number(end) for end in ends)
    found = models.FieldCondition(key=f"{_NUMBER}.{name}", range=models.Range(gte=low, lte=high))
    return [found], all(is_exact(end) for end in given)


def _any_of(name: str, values: Sequence[Any]) -> tuple[list[Any], bool]:
    from qdrant_client import models

    texts = [value for value in values if isinstance(value, str)]
    flags = [value for value in values if isinstance(value, bool)]
    numbers = [value for value in values if not isinstance(value, (str, bool)) and value == value]
    parts: list[Any] = []
    if texts:
        parts += [_matched(_TEXT, name, texts), _matched(_LIST, name, texts)]
    for flag in flags:
        parts.append(models.FieldCondition(key=f"{_FLAG}.{name}", match=models.MatchValue(value=flag)))
    for number in map(plain_number, numbers):
        same = models.Range(gte=number, lte=number)
        parts.append(models.FieldCondition(key=f"{_NUMBER}.{name}", range=same))
    if not parts:  # not a number
        return [], False
    return [models.Filter(should=parts)], all(is_exact(number) for number in numbers)


def _matched(kind: str, name: str, texts: Sequence[Any]) -> Any:
    from qdrant_client import models

    return models.FieldCondition(key=f"{kind}.{name}", match=models.MatchAny(any=[plain_text(text) for text in texts]))


def _key(name: str) -> str:
    """A plain field as a key that needs no quotes in a path: what is no letter, digit or ``_`` becomes hex digits."""
    return _OTHER.sub(_hex, name)


def _hex(found: re.Match[str]) -> str:
    return "".join(f"-{byte:02x}" for byte in found[0].encode("utf-8"))
