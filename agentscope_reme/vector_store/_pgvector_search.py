# -*- coding: utf-8 -*-
"""Search in a PostgreSQL table of memories: by vector, exactly or along the index, and by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..record import Condition
from ._pgvector_filters import Arguments, selective, where
from ._pgvector_schema import PgCollection

if TYPE_CHECKING:
    import numpy as np
    from asyncpg import Connection

__all__ = ["HnswOptions", "by_words", "nearest", "operand"]

_EXACT_UP_TO = 5_000
_LARGEST_EF = 1_000
_ITERATIVE = (0, 8)
_HALF = (0, 7)
_WORDS = 256
_COUNTED = 10_000

_K1, _B = 0.9, 0.4  # as in search.Bm25Index


@dataclass(frozen=True)
class HnswOptions:
    """How the approximate index is made and searched.

    Args:
        m (`int`): neighbours of a vector.
        ef_construction (`int`): candidates for them.
        ef_search (`int`): candidates of a search, at least.
        start (`int | None`): from how many vectors on there is an index; None for never, so that all search is exact.
    """

    m: int
    ef_construction: int
    ef_search: int
    start: int | None


def operand(collection: PgCollection, value: str) -> tuple[str, str]:
    """What the index is over: the SQL of its expression and operator class, for a column or a vector.

    Vectors of more than 2,000 dimensions are indexed as halves, which pgvector can up to 4,000; "" where it cannot.
    """
    assert collection.space is not None
    assert collection.extension is not None
    prefix = collection.extension.vector.removesuffix("vector")
    if collection.space.dimensions <= 2_000:
        return value, f"{prefix}vector_cosine_ops"
    if collection.space.dimensions <= 4_000 and collection.extension.version >= _HALF:
        return (
            f"({value}::{collection.extension.halfvec}({collection.space.dimensions}))",
            f"{prefix}halfvec_cosine_ops",
        )
    return "", ""


async def nearest(
    connection: Connection,
    collection: PgCollection,
    vector: np.ndarray,
    limit: int,
    conditions: Sequence[Condition],
    options: HnswOptions | None,
    columns: str = "content, node",
) -> list[Any]:
    """Columns of the memories nearest to a vector, and their cosines, best first.

    Args:
        connection (`Connection`): the connection.
        collection (`PgCollection`): the collection, with vectors.
        vector (`np.ndarray`): float32.
        limit (`int`): how many at most.
        conditions (`Sequence[Condition]`): what they must meet.
        options (`HnswOptions | None`): of the index; None where there is none.
        columns (`str`): which columns.
    """
    if limit < 1:
        return []
    if options is not None and await _worth_it(connection, collection, limit, conditions):
        found = await _along_the_index(connection, collection, vector, limit, conditions, options, columns)
        if len(found) == limit:  # else the index was not searched to the end
            return found
    arguments = Arguments()
    given = f"{arguments.add(vector.tolist(), 'real[]')}::{_type(collection)}"
    met = where(conditions, arguments)
    # Ordered by the cosine and not by the distance: that order no index offers, so all rows are looked at.
    return await connection.fetch(
        f"SELECT {columns}, {_cosine(collection, given)} AS cosine FROM {collection.table} "
        f"WHERE {collection.column} IS NOT NULL AND {met} ORDER BY cosine DESC, key LIMIT {limit:d}",
        *arguments.values,
    )


async def by_words(
    connection: Connection,
    collection: PgCollection,
    words: Sequence[str],
    limit: int,
    conditions: Sequence[Condition],
    columns: str = "content, node",
) -> list[Any]:
    """Columns of the memories that hold any of the words, best first.

    BM25 with each word counted once a memory. How rare a word is, is told from the memories that meet the conditions:
    `ts_rank` does not know it, and would rank two frequent words above the one that matters.
    """
    arguments = Arguments(list(words[:_WORDS]))
    met = where(conditions, arguments)
    if selective(conditions):  # a look at the few rows is shorter than one at each word's
        found = f"{collection.table}, unnest(words) AS n WHERE words && $1::text[] AND {met} AND n = ANY($1::text[])"
    else:
        held = f"SELECT key, length FROM {collection.table} WHERE words @> ARRAY[n] AND {met}"
        found = f"unnest($1::text[]) AS n, LATERAL ({held}) AS held"
    rows = f"SELECT FROM {collection.table} WHERE {met} LIMIT {_COUNTED}"
    total = f"SELECT reltuples FROM pg_class WHERE oid = {_literal(collection.table)}::regclass"
    weight = f"idf / (1 + {_K1} * ({1 - _B} + {_B} * hit.length / typical.length))"
    return await connection.fetch(
        f"WITH hit AS MATERIALIZED (SELECT n, key, length FROM {found}), "
        f"counted AS (SELECT count(*) AS rows FROM ({rows}) AS r), "
        f"total AS (SELECT CASE WHEN rows < {_COUNTED} THEN rows ELSE greatest(rows, ({total})) END AS rows "
        "FROM counted), "
        "word AS (SELECT n, ln(1 + (greatest(max(rows) - count(*), 0) + 0.5) / (count(*) + 0.5)) AS idf "
        "FROM hit, total GROUP BY n), "
        "typical AS (SELECT greatest(avg(length), 1) AS length FROM hit), "
        f"best AS (SELECT key, sum({weight}) AS score FROM hit JOIN word USING (n), typical "
        f"GROUP BY key ORDER BY score DESC, key LIMIT {max(limit, 0):d}) "
        f"SELECT {columns} FROM best JOIN {collection.table} USING (key) ORDER BY score DESC, key",
        *arguments.values,
    )


async def _worth_it(
    connection: Connection, collection: PgCollection, limit: int, conditions: Sequence[Condition]
) -> bool:
    """Whether the index is faster than a look at every row that meets the conditions."""
    assert collection.extension is not None
    if limit > _LARGEST_EF and collection.extension.version < _ITERATIVE:
        return False
    if not selective(conditions):
        return True
    arguments = Arguments()
    query = f"SELECT FROM {collection.table} WHERE {where(conditions, arguments)} LIMIT {_EXACT_UP_TO + 1}"
    found = await connection.fetchval(f"SELECT count(*) FROM ({query}) AS found", *arguments.values)
    return found > _EXACT_UP_TO


async def _along_the_index(
    connection: Connection,
    collection: PgCollection,
    vector: np.ndarray,
    limit: int,
    conditions: Sequence[Condition],
    options: HnswOptions,
    columns: str,
) -> list[Any]:
    assert collection.extension is not None
    arguments = Arguments()
    given = f"{arguments.add(vector.tolist(), 'real[]')}::{_type(collection)}"
    met = where(conditions, arguments)
    distance = collection.extension.distance
    near = f"{operand(collection, collection.column)[0]} {distance} {operand(collection, given)[0]}"
    # Filters are applied along the way, and the search goes on until enough rows have met them. Sorting all rows
    # instead is switched off: the planner knows little of how many rows a filter leaves.
    settings = f"SET LOCAL hnsw.ef_search = {min(max(options.ef_search, limit), _LARGEST_EF):d}; "
    settings += "SET LOCAL enable_sort = off"
    if collection.extension.version >= _ITERATIVE:
        settings += "; SET LOCAL hnsw.iterative_scan = relaxed_order"
    async with connection.transaction():
        await connection.execute(settings)
        return await connection.fetch(
            f"WITH near AS MATERIALIZED (SELECT key, content, node, {_cosine(collection, given)} AS cosine "
            f"FROM {collection.table} WHERE {met} ORDER BY {near} LIMIT {limit:d}) "
            f"SELECT {columns}, cosine FROM near ORDER BY cosine DESC, key",
            *arguments.values,
        )


def _cosine(collection: PgCollection, given: str) -> str:
    assert collection.extension is not None
    return f"1 - ({collection.column} {collection.extension.distance} {given})"


def _type(collection: PgCollection) -> str:
    assert collection.space is not None
    assert collection.extension is not None
    return f"{collection.extension.vector}({collection.space.dimensions})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
