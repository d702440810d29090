# -*- coding: utf-8 -*-
"""The fields of a memory as terms that Elasticsearch compares as the values themselves compare."""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any
from urllib.parse import quote

from ..record import FIELDS, MemoryNode, flat_fields
from ._stored_text import storable

__all__ = [
    "ELEMENT",
    "TEXT",
    "facts_of",
    "no_number",
    "ordered_fields",
    "parts_of",
    "presence",
    "range_of",
    "term",
    "wildcard_of",
]

TEXT, ELEMENT = "s", "l"
"""Kinds of terms: a text, and a text in a list."""

_NUMBER, _FLAG, _NO_NUMBER, _PRESENT = "n", "b", "x", "p"
_BETWEEN = "\x1f"
_LONGEST = 1_000
_MOST_BLOCKS = 24


def facts_of(node: MemoryNode) -> list[str]:
    """All terms of a memory: that each field is there, and what is in it."""
    found: dict[str, None] = {}
    for field, value in flat_fields(node).items():
        found[presence(field)] = None
        for each in value if isinstance(value, list) else [value]:
            found[term(field, each, ELEMENT if isinstance(value, list) else TEXT)] = None
    return list(found)


def parts_of(node: MemoryNode) -> list[str]:
    """The texts of a memory in lower case, each behind its field's name, to look for parts in."""
    texts = ((field, value) for field, value in flat_fields(node).items() if isinstance(value, str))
    return [f"{_head(field)}{storable(value.lower())}" for field, value in texts]


def ordered_fields(node: MemoryNode) -> dict[str, str | float | None]:
    """What memories are listed in order by; None where there is nothing in the field."""
    flat = flat_fields(node)
    return {field: _ordered(flat.get(field)) for field, kind in FIELDS.items() if kind != "texts"}


def term(field: str, value: Any, text_kind: str = TEXT) -> str:
    """The term of a value in a field.

    Args:
        field (`str`): the field.
        value (`Any`): the value.
        text_kind (`str`): what a text is: `TEXT`, or `ELEMENT` of a list.
    """
    head = _head(field)
    if isinstance(value, str):
        return f"{head}{text_kind}{_text(value)}"
    if isinstance(value, bool):
        return f"{head}{_FLAG}{value:d}"
    if value != value:
        return no_number(field)
    return f"{head}{_NUMBER}{_number(value)}"


def presence(field: str) -> str:
    """The term that says that there is something in a field."""
    return f"{_head(field)}{_PRESENT}"


def no_number(field: str) -> str:
    """The term of what is a float and not a number."""
    return f"{_head(field)}{_NO_NUMBER}"


def range_of(field: str, low: Any, high: Any, *, of_texts: bool) -> dict[str, str]:
    """The least and the greatest term between two ends, both included; None for an open end."""
    kind = TEXT if of_texts else _NUMBER
    head = _head(field)
    least = f"{head}{kind}" if low is None else term(field, _end(low))
    greatest = {"lt": f"{head}{chr(ord(kind) + 1)}"} if high is None else {"lte": term(field, _end(high))}
    return {"gte": least, **greatest}


def wildcard_of(field: str, part: str) -> str:
    """The pattern of what `parts_of` gives for a text in a field that has a part, in any case."""
    escaped = "".join(f"\\{char}" if char in "\\*?" else char for char in storable(part.lower()))
    return f"{_head(field)}*{escaped}*" if escaped else f"{_head(field)}*"


def _end(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _head(field: str) -> str:
    return f"{quote(field, safe='.', errors='surrogatepass')}{_BETWEEN}"


def _text(value: str) -> str:
    """A text, whole where it is short; else its beginning and its digest: it equals itself only, and nearly orders."""
    text = storable(value)
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:_LONGEST]}\uffff{digest}"


def _number(value: float) -> str:
    """Hex digits in the order of the numbers: the nearest float, then what is missing to the number itself.

    Numbers beyond all floats are infinite.
    """
    blocks: list[str] = []
    rest: float | None = value
    while rest is not None and len(blocks) < _MOST_BLOCKS:
        near = _float(rest)
        blocks.append(_float_digits(near))
        whole = isinstance(rest, int) and math.isfinite(near)
        rest = (rest - int(near) or None) if whole else None
    return "".join([*blocks, _float_digits(0.0)])


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _float_digits(value: float) -> str:
    bits = struct.unpack(">Q", struct.pack(">d", value + 0.0))[0]  # + 0.0: there is one zero
    bits = bits ^ 0xFFFFFFFFFFFFFFFF if bits >> 63 else bits | 1 << 63
    return f"{bits:016x}"


def _ordered(value: Any) -> str | float | None:
    if isinstance(value, str):
        return storable(value)[:_LONGEST]
    if value is None or isinstance(value, list):
        return None
    number = _float(value)
    return None if math.isnan(number) else min(max(number, -1.7e308), 1.7e308)
