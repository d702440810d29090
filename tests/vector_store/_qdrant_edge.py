# -*- coding: utf-8 -*-
"""Qdrant's real engine (qdrant-edge-py) behind the methods of a `QdrantClient` that stores call.

Points, filters and searches are the engine's, which a server is made of. Names, aliases and metadata of collections are
those of the client's local mode. The engine's Python binding takes True for 1 in filters, so flags are texts here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class QdrantEdge:
    """A blocking client.

    Args:
        folder (`Path`): where the engine keeps its shards.
        indexed (`Mapping[str, str]`): the payload indexes of every collection.
    """

    def __init__(self, folder: Path, indexed: dict[str, str]) -> None:
        from qdrant_client import QdrantClient

        self._names = QdrantClient(location=":memory:")
        self._folder = folder
        self._made = 0
        self._indexed = indexed
        self._shards: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names, name)

    def close(self) -> None:
        for shard, _ in self._shards.values():
            shard.close()
        self._names.close()

    def create_collection(self, collection_name: str, **asked: Any) -> bool:
        import qdrant_edge as edge

        made = self._names.create_collection(collection_name, **asked)
        vectors = {
            name: edge.EdgeVectorParams(size=each.size, distance=edge.Distance.Cosine)
            for name, each in asked["vectors_config"].items()
        }
        sparse = {
            name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf) for name in asked["sparse_vectors_config"]
        }
        self._made += 1
        path = self._folder / f"shard-{self._made}"
        path.mkdir()
        shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse))
        for field, kind in self._indexed.items():
            schema = getattr(edge.PayloadSchemaType, "Keyword" if kind == "bool" else kind.capitalize())
            shard.update(edge.UpdateOperation.create_field_index(field, schema))
        self._shards[collection_name] = (shard, path)
        return made

    def delete_collection(self, collection_name: str) -> bool:
        shard, path = self._shards.pop(collection_name)
        shard.close()
        shutil.rmtree(path)
        return self._names.delete_collection(collection_name)

    def upsert(self, collection_name: str, points: Sequence[Any], **_: Any) -> None:
        import qdrant_edge as edge

        made = [edge.Point(id=p.id, vector=_vectors(p.vector), payload=_payload(p.payload)) for p in points]
        self._shard(collection_name).update(edge.UpdateOperation.upsert_points(made))

    def batch_update_points(self, collection_name: str, update_operations: Sequence[Any], **_: Any) -> None:
        import qdrant_edge as edge

        for each in update_operations:
            change = each.set_payload
            self._shard(collection_name).update(
                edge.UpdateOperation.set_payload(change.points, _payload(change.payload))
            )

    def delete(self, collection_name: str, points_selector: Any, **_: Any) -> None:
        import qdrant_edge as edge

        self._shard(collection_name).update(edge.UpdateOperation.delete_points(points_selector.points))

    def retrieve(self, collection_name: str, ids: Sequence[Any], with_payload: Any, with_vectors: Any) -> list[Any]:
        return self._shard(collection_name).retrieve(list(ids), with_payload=with_payload, with_vector=with_vectors)

    def scroll(self, collection_name: str, scroll_filter: Any, offset: Any, limit: int, **read: Any) -> Any:
        import qdrant_edge as edge

        return self._shard(collection_name).scroll(
            edge.ScrollRequest(
                offset=offset,
                limit=limit,
                filter=_filter(scroll_filter),
                with_payload=read["with_payload"],
                with_vector=read["with_vectors"],
            )
        )

    def count(self, collection_name: str, count_filter: Any, exact: bool) -> Any:
        import qdrant_edge as edge

        request = edge.CountRequest(exact=exact, filter=_filter(count_filter))
        return SimpleNamespace(count=self._shard(collection_name).count(request))

    def query_points(
        self,
        collection_name: str,
        query: Any,
        using: str,
        limit: int,
        query_filter: Any,
        with_payload: Any,
        offset: int = 0,
    ) -> Any:
        import qdrant_edge as edge

        request = edge.QueryRequest(
            limit=limit,
            offset=offset,
            query=edge.Query.Nearest(_vectors({using: query})[using], using=using),
            filter=_filter(query_filter),
            with_payload=with_payload,
            with_vector=False,
        )
        return SimpleNamespace(points=self._shard(collection_name).query(request))

    def _shard(self, name: str) -> Any:
        return self._shards[name][0]


def _vectors(vectors: dict[str, Any]) -> dict[str, Any]:
    import qdrant_edge as edge

    return {
        name: edge.SparseVector(vector.indices, vector.values) if hasattr(vector, "indices") else vector
        for name, vector in vectors.items()
    }


def _payload(payload: dict[str, Any]) -> dict[str, Any]:
    return {**payload, "flag": {name: str(value) for name, value in payload["flag"].items()}}


def _filter(asked: Any) -> Any:
    import qdrant_edge as edge

    if asked is None:
        return None
    parts = {name: [_condition(each) for each in getattr(asked, name) or ()] for name in ("must", "should", "must_not")}
    return edge.Filter(**{name: each or None for name, each in parts.items()})


def _condition(asked: Any) -> Any:
    import qdrant_edge as edge
    from qdrant_client import models

    if isinstance(asked, models.Filter):
        return _filter(asked)
    if isinstance(asked, models.IsEmptyCondition):
        return edge.IsEmptyCondition(key=asked.is_empty.key)
    if isinstance(asked, models.HasVectorCondition):
        return edge.HasVectorCondition(asked.has_vector)
    if asked.range is not None:
        limits = asked.range
        span = edge.RangeFloat(gte=limits.gte, gt=limits.gt, lte=limits.lte, lt=limits.lt)
        return edge.FieldCondition(key=asked.key, range=span)
    matched: Callable[[], Any] = {
        models.MatchValue: lambda: edge.MatchValue(str(asked.match.value)),
        models.MatchAny: lambda: edge.MatchAny(list(asked.match.any)),
    }[type(asked.match)]
    return edge.FieldCondition(key=asked.key, match=matched())
