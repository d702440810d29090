# -*- coding: utf-8 -*-
"""Where memories with vectors are kept. Each store is one file; a store of your own is an instance that you pass."""

from ._base import Embed, Progress, StoreHit, VectorStore, check_changes
from ._build import build_vector_store
from ._chroma_store import ChromaVectorStore
from ._elasticsearch_store import ElasticsearchVectorStore
from ._local import LocalVectorStore
from ._order import check_sort_key, in_order
from ._pgvector_store import PgVectorStore
from ._qdrant_store import QdrantVectorStore
from ._ranking import facts_of, rank_candidates
from ._space import VectorSpace, check_space, check_vector, check_vectors

__all__ = [
    "VectorStore",
    "LocalVectorStore",
    "ChromaVectorStore",
    "QdrantVectorStore",
    "PgVectorStore",
    "ElasticsearchVectorStore",
    "build_vector_store",
    "StoreHit",
    "VectorSpace",
    "Embed",
    "Progress",
    "check_changes",
    "check_sort_key",
    "check_space",
    "check_vector",
    "check_vectors",
    "facts_of",
    "in_order",
    "rank_candidates",
]
