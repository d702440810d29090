# -*- coding: utf-8 -*-
"""A memory as a record of Chroma, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..record import MemoryNode
from ..text import WordTokenizer
from ._chroma_filters import CUT, LISTS, NODE, VECTOR, element
from ._plain_node import node_of_text, plain_fields, plain_flag, text_of_node
from ._space import VectorSpace

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ChromaRecord", "changed_values", "has_vector", "node_of", "record_of", "values_of"]

_MOST_VALUES = 2_000
"""Values of one record: some 5,000 break a collection for good."""


@dataclass(frozen=True)
class ChromaRecord:
    """What is sent.

    Args:
        key (`str`): its id.
        embedding (`np.ndarray`): its vector; where it has none, one that is near to nothing.
        values (`dict`): its metadata.
        words (`str`): its document: its words, with spaces between and around them.
    """

    key: str
    embedding: np.ndarray
    values: dict[str, Any]
    words: str

    @property
    def weight(self) -> int:
        """About how many bytes it is on the wire."""
        return 12 * len(self.embedding) + 2 * len(self.values[NODE]) + 4 * len(self.words) + 1_000


def record_of(
    node: MemoryNode, vector: np.ndarray | None, space: VectorSpace | None, tokenizer: WordTokenizer
) -> ChromaRecord:
    """The record of a memory; blocking for long texts.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    embedding = vector if vector is not None else _stand_in(node.key, space)
    words = [word for word in tokenizer.tokens(node.searched_text) if _is_sound(word)]
    return ChromaRecord(node.key, embedding, values_of(node, vector is not None), f" {' '.join(words)} ")


def values_of(node: MemoryNode, with_vector: bool) -> dict[str, Any]:
    """The metadata of a memory's record."""
    fields = plain_fields(node, _MOST_VALUES)
    elements = [element(field, text) for field, texts in fields.lists.items() for text in texts]
    values = {NODE: text_of_node(node), VECTOR: with_vector, LISTS: elements or None, **fields.values}
    if fields.cut:
        values[CUT] = True
    return {key: plain_flag(value) if isinstance(value, bool) else value for key, value in values.items()}


def has_vector(values: Mapping[str, Any]) -> bool:
    """Whether a record has a vector of its own."""
    return values[VECTOR] == plain_flag(True)


def changed_values(values: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata that makes a record's those: Chroma merges, and None takes a key out."""
    return {**dict.fromkeys(old or ()), **values}


def node_of(values: Mapping[str, Any], embedding: Sequence[float] | None = None) -> MemoryNode:
    """The memory of a record, with its vector where it has one of its own and it was asked for."""
    if embedding is None or not has_vector(values):
        return node_of_text(values[NODE])
    import numpy as np

    return node_of_text(values[NODE], np.asarray(embedding, dtype=np.float32))


def _stand_in(key: str, space: VectorSpace | None) -> np.ndarray:
    """A vector for a memory that has none, since Chroma wants one: any direction, but not one for all of them.

    An index of near neighbours loses its way among many equal vectors.
    """
    import numpy as np

    if space is None:
        return np.ones(1, dtype=np.float32)
    vector = np.random.default_rng(int(key, 16)).standard_normal(space.dimensions)
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


def _is_sound(word: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in word)
