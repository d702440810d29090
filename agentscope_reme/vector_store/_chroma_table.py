# -*- coding: utf-8 -*-
"""What is done with the records of one collection of Chroma."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ..record import Condition, MemoryNode, matches
from ..text import WordTokenizer
from ._base import StoreHit
from ._chroma_client import ChromaConnection
from ._chroma_filters import CUT, VECTOR, ChromaFilter, Where, chroma_filter, is_of_open_fields
from ._chroma_hits import cosines_of, hit_of, nodes_of
from ._chroma_record import ChromaRecord, changed_values, has_vector, node_of, record_of, values_of
from ._client_calls import batches
from ._plain_node import plain_flag
from ._space import VectorSpace
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ChromaTable"]

_HEAVIEST = 16_000_000
_READ_AT_ONCE = 1_000
_NARROW = 200
"""Where no more memories than this meet the conditions, all of them are compared with the query."""
_SPARE = 4


class ChromaTable(Table):
    """A collection of Chroma.

    Args:
        connection (`ChromaConnection`): the open connection.
        collection (`Any`): the client's collection, blocking or asynchronous.
        space (`VectorSpace | None`): whose vectors it takes.
        metric (`str`): what its index compares by: ``cosine``, ``ip`` or ``l2``.
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(
        self,
        connection: ChromaConnection,
        collection: Any,
        space: VectorSpace | None,
        metric: str,
        tokenizer: WordTokenizer,
    ) -> None:
        super().__init__(space)
        self.collection = collection
        self._connection = connection
        self._metric = metric
        self._tokenizer = tokenizer

    # ------------------------------------------------------------------ write

    async def put(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> None:
        """See `Table.put`."""
        records = await to_thread.run_sync(self._records, nodes, vectors)
        for batch in batches(records, self._connection.most, lambda record: record.weight, _HEAVIEST):
            keys = [record.key for record in batch]
            old = await self._values(keys)
            await self._call(
                "write to",
                self.collection.upsert,
                ids=keys,
                embeddings=[record.embedding for record in batch],
                metadatas=[changed_values(record.values, old.get(record.key)) for record in batch],
                documents=[record.words for record in batch],
            )

    async def rewrite(self, nodes: Sequence[MemoryNode]) -> None:
        """See `Table.rewrite`."""
        for batch in batches(nodes, self._connection.most, lambda node: 2 * len(node.content) + 2_000, _HEAVIEST):
            old = await self._values([node.key for node in batch])
            new = {
                node.key: changed_values(values_of(node, has_vector(old[node.key])), old[node.key])
                for node in batch
                if node.key in old
            }
            if new:
                await self._call("write to", self.collection.update, ids=list(new), metadatas=list(new.values()))

    async def remove(self, keys: Collection[str]) -> None:
        """See `Table.remove`."""
        for batch in _slices(list(keys), self._connection.most):
            found = (await self._get(ids=batch, include=[]))["ids"]
            if found:
                await self._call("remove from", self.collection.delete, ids=found)

    # ------------------------------------------------------------------ read

    async def get(self, keys: Sequence[str], with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `Table.get`."""
        found: dict[str, MemoryNode] = {}
        include = ["metadatas", "embeddings"] if with_vectors and self.space else ["metadatas"]
        for batch in _slices(keys, _READ_AT_ONCE):
            found.update(await to_thread.run_sync(nodes_of, await self._get(ids=batch, include=include)))
        return found

    async def scan(
        self, conditions: Sequence[Condition] = (), *, after: str | None = None, size: int = 500
    ) -> AsyncGenerator[list[MemoryNode], None]:
        """See `Table.scan`; the keys are those that there are at the beginning."""
        keys, exact = await self._candidates(await self._filter(conditions))
        keys = sorted(key for key in keys if after is None or key > after)
        for part in _slices(keys, size):
            found = await self.get(part)
            nodes = [found[key] for key in part if key in found]
            if page := nodes if exact else [node for node in nodes if matches(node, conditions)]:
                yield page

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `Table.count`."""
        wanted = await self._filter(conditions)
        if wanted == ChromaFilter():
            return await self._call("count in", self.collection.count)
        keys, exact = await self._candidates(wanted)
        if exact:
            return len(keys)
        nodes = [await self.get(part) for part in _slices(keys, _READ_AT_ONCE)]
        return sum(matches(node, conditions) for part in nodes for node in part.values())

    async def keys(self) -> list[str]:
        """All keys."""
        return await self._keys(None)

    async def without_vectors(self) -> list[str]:
        """See `Table.without_vectors`."""
        return sorted(await self._keys({VECTOR: plain_flag(False)}))

    # ------------------------------------------------------------------ search

    async def nearest(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition]) -> list[StoreHit]:
        """See `Table.nearest`.

        Chroma's index is approximate and may return fewer than there are. So few are all compared; and where it did not
        return enough, or the conditions leave too few of what it returned, all that meet them are.
        """
        wanted = await self._filter(conditions)
        if wanted.empty:
            return []
        few = await self._few(wanted)
        if few is not None:
            said = wanted.exact and wanted.core == wanted.where
            return await self._compared(vector, limit, () if said else conditions, await self._vectored(few))
        open_conditions = () if wanted.exact else conditions
        asked = limit if wanted.exact else _SPARE * limit
        hits = await self._indexed(vector, asked, wanted.where, open_conditions)
        if len(hits) < limit:
            keys = await self._vectored(await self._keys(wanted.where))
            if len(keys) > len(hits):
                return await self._compared(vector, limit, open_conditions, keys)
        return hits[:limit]

    async def _vectored(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys whose memories have a vector. Chroma is slow to put a condition and `VECTOR` together."""
        lacking = set(await self._keys({VECTOR: plain_flag(False)}))
        return [key for key in keys if key not in lacking]

    async def _indexed(
        self, vector: np.ndarray, asked: int, where: Where | None, conditions: Sequence[Condition]
    ) -> list[StoreHit]:
        """What the index finds, best first, without the memories that have no vector or do not meet the conditions."""
        found = await self._call(
            "search in",
            self.collection.query,
            query_embeddings=[self._unit(vector)],
            n_results=asked,
            where=where,
            include=["metadatas", "distances"],
        )
        values, distances = found["metadatas"][0], found["distances"][0]
        return await to_thread.run_sync(self._hits, values, distances, conditions)

    def _hits(
        self, values: Sequence[Mapping[str, Any]], distances: Sequence[float], conditions: Sequence[Condition]
    ) -> list[StoreHit]:
        pairs = [
            (node_of(each), self._cosine(d)) for each, d in zip(values, distances, strict=True) if has_vector(each)
        ]
        hits = [hit_of(node, cosine) for node, cosine in pairs if matches(node, conditions)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.node.key))

    async def _compared(
        self, vector: np.ndarray, limit: int, conditions: Sequence[Condition], keys: Sequence[str]
    ) -> list[StoreHit]:
        """The nearest of these memories: each is compared with the query."""
        best: list[tuple[float, str]] = []
        include = ["embeddings", "metadatas"] if conditions else ["embeddings"]
        for batch in _slices(keys, _READ_AT_ONCE):
            found = await self._get(ids=batch, include=include)
            best += await to_thread.run_sync(cosines_of, vector, found, conditions)
            best = sorted(best, key=lambda pair: (-pair[0], pair[1]))[:limit]
        nodes = await self.get([key for _, key in best])
        return [hit_of(nodes[key], cosine) for cosine, key in best if key in nodes]

    async def with_words(self, words: Sequence[str], limit: int, conditions: Sequence[Condition]) -> list[MemoryNode]:
        """See `Table.with_words`; Chroma tells which memories hold a word, and how many is how rare it is."""
        wanted = await self._filter(conditions)
        allowed, exact = None, True
        if wanted != ChromaFilter():
            candidates, exact = await self._candidates(wanted)
            allowed = set(candidates)
        scores: dict[str, float] = {}
        total = await self._call("count in", self.collection.count)
        for word in words:
            keys = await self._keys(wanted.core, where_document={"$contains": f" {word} "})
            weight = math.log1p((total - len(keys) + 0.5) / (len(keys) + 0.5))
            for key in keys:
                if allowed is None or key in allowed:
                    scores[key] = scores.get(key, 0.0) + weight
        best = sorted(scores, key=lambda key: (-scores[key], key))
        found: list[MemoryNode] = []
        for batch in _slices(best, limit):
            nodes = await self.get(batch)
            there = [nodes[key] for key in batch if key in nodes]
            found += there if exact else [node for node in there if matches(node, conditions)]
            if len(found) >= limit:
                break
        return found[:limit]

    # ------------------------------------------------------------------ inside

    def _records(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> list[ChromaRecord]:
        units = {key: None if vector is None else self._unit(vector) for key, vector in vectors.items()}
        return [record_of(node, units[node.key], self.space, self._tokenizer) for node in nodes]

    def _unit(self, vector: np.ndarray) -> np.ndarray:
        """A vector as it is stored: of length 1 where the index is not one of cosines, so that it finds the same."""
        import numpy as np

        return vector if self._metric == "cosine" else vector / np.linalg.norm(vector)

    def _cosine(self, distance: float) -> float:
        return 1.0 - (distance / 2 if self._metric == "l2" else distance)

    async def _filter(self, conditions: Sequence[Condition]) -> ChromaFilter:
        some_are_cut = is_of_open_fields(conditions) and bool(await self._keys({CUT: plain_flag(True)}, limit=1))
        return chroma_filter(conditions, some_are_cut)

    async def _few(self, wanted: ChromaFilter) -> list[str] | None:
        """The memories that meet the core of the conditions, where they are few."""
        if wanted.core is None:
            return None
        keys = await self._keys(wanted.core, limit=_NARROW + 1)
        return keys if len(keys) <= _NARROW else None

    async def _candidates(self, wanted: ChromaFilter) -> tuple[list[str], bool]:
        """The memories that meet the conditions, or few with those among them; and whether it is just those."""
        if wanted.empty:
            return [], True
        few = await self._few(wanted) if wanted.core != wanted.where else None
        return (few, False) if few is not None else (await self._keys(wanted.where), wanted.exact)

    async def _values(self, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        found = await self._get(ids=keys, include=["metadatas"])
        return dict(zip(found["ids"], found["metadatas"], strict=True))

    async def _keys(self, where: Where | None, **asked: Any) -> list[str]:
        return (await self._get(where=where, include=[], **asked))["ids"]

    async def _get(self, **asked: Any) -> Any:
        return await self._call("read from", self.collection.get, **asked)

    async def _call(self, action: str, function: Any, **asked: Any) -> Any:
        return await self._connection.call(f"{action} {self.collection.name!r}", function, **asked)


def _slices(values: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield list(values[start : start + size])
