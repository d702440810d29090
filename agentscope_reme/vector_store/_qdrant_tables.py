# -*- coding: utf-8 -*-
"""The collections of a Qdrant server: each is used under an alias, so that another can take its place at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._errors import VectorStoreError
from ..text import WordTokenizer
from ._physical_name import given_name, physical_name
from ._qdrant_client import QdrantConnection
from ._qdrant_filters import INDEXED
from ._qdrant_options import collection_options, vector_options
from ._qdrant_point import MEANING, WORDS
from ._qdrant_table import QdrantTable
from ._space import VectorSpace
from ._tables import FoundTables, Table, Tables

__all__ = ["QdrantTables"]

_LONGEST = 230
_NUMBERED = re.compile(r"(.+)\.-(\d+)")
_MARK = "agentscope_reme"
_VERSION = 1


class QdrantTables(Tables):
    """The collections of a Qdrant server that were made here.

    Args:
        connection (`QdrantConnection`): the connection.
        options (`Mapping[str, Any]`): of new collections.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(self, connection: QdrantConnection, options: Mapping[str, Any], tokenizer: WordTokenizer) -> None:
        self._connection = connection
        self._options = options
        self._tokenizer = tokenizer

    async def acquire(self) -> None:
        """See `Tables.acquire`."""
        await self._connection.acquire()

    async def release(self) -> None:
        """See `Tables.release`."""
        await self._connection.release()

    async def look(self, name: str) -> FoundTables:
        """See `Tables.look`; what was replaced is removed."""
        alias = physical_name(name, _LONGEST)
        numbers, current = await self._numbers(alias)
        if current is None:
            if not numbers:
                return FoundTables(None, None)
            current = numbers[0]  # made, and broken off before it had its alias
            await self._point(alias, current)
        for number in numbers:
            if number < current:
                await self._remove(_physical(alias, number))
        begun = [number for number in numbers if number > current]
        return FoundTables(
            await self._table(_physical(alias, current)),
            await self._table(_physical(alias, begun[-1])) if begun else None,
        )

    async def create(self, name: str, space: VectorSpace | None) -> Table:
        """See `Tables.create`."""
        alias = physical_name(name, _LONGEST)
        table = await self._made(_physical(alias, 1), space)
        await self._point(alias, 1)
        return table

    async def begin(self, name: str, space: VectorSpace) -> Table:
        """See `Tables.begin`."""
        await self.discard(name)
        alias = physical_name(name, _LONGEST)
        numbers, _ = await self._numbers(alias)
        return await self._made(_physical(alias, max(numbers, default=0) + 1), space)

    async def replace(self, name: str, begun: Table) -> Table:
        """See `Tables.replace`; the alias changes at once."""
        assert isinstance(begun, QdrantTable)
        alias = physical_name(name, _LONGEST)
        found = _NUMBERED.fullmatch(begun.physical)
        assert found is not None
        await self._point(alias, int(found[2]))
        await self.look(name)
        return begun

    async def discard(self, name: str) -> None:
        """See `Tables.discard`."""
        alias = physical_name(name, _LONGEST)
        numbers, current = await self._numbers(alias)
        for number in reversed(numbers):
            if current is not None and number > current:
                await self._remove(_physical(alias, number))

    async def drop(self, name: str) -> None:
        """See `Tables.drop`."""
        alias = physical_name(name, _LONGEST)
        numbers, _ = await self._numbers(alias)
        for number in reversed(numbers):
            await self._remove(_physical(alias, number))

    async def names(self) -> list[str]:
        """See `Tables.names`."""
        return sorted(given_name(alias) for alias in await self._aliases())

    # ------------------------------------------------------------------ inside

    async def _numbers(self, alias: str) -> tuple[list[int], int | None]:
        """The numbers of the collections made for an alias, ascending, and which of them it stands for."""
        found = await self._call("list", "get_collections")
        names = [each.name for each in found.collections]
        if alias in names:
            raise VectorStoreError(
                f"Qdrant has a collection {alias!r} that was not made here: give another collection_name.",
            )
        matched = [match for name in names if (match := _NUMBERED.fullmatch(name)) and match[1] == alias]
        return sorted(int(match[2]) for match in matched), (await self._aliases()).get(alias)

    async def _aliases(self) -> dict[str, int]:
        """The aliases that were made here, and the number of the collection that each stands for."""
        found = await self._call("list", "get_aliases")
        matched = [(each.alias_name, _NUMBERED.fullmatch(each.collection_name)) for each in found.aliases]
        return {alias: int(match[2]) for alias, match in matched if match and match[1] == alias}

    async def _point(self, alias: str, number: int) -> None:
        """Let an alias stand for a collection from now on."""
        from qdrant_client import models

        made = models.CreateAlias(collection_name=_physical(alias, number), alias_name=alias)
        operations: list[Any] = [models.CreateAliasOperation(create_alias=made)]
        if alias in await self._aliases():
            gone = models.DeleteAlias(alias_name=alias)
            operations.insert(0, models.DeleteAliasOperation(delete_alias=gone))
        await self._call("name", "update_collection_aliases", change_aliases_operations=operations)

    async def _made(self, physical: str, space: VectorSpace | None) -> QdrantTable:
        if not await self._call("look for", "collection_exists", collection_name=physical):
            await self._make(physical, space)
        return await self._table(physical)

    async def _make(self, physical: str, space: VectorSpace | None) -> None:
        from qdrant_client import models

        about: dict[str, Any] = {"format": _VERSION}
        vectors: dict[str, Any] = {}
        if space is not None:
            about |= {"model": space.model, "dimensions": space.dimensions}
            more = vector_options(self._options)
            vectors[MEANING] = models.VectorParams(size=space.dimensions, distance=models.Distance.COSINE, **more)
        await self._call(
            "make",
            "create_collection",
            collection_name=physical,
            vectors_config=vectors,
            sparse_vectors_config={WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            metadata={_MARK: about},
            **collection_options(self._options),
        )
        if not self._connection.is_local:
            for field, kind in INDEXED.items():
                asked = {"field_name": field, "field_schema": models.PayloadSchemaType(kind)}
                await self._call("index", "create_payload_index", collection_name=physical, **asked)

    async def _table(self, physical: str) -> QdrantTable:
        found = await self._call("open", "get_collection", collection_name=physical)
        about = (found.config.metadata or {}).get(_MARK)
        if about is None:
            raise VectorStoreError(
                f"Qdrant keeps no metadata with its collection {physical!r}, where the model stands: use a server of "
                "version 1.16 or later.",
            )
        if about["format"] > _VERSION:
            raise VectorStoreError(
                f"Qdrant's collection {physical!r} is of format {about['format']}, and this version reads {_VERSION}: "
                "use a later version of agentscope-reme.",
            )
        space = VectorSpace(about["model"], int(about["dimensions"])) if "model" in about else None
        return QdrantTable(self._connection, physical, space, self._tokenizer)

    async def _remove(self, physical: str) -> None:
        await self._call("remove", "delete_collection", collection_name=physical)

    async def _call(self, action: str, method: str, **asked: Any) -> Any:
        return await self._connection.call(f"{action} collections", method, **asked)


def _physical(alias: str, number: int) -> str:
    return f"{alias}.-{number}"
