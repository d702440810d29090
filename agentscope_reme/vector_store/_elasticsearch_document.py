# -*- coding: utf-8 -*-
"""A memory as a document of Elasticsearch, and how an index maps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..record import FIELDS, MemoryNode
from ..text import WordTokenizer
from ._elasticsearch_filters import FACTS, PARTS
from ._elasticsearch_terms import facts_of, ordered_fields, parts_of
from ._plain_node import text_of_node
from ._space import VectorSpace
from ._stored_text import storable

if TYPE_CHECKING:
    import numpy as np

__all__ = ["KEY", "NODE", "ORDER", "VECTOR", "WORDS", "IndexOptions", "deletion", "index_body", "insertion", "update"]

KEY, NODE, ORDER, VECTOR, WORDS = "key", "node", "order", "vector", "words"
"""The fields of a document, beside those of `_elasticsearch_filters`."""

_SIMILARITY = "reme"
_OF_IT = f"index.similarity.{_SIMILARITY}"
_WEIGHTS = {f"{_OF_IT}.type": "BM25", f"{_OF_IT}.k1": 0.9, f"{_OF_IT}.b": 0.4}  # as in search.Bm25Index
_RETRIES = 3


@dataclass(frozen=True)
class IndexOptions:
    """How indexes are made and used.

    Args:
        prefix (`str`): what their names begin with.
        settings (`Mapping[str, Any]`): of a new index.
        vector (`Mapping[str, Any]`): ``index_options`` of a new index's vectors.
        refresh (`bool | str`): see `ElasticsearchVectorStore`.
        num_candidates (`int`): how many vectors a search compares on each shard, at least.
    """

    prefix: str = "reme-"
    settings: Mapping[str, Any] = field(default_factory=dict)
    vector: Mapping[str, Any] = field(default_factory=dict)
    refresh: bool | str = "wait_for"
    num_candidates: int = 200


def index_body(about: Mapping[str, Any], space: VectorSpace | None, options: IndexOptions) -> dict[str, Any]:
    """Settings and mappings of a new index.

    Args:
        about (`Mapping[str, Any]`): what is kept with the mappings.
        space (`VectorSpace | None`): whose vectors it takes.
        options (`IndexOptions`): how it is made.
    """
    properties: dict[str, Any] = {
        KEY: {"type": "keyword"},
        NODE: {"type": "keyword", "index": False, "doc_values": False},
        FACTS: {"type": "keyword"},
        PARTS: {"type": "wildcard"},
        WORDS: {"type": "text", "analyzer": "whitespace", "index_options": "freqs", "similarity": _SIMILARITY},
        ORDER: {"properties": {name: _ordered(kind) for name, kind in FIELDS.items() if kind != "texts"}},
    }
    if space is not None:
        properties[VECTOR] = {
            "type": "dense_vector",
            "dims": space.dimensions,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "hnsw", **options.vector},
        }
    return {
        "settings": {**_WEIGHTS, **options.settings},
        "mappings": {"dynamic": "strict", "_meta": dict(about), "properties": properties},
    }


def insertion(node: MemoryNode, vector: np.ndarray | None, tokenizer: WordTokenizer) -> bytes:
    """The lines of a bulk request that put a memory in.

    Raises:
        `ConfigError`: metadata that JSON cannot hold.
    """
    words = storable(" ".join(tokenizer.tokens(node.searched_text)))
    document = {KEY: node.key, **_changeable(node), WORDS: words}
    if vector is not None:
        document[VECTOR] = vector.tolist()
    return _lines({"index": {"_id": node.key}}, document)


def update(node: MemoryNode) -> bytes:
    """The lines that change a memory, but for what words and vector are made of."""
    return _lines({"update": {"_id": node.key, "retry_on_conflict": _RETRIES}}, {"doc": _changeable(node)})


def deletion(key: str) -> bytes:
    """The line that takes a memory out."""
    return _lines({"delete": {"_id": key}})


def _changeable(node: MemoryNode) -> dict[str, Any]:
    """Every field each time, for an update leaves what it does not name."""
    return {NODE: text_of_node(node), FACTS: facts_of(node), PARTS: parts_of(node), ORDER: ordered_fields(node)}


def _ordered(kind: str) -> dict[str, Any]:
    return {"type": "keyword" if kind == "text" else "double", "index": False}


def _lines(*values: Mapping[str, Any]) -> bytes:
    return "".join(f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n" for value in values).encode()
