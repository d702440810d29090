# -*- coding: utf-8 -*-
"""What is done with the documents of one index of Elasticsearch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from .._errors import VectorStoreError
from ..record import FIELDS, Condition, MemoryNode
from ..text import WordTokenizer
from ._base import StoreHit
from ._client_calls import batches
from ._elasticsearch_client import ElasticsearchConnection
from ._elasticsearch_document import KEY, NODE, ORDER, VECTOR, WORDS, IndexOptions, deletion, insertion, update
from ._elasticsearch_filters import query_of
from ._plain_node import node_of_text
from ._space import VectorSpace
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MOST_FOUND", "ElasticsearchTable"]

MOST_FOUND = 10_000
"""How many documents one search gives at most (``index.max_result_window``)."""

_MOST, _HEAVIEST = 500, 8_000_000
_READ_AT_ONCE = 1_000
_MOST_WORDS = 512
_ATTEMPTS = 5
_BUSY, _GONE = 429, 404


class ElasticsearchTable(Table):
    """An index of Elasticsearch.

    Args:
        connection (`ElasticsearchConnection`): the connection.
        index (`str`): the index.
        space (`VectorSpace | None`): whose vectors it takes.
        options (`IndexOptions`): how it is used.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(
        self,
        connection: ElasticsearchConnection,
        index: str,
        space: VectorSpace | None,
        options: IndexOptions,
        tokenizer: WordTokenizer,
    ) -> None:
        super().__init__(space)
        self.index = index
        self._connection = connection
        self._options = options
        self._tokenizer = tokenizer

    # ------------------------------------------------------------------ write

    async def put(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> None:
        """See `Table.put`."""

        def lines() -> list[bytes]:
            return [insertion(node, vectors[node.key], self._tokenizer) for node in nodes]

        await self._bulk(await to_thread.run_sync(lines))

    async def rewrite(self, nodes: Sequence[MemoryNode]) -> None:
        """See `Table.rewrite`; one that was removed meanwhile stays away."""
        await self._bulk(await to_thread.run_sync(lambda: [update(node) for node in nodes]))

    async def remove(self, keys: Collection[str]) -> None:
        """See `Table.remove`."""
        await self._bulk([deletion(key) for key in keys])

    async def _bulk(self, lines: Sequence[bytes]) -> None:
        """Send operations; what the server was too busy for is sent again, and everything is found afterwards."""
        cut = list(batches(lines, _MOST, len, _HEAVIEST))
        refresh = self._options.refresh
        for batch in cut:
            await self._send(batch, refresh if len(cut) == 1 else False)
        if len(cut) > 1 and refresh:
            await self._call("refresh", "indices.refresh")

    async def _send(self, lines: Sequence[bytes], refresh: bool | str) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            answer = await self._call("write to", "bulk", operations=lines, refresh=refresh)
            results = [next(iter(item.values())) for item in answer["items"]]
            failed = [at for at, result in enumerate(results) if "error" in result and result["status"] != _GONE]
            if not failed:
                return
            first = results[failed[0]]
            if attempt == _ATTEMPTS or any(results[at]["status"] != _BUSY for at in failed):
                raise VectorStoreError(
                    f"Elasticsearch refused {len(failed)} of {len(results)} documents of {self.index!r}, the first "
                    f"with: {_reason(first['error'])}.",
                )
            lines = [lines[at] for at in failed]
            await asyncio.sleep(0.2 * 2**attempt)

    # ------------------------------------------------------------------ read

    async def get(self, keys: Sequence[str], with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `Table.get`."""
        found: dict[str, MemoryNode] = {}
        for start in range(0, len(keys), _READ_AT_ONCE):
            part = list(keys[start : start + _READ_AT_ONCE])
            if with_vectors and self.space is not None:
                hits = await self._search(query={"ids": {"values": part}}, size=len(part), fields=[{"field": VECTOR}])
            else:
                answer = await self._call("read from", "mget", ids=part, source_includes=[NODE])
                hits = [each for each in answer["docs"] if each.get("found")]
            found.update((node.key, node) for node in await _nodes(hits))
        return found

    async def scan(
        self, conditions: Sequence[Condition] = (), *, after: str | None = None, size: int = 500
    ) -> AsyncGenerator[list[MemoryNode], None]:
        """See `Table.scan`."""
        async for hits in self._pages({"bool": {"filter": query_of(conditions)}}, after, size, [NODE]):
            yield await _nodes(hits)

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `Table.count`."""
        return (await self._call("count in", "count", query={"bool": {"filter": query_of(conditions)}}))["count"]

    async def without_vectors(self) -> list[str]:
        """See `Table.without_vectors`."""
        query: dict[str, Any] = {"match_all": {}}
        if self.space is not None:
            query = {"bool": {"must_not": [{"exists": {"field": VECTOR}}]}}
        pages = self._pages(query, None, _READ_AT_ONCE, False)
        return [hit["_id"] async for hits in pages for hit in hits]

    async def listed(
        self, conditions: Sequence[Condition], limit: int, sort_key: str, reverse: bool, after: str | None
    ) -> list[MemoryNode]:
        """The first memories in the order of one of `FIELDS`; at most `MOST_FOUND` of them."""
        query: dict[str, Any] = {"bool": {"filter": query_of(conditions)}}
        if after is not None:
            query["bool"]["filter"].append({"range": {KEY: {"gt": after}}})
        assert sort_key in FIELDS
        order = {f"{ORDER}.{sort_key}": {"order": "desc" if reverse else "asc", "missing": "_last"}}
        return await _nodes(await self._search(query=query, sort=[order, {KEY: {"order": "asc"}}], size=limit))

    # ------------------------------------------------------------------ search

    async def nearest(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition]) -> list[StoreHit]:
        """See `Table.nearest`; at most `MOST_FOUND`. The server filters while it searches."""
        wanted = min(limit, MOST_FOUND)
        knn: dict[str, Any] = {
            "field": VECTOR,
            "query_vector": vector.tolist(),
            "k": wanted,
            "num_candidates": min(max(2 * wanted, self._options.num_candidates), MOST_FOUND),
        }
        if conditions:
            knn["filter"] = query_of(conditions)
        hits = await self._search(knn=knn, size=wanted)
        cosines = [2 * hit["_score"] - 1 for hit in hits]  # the server keeps scores above 0
        nodes = await _nodes(hits)
        found = [
            StoreHit(node, cosine, cosine, {"meaning": cosine}) for node, cosine in zip(nodes, cosines, strict=True)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.node.key))

    async def with_words(self, words: Sequence[str], limit: int, conditions: Sequence[Condition]) -> list[MemoryNode]:
        """See `Table.with_words`; the server's own BM25 over our words."""
        match = {"match": {WORDS: {"query": " ".join(words[:_MOST_WORDS]), "operator": "or"}}}
        query = {"bool": {"must": [match], "filter": query_of(conditions)}}
        return await _nodes(await self._search(query=query, size=min(limit, MOST_FOUND)))

    # ------------------------------------------------------------------ inside

    async def _pages(
        self, query: Mapping[str, Any], after: str | None, size: int, source: Any
    ) -> AsyncIterator[list[Any]]:
        """All documents, by key."""
        if self._options.refresh is False:
            await self._call("refresh", "indices.refresh")
        while True:
            more = {} if after is None else {"search_after": [after]}
            hits = await self._search(query=query, sort=[{KEY: {"order": "asc"}}], size=size, source=source, **more)
            if hits:
                yield hits
            if len(hits) < size:
                return
            after = hits[-1]["_id"]

    async def _search(self, *, source: Any = (NODE,), **asked: Any) -> list[Any]:
        source = source if source is False else list(source)
        answer = await self._call("search in", "search", source=source, track_total_hits=False, **asked)
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise VectorStoreError(f"Elasticsearch searched {self.index!r} in part only: {answer['_shards']}.")
        return answer["hits"]["hits"]

    async def _call(self, action: str, method: str, **asked: Any) -> Any:
        return await self._connection.call(f"{action} {self.index!r}", method, index=self.index, **asked)


async def _nodes(hits: Sequence[Any]) -> list[MemoryNode]:
    return await to_thread.run_sync(lambda: [_node(hit) for hit in hits])


def _node(hit: Any) -> MemoryNode:
    import numpy as np

    numbers = hit.get("fields", {}).get(VECTOR)
    return node_of_text(hit["_source"][NODE], None if numbers is None else np.array(numbers, dtype=np.float32))


def _reason(error: Any) -> str:
    return str(error.get("reason") or error.get("type")) if isinstance(error, Mapping) else str(error)
