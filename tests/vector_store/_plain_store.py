# -*- coding: utf-8 -*-
"""The least that a store of one's own has to do: a dictionary, and everything else as the base class does it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agentscope_reme._errors import VectorSpaceError
from agentscope_reme.record import Condition, MemoryNode, matches
from agentscope_reme.vector_store import (
    Embed,
    Progress,
    StoreHit,
    VectorSpace,
    VectorStore,
    check_space,
    check_vector,
    check_vectors,
    in_order,
)


class PlainStore(VectorStore):
    """Memories in a dictionary that outlives the store; what a test may keep in its own hands."""

    def __init__(self, held: dict[str, Any], collection_name: str = "reme") -> None:
        super().__init__(collection_name)
        self._held = held

    @property
    def _nodes(self) -> dict[str, MemoryNode]:
        self._refuse_closed()
        return self._held[self.collection_name]["nodes"]

    async def open(self, space: VectorSpace | None) -> None:
        kept = self._held.setdefault(self.collection_name, {"nodes": {}, "space": None, "target": None})
        has_vectors = any(node.vector is not None for node in kept["nodes"].values())
        if space is not None:
            if kept["target"] is not None:
                raise VectorSpaceError(f"The reindex of {self.collection_name!r} did not end: call it again.")
            check_space(self.collection_name, kept["space"] if has_vectors else None, space)
            kept["space"] = space
        self._space, self._opened = space, True

    async def close(self) -> None:
        self._opened = False

    def companion(self, name: str) -> VectorStore:
        return PlainStore(self._held, f"{self.collection_name}_{name}")

    async def write(self, insert: Sequence[MemoryNode] = (), delete: Collection[str] = ()) -> None:
        self._refuse_closed()
        vectors = check_vectors(self.collection_name, self._space or self._held[self.collection_name]["space"], insert)
        for key in delete:
            self._nodes.pop(key, None)
        self._nodes.update((node.key, replace(node, vector=vectors[node.key])) for node in insert)

    async def get(self, keys: Sequence[str], *, with_vectors: bool = False) -> dict[str, MemoryNode]:
        found = {key: self._nodes[key] for key in keys if key in self._nodes}
        return found if with_vectors else {key: replace(node, vector=None) for key, node in found.items()}

    async def find(
        self,
        conditions: Sequence[Condition] = (),
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        after: str | None = None,
    ) -> list[MemoryNode]:
        found = in_order((node for node in self._nodes.values() if matches(node, conditions)), sort_key, reverse)
        return [replace(node, vector=None) for node in found if after is None or node.key > after][:limit]

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        return sum(matches(node, conditions) for node in self._nodes.values())

    async def search(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition] = ()) -> list[StoreHit]:
        self._refuse_closed()
        query = check_vector(self.collection_name, self._space, vector).astype(float)
        hits = []
        for node in self._nodes.values():
            if node.vector is not None and matches(node, conditions):
                other = node.vector.astype(float)
                score = float(query @ other / np.linalg.norm(query) / np.linalg.norm(other))
                hits.append(StoreHit(replace(node, vector=None), score, score))
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    async def collections(self) -> list[str]:
        self._refuse_closed()
        return sorted(self._held)

    async def drop(self) -> None:
        self._refuse_closed()
        del self._held[self.collection_name]
        self._opened = False

    async def reindex(self, space: VectorSpace, embed: Embed, progress: Progress | None = None) -> int:
        if not self._opened:
            await self.open(None)
        kept, embedded = self._held[self.collection_name], 0
        if kept["target"] != space and kept["space"] != space:
            for key, node in self._nodes.items():
                self._nodes[key] = replace(node, vector=None)
        kept["target"] = space
        for at, node in enumerate(list(self._nodes.values())):
            if node.vector is None:
                (vector,) = await embed([node.embedded_text])
                if vector is not None:
                    self._nodes[node.key] = replace(node, vector=check_vector(self.collection_name, space, vector))
                    embedded += 1
            if progress is not None:
                progress(at + 1, len(self._nodes))
        kept["space"], kept["target"] = space, None
        self._space, self._opened = space, True
        return embedded
