# -*- coding: utf-8 -*-
"""The index over a workspace's notes and archive, with the embedding model that was given, described or is at hand."""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import ConfigError, MissingModelError
from ._events import EventBus, EventKind
from .embedding import BatchEmbedder, EmbeddingCache, LocalEmbedding, build_embedding
from .note_index import NoteIndex
from .working_memory import MemoryServices

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase

__all__ = ["NoteSearch"]

logger = logging.getLogger("agentscope_reme")

_STORE_KEYS = {"fts_enabled": True, "vector_enabled": True}
_KINDS = {"indexed": EventKind.INDEXED, "degraded": EventKind.SEARCH_DEGRADED, "recovered": EventKind.SEARCH_RECOVERED}


class NoteSearch:
    """Opens and closes the index, and the cache of its vectors.

    Args:
        embedding_model (`EmbeddingModelBase | None`):
            A ready model. Without one and without a description, the offline model is used where it is installed.
        embedding_config (`Mapping | None`):
            A description of the model; see `agentscope_reme.embedding.build_embedding`.
        store_config (`Mapping | None`):
            `fts_enabled` and `vector_enabled`, both `True` unless they say otherwise.
        vector_weight (`float`), candidate_multiplier (`float`), extra_folders:
            See `NoteIndex`.

    Raises:
        `ConfigError`: an argument cannot work.
    """

    def __init__(
        self,
        *,
        embedding_model: "EmbeddingModelBase | None" = None,
        embedding_config: Mapping[str, Any] | None = None,
        store_config: Mapping[str, Any] | None = None,
        vector_weight: float = 0.7,
        candidate_multiplier: float = 3.0,
        extra_folders: Iterable[str | Path] | Mapping[str, str | Path] = (),
    ) -> None:
        if embedding_model is not None and embedding_config is not None:
            raise ConfigError("Both embedding_model= and an embedding configuration were given: give one of them.")
        unknown = sorted(set(store_config or {}) - set(_STORE_KEYS))
        if unknown:
            raise ConfigError(
                f"The file store configuration does not know {', '.join(unknown)}: it knows {_STORE_KEYS}."
            )
        self.missing: str | None = None
        """Why there are no vectors although a model was described."""
        self._store = {**_STORE_KEYS, **(store_config or {})}
        self._model, self._config = embedding_model, embedding_config
        self._options = {
            "vector_weight": vector_weight,
            "candidate_multiplier": candidate_multiplier,
            "extra_folders": extra_folders,
        }
        self._cache: EmbeddingCache | None = None
        self._index: NoteIndex | None = None

    def index(self, services: MemoryServices) -> NoteIndex:
        """The index of a workspace, made at the first call and after `close`."""
        if self._index is None:
            self._index = NoteIndex(
                services.workspace,
                embedder=self._embedder(services),
                timezone=services.archive.timezone,
                keyword_search=bool(self._store["fts_enabled"]),
                redact=services.redact,
                report=_reporter(services.events),
                **self._options,
            )
        return self._index

    @property
    def model_name(self) -> str | None:
        """The name of the embedding model in use, once the index was made."""
        return None if self._model is None else str(getattr(self._model, "model_name", type(self._model).__name__))

    async def close(self) -> None:
        """Let go of the files. What was indexed and embedded stays."""
        index, self._index = self._index, None
        cache, self._cache = self._cache, None
        if index is not None:
            await index.close()
        if cache is not None:
            await cache.close()

    def _embedder(self, services: MemoryServices) -> BatchEmbedder | None:
        if not self._store["vector_enabled"]:
            return None
        if self._model is None:
            self._model = self._found_model()
        if self._model is None:
            return None
        self._cache = EmbeddingCache(services.workspace.state_dir / "embeddings.db")
        return BatchEmbedder(self._model, cache=self._cache, count=services.tokens.text)

    def _found_model(self) -> "EmbeddingModelBase | None":
        if self._config is None:
            return LocalEmbedding() if LocalEmbedding.available() else None
        try:
            return build_embedding(self._config)
        except MissingModelError as error:
            self.missing = str(error)
            logger.warning("No embedding model: %s Search is by words.", error)
            return None


def _reporter(events: EventBus) -> Callable[[str, dict[str, Any]], None]:
    def report(kind: str, details: dict[str, Any]) -> None:
        reason = details.pop("reason", None)
        events.emit(_KINDS[kind], error=reason, **details)

    return report
