# -*- coding: utf-8 -*-
"""The indexes of Elasticsearch: each is used under an alias, so that another can take its place at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from .._errors import VectorStoreError
from ..text import WordTokenizer
from ._elasticsearch_client import ElasticsearchConnection
from ._elasticsearch_document import IndexOptions, index_body
from ._elasticsearch_table import ElasticsearchTable
from ._space import VectorSpace
from ._tables import FoundTables, Table, Tables

__all__ = ["ElasticsearchTables"]

_MARK = "agentscope_reme"
_VERSION = 1
_WANTED = ["*.aliases", "*.mappings._meta"]
_NUMBERED = re.compile(r"(.+)-(\d+)")


class ElasticsearchTables(Tables):
    """The indexes that were made here. Their names are of small letters; the collection's own stands in the mappings.

    Args:
        connection (`ElasticsearchConnection`): the connection.
        options (`IndexOptions`): how indexes are made and used.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(self, connection: ElasticsearchConnection, options: IndexOptions, tokenizer: WordTokenizer) -> None:
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
        """See `Tables.look`."""
        found = await self._found(name)
        current = [index for index, each in found.items() if self._alias(name) in each["aliases"]]
        begun = [index for index in found if index not in current]
        return FoundTables(
            self._table(current[-1], found[current[-1]]) if current else None,
            self._table(begun[-1], found[begun[-1]]) if begun else None,
        )

    async def create(self, name: str, space: VectorSpace | None) -> Table:
        """See `Tables.create`; of several who do this at once, one makes the index and the others take it."""
        found = await self._found(name)
        current = next((index for index, each in found.items() if self._alias(name) in each["aliases"]), None)
        if current is not None:  # made since it was looked for
            return self._table(current, found[current])
        index = self._after(name, found)
        try:
            return await self._make(index, name, space, aliases={self._alias(name): {}})
        except VectorStoreError as error:
            if getattr(error.__cause__, "error", "") != "resource_already_exists_exception":
                raise
            made = (await self.look(name)).current
            if made is None:
                raise
            return made

    async def begin(self, name: str, space: VectorSpace) -> Table:
        """See `Tables.begin`."""
        index = self._after(name, await self._found(name))
        await self.discard(name)
        return await self._make(index, name, space)

    async def replace(self, name: str, begun: Table) -> Table:
        """See `Tables.replace`; the server exchanges the indexes in one step."""
        assert isinstance(begun, ElasticsearchTable)
        actions: list[dict[str, Any]] = [{"add": {"index": begun.index, "alias": self._alias(name)}}]
        actions += [{"remove_index": {"index": index}} for index in await self._found(name) if index != begun.index]
        await self._connection.call(f"exchange the index of {name!r}", "indices.update_aliases", actions=actions)
        return begun

    async def discard(self, name: str) -> None:
        """See `Tables.discard`."""
        found = await self._found(name)
        await self._remove([index for index, each in found.items() if self._alias(name) not in each["aliases"]])

    async def drop(self, name: str) -> None:
        """See `Tables.drop`."""
        await self._remove(list(await self._found(name)))

    async def names(self) -> list[str]:
        """See `Tables.names`."""
        found = await self._look_for(f"{self._options.prefix}*")
        return sorted({each["about"]["collection"] for each in found.values() if each["aliases"]})

    # ------------------------------------------------------------------ inside

    async def _found(self, name: str) -> dict[str, Any]:
        """The indexes of a collection, those made first first."""
        found = await self._look_for(f"{self._alias(name)}-*")
        return dict(sorted(found.items(), key=lambda each: _number(each[0])))

    async def _look_for(self, pattern: str) -> dict[str, Any]:
        """Indexes that were made here, with their aliases and what is kept with their mappings."""
        answer = await self._connection.call(
            f"look for {pattern!r}", "indices.get", index=pattern, filter_path=_WANTED, allow_no_indices=True
        )
        found = {}
        for index, each in answer.items():
            about = each.get("mappings", {}).get("_meta", {}).get(_MARK)
            if about is not None:
                found[index] = {"aliases": each.get("aliases", {}), "about": about}
        return found

    def _after(self, name: str, found: Mapping[str, Any]) -> str:
        """The name for another index beside those that were found."""
        return f"{self._alias(name)}-{max(map(_number, found), default=0) + 1}"

    async def _make(self, index: str, name: str, space: VectorSpace | None, **more: Any) -> ElasticsearchTable:
        about: dict[str, Any] = {"format": _VERSION, "collection": name}
        if space is not None:
            about |= {"model": space.model, "dimensions": space.dimensions}
        body = index_body({_MARK: about}, space, self._options)
        await self._connection.call(f"make {index!r}", "indices.create", index=index, **body, **more)
        return self._table(index, {"about": about})

    def _table(self, index: str, found: Mapping[str, Any]) -> ElasticsearchTable:
        about = found["about"]
        if about["format"] > _VERSION:
            raise VectorStoreError(
                f"Elasticsearch's index {index!r} is of format {about['format']}, and this version reads {_VERSION}: "
                "use a later version of agentscope-reme.",
            )
        space = VectorSpace(about["model"], int(about["dimensions"])) if "model" in about else None
        return ElasticsearchTable(self._connection, index, space, self._options, self._tokenizer)

    async def _remove(self, indexes: list[str]) -> None:
        if indexes:
            await self._connection.call(f"remove {indexes}", "indices.delete", index=indexes, ignore_unavailable=True)

    def _alias(self, name: str) -> str:
        """A name in the alphabet of indexes, another one for each."""
        readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-")
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return f"{self._options.prefix}{readable}-{digest}" if readable else f"{self._options.prefix}{digest}"


def _number(index: str) -> int:
    found = _NUMBERED.fullmatch(index)
    return int(found[2]) if found else 0
