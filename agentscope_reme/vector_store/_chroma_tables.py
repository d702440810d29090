# -*- coding: utf-8 -*-
"""The collections of a Chroma database: whose vectors each holds stands in its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._errors import VectorStoreError
from ..text import WordTokenizer
from ._chroma_client import ChromaConnection
from ._chroma_table import ChromaTable
from ._physical_name import given_name, physical_name
from ._space import VectorSpace
from ._tables import FoundTables, Table, Tables

__all__ = ["ChromaTables"]

_LONGEST = 500
_NEXT = ".-next"
_PAGE = 500
_FORMAT, _MODEL, _DIMENSIONS, _BEGUN = "agentscope_reme", "reme_model", "reme_dimensions", "reme_begun"
_VERSION = 1


class ChromaTables(Tables):
    """The collections of a Chroma database that were made here.

    Args:
        connection (`ChromaConnection`): the connection.
        metadata (`Mapping[str, Any]`): for new collections; also the index's options such as ``hnsw:space``.
        configuration (`Mapping[str, Any]`): for new collections.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(
        self,
        connection: ChromaConnection,
        metadata: Mapping[str, Any],
        configuration: Mapping[str, Any],
        tokenizer: WordTokenizer,
    ) -> None:
        self._connection = connection
        self._metadata = metadata
        self._configuration = configuration
        self._tokenizer = tokenizer

    async def acquire(self) -> None:
        """See `Tables.acquire`."""
        await self._connection.acquire()

    async def release(self) -> None:
        """See `Tables.release`."""
        await self._connection.release()

    async def look(self, name: str) -> FoundTables:
        """See `Tables.look`."""
        physical = physical_name(name, _LONGEST)
        current, begun = await self._collection(physical), await self._collection(physical + _NEXT)
        if begun is not None and (current is None or not begun.metadata.get(_BEGUN)):
            await self._change_over(physical, begun)
            current, begun = begun, None
        return FoundTables(current and self._table(current), begun and self._table(begun))

    async def create(self, name: str, space: VectorSpace | None) -> Table:
        """See `Tables.create`."""
        return self._table(await self._made(physical_name(name, _LONGEST), space, begun=False))

    async def begin(self, name: str, space: VectorSpace) -> Table:
        """See `Tables.begin`."""
        await self.discard(name)
        return self._table(await self._made(physical_name(name, _LONGEST) + _NEXT, space, begun=True))

    async def replace(self, name: str, begun: Table) -> Table:
        """See `Tables.replace`; a crash in the midst of it is made good by `look`."""
        assert isinstance(begun, ChromaTable)
        complete = {key: value for key, value in _lasting(begun.collection.metadata).items() if key != _BEGUN}
        await self._call("change", begun.collection.modify, metadata=complete)
        await self._change_over(physical_name(name, _LONGEST), begun.collection)
        return begun

    async def discard(self, name: str) -> None:
        """See `Tables.discard`."""
        await self._remove(physical_name(name, _LONGEST) + _NEXT)

    async def drop(self, name: str) -> None:
        """See `Tables.drop`."""
        await self.discard(name)
        await self._remove(physical_name(name, _LONGEST))

    async def names(self) -> list[str]:
        """See `Tables.names`."""
        found: set[str] = set()
        for offset in range(0, 1_000_000_000, _PAGE):
            page = await self._call("list", self._connection.client.list_collections, limit=_PAGE, offset=offset)
            found.update(given_name(each.name.removesuffix(_NEXT)) for each in page if _is_ours(each))
            if len(page) < _PAGE:
                break
        return sorted(found)

    # ------------------------------------------------------------------ inside

    async def _change_over(self, physical: str, begun: Any) -> None:
        await self._remove(physical)
        await self._call("rename", begun.modify, name=physical)

    async def _collection(self, physical: str) -> Any:
        """A collection that was made here, or None."""
        from chromadb.errors import NotFoundError

        try:
            found = await self._call("open", self._connection.client.get_collection, physical, embedding_function=None)
        except VectorStoreError as error:
            if isinstance(error.__cause__, NotFoundError):
                return None
            raise
        return self._ours(found)

    async def _made(self, physical: str, space: VectorSpace | None, begun: bool) -> Any:
        metadata, configuration = _options(self._metadata, self._configuration)
        metadata |= {_FORMAT: _VERSION}
        if space is not None:
            metadata |= {_MODEL: json.dumps(space.model), _DIMENSIONS: space.dimensions}
        if begun:
            metadata |= {_BEGUN: True}
        make = self._connection.client.get_or_create_collection
        asked = {"metadata": metadata, "embedding_function": None}
        if configuration:
            asked["configuration"] = configuration
        return self._ours(await self._call("make", make, physical, **asked))

    async def _remove(self, physical: str) -> None:
        """Remove a collection, its records first: Chroma would leave the lists of a full one to its next records."""
        collection = await self._collection(physical)
        if collection is not None:
            table = self._table(collection)
            await table.remove(await table.keys())
            await self._call("remove", self._connection.client.delete_collection, physical)

    def _table(self, collection: Any) -> ChromaTable:
        metadata = collection.metadata
        dimensions = metadata.get(_DIMENSIONS)
        space = None if dimensions is None else VectorSpace(json.loads(metadata[_MODEL]), dimensions)
        return ChromaTable(self._connection, collection, space, _metric(collection), self._tokenizer)

    def _ours(self, collection: Any) -> Any:
        if not _is_ours(collection):
            raise VectorStoreError(
                f"Chroma has a collection {collection.name!r} that was not made here: give another collection_name.",
            )
        version = collection.metadata[_FORMAT]
        if version > _VERSION:
            raise VectorStoreError(
                f"Chroma's collection {collection.name!r} is of format {version}, and this version reads {_VERSION}: "
                "use a later version of agentscope-reme.",
            )
        return collection

    async def _call(self, action: str, function: Any, *args: Any, **asked: Any) -> Any:
        return await self._connection.call(f"{action} a collection", function, *args, **asked)


def _options(metadata: Mapping[str, Any], configuration: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metadata and configuration of a new collection, which compares by cosine unless they say otherwise."""
    new, index = dict(metadata), dict(configuration)
    if any(key.startswith("hnsw:") for key in new):
        new.setdefault("hnsw:space", "cosine")
        return new, index
    kind = "spann" if index.get("spann") else "hnsw"
    index[kind] = {"space": "cosine", **(index.get(kind) or {})}
    return new, index


def _metric(collection: Any) -> str:
    configuration = collection.configuration_json or {}
    index = configuration.get("hnsw") or configuration.get("spann") or {}
    return index.get("space") or "l2"


def _lasting(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that can be written again; Chroma keeps the index's options elsewhere."""
    return {key: value for key, value in metadata.items() if not key.startswith("hnsw:")}


def _is_ours(collection: Any) -> bool:
    return bool(collection.metadata) and _FORMAT in collection.metadata
