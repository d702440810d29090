# -*- coding: utf-8 -*-
"""Conditions as Chroma's ``where``: exact where it can say them, else wider, to be finished with `record.matches`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..record import FIELDS, Condition
from ._plain_node import UNSEEN, is_exact, plain_flag, plain_number, plain_text

__all__ = [
    "CUT",
    "LISTS",
    "NODE",
    "VECTOR",
    "ChromaFilter",
    "chroma_filter",
    "element",
    "is_of_open_fields",
]

NODE = "_node"
"""The key of the whole memory, as JSON."""
VECTOR = "_vector"
"""Whether it has a vector of its own."""
LISTS = "_lists"
"""All elements of all lists, each with its field (`element`): one key that every write sets.

A list under a key that is not written comes back from a collection that was removed: chroma-core/chroma#7594.
"""
CUT = "_cut"
"""Set where a memory has more values than can be filtered by."""

_MOST_VALUES = 1_000
_MOST_ELEMENTS = 200  # SQLite takes expressions 1,000 deep, and all the conditions share them

Where = Mapping[str, Any]


@dataclass(frozen=True)
class ChromaFilter:
    """A ``where`` and what it leaves open.

    Args:
        where (`Mapping | None`): what Chroma is asked for; None for everything.
        core (`Mapping | None`): of that, what is likely to leave few; Chroma works through all that meet each part.
        exact (`bool`): whether it says just what the conditions say.
        empty (`bool`): nothing can meet the conditions.
    """

    where: Where | None = None
    core: Where | None = None
    exact: bool = True
    empty: bool = False


def element(field: str, text: str) -> str:
    """An element of a list in a field, both of them plain, as it stands in `LISTS`."""
    return plain_text(f"{len(field)}:{field}{text}")


def is_of_open_fields(conditions: Sequence[Condition]) -> bool:
    """Whether any condition is on a field that may have been left out of what is filtered by (`CUT`)."""
    return any(FIELDS.get(each.field, "texts") == "texts" for each in conditions)


def chroma_filter(conditions: Sequence[Condition], some_are_cut: bool) -> ChromaFilter:
    """Say conditions in Chroma's words.

    Args:
        conditions (`Sequence[Condition]`): what memories must meet.
        some_are_cut (`bool`): whether there are memories with `CUT`, which every condition on an open field lets pass.
    """
    parts: list[Where] = []
    core: list[Where] = []
    exact = True
    for condition in conditions:
        if condition.operator == "any_of" and not condition.values:
            return ChromaFilter(empty=True)
        where, said = _said(condition)
        exact = exact and said
        if where is not None and some_are_cut and is_of_open_fields([condition]):
            where, exact = _either([where, {CUT: plain_flag(True)}]), False
        if where is not None:
            parts.append(where)
            if condition.operator != "range" and all(isinstance(value, str) for value in condition.values):
                core.append(where)
    return ChromaFilter(_all(parts), _all(core), exact)


def _said(condition: Condition) -> tuple[Where | None, bool]:
    """A wider or equal condition in Chroma's words, None where there is none; and whether it is equal."""
    field, values = plain_text(condition.field), condition.values
    if field in UNSEEN or (condition.operator == "equal" and values[0] is None):
        return None, False
    if condition.operator == "range":
        return _range(field, values)
    if condition.operator == "contains":
        return (_contains(field, plain_text(str(values[0]))), True) if FIELDS.get(field) == "texts" else (None, False)
    return _any_of(field, values)


def _range(field: str, ends: Sequence[Any]) -> tuple[Where | None, bool]:
    said = [(sign, end) for sign, end in zip(("$gte", "$lte"), ends, strict=True) if end is not None]
    if not said or any(isinstance(end, str) or end != end for _, end in said):
        return None, False
    return _all([{field: {sign: plain_number(end)}} for sign, end in said]), all(is_exact(end) for _, end in said)


def _any_of(field: str, values: Sequence[Any]) -> tuple[Where | None, bool]:
    kind = FIELDS.get(field)
    if len(values) > (_MOST_VALUES if kind not in (None, "texts") else _MOST_ELEMENTS):
        return None, False
    texts = [plain_text(value) for value in values if isinstance(value, str)]
    flags = [plain_flag(value) for value in values if isinstance(value, bool)]
    numbers = [value for value in values if not isinstance(value, (str, bool)) and value == value]
    parts: list[Where] = []
    if kind != "texts":
        groups: tuple[list, ...] = ([*texts, *flags], [plain_number(number) for number in numbers])
        parts += [{field: {"$in": group}} for group in groups if group]
    if kind in (None, "texts"):
        parts += [_contains(field, text) for text in texts]
    if not parts:  # not a number, or a number where there are texts
        return None, False
    return _either(parts), all(is_exact(number) for number in numbers)


def _contains(field: str, text: str) -> Where:
    return {LISTS: {"$contains": element(field, text)}}


def _all(parts: Sequence[Where]) -> Where | None:
    return {"$and": list(parts)} if len(parts) > 1 else parts[0] if parts else None


def _either(parts: Sequence[Where]) -> Where:
    return {"$or": list(parts)} if len(parts) > 1 else parts[0]
