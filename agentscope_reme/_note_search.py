# -*- coding: utf-8 -*-
"""The index over a workspace's notes and archive, with the embedding model that was given, described or is at hand."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._embedder_source import EmbedderSource
from ._errors import ConfigError
from ._events import EventKind
from ._model_source import UNSET
from .record import SearchHit
from .working_memory import MemoryServices

if TYPE_CHECKING:  # imported where they are used: who does not search does not pay for it
    from agentscope.embedding import EmbeddingModelBase

    from .note_index import Excerpt, NoteIndex

__all__ = ["Folders", "NoteSearch"]

Folders = Iterable[str | Path] | Mapping[str, str | Path]

_STORE_KEYS = {"fts_enabled": True, "vector_enabled": True}
_KINDS = {"indexed": EventKind.INDEXED, "degraded": EventKind.SEARCH_DEGRADED, "recovered": EventKind.SEARCH_RECOVERED}


class NoteSearch:
    """The index of a workspace, opened when it is first used and again after `close`, and the cache of its vectors.

    Args:
        services (`MemoryServices`):
            The workspace.
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
        services: MemoryServices,
        *,
        embedding_model: "EmbeddingModelBase | None" = None,
        embedding_config: Mapping[str, Any] | None = None,
        store_config: Mapping[str, Any] | None = None,
        vector_weight: float = 0.7,
        candidate_multiplier: float = 3.0,
        extra_folders: Folders = (),
    ) -> None:
        self._services = services
        self._store = _checked_store(store_config)
        self._embedders = EmbedderSource(
            services.workspace.state_dir / "embeddings.db",
            model=UNSET if embedding_model is None else embedding_model,
            config=embedding_config,
            count=services.tokens.text,
        )
        if isinstance(extra_folders, Iterator):  # it is read again after `close`
            extra_folders = tuple(extra_folders)
        self._weight, self._multiplier, self._extra = vector_weight, candidate_multiplier, extra_folders
        self._index: NoteIndex | None = None
        self._made()  # what cannot work is refused here, and nothing is opened by it

    async def start(self) -> None:
        """Begin to index and to watch in the background."""
        await self._made().start()

    async def search(self, query: str, max_results: int = 5, min_score: float = 0.1, **filters: Any) -> list[SearchHit]:
        """See `NoteIndex.search`."""
        return await self._made().search(query, max_results, min_score, **filters)

    async def read(self, path: str, start_line: int = 1, limit: int = 40, **bounds: Any) -> "Excerpt":
        """See `NoteIndex.read`."""
        return await self._made().read(path, start_line, limit, **bounds)

    async def sync(self) -> None:
        """See `NoteIndex.sync`."""
        await self._made().sync()

    async def texts_of(self, session_id: str) -> list[str]:
        """See `NoteIndex.texts_of`."""
        return await self._made().texts_of(session_id)

    async def forget(self, texts: Iterable[str]) -> bool:
        """See `NoteIndex.forget`."""
        return await self._made().forget(texts)

    def _made(self) -> "NoteIndex":
        from .note_index import NoteIndex

        if self._index is None:
            self._index = NoteIndex(
                self._services.workspace,
                embedder=self._embedders.embedder() if self._store["vector_enabled"] else None,
                timezone=self._services.archive.timezone,
                vector_weight=self._weight,
                candidate_multiplier=self._multiplier,
                extra_folders=self._extra,
                keyword_search=bool(self._store["fts_enabled"]),
                redact=self._services.redact,
                report=self._told,
            )
        return self._index

    @property
    def model_name(self) -> str | None:
        """The name of the embedding model in use, once the index was made."""
        return self._embedders.model_name

    @property
    def missing(self) -> str | None:
        """Why there are no vectors although a model was described."""
        return self._embedders.missing

    async def close(self) -> None:
        """Let go of the files. What was indexed and embedded stays."""
        index, self._index = self._index, None
        if index is not None:
            await index.close()
        await self._embedders.close()

    def _told(self, kind: str, details: dict[str, Any]) -> None:
        rest = {key: value for key, value in details.items() if key != "reason"}
        self._services.events.emit(_KINDS[kind], error=details.get("reason"), **rest)


def _checked_store(config: Mapping[str, Any] | None) -> dict[str, bool]:
    """What a description of the file store says, with what it leaves out.

    Raises:
        `ConfigError`: it is no dictionary, or says something that there is not.
    """
    known = ", ".join(_STORE_KEYS)
    if config is not None and not isinstance(config, Mapping):
        raise ConfigError(f"The file store configuration is {config!r}: give a dictionary with {known}.")
    for key, value in (config or {}).items():
        if key not in _STORE_KEYS:
            raise ConfigError(f"The file store configuration does not know {key!r}: it knows {known}.")
        if not isinstance(value, bool):
            raise ConfigError(f"The file store configuration says {key}={value!r}: give True or False.")
    return {**_STORE_KEYS, **(config or {})}
