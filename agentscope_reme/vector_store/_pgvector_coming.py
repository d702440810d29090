# -*- coding: utf-8 -*-
"""Vectors that are to come into a PostgreSQL collection: a new column beside the old one, then an exchange."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .._errors import VectorStoreError
from ..record import MemoryNode
from ..text import WordTokenizer
from ._pgvector_opening import install, lock_list, look_up
from ._pgvector_rows import node_of
from ._pgvector_schema import PgCollection, add_column, drop_column, note
from ._pgvector_writing import fill
from ._space import VectorSpace
from ._stored_text import storable

if TYPE_CHECKING:
    import numpy as np
    from asyncpg import Connection

__all__ = ["Coming", "begin", "end", "lacking", "recut", "set_vectors"]

_PIECE = 500
_log = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class Coming:
    """The vectors that a reindex is making.

    Args:
        collection (`PgCollection`): the collection.
        generation (`int`): the number of the column that is filled.
        total (`int`): how many memories there are.
        missing (`int`): how many of them had no vector of the space at the start.
    """

    collection: PgCollection
    generation: int
    total: int = 0
    missing: int = 0

    @property
    def column(self) -> str:
        """The column that is filled."""
        return f"vector_{self.generation}"

    @property
    def in_place(self) -> bool:
        """Whether it is the one in force, whose gaps are filled."""
        return self.generation == self.collection.generation

    @property
    def lacks(self) -> str:
        """SQL for a row without a vector of its present text."""
        missing = f"{self.column} IS NULL"
        return missing if self.in_place else f"({missing} OR {self.column}_of <> embeds)"


async def begin(connection: Connection, schema: str, name: str, space: VectorSpace) -> Coming:
    """Note which vectors are to come, and make a column for them; where it is there already, go on with it."""
    async with connection.transaction():
        await lock_list(connection)
        found = await look_up(connection, schema, name)
        if found is None:
            raise VectorStoreError(f"Collection {name!r} was dropped by somebody else: open it again.")
        found = replace(found, extension=found.extension or await install(connection))
        if found.next_space != space:
            await drop_column(connection, found, found.next_generation)
            found = replace(found, next_space=None, next_generation=None)
            if found.space != space:
                number = await add_column(connection, found, space, coming=True)
                found = replace(found, next_space=space, next_generation=number)
            await note(connection, found)
        begun = Coming(found, found.next_generation or found.generation or 0)
        query = f"SELECT count(*), count(*) FILTER (WHERE {begun.lacks}) FROM {found.table}"
        total, missing = await connection.fetchrow(query)
    return replace(begun, total=total, missing=missing)


async def lacking(connection: Connection, begun: Coming, after: str, limit: int) -> dict[str, tuple[MemoryNode, str]]:
    """Memories without a vector, in the order of their keys, each with what stands for its text."""
    rows = await connection.fetch(
        f"SELECT key, content, node, embeds FROM {begun.collection.table} "
        f"WHERE key > $1 AND {begun.lacks} ORDER BY key LIMIT {limit:d}",
        after,
    )
    return {row["key"]: (node_of(row["content"], row["node"]), row["embeds"]) for row in rows}


async def set_vectors(
    connection: Connection, begun: Coming, vectors: Mapping[str, np.ndarray], texts: Mapping[str, str]
) -> int:
    """Give memories vectors, but for those that were changed or deleted since they were read; how many."""
    if not vectors:
        return 0
    assert begun.collection.extension is not None
    of = "" if begun.in_place else f", {begun.column}_of = r.embeds"
    query = (
        f"UPDATE {begun.collection.table} t SET {begun.column} = r.vector{of} FROM {{rows}} "
        "WHERE t.key = r.key AND t.embeds = r.embeds"
    )
    columns = {"key": "text", "embeds": "text", "vector": begun.collection.extension.vector}
    async with connection.transaction():
        done = await fill(connection, query, columns, [(key, texts[key], vectors[key]) for key in sorted(vectors)])
    return int(done.split()[-1])


async def end(connection: Connection, begun: Coming, failed: Collection[str]) -> PgCollection | None:
    """Put the new column in the place of the old one; None where memories have come that lack a vector."""
    found = begun.collection
    async with connection.transaction():
        await lock_list(connection)
        if not begun.in_place:
            await connection.execute(f"LOCK TABLE {found.table} IN ACCESS EXCLUSIVE MODE")
        query = f"SELECT key FROM {found.table} WHERE {begun.lacks} AND key <> ALL($1) LIMIT 1"
        if await connection.fetchval(query, list(failed)) is not None:
            return None
        if begun.in_place:
            return found
        stale = f"{begun.column}_of <> embeds"
        await connection.execute(f"UPDATE {found.table} SET {begun.column} = NULL WHERE {stale}")
        await connection.execute(f"ALTER TABLE {found.table} DROP COLUMN {begun.column}_of")
        await drop_column(connection, found, found.generation)
        done = replace(
            found, generation=begun.generation, space=found.next_space, next_generation=None, next_space=None
        )
        await note(connection, done)
        return done


async def recut(connection: Connection, collection: PgCollection, tokenizer: WordTokenizer) -> PgCollection:
    """Cut the words of all memories again, where another tokenizer cut them."""
    if collection.words == tokenizer.name:
        return collection
    _log.info("%s: words are cut again with %s", collection.relation, tokenizer.name)
    after = ""
    query = f"SELECT key, content, node FROM {collection.table} WHERE key > $1 ORDER BY key LIMIT {_PIECE}"
    while rows := await connection.fetch(query, after):
        cut = [_cut(row["key"], node_of(row["content"], row["node"]), tokenizer) for row in rows]
        async with connection.transaction():
            await fill(
                connection,
                f"UPDATE {collection.table} t SET words = string_to_array(r.words, E'\\n'), length = r.length "
                "FROM {rows} WHERE t.key = r.key",
                {"key": "text", "words": "text", "length": "int"},
                cut,
            )
        after = rows[-1]["key"]
    done = replace(collection, words=tokenizer.name)
    await note(connection, done)
    return done


def _cut(key: str, node: MemoryNode, tokenizer: WordTokenizer) -> tuple[str, str, int]:
    words: Sequence[str] = tokenizer.tokens(node.searched_text)
    return key, storable("\n".join(dict.fromkeys(words))), len(words)
