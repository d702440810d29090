# -*- coding: utf-8 -*-
"""A memory as plain values: the whole of it as one JSON text, and beside it the fields that filters name."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._errors import ConfigError
from ..record import MemoryNode, flat_fields

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "UNSEEN",
    "PlainFields",
    "is_exact",
    "node_of_text",
    "plain_fields",
    "plain_flag",
    "plain_number",
    "plain_text",
    "text_of_node",
]

_LONGEST_TEXT = 4_096
_MARK = "\x1f"
_WHOLE = 2.0**53

UNSEEN = frozenset({"content", "when_to_use"})
"""The fields that databases do not compare."""


@dataclass(frozen=True)
class PlainFields:
    """What a memory is filtered by.

    Args:
        values (`Mapping[str, str | float | bool]`): by `plain_text` of the field; numbers are floats.
        lists (`Mapping[str, list[str]]`): by `plain_text` of the field; distinct texts.
        cut (`bool`): whether something was left out because there is too much of it.
    """

    values: Mapping[str, str | float | bool]
    lists: Mapping[str, list[str]]
    cut: bool


def text_of_node(node: MemoryNode) -> str:
    """A memory without its vector as JSON in ASCII, which every database takes.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    values = {name: value for name, value in node.to_dict().items() if value not in (None, "", [], {})}
    del values["memory_id"]
    try:
        return json.dumps(values, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"The metadata of {node!r} cannot be kept ({error}): give JSON values.") from error


def node_of_text(text: str, vector: np.ndarray | None = None) -> MemoryNode:
    """The memory that `text_of_node` was given."""
    return MemoryNode.from_dict(json.loads(text), vector)


def plain_fields(node: MemoryNode, most: float = math.inf) -> PlainFields:
    """The fields of a memory as databases compare them; content and `when_to_use` are not among them.

    Args:
        node (`MemoryNode`): the memory.
        most (`float`): how many values and elements of lists there may be.
    """
    values: dict[str, str | float | bool] = {}
    lists: dict[str, list[str]] = {}
    room, cut = most, False
    for name, value in flat_fields(node).items():
        if name in UNSEEN or value != value:  # not a number: it equals nothing and lies in no range
            continue
        needed = len(value) if isinstance(value, list) else 1
        if needed > room:
            cut = True
            continue
        room -= needed
        if isinstance(value, list):
            lists[plain_text(name)] = list(dict.fromkeys(plain_text(each) for each in value))
        else:
            values[plain_text(name)] = plain_text(value) if isinstance(value, str) else plain_number(value)
    return PlainFields(values, lists, cut)


def plain_text(text: str) -> str:
    """A text as it is compared: itself, or its SHA-256 where it is very long, odd or begins as such a one does."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    else:
        if len(data) <= _LONGEST_TEXT and "\0" not in text and not text.startswith(_MARK):
            return text
    return f"{_MARK}sha256:{hashlib.sha256(data).hexdigest()}"


def plain_flag(flag: bool) -> str:
    """A flag as a text that no `plain_text` is, for databases that find texts faster."""
    return f"{_MARK}{flag}"


def plain_number(number: float) -> float | bool:
    """A number as a finite float, the nearest there is; a flag as itself."""
    if isinstance(number, bool):
        return number
    try:
        return min(max(float(number), -sys.float_info.max), sys.float_info.max)
    except OverflowError:
        return math.copysign(sys.float_info.max, 1 if number > 0 else -1)


def is_exact(value: Any) -> bool:
    """Whether comparing plain values is comparing the values: not so for numbers that floats cannot tell apart."""
    return isinstance(value, (str, bool)) or abs(value) < _WHOLE
