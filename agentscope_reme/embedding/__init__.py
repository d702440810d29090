# -*- coding: utf-8 -*-
"""Texts to vectors: any model of the host in batches, an offline model, and a cache so that a text is embedded once."""

from ._batch_embedder import BatchEmbedder, EmbeddedTexts
from ._build import build_embedding
from ._cache import EmbeddingCache
from ._floor import DEFAULT_FLOOR, PROBES, calibrate_floor
from ._guarded import GuardedEmbedder
from ._local_embedding import LocalEmbedding
from ._model_call import model_key
from ._rest import ModelRest
from ._vector_texts import split_for_vectors

__all__ = [
    "BatchEmbedder",
    "EmbeddedTexts",
    "EmbeddingCache",
    "GuardedEmbedder",
    "LocalEmbedding",
    "ModelRest",
    "build_embedding",
    "split_for_vectors",
    "calibrate_floor",
    "model_key",
    "DEFAULT_FLOOR",
    "PROBES",
]
