# -*- coding: utf-8 -*-
"""A memory as a row of the local store, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import ConfigError
from ..record import FIELDS, MemoryNode, flat_fields
from ._local_schema import NUMBERS, TEXTS
from ._ranking import asks

if TYPE_CHECKING:
    import numpy as np

__all__ = ["COLUMNS", "READ", "NodeRow", "node_of", "packed", "readable", "row_of", "storable", "unpacked"]

COLUMNS = ("asks", "key", "memory_id", *TEXTS, *NUMBERS, "content", "when_to_use", "rest")
"""The columns that a memory's own fields fill."""

READ = ("memory_type", "memory_target", "category", "ref_memory_id", "author", "content", "when_to_use")
"""The columns that are read back beside `rest`, which holds the other fields."""

_TIMES = tuple(name for name, kind in FIELDS.items() if kind == "time")
_LISTS = tuple(name for name, kind in FIELDS.items() if kind == "texts")


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

Facet = tuple[Any, str, Any]
"""Field, kind and value; see `_local_schema`."""


class NodeRow(NamedTuple):
    """A memory, ready to be stored.

    Args:
        key (`str`): its key.
        values (`tuple`): of `COLUMNS`.
        facets (`list[Facet]`): what is kept in rows of its own.
        vector (`bytes | None`): float32.
        words (`str | bytes`): cut, a line each.
    """

    key: str
    values: tuple
    facets: list[Facet]
    vector: bytes | None
    words: str | bytes


def row_of(node: MemoryNode) -> tuple[tuple, list[Facet]]:
    """The values of `COLUMNS`, and the facets: everything in it that can be filtered by and has no column.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    flat = flat_fields(node)
    texts = [storable(flat[name]) if name in flat else None for name in TEXTS]
    numbers = [float(flat[name]) if name in flat else None for name in NUMBERS]  # type: ignore[arg-type]
    use = storable(node.when_to_use) if node.when_to_use else None
    values = (asks(node.content), node.key, node.memory_id, *texts, *numbers, storable(node.content), use, _rest(node))
    facets = [
        (storable(field), kind, value)
        for field, held in flat.items()
        if FIELDS.get(field, "texts") == "texts"
        for kind, value in _facets(held)
    ]
    return values, facets


def _rest(node: MemoryNode) -> str | bytes:
    rest: dict[str, Any] = {name: getattr(node, name).isoformat() for name in _TIMES if getattr(node, name)}
    rest.update((name, getattr(node, name)) for name in _LISTS if getattr(node, name))
    rest |= {"importance": node.importance, "score": node.score, "access_count": node.access_count}
    rest["is_active"] = node.is_active
    if node.metadata:
        rest["metadata"] = dict(node.metadata)
    try:
        return storable(_JSON.encode(rest))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"The metadata of {node!r} cannot be kept ({error}): give JSON values.") from error


def node_of(values: Sequence, vector: np.ndarray | None = None) -> MemoryNode:
    """The memory of a row: the columns of `READ`, then `rest`."""
    *texts, rest = values
    fields: dict[str, Any] = {name: readable(text) for name, text in zip(READ, texts, strict=True) if text is not None}
    fields.update(json.loads(readable(rest)))
    for name in _TIMES:
        if name in fields:
            fields[name] = datetime.fromisoformat(fields[name])
    return MemoryNode(**fields, vector=vector)


def _facets(held: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(held, list):
        yield from (("element", storable(each)) for each in held)
    elif isinstance(held, str):
        yield "text", storable(held)
    else:
        yield ("flag" if isinstance(held, bool) else "number"), held


def storable(text: Any) -> str | bytes:
    """A text as SQLite takes it: a blob where lone surrogates are in it."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def readable(value: str | bytes) -> str:
    """What `storable` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def packed(vector: np.ndarray) -> bytes:
    """A vector as bytes."""
    return vector.astype("<f4").tobytes()


def unpacked(data: bytes) -> np.ndarray:
    """A vector from its bytes, read-only."""
    import numpy as np

    return np.frombuffer(data, dtype="<f4")
