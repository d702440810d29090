# -*- coding: utf-8 -*-
"""A vector store, made of a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._errors import ConfigError
from ._base import VectorStore
from ._chroma_store import ChromaVectorStore
from ._elasticsearch_store import ElasticsearchVectorStore
from ._local import LocalVectorStore
from ._pgvector_store import PgVectorStore
from ._qdrant_store import QdrantVectorStore

__all__ = ["build_vector_store"]

_FILE = "memories.db"
_OTHERS: dict[str, Callable[..., VectorStore]] = {
    "chroma": ChromaVectorStore,
    "qdrant": QdrantVectorStore,
    "elasticsearch": ElasticsearchVectorStore,
    "pgvector": PgVectorStore,
}
_BACKENDS = ("local", *_OTHERS)
_EMBEDDED = {
    "chroma": frozenset({"persist_directory", "url", "host", "client"}),
    "qdrant": frozenset({"persist_directory", "path", "url", "host", "location", "client"}),
}
"""What says where a store is that can do without a server."""


def build_vector_store(config: Mapping[str, Any], folder: Path) -> VectorStore:
    """Make the store that a dictionary describes; nothing is opened yet.

    Args:
        config (`Mapping[str, Any]`):
            ``backend``: "local" (default), "chroma", "qdrant", "elasticsearch" or "pgvector". ``collection_name``:
            "reme" by default. ``persist_directory``: the folder of a local or an embedded store. ``url``: a server.
            Anything else goes to the store as it is; see the class of the back end.
        folder (`Path`):
            Where a store without a folder and without a server of its own lies.

    Returns:
        `VectorStore`: the store.

    Raises:
        `ConfigError`: an unknown back end or option, or what the back end refuses.
    """
    options = dict(config)
    backend = options.pop("backend", None) or "local"
    if backend not in _BACKENDS:
        raise ConfigError(f"The vector store backend {backend!r} is unknown: it is one of {', '.join(_BACKENDS)}.")
    options = {name: value for name, value in options.items() if value is not None}
    if backend == "local":
        return _local(options, folder)
    if backend in _EMBEDDED and _EMBEDDED[backend].isdisjoint(options):
        options["persist_directory"] = folder / backend
    return _OTHERS[backend](**options)


def _local(options: dict[str, Any], folder: Path) -> LocalVectorStore:
    unknown = sorted(options.keys() - {"persist_directory", "collection_name", "busy_timeout", "tokenizer"})
    if unknown:
        raise ConfigError(
            f"The local vector store does not know {', '.join(map(repr, unknown))}: it knows persist_directory, "
            "collection_name and busy_timeout.",
        )
    place = Path(options.pop("persist_directory", folder)).expanduser()
    return LocalVectorStore(place / _FILE, options.pop("collection_name", "reme"), **options)
