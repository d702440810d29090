# -*- coding: utf-8 -*-
"""Which options are the client's, and which a new collection's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._errors import ConfigError

__all__ = ["client_options", "collection_options", "vector_options"]

_CLIENT = (
    "port",
    "grpc_port",
    "prefer_grpc",
    "https",
    "prefix",
    "timeout",
    "headers",
    "grpc_options",
    "auth_token_provider",
    "check_compatibility",
    "pool_size",
    "verify",
)
_VECTOR = ("on_disk", "datatype", "multivector_config")
_COLLECTION = (
    "shard_number",
    "replication_factor",
    "write_consistency_factor",
    "on_disk_payload",
    "hnsw_config",
    "optimizers_config",
    "wal_config",
    "quantization_config",
    "strict_mode_config",
)


def client_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the client is made with.

    Raises:
        `ConfigError`: an option that neither client nor collection has.
    """
    for name in options:
        if name not in (*_CLIENT, *_VECTOR, *_COLLECTION):
            known = ", ".join((*_CLIENT, *_VECTOR, *_COLLECTION))
            raise ConfigError(f"QdrantVectorStore has no option {name!r}: there are {known}.")
    return {name: value for name, value in options.items() if name in _CLIENT}


def vector_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the vectors of a new collection are made with."""
    return {name: value for name, value in options.items() if name in _VECTOR}


def collection_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What a new collection is made with; dictionaries become the client's own objects."""
    return {name: _object(name, value) for name, value in options.items() if name in _COLLECTION}


def _object(name: str, value: Any) -> Any:
    from qdrant_client import models

    if not isinstance(value, Mapping):
        return value
    kinds = {
        "hnsw_config": models.HnswConfigDiff,
        "optimizers_config": models.OptimizersConfigDiff,
        "wal_config": models.WalConfigDiff,
        "strict_mode_config": models.StrictModeConfig,
    }
    if name == "quantization_config":
        quantizations = {
            "scalar": models.ScalarQuantization,
            "product": models.ProductQuantization,
            "binary": models.BinaryQuantization,
        }
        (kind,) = value
        return quantizations[kind](**value)
    return kinds[name](**value)
