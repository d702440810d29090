# -*- coding: utf-8 -*-
"""What is done with the points of one collection of Qdrant."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ..record import Condition, MemoryNode, matches
from ..text import WordTokenizer
from ._base import StoreHit
from ._client_calls import batches
from ._qdrant_client import QdrantConnection
from ._qdrant_filters import qdrant_filter
from ._qdrant_point import (
    MEANING,
    READ,
    WORDS,
    key_of,
    node_of,
    payload,
    point_id,
    point_of,
    weight,
    word_numbers,
)
from ._space import VectorSpace
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["QdrantTable"]

_MOST, _HEAVIEST = 500, 8_000_000
_READ_AT_ONCE = 1_000


class QdrantTable(Table):
    """A collection of Qdrant.

    Args:
        connection (`QdrantConnection`): the open connection.
        physical (`str`): the collection's own name.
        space (`VectorSpace | None`): whose vectors it takes.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(
        self, connection: QdrantConnection, physical: str, space: VectorSpace | None, tokenizer: WordTokenizer
    ) -> None:
        super().__init__(space)
        self.physical = physical
        self._connection = connection
        self._tokenizer = tokenizer

    # ------------------------------------------------------------------ write

    async def put(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> None:
        """See `Table.put`."""
        points = await to_thread.run_sync(self._points, nodes, vectors)
        for batch in batches(points, _MOST, weight, _HEAVIEST):
            await self._call("write to", "upsert", points=batch, wait=True)

    async def rewrite(self, nodes: Sequence[MemoryNode]) -> None:
        """See `Table.rewrite`."""
        operations = await to_thread.run_sync(_changes, nodes)
        for batch in batches(operations, _MOST, _weight_of_change, _HEAVIEST):
            await self._call("write to", "batch_update_points", update_operations=batch, wait=True)

    async def remove(self, keys: Collection[str]) -> None:
        """See `Table.remove`."""
        from qdrant_client import models

        for batch in _slices([point_id(key) for key in keys], _READ_AT_ONCE):
            selected = models.PointIdsList(points=list(batch))
            await self._call("remove from", "delete", points_selector=selected, wait=True)

    # ------------------------------------------------------------------ read

    async def get(self, keys: Sequence[str], with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `Table.get`."""
        found: dict[str, MemoryNode] = {}
        vectors = [MEANING] if with_vectors and self.space else False
        for batch in _slices([point_id(key) for key in keys], _READ_AT_ONCE):
            records = await self._call("read from", "retrieve", ids=batch, with_payload=READ, with_vectors=vectors)
            found.update((node.key, node) for node in await to_thread.run_sync(_nodes, records))
        return found

    async def scan(
        self, conditions: Sequence[Condition] = (), *, after: str | None = None, size: int = 500
    ) -> AsyncGenerator[list[MemoryNode], None]:
        """See `Table.scan`; Qdrant reads points by id, which is by key."""
        wanted = qdrant_filter(conditions)
        start = _next_id(after)
        while not wanted.empty and start is not None:
            records, _ = await self._scroll(wanted.filter, start, size, READ)
            nodes = await to_thread.run_sync(_nodes, records)
            if page := nodes if wanted.exact else [node for node in nodes if matches(node, conditions)]:
                yield page
            start = _next_id(key_of(records[-1].id)) if len(records) == size else None

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `Table.count`."""
        wanted = qdrant_filter(conditions)
        if wanted.empty:
            return 0
        if not wanted.exact:
            return sum([len(page) async for page in self.scan(conditions)])
        return (await self._call("count in", "count", count_filter=wanted.filter, exact=True)).count

    async def without_vectors(self) -> list[str]:
        """See `Table.without_vectors`."""
        from qdrant_client import models

        wanted = None
        if self.space is not None:
            wanted = models.Filter(must_not=[models.HasVectorCondition(has_vector=MEANING)])
        found: list[str] = []
        start: str | None = _next_id(None)
        while start is not None:
            records, _ = await self._scroll(wanted, start, _READ_AT_ONCE, False)
            found += [key_of(record.id) for record in records]
            start = _next_id(found[-1]) if len(records) == _READ_AT_ONCE else None
        return found

    # ------------------------------------------------------------------ search

    async def nearest(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition]) -> list[StoreHit]:
        """See `Table.nearest`."""
        hits = [
            StoreHit(node, score, score, {"meaning": score})
            for node, score in await self._query(vector.tolist(), MEANING, limit, conditions)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.node.key))

    async def with_words(self, words: Sequence[str], limit: int, conditions: Sequence[Condition]) -> list[MemoryNode]:
        """See `Table.with_words`; Qdrant weighs each word by how rare it is."""
        from qdrant_client import models

        numbers = list(word_numbers(words))
        query = models.SparseVector(indices=numbers, values=[1.0] * len(numbers))
        return [node for node, _ in await self._query(query, WORDS, limit, conditions)]

    async def _query(
        self, query: Any, using: str, limit: int, conditions: Sequence[Condition]
    ) -> list[tuple[MemoryNode, float]]:
        """The best by one vector. Where Qdrant cannot say the conditions, it is asked on until there are enough."""
        wanted = qdrant_filter(conditions)
        found: list[tuple[MemoryNode, float]] = []
        offset, size = 0, limit
        while not wanted.empty and len(found) < limit:
            more: dict[str, Any] = {"offset": offset} if offset else {}
            points = (
                await self._call(
                    "search in",
                    "query_points",
                    query=query,
                    using=using,
                    limit=size,
                    query_filter=wanted.filter,
                    with_payload=READ,
                    **more,
                )
            ).points
            nodes = await to_thread.run_sync(_nodes, points)
            pairs = zip(nodes, (float(point.score) for point in points), strict=True)
            found += [(node, score) for node, score in pairs if wanted.exact or matches(node, conditions)]
            if wanted.exact or len(points) < size:
                break
            offset, size = offset + size, min(4 * size, _READ_AT_ONCE)
        return found[:limit]

    # ------------------------------------------------------------------ inside

    def _points(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> list[Any]:
        return [point_of(node, vectors[node.key], self._tokenizer) for node in nodes]

    async def _scroll(self, wanted: Any, start: str, size: int, read: Any) -> tuple[list[Any], Any]:
        return await self._call(
            "read from",
            "scroll",
            scroll_filter=wanted,
            offset=start,
            limit=size,
            with_payload=read,
            with_vectors=False,
        )

    async def _call(self, action: str, method: str, **asked: Any) -> Any:
        return await self._connection.call(
            f"{action} {self.physical!r}", method, collection_name=self.physical, **asked
        )


def _changes(nodes: Sequence[MemoryNode]) -> list[Any]:
    from qdrant_client import models

    return [
        models.SetPayloadOperation(set_payload=models.SetPayload(payload=payload(node), points=[point_id(node.key)]))
        for node in nodes
    ]


def _weight_of_change(operation: Any) -> int:
    return 2 * len(operation.set_payload.payload["node"]) + 1_000


def _nodes(records: Sequence[Any]) -> list[MemoryNode]:
    return [node_of(record) for record in records]


def _next_id(key: str | None) -> str | None:
    """The id from which on points come after this key; None after the greatest of all."""
    number = int(key, 16) + 1 if key is not None else 0
    return point_id(f"{number:032x}") if number < 1 << 128 else None


def _slices(values: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield list(values[start : start + size])
