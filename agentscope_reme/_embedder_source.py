# -*- coding: utf-8 -*-
"""Which embedding model is in use: the one given, the one a dictionary describes, or the offline one where it is."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import ConfigError, MissingModelError
from ._model_source import Unset

if TYPE_CHECKING:  # imported where they are used: who does not search does not pay for it
    from agentscope.embedding import EmbeddingModelBase

    from .embedding import BatchEmbedder, EmbeddingCache

__all__ = ["EmbedderSource"]

logger = logging.getLogger("agentscope_reme")


class EmbedderSource:
    """Makes the embedder when it is first needed, over a cache on disk, and again after `close`.

    Args:
        cache (`Path`):
            The file of the cache.
        model (`EmbeddingModelBase | Unset | None`):
            A ready model; `None` for none at all. Where nothing is given and nothing described, the offline model is
            used where it is installed.
        config (`Mapping | None`):
            A description of the model; see `agentscope_reme.embedding.build_embedding`.
        count (`Callable[[str], int]`):
            Counts tokens.

    Raises:
        `ConfigError`: a model and a description were both given.
    """

    def __init__(
        self,
        cache: Path,
        *,
        model: "EmbeddingModelBase | Unset | None",
        config: Mapping[str, Any] | None,
        count: Callable[[str], int],
    ) -> None:
        if not isinstance(model, Unset) and config is not None:
            raise ConfigError("Both embedding_model= and an embedding configuration were given: give one of them.")
        self.missing: str | None = None
        """Why there is no model although one was described."""
        self._path, self._config, self._count = cache, config, count
        self._model = None if isinstance(model, Unset) else model
        self._is_settled = not isinstance(model, Unset)
        self._cache: EmbeddingCache | None = None

    @property
    def model_name(self) -> str | None:
        """The name of the model in use, once it was needed."""
        return None if self._model is None else str(getattr(self._model, "model_name", type(self._model).__name__))

    def embedder(self) -> "BatchEmbedder | None":
        """A new embedder over the one cache; None where there is no model."""
        from .embedding import BatchEmbedder, EmbeddingCache

        if not self._is_settled:
            self._model = self._found_model()
            self._is_settled = self._model is not None
        if self._model is None:
            return None
        if self._cache is None:
            self._cache = EmbeddingCache(self._path)
        return BatchEmbedder(self._model, cache=self._cache, count=self._count)

    async def close(self) -> None:
        """Let go of the cache's file. What was embedded stays."""
        cache, self._cache = self._cache, None
        if cache is not None:
            await cache.close()

    def _found_model(self) -> "EmbeddingModelBase | None":
        from .embedding import LocalEmbedding, build_embedding

        if self._config is None:
            return LocalEmbedding() if LocalEmbedding.available() else None
        try:
            return build_embedding(self._config)
        except MissingModelError as error:
            self.missing = str(error)
            logger.warning("No embedding model: %s Search is by words.", error)
            return None
