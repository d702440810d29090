# -*- coding: utf-8 -*-
"""A memory as a point of Qdrant, and back."""

from __future__ import annotations

import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..record import MemoryNode
from ..text import WordTokenizer
from ._plain_node import node_of_text, plain_fields, text_of_node
from ._qdrant_filters import payload_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MEANING", "READ", "WORDS", "key_of", "node_of", "payload", "point_id", "point_of", "weight", "word_numbers"]

MEANING, WORDS = "meaning", "words"
"""The vectors of a point: of the memory's meaning, and a sparse one of its words."""

_NODE, _LENGTH = "node", "length"
READ = [_NODE, _LENGTH]
"""What is read of a payload; the rest is for filters."""

_SATURATION = 0.9


def point_id(key: str) -> str:
    """The id of a memory's point."""
    return str(uuid.UUID(hex=key))


def key_of(identity: Any) -> str:
    """The key of the memory with this id."""
    return uuid.UUID(str(identity)).hex


def point_of(node: MemoryNode, vector: np.ndarray | None, tokenizer: WordTokenizer) -> Any:
    """The point of a memory; blocking for long texts.

    A server gives vectors that are compared by cosine a length of 1, and the local mode does so at times. So they have
    that when they are sent, and their length is kept beside them.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    import numpy as np
    from qdrant_client import models

    vectors: dict[str, Any] = {}
    held: dict[str, Any] = payload(node)
    if vector is not None:
        row = vector.astype(np.float64)
        held[_LENGTH] = float(np.linalg.norm(row))
        vectors[MEANING] = (row / held[_LENGTH]).tolist()
    counts = word_numbers(tokenizer.tokens(node.searched_text))
    if counts:
        weights = [count * (_SATURATION + 1) / (count + _SATURATION) for count in counts.values()]
        vectors[WORDS] = models.SparseVector(indices=list(counts), values=weights)
    return models.PointStruct(id=point_id(node.key), vector=vectors, payload=held)


def payload(node: MemoryNode) -> dict[str, Any]:
    """What of a point's payload changes with the memory's fields."""
    return {_NODE: text_of_node(node), **payload_of(plain_fields(node))}


def word_numbers(words: Iterable[str]) -> Mapping[int, int]:
    """The places of words in the sparse vector, and how often each is there."""
    return Counter(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words)


def weight(point: Any) -> int:
    """About how many bytes a point is on the wire."""
    words = point.vector.get(WORDS)
    return (
        12 * len(point.vector.get(MEANING, ()))
        + 24 * (len(words.indices) if words else 0)
        + 2 * len(point.payload[_NODE])
        + 1_000
    )


def node_of(record: Any) -> MemoryNode:
    """The memory of a record, with its vector where it has one and it was asked for."""
    vector: Sequence[float] | None = (record.vector or {}).get(MEANING) if record.vector is not None else None
    if vector is None:
        return node_of_text(record.payload[_NODE])
    import numpy as np

    row = np.asarray(vector, dtype=np.float64) * record.payload.get(_LENGTH, 1.0)
    return node_of_text(record.payload[_NODE], row.astype(np.float32))
