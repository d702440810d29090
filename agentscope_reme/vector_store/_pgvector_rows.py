# -*- coding: utf-8 -*-
"""A memory as a row of PostgreSQL, and back."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import ConfigError
from ..record import FIELDS, MemoryNode, flat_fields
from ..text import WordTokenizer
from ._stored_text import comes_back, storable

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "LOWERED",
    "STATE",
    "NodeRow",
    "changeable_of",
    "json_value",
    "node_of",
    "read_vector",
    "row_of",
    "storable",
    "text_key",
]

STATE = frozenset(name for name, kind in FIELDS.items() if kind in ("number", "time", "flag"))
"""The fields of the column `state`, which changes with every use of a memory and is in no index."""

LOWERED = "~"
"""Before a field's name in `facets`: its text in lower case, where that is another one."""

_COLUMNS = frozenset(("owner", "memory_id", "content"))
_INFINITE = 10**4000
_EXACT = 2**53
_SURROGATES = re.compile("[\ud800-\udfff]")


class NodeRow(NamedTuple):
    """A memory, ready to be stored: the columns in the order in which they are written.

    Args:
        key (`str`): its key.
        owner (`str`): its owner.
        memory_id (`str`): its id.
        created (`float`): seconds since the epoch.
        content (`str`): as PostgreSQL can hold it.
        lowered (`str | None`): the content in lower case, None where that is the same.
        facets (`str`): JSON of the texts and the metadata that filters ask for.
        state (`str`): JSON of the numbers, times and flags.
        node (`str`): JSON of the whole memory, without its content where that can be stored as it is.
        words (`str`): the distinct words, a line each.
        length (`int`): how many words there are, repetitions included.
        embeds (`str`): what stands for the text that the vector is made of.
        vector (`np.ndarray | None`): float32.
    """

    key: str
    owner: str
    memory_id: str
    created: float
    content: str
    lowered: str | None
    facets: str
    state: str
    node: str
    words: str
    length: int
    embeds: str
    vector: np.ndarray | None


def row_of(node: MemoryNode, tokenizer: WordTokenizer, vector: np.ndarray | None) -> NodeRow:
    """The row of a memory.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    facets, state, whole = changeable_of(node)
    words = tokenizer.tokens(node.searched_text)
    lowered = node.content.lower()
    return NodeRow(
        key=node.key,
        owner=storable(node.owner),
        memory_id=node.memory_id,
        created=node.time_created.timestamp(),
        content=storable(node.content),
        lowered=None if lowered == node.content else storable(lowered),
        facets=facets,
        state=state,
        node=whole,
        words=storable("\n".join(dict.fromkeys(words))),
        length=len(words),
        embeds=text_key(node.embedded_text),
        vector=vector,
    )


def changeable_of(node: MemoryNode) -> tuple[str, str, str]:
    """The columns `facets`, `state` and `node`: all that a patch changes besides `created`."""
    facets: dict[str, Any] = {}
    state: dict[str, Any] = {}
    for name, value in flat_fields(node).items():
        if name in STATE:
            state[name] = _number(value)
        elif name not in _COLUMNS:
            facets[storable(name)] = [storable(each) for each in value] if isinstance(value, list) else _plain(value)
            if isinstance(value, str) and value.lower() != value:
                facets[storable(f"{LOWERED}{name}")] = storable(value.lower())
    return _dumps(facets), _dumps(state), _dumps_node(node)


def node_of(content: str, node: str, vector: bytes | None = None) -> MemoryNode:
    """The memory of the columns `content`, `node` and, in PostgreSQL's binary format, its vector."""
    values = json.loads(node)
    if isinstance(values, str):
        values = json.loads(values)
    return MemoryNode.from_dict({"content": content, **values}, None if vector is None else read_vector(vector))


def read_vector(data: bytes) -> np.ndarray:
    """A vector from pgvector's binary format: its length and a reserved number, two bytes each, then float32."""
    import numpy as np

    return np.frombuffer(data, dtype=">f4", offset=4).astype(np.float32)


def text_key(text: str) -> str:
    """A short stand-in for a text, to see whether it is another one."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def json_value(value: Any) -> str:
    """A value of a condition as JSON that compares with what is stored as the values themselves compare."""
    return _dumps(_plain(value))


def _plain(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else _number(value)


def _number(value: Any) -> Any:
    """A number whose decimals compare as the number does: 1e23 is not 10**23, and JSON has no infinity.

    What is not a number compares with nothing; an empty object stands for it.
    """
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return {}
    if math.isinf(value):
        return _INFINITE if value > 0 else -_INFINITE
    return int(value) if abs(value) >= _EXACT else value


def _dumps_node(node: MemoryNode) -> str:
    values = node.to_dict()
    del values["memory_id"]
    if comes_back(node.content):
        del values["content"]
    try:
        return _dumps(values)
    except ValueError:
        # Infinite or not a number, which is no JSON: Python's own form, as one text.
        try:
            return json.dumps(json.dumps(values))
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"The metadata of {node!r} cannot be kept ({error}): give JSON values.") from error
    except (TypeError, RecursionError) as error:
        raise ConfigError(f"The metadata of {node!r} cannot be kept ({error}): give JSON values.") from error


def _dumps(values: Any) -> str:
    """JSON as PostgreSQL takes it; escaped where a lone surrogate is in it."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if _SURROGATES.search(text) is None else json.dumps(values, separators=(",", ":"), allow_nan=False)
