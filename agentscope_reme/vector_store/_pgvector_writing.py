# -*- coding: utf-8 -*-
"""How memories get into a PostgreSQL table, are changed there, and leave it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..record import MemoryNode
from ._pgvector_copy import END, START, packed
from ._pgvector_rows import NodeRow, changeable_of, node_of
from ._pgvector_schema import PgCollection

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["fill", "patch", "write"]

MakeRow = Callable[[MemoryNode], NodeRow]

_FEW = 50
_PIECE = 500

# How each column is sent, and what is made of it.
_SENT = dict.fromkeys(NodeRow._fields, "text") | {"created": "double precision", "length": "int"}
_MADE = {name: f"r.{name}" for name in NodeRow._fields} | {
    "facets": "r.facets::jsonb",
    "state": "r.state::jsonb",
    "node": "r.node::json",
    "words": "string_to_array(r.words, E'\\n')",
}


async def write(
    connection: Connection,
    collection: PgCollection,
    nodes: Sequence[MemoryNode],
    deleted: Collection[str],
    make_row: MakeRow,
) -> None:
    """Put memories in, and take keys out that are not among them: all of it or nothing.

    Args:
        connection (`Connection`): the connection.
        collection (`PgCollection`): the collection.
        nodes (`Sequence[MemoryNode]`): of different keys.
        deleted (`Collection[str]`): keys.
        make_row (`Callable[[MemoryNode], NodeRow]`): makes the row of a memory; called in a thread.
    """
    delete = f"DELETE FROM {collection.table} WHERE key = ANY($1)"
    nodes = sorted(nodes, key=lambda node: node.key)  # two writers that lock rows in one order do not block each other
    if not nodes:
        await connection.execute(delete, sorted(deleted))
        return
    async with connection.transaction():
        if len(nodes) <= _FEW:
            rows = await asyncio.to_thread(lambda: [make_row(node) for node in nodes])
            await _insert(connection, collection, rows)
        else:
            await _copy(connection, collection, nodes, make_row)
        if deleted:
            await connection.execute(delete, sorted(deleted))


async def patch(connection: Connection, collection: PgCollection, changes: Mapping[str, Mapping[str, Any]]) -> int:
    """Change fields that neither words nor vectors are made of; how many memories there were to change."""
    query = f"SELECT content, node FROM {collection.table} WHERE key = ANY($1) ORDER BY key FOR UPDATE"
    async with connection.transaction():
        nodes = [node_of(*row) for row in await connection.fetch(query, list(changes))]
        changed = [replace(node, **changes[node.key]) for node in nodes if changes[node.key]]
        rows = [(node.key, node.time_created.timestamp(), *changeable_of(node)) for node in changed]
        if rows:
            # What stays equal is not written: then no index is touched, unless tags or metadata were changed.
            await connection.execute(
                f"UPDATE {collection.table} t SET created = r.created, state = r.state::jsonb, node = r.node::json, "
                "facets = CASE WHEN t.facets = r.facets::jsonb THEN t.facets ELSE r.facets::jsonb END "
                "FROM unnest($1::text[], $2::double precision[], $3::text[], $4::text[], $5::text[]) "
                "AS r(key, created, facets, state, node) WHERE t.key = r.key",
                *map(list, zip(*rows, strict=True)),
            )
        return len(nodes)


async def fill(connection: Connection, query: str, columns: Mapping[str, str], rows: Sequence[tuple]) -> str:
    """Run a statement over rows `r` that are sent along.

    Args:
        connection (`Connection`): in a transaction.
        query (`str`): the statement; ``{rows}`` stands for the rows.
        columns (`Mapping[str, str]`): name and type of what is in a row.
        rows (`Sequence[tuple]`): texts, whole numbers, fractions, vectors or None.

    Returns:
        `str`: what PostgreSQL says was done.
    """
    names = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    await connection.execute(f"CREATE TEMP TABLE reme_rows ({names}) ON COMMIT DROP")
    data = START + await asyncio.to_thread(packed, rows) + END
    await connection.copy_to_table("reme_rows", schema_name="pg_temp", source=_once(data), format="binary")
    done = await connection.execute(query.replace("{rows}", "pg_temp.reme_rows r"))
    await connection.execute("DROP TABLE pg_temp.reme_rows")
    return done


async def _insert(connection: Connection, collection: PgCollection, rows: Sequence[NodeRow]) -> None:
    """A few rows, sent as values of one statement."""
    names = _written(collection)
    sent = [[None if each is None else _sendable(each) for each in column] for column in zip(*rows, strict=True)]
    arrays = ", ".join(f"${number}::{_SENT[name]}[]" for number, name in enumerate(names, 1))
    source = f"unnest({arrays}) AS r({', '.join(names)})"
    await connection.execute(_upsert(collection, source), *sent[: len(names)])


async def _copy(
    connection: Connection, collection: PgCollection, nodes: Sequence[MemoryNode], make_row: MakeRow
) -> None:
    """Many rows, streamed into a table of their own first, so that those that are there already are replaced."""
    names = _written(collection)
    kinds = _SENT | ({"vector": collection.extension.vector} if collection.extension else {})
    columns = ", ".join(f"{name} {kinds[name]}" for name in names)
    await connection.execute(f"CREATE TEMP TABLE reme_rows ({columns}) ON COMMIT DROP")
    source = _stream(nodes, make_row, len(names))
    await connection.copy_to_table("reme_rows", schema_name="pg_temp", source=source, format="binary")
    await connection.execute(_upsert(collection, "pg_temp.reme_rows r"))


async def _stream(nodes: Sequence[MemoryNode], make_row: MakeRow, columns: int) -> AsyncIterator[bytes]:
    yield START
    for start in range(0, len(nodes), _PIECE):
        piece = nodes[start : start + _PIECE]
        yield await asyncio.to_thread(_packed, piece, make_row, columns)
    yield END


def _packed(nodes: Sequence[MemoryNode], make_row: MakeRow, columns: int) -> bytes:
    return packed(make_row(node)[:columns] for node in nodes)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _written(collection: PgCollection) -> tuple[str, ...]:
    """The columns that a row fills; the vector is the last of them, where the collection takes vectors."""
    return NodeRow._fields if collection.generation is not None else NodeRow._fields[:-1]


def _upsert(collection: PgCollection, source: str) -> str:
    names = list(_written(collection))
    made = [_MADE[name] for name in names]
    if collection.generation is not None:
        assert collection.extension is not None
        names[-1], made[-1] = collection.column, f"r.vector::{collection.extension.vector}"
    new = ", ".join(f"{name} = EXCLUDED.{name}" for name in names[1:])
    return (
        f"INSERT INTO {collection.table} ({', '.join(names)}) SELECT {', '.join(made)} FROM {source} "
        f"ON CONFLICT (key) DO UPDATE SET {new}"
    )


def _sendable(value: Any) -> Any:
    """A value of an array; a vector in its text form."""
    return value if isinstance(value, (str, int, float)) else str(value.tolist())
