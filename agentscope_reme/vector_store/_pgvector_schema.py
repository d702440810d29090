# -*- coding: utf-8 -*-
"""The tables of the PostgreSQL store: one that lists the collections, and one for each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._errors import VectorStoreError
from ._space import VectorSpace
from ._stored_text import storable

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = [
    "LIST",
    "Extension",
    "PgCollection",
    "add_column",
    "create",
    "drop",
    "drop_column",
    "ident",
    "list_table",
    "note",
]

LIST = "reme_collections"
"""The name of the table that lists the collections."""

# relation: the table's name; generation: the number of the column with the vectors in force, NULL without vectors;
# next_*: those of a reindex that has not ended; given: the last number that was given; words: who cut the words.
_LIST_TABLE = """
CREATE TABLE IF NOT EXISTS {list} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE, relation text NOT NULL, words text NOT NULL, given int NOT NULL DEFAULT 0,
    generation int, model text, dimensions int,
    next_generation int, next_model text, next_dimensions int
)"""

# What changes with each use of a memory (state, node) is in no index, so that such a change touches none of them.
_TABLE = """
CREATE TABLE {table} (
    key text COLLATE "C" PRIMARY KEY, owner text COLLATE "C" NOT NULL, memory_id text COLLATE "C" NOT NULL,
    created double precision NOT NULL, content text NOT NULL, lowered text, facets jsonb NOT NULL,
    state jsonb NOT NULL, node json NOT NULL, words text[] COLLATE "C" NOT NULL, length int NOT NULL,
    embeds text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX ON {table} (owner, created);
CREATE INDEX ON {table} (memory_id);
CREATE INDEX ON {table} (created);
CREATE INDEX ON {table} USING gin (facets jsonb_path_ops);
CREATE INDEX ON {table} USING gin (words)
"""


@dataclass(frozen=True)
class Extension:
    """pgvector, as it is installed in the database.

    Args:
        schema (`str`): where its types and operators are.
        version (`tuple[int, ...]`): its version.
    """

    schema: str
    version: tuple[int, ...]

    @property
    def vector(self) -> str:
        """The type, as SQL."""
        return f"{ident(self.schema)}.vector"

    @property
    def halfvec(self) -> str:
        """The type of half the size, as SQL."""
        return f"{ident(self.schema)}.halfvec"

    @property
    def distance(self) -> str:
        """The operator for the cosine distance, as SQL."""
        return f"OPERATOR({ident(self.schema)}.<=>)"


@dataclass(frozen=True)
class PgCollection:
    """A collection that is there.

    Args:
        schema (`str`): the schema of its table.
        relation (`str`): the table's name; no other table ever has it.
        words (`str`): who cut the words.
        generation (`int | None`): the number of the column with the vectors in force; None without vectors.
        space (`VectorSpace | None`): whose vectors these are.
        next_generation (`int | None`), next_space (`VectorSpace | None`): those of a reindex that has not ended.
        extension (`Extension | None`): pgvector; None where it is not installed.
    """

    schema: str
    relation: str
    words: str
    generation: int | None = None
    space: VectorSpace | None = None
    next_generation: int | None = None
    next_space: VectorSpace | None = None
    extension: Extension | None = None

    @property
    def table(self) -> str:
        """The table, as SQL."""
        return f"{ident(self.schema)}.{ident(self.relation)}"

    @property
    def column(self) -> str:
        """The column with the vectors in force; a column's name never comes back, so that nobody mixes vectors up."""
        return f"vector_{self.generation}"

    @property
    def index(self) -> str:
        """The name of the approximate index over that column."""
        return f"{self.relation}_{self.column}_hnsw"


async def create(connection: Connection, schema: str, name: str, words: str) -> PgCollection:
    """Make the tables of a new collection, without vectors. In a transaction."""
    if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema):
        await connection.execute(f"CREATE SCHEMA {ident(schema)}")
    await connection.execute(_LIST_TABLE.format(list=list_table(schema)))
    query = f"INSERT INTO {list_table(schema)} (name, relation, words) VALUES ($1, '', $2) RETURNING id"
    number = await connection.fetchval(query, storable(name), words)
    readable = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:24]
    collection = PgCollection(schema, f"reme_{number}_{readable}".rstrip("_"), words)
    await connection.execute(
        f"UPDATE {list_table(schema)} SET relation = $1 WHERE id = $2", collection.relation, number
    )
    await connection.execute(_TABLE.format(table=collection.table))
    return collection


async def drop(connection: Connection, collection: PgCollection) -> None:
    """Remove a collection. In a transaction."""
    await connection.execute(f"DELETE FROM {list_table(collection.schema)} WHERE relation = $1", collection.relation)
    await connection.execute(f"DROP TABLE IF EXISTS {collection.table}")


async def add_column(connection: Connection, collection: PgCollection, space: VectorSpace, *, coming: bool) -> int:
    """Make a column for vectors of a space; its number.

    Args:
        connection (`Connection`): in a transaction.
        collection (`PgCollection`): the collection, with the extension.
        space (`VectorSpace`): the vectors.
        coming (`bool`): whether a reindex fills it; then there is one beside it that says of which text each vector is.
    """
    assert collection.extension is not None
    number = await connection.fetchval(
        f"UPDATE {list_table(collection.schema)} SET given = given + 1 WHERE relation = $1 RETURNING given",
        collection.relation,
    )
    if number is None:
        raise VectorStoreError("The collection was dropped by somebody else: open it again.")
    columns = f"ADD COLUMN vector_{number} {collection.extension.vector}({space.dimensions})"
    columns += f", ADD COLUMN vector_{number}_of text" if coming else ""
    await connection.execute(f"ALTER TABLE {collection.table} {columns}")
    return number


async def drop_column(connection: Connection, collection: PgCollection, number: int | None) -> None:
    """Remove a column of vectors with its index."""
    if number is not None:
        columns = f"DROP COLUMN IF EXISTS vector_{number}, DROP COLUMN IF EXISTS vector_{number}_of"
        await connection.execute(f"ALTER TABLE {collection.table} {columns}")


async def note(connection: Connection, collection: PgCollection) -> None:
    """Write down which vectors a collection has and which are coming."""
    now, coming = collection.space, collection.next_space
    await connection.execute(
        f"UPDATE {list_table(collection.schema)} SET words = $2, generation = $3, model = $4, dimensions = $5, "
        "next_generation = $6, next_model = $7, next_dimensions = $8 WHERE relation = $1",
        collection.relation,
        collection.words,
        collection.generation,
        now and now.model,
        now and now.dimensions,
        collection.next_generation,
        coming and coming.model,
        coming and coming.dimensions,
    )


def ident(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def list_table(schema: str) -> str:
    """The table that lists the collections, as SQL."""
    return f"{ident(schema)}.{LIST}"
