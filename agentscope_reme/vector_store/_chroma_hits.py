# -*- coding: utf-8 -*-
"""Memories and hits from what Chroma answers. Blocking: call it in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..record import Condition, MemoryNode, matches
from ._base import StoreHit
from ._chroma_record import node_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["cosines_of", "hit_of", "nodes_of"]


def nodes_of(found: Mapping[str, Any]) -> dict[str, MemoryNode]:
    """The memories of an answer by key, with their vectors where it has them."""
    embeddings = found["embeddings"] if found["embeddings"] is not None else [None] * len(found["ids"])
    each = zip(found["ids"], found["metadatas"], embeddings, strict=True)
    return {key: node_of(values, embedding) for key, values, embedding in each}


def cosines_of(
    vector: np.ndarray, found: Mapping[str, Any], conditions: Sequence[Condition]
) -> list[tuple[float, str]]:
    """The cosine of each of an answer's vectors with the query, and its key; of those that meet the conditions."""
    import numpy as np

    if not found["ids"]:
        return []
    rows = np.asarray(found["embeddings"], dtype=np.float64)
    query = vector.astype(np.float64)
    cosines = rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))
    pairs = list(zip(cosines.tolist(), found["ids"], strict=True))
    if not conditions:
        return pairs
    nodes = nodes_of({**found, "embeddings": None})
    return [(cosine, key) for cosine, key in pairs if matches(nodes[key], conditions)]


def hit_of(node: MemoryNode, cosine: float) -> StoreHit:
    """A hit of a search by vector."""
    return StoreHit(node, cosine, cosine, {"meaning": cosine})
