# -*- coding: utf-8 -*-
"""Collections of the local store and whose vectors they hold. Each function runs in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from .._errors import VectorSpaceError, VectorStoreError
from ..record import MemoryNode
from ._local_catalog import forget_deletions, nodes_of_ids
from ._space import VectorSpace, check_space

__all__ = ["Opened", "begin_reindex", "collections", "end_reindex", "lacking", "open_collection", "set_vectors"]

_LACKING = (
    "FROM node n WHERE n.collection = ? AND n.id > ? "
    "AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.node = n.id AND v.space = ?)"
)


class Opened(NamedTuple):
    """A collection that is there.

    Args:
        collection (`int`): its number.
        space (`int | None`): the number of the vectors' space; None where it is used without.
    """

    collection: int
    space: int | None


def open_collection(connection: sqlite3.Connection, name: str, wanted: VectorSpace | None) -> Opened:
    """Make a collection, or refuse one whose vectors are not the wanted ones."""
    connection.execute("INSERT OR IGNORE INTO collection (name, version, forgotten) VALUES (?, 0, 0)", (name,))
    number, space, target = connection.execute(
        "SELECT id, space, target FROM collection WHERE name = ?", (name,)
    ).fetchone()
    forget_deletions(connection, number)
    if wanted is None:
        return Opened(number, None)
    found = _space(connection, space) if space is not None and _has_vectors(connection, number, space) else None
    begun = _space(connection, target) if target is not None else None
    if begun is not None and begun == wanted != found:
        raise VectorSpaceError(
            f"Collection {name!r} is being embedded with {wanted.model!r}, which did not end: call reindex() again.",
        )
    check_space(name, found, wanted)
    space = _number(connection, wanted)
    connection.execute("UPDATE collection SET space = ? WHERE id = ?", (space, number))
    return Opened(number, space)


def collections(connection: sqlite3.Connection) -> list[str]:
    """The names of all collections."""
    return sorted(row[0] for row in connection.execute("SELECT name FROM collection"))


def begin_reindex(connection: sqlite3.Connection, collection: int, space: VectorSpace) -> tuple[int, int, int]:
    """Note which space the vectors are to be of: its number, how many memories there are, and how many lack one."""
    number = _number(connection, space)
    query = "UPDATE collection SET target = CASE space WHEN ? THEN NULL ELSE ? END WHERE id = ?"
    if not connection.execute(query, (number, number, collection)).rowcount:
        raise VectorStoreError("The collection was dropped by somebody else: open it again.")
    total = connection.execute("SELECT count(*) FROM node WHERE collection = ?", (collection,)).fetchone()[0]
    missing = connection.execute(f"SELECT count(*) {_LACKING}", (collection, 0, number)).fetchone()[0]
    return number, total, missing


def lacking(
    connection: sqlite3.Connection, collection: int, space: int, after: int, limit: int
) -> dict[int, MemoryNode]:
    """Memories without a vector of a space, in the order of their numbers."""
    query = f"SELECT n.id {_LACKING} ORDER BY n.id LIMIT ?"
    ids = [row[0] for row in connection.execute(query, (collection, after, space, limit))]
    nodes = nodes_of_ids(connection, ids)
    return {node: nodes[node] for node in ids}


def set_vectors(
    connection: sqlite3.Connection,
    collection: int,
    space: int,
    embedded: Mapping[int, MemoryNode],
    vectors: Mapping[int, bytes],
) -> int:
    """Give memories vectors, but for those that were changed or deleted since they were read; how many."""
    now = nodes_of_ids(connection, list(vectors))
    kept = [node for node in now if now[node].embedded_text == embedded[node].embedded_text]
    rows = [(node, space, vectors[node]) for node in kept]
    connection.executemany("INSERT OR REPLACE INTO vector (node, space, data) VALUES (?, ?, ?)", rows)
    query = "UPDATE collection SET version = version + 1 WHERE id = ? AND space = ?"
    if kept and connection.execute(query, (collection, space)).rowcount:  # they are searched from now on
        newest = "(SELECT version FROM collection WHERE id = ?)"
        query = f"UPDATE node SET version = {newest}, indexed = {newest} WHERE id = ?"
        connection.executemany(query, [(collection, collection, node) for node in kept])
    return len(kept)


def end_reindex(connection: sqlite3.Connection, collection: int, space: int, failed: Collection[int]) -> bool:
    """Put the new vectors in the place of the old ones; False where memories have come that lack one."""
    query = f"SELECT n.id {_LACKING} LIMIT ?"
    missing = {row[0] for row in connection.execute(query, (collection, 0, space, len(failed) + 1))}
    if missing - set(failed):
        return False
    connection.execute("UPDATE collection SET space = ?, target = NULL WHERE id = ?", (space, collection))
    query = "DELETE FROM vector WHERE space <> ? AND node IN (SELECT id FROM node WHERE collection = ?)"
    connection.execute(query, (space, collection))
    return True


def _has_vectors(connection: sqlite3.Connection, collection: int, space: int) -> bool:
    query = "SELECT EXISTS (SELECT 1 FROM node n JOIN vector v ON v.node = n.id AND v.space = ? WHERE n.collection = ?)"
    return bool(connection.execute(query, (space, collection)).fetchone()[0])


def _space(connection: sqlite3.Connection, number: int) -> VectorSpace:
    row: Sequence = connection.execute("SELECT model, dimensions FROM space WHERE id = ?", (number,)).fetchone()
    return VectorSpace(*row)


def _number(connection: sqlite3.Connection, space: VectorSpace) -> int:
    values = (space.model, space.dimensions)
    connection.execute("INSERT OR IGNORE INTO space (model, dimensions) VALUES (?, ?)", values)
    return connection.execute("SELECT id FROM space WHERE model = ? AND dimensions = ?", values).fetchone()[0]
