# -*- coding: utf-8 -*-
"""Stores that a dictionary describes; nothing is opened, and no server is asked."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentscope_reme import ConfigError
from agentscope_reme.vector_store import (
    ChromaVectorStore,
    ElasticsearchVectorStore,
    LocalVectorStore,
    PgVectorStore,
    QdrantVectorStore,
    build_vector_store,
)

CASES = [
    ({}, LocalVectorStore, ""),
    ({"backend": "local", "collection_name": "mine"}, LocalVectorStore, ""),
    ({"backend": None, "persist_directory": None}, LocalVectorStore, ""),
    ({"backend": "chroma"}, ChromaVectorStore, "chromadb"),
    ({"backend": "chroma", "url": "http://localhost:1", "hnsw:space": "cosine"}, ChromaVectorStore, "chromadb"),
    ({"backend": "qdrant"}, QdrantVectorStore, "qdrant_client"),
    ({"backend": "qdrant", "url": "http://localhost:1"}, QdrantVectorStore, "qdrant_client"),
    ({"backend": "elasticsearch", "url": "http://localhost:1"}, ElasticsearchVectorStore, "elasticsearch"),
    ({"backend": "pgvector", "url": "postgresql://localhost:1/x"}, PgVectorStore, "asyncpg"),
]


@pytest.mark.parametrize(("config", "kind", "package"), CASES)
def test_a_store_is_what_its_dictionary_says(tmp_path: Path, config: dict[str, Any], kind: type, package: str) -> None:
    if package and not find_spec(package):
        pytest.skip(f"{package} is not installed")
    store = build_vector_store(config, tmp_path)
    assert type(store) is kind
    assert store.collection_name == config.get("collection_name", "reme")
    assert list(tmp_path.iterdir()) == []


def test_a_local_store_lies_where_it_is_told_to(tmp_path: Path) -> None:
    assert build_vector_store({}, tmp_path).path == tmp_path / "memories.db"  # type: ignore[attr-defined]
    elsewhere = build_vector_store({"persist_directory": str(tmp_path / "there")}, tmp_path)
    assert elsewhere.path == tmp_path / "there" / "memories.db"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"backend": "oracle"}, "oracle"),
        ({"backend": 3}, "3"),
        ({"urll": "x"}, "urll"),
        ({"url": "http://x"}, "url"),
        ({"collection_name": ""}, "collection_name"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, config: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        build_vector_store(config, tmp_path)
