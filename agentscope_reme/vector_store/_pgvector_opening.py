# -*- coding: utf-8 -*-
"""How a collection is found in PostgreSQL, and made where it is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._errors import VectorSpaceError, VectorStoreError
from ._pgvector_schema import LIST, Extension, PgCollection, add_column, create, drop_column, list_table, note
from ._space import VectorSpace, check_space
from ._stored_text import storable

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["collections", "install", "lock_list", "look_up", "open_collection"]

_LOCK = 5_710_063_118  # any number that others do not use for an advisory lock
_ROW = "relation, words, generation, model, dimensions, next_generation, next_model, next_dimensions"


async def look_up(connection: Connection, schema: str, name: str) -> PgCollection | None:
    """A collection, where there is one of that name."""
    if not await _has_list(connection, schema):
        return None
    query = f"SELECT {_ROW} FROM {list_table(schema)} WHERE name = $1"
    row = await connection.fetchrow(query, storable(name))
    return None if row is None else _collection(schema, row, await _extension(connection))


async def lock_list(connection: Connection) -> None:
    """Until the end of the transaction, only this one makes collections or changes whose vectors they take."""
    await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")


async def open_collection(
    connection: Connection, schema: str, name: str, wanted: VectorSpace | None, words: str
) -> PgCollection:
    """Make a collection, or refuse one whose vectors are not the wanted ones. In a transaction.

    Raises:
        `VectorSpaceError`: other vectors, or those of a reindex that did not end.
        `VectorStoreError`: pgvector is not there and cannot be installed.
    """
    found = await look_up(connection, schema, name)
    if found is None or (wanted is not None and found.space != wanted):
        await lock_list(connection)
        found = await look_up(connection, schema, name) or await _created(connection, schema, name, words)
    if wanted is None or found.space == wanted:
        return found
    if wanted == found.next_space:
        raise VectorSpaceError(
            f"Collection {name!r} is being embedded with {wanted.model!r}, which did not end: call reindex() again.",
        )
    if found.generation is not None and await _has_vectors(connection, found):
        check_space(name, found.space, wanted)
    extension = found.extension or await install(connection)
    return await _take_space(connection, replace(found, extension=extension), wanted)


async def collections(connection: Connection, schema: str) -> list[str]:
    """The stored names of all collections."""
    if not await _has_list(connection, schema):
        return []
    return [row[0] for row in await connection.fetch(f"SELECT name FROM {list_table(schema)}")]


async def install(connection: Connection) -> Extension:
    """Install pgvector in the database, if it is not there.

    Raises:
        `VectorStoreError`: it cannot be installed; what is to be done is said.
    """
    import asyncpg

    try:
        async with connection.transaction():
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except asyncpg.PostgresError as error:
        raise VectorStoreError(
            f"pgvector cannot be installed in this database ({error}): install it on the server (its package is called "
            "postgresql-<version>-pgvector, its container image pgvector/pgvector) and let an administrator run "
            "CREATE EXTENSION vector.",
        ) from error
    found = await _extension(connection)
    assert found is not None
    return found


async def _extension(connection: Connection) -> Extension | None:
    """pgvector, where it is installed in the database."""
    row = await connection.fetchrow(
        "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'vector'",
    )
    return None if row is None else Extension(row[0], tuple(map(int, re.findall(r"\d+", row[1]))))


async def _has_list(connection: Connection, schema: str) -> bool:
    """Whether the list of collections is there; `to_regclass` would not see one made while this waited for the lock."""
    found = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND relname = $2"
    return await connection.fetchval(f"SELECT EXISTS (SELECT {found})", schema, LIST)


def _collection(schema: str, row: Any, extension: Extension | None) -> PgCollection:
    space = VectorSpace(row["model"], row["dimensions"]) if row["model"] is not None else None
    coming = VectorSpace(row["next_model"], row["next_dimensions"]) if row["next_model"] is not None else None
    return PgCollection(
        schema, row["relation"], row["words"], row["generation"], space, row["next_generation"], coming, extension
    )


async def _created(connection: Connection, schema: str, name: str, words: str) -> PgCollection:
    collection = await create(connection, schema, name, words)
    return replace(collection, extension=await _extension(connection))


async def _has_vectors(connection: Connection, collection: PgCollection) -> bool:
    query = f"SELECT EXISTS (SELECT FROM {collection.table} WHERE {collection.column} IS NOT NULL)"
    return await connection.fetchval(query)


async def _take_space(connection: Connection, collection: PgCollection, space: VectorSpace) -> PgCollection:
    """Make room for vectors of a space in a collection that has none of another."""
    await drop_column(connection, collection, collection.generation)
    number = await add_column(connection, collection, space, coming=False)
    taken = replace(collection, generation=number, space=space)
    await note(connection, taken)
    return taken
