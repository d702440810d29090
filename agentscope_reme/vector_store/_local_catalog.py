# -*- coding: utf-8 -*-
"""What is done with the memories of a collection in SQLite. Each function runs in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._errors import VectorSpaceError, VectorStoreError
from ..record import Condition, MemoryNode
from ._local_filters import define_functions, order_by, where
from ._local_rows import COLUMNS, READ, NodeRow, node_of, readable, row_of, unpacked

__all__ = [
    "count",
    "cutter_number",
    "find",
    "forget_deletions",
    "get",
    "nodes_of_ids",
    "owners",
    "patch",
    "remove_all",
    "write",
]

_LISTED_DELETIONS = 50_000
_PARAMETERS = 500
_RANKED = frozenset({"author", "message_time", "ref_memory_id"})
_FACETED = frozenset({"tags", "entities", "source_ids", "metadata"})
_NODE = f"n.id, {', '.join(f'n.{name}' for name in (*READ, 'rest'))}"
_WRITTEN = ("collection", "version", "indexed", "cutter", "words", *COLUMNS)
_INSERT = f"INSERT INTO node ({', '.join(_WRITTEN)}) VALUES ({', '.join('?' * len(_WRITTEN))})"
_REPLACE = f"UPDATE node SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE id = ?"
_CHANGE = f"UPDATE node SET version = ?, {', '.join(f'{name} = ?' for name in COLUMNS)} WHERE id = ?"


def write(
    connection: sqlite3.Connection,
    collection: int,
    space: int | None,
    cutter: str,
    rows: Sequence[NodeRow],
    deleted: Collection[str],
) -> None:
    """Put rows in and take keys out.

    Args:
        connection (`sqlite3.Connection`): in a transaction that writes.
        collection (`int`): its number.
        space (`int | None`): the number of the vectors' space; None where the collection is used without.
        cutter (`str`): who cut the words; empty where they are to be cut at the first search.
        rows (`Sequence[NodeRow]`): of different keys.
        deleted (`Collection[str]`): keys.

    Raises:
        `VectorSpaceError`: the collection was embedded again meanwhile, or a vector is of another length.
    """
    space = _space_in_force(connection, collection, space, rows)
    known = _ids(connection, collection, [row.key for row in rows])
    gone = _ids(connection, collection, [key for key in deleted if key not in known])
    if not rows and not gone:
        return
    version = _next_version(connection, collection)
    before = (collection, version, version, cutter_number(connection, cutter))
    facets, vectors = [], []
    for row in rows:
        values = (*before, row.words, *row.values)
        node = known.get(row.key)
        if node is None:
            node = connection.execute(_INSERT, values).lastrowid
        else:
            connection.execute(_REPLACE, (*values, node))
        facets += [(collection, *facet, node) for facet in row.facets]
        vectors += [(node, space, row.vector)] if row.vector is not None else []
    replaced = [(node,) for node in known.values()]
    connection.executemany("DELETE FROM facet WHERE node = ?", replaced)
    connection.executemany("DELETE FROM vector WHERE node = ?", replaced)
    _put_facets(connection, facets)
    connection.executemany("INSERT INTO vector (node, space, data) VALUES (?, ?, ?)", vectors)
    _remove(connection, collection, list(gone.values()), version)


def patch(connection: sqlite3.Connection, collection: int, changes: Mapping[str, Mapping[str, Any]]) -> int:
    """Change fields that neither words nor vectors are made of; how many memories there were to change."""
    wanted = {key: fields for key, fields in changes.items() if fields}
    nodes = get(connection, collection, list(changes))
    if not any(key in wanted for key in nodes):
        return len(nodes)
    version = _next_version(connection, collection)
    ids = _ids(connection, collection, list(nodes))
    for key, old in nodes.items():
        fields = wanted.get(key)
        if fields is None:
            continue
        node, new = ids[key], replace(old, **fields)
        values, facets = row_of(new)
        connection.execute(_CHANGE, (version, *values, node))
        if not _RANKED.isdisjoint(fields):
            connection.execute("UPDATE node SET indexed = version WHERE id = ?", (node,))
        if not _FACETED.isdisjoint(fields):
            connection.execute("DELETE FROM facet WHERE node = ?", (node,))
            _put_facets(connection, [(collection, *facet, node) for facet in facets])
    return len(nodes)


def get(
    connection: sqlite3.Connection, collection: int, keys: Sequence[str], with_vectors: bool = False
) -> dict[str, MemoryNode]:
    """The memories of these keys that are there."""
    found = []
    for part in _parts(keys):
        found += connection.execute(
            f"SELECT {_NODE} FROM node n WHERE n.collection = ? AND n.key IN ({_marks(part)})", (collection, *part)
        ).fetchall()
    nodes = _nodes(connection, found, collection if with_vectors else None)
    by_key = {node.key: node for node in nodes.values()}
    return {key: by_key[key] for key in keys if key in by_key}


def find(
    connection: sqlite3.Connection,
    collection: int,
    conditions: Sequence[Condition],
    limit: int | None,
    sort_key: str,
    reverse: bool,
    after: str | None,
) -> list[MemoryNode]:
    """The memories that meet the conditions, in order."""
    define_functions(connection)
    sql, values = where(collection, conditions)
    if after is not None:
        sql, values = f"{sql} AND n.key > ?", [*values, after]
    order, sorted_by = order_by(sort_key, reverse, conditions)
    query = f"SELECT {_NODE} FROM node n WHERE {sql} ORDER BY {order} LIMIT ?"
    rows = connection.execute(query, (*values, *sorted_by, -1 if limit is None else max(0, limit)))
    return [node_of(row[1:]) for row in rows]


def count(connection: sqlite3.Connection, collection: int, conditions: Sequence[Condition]) -> int:
    """How many memories meet the conditions."""
    define_functions(connection)
    sql, values = where(collection, conditions)
    return connection.execute(f"SELECT count(*) FROM node n WHERE {sql}", values).fetchone()[0]


def owners(connection: sqlite3.Connection, collection: int, conditions: Sequence[Condition]) -> list[str]:
    """The owners of the memories that meet the conditions."""
    define_functions(connection)
    sql, values = where(collection, conditions)
    rows = connection.execute(f"SELECT DISTINCT n.owner FROM node n WHERE {sql}", values)
    return sorted(readable(owner) for (owner,) in rows)


def nodes_of_ids(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, MemoryNode]:
    """Memories by the numbers of their rows."""
    found = []
    for part in _parts(ids):
        found += connection.execute(f"SELECT {_NODE} FROM node n WHERE n.id IN ({_marks(part)})", part).fetchall()
    return _nodes(connection, found, None)


def remove_all(connection: sqlite3.Connection, collection: int) -> None:
    """Remove the collection with all that is in it."""
    connection.execute("DELETE FROM facet WHERE collection = ?", (collection,))
    connection.execute("DELETE FROM vector WHERE node IN (SELECT id FROM node WHERE collection = ?)", (collection,))
    for table in ("node", "gone"):
        connection.execute(f"DELETE FROM {table} WHERE collection = ?", (collection,))
    connection.execute("DELETE FROM collection WHERE id = ?", (collection,))


def _space_in_force(
    connection: sqlite3.Connection, collection: int, space: int | None, rows: Iterable[NodeRow]
) -> int | None:
    """The space that vectors are written in: the one the collection was opened with, else the one it has."""
    row = connection.execute(
        "SELECT c.name, s.id, s.model, s.dimensions FROM collection c LEFT JOIN space s ON s.id = c.space "
        "WHERE c.id = ?",
        (collection,),
    ).fetchone()
    if row is None:
        raise VectorStoreError("The collection was dropped by somebody else: open it again.")
    name, in_force, model, dimensions = row
    if space is not None and space != in_force:
        raise VectorSpaceError(f"Collection {name!r} was embedded again with {model!r}: open it with that model.")
    lengths = {len(row.vector) // 4 for row in rows if row.vector is not None}
    if lengths and in_force is None:
        raise VectorSpaceError(f"Collection {name!r} is used without vectors: open it with the model's VectorSpace.")
    if lengths - {dimensions}:
        raise VectorSpaceError(
            f"Collection {name!r} takes vectors of {dimensions} dimensions ({model!r}), and there are some of "
            f"{', '.join(map(str, sorted(lengths - {dimensions})))}: use that model, or reindex().",
        )
    return in_force


def _next_version(connection: sqlite3.Connection, collection: int) -> int:
    if not connection.execute("UPDATE collection SET version = version + 1 WHERE id = ?", (collection,)).rowcount:
        raise VectorStoreError("The collection was dropped by somebody else: open it again.")
    return connection.execute("SELECT version FROM collection WHERE id = ?", (collection,)).fetchone()[0]


def cutter_number(connection: sqlite3.Connection, name: str) -> int:
    """The number of who cuts words; an empty name for words that nobody has cut yet."""
    connection.execute("INSERT OR IGNORE INTO cutter (name) VALUES (?)", (name,))
    return connection.execute("SELECT id FROM cutter WHERE name = ?", (name,)).fetchone()[0]


def _put_facets(connection: sqlite3.Connection, facets: Sequence[tuple]) -> None:
    query = "INSERT OR IGNORE INTO facet (collection, field, kind, value, node) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(query, facets)


def _remove(connection: sqlite3.Connection, collection: int, nodes: Sequence[int], version: int) -> None:
    for table in ("facet", "vector"):
        connection.executemany(f"DELETE FROM {table} WHERE node = ?", [(node,) for node in nodes])
    connection.executemany("DELETE FROM node WHERE id = ?", [(node,) for node in nodes])
    connection.executemany("INSERT INTO gone VALUES (?, ?, ?)", [(node, collection, version) for node in nodes])
    if any(node % 64 == 0 for node in nodes):
        forget_deletions(connection, collection)


def forget_deletions(connection: sqlite3.Connection, collection: int) -> None:
    """List the latest deletions only; an index that is further behind is made anew."""
    query = "SELECT version FROM gone WHERE collection = ? ORDER BY version DESC LIMIT 1 OFFSET ?"
    oldest = connection.execute(query, (collection, _LISTED_DELETIONS)).fetchone()
    if oldest:
        connection.execute("DELETE FROM gone WHERE collection = ? AND version <= ?", (collection, *oldest))
        connection.execute("UPDATE collection SET forgotten = ? WHERE id = ?", (*oldest, collection))


def _ids(connection: sqlite3.Connection, collection: int, keys: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in _parts(keys):
        query = f"SELECT key, id FROM node WHERE collection = ? AND key IN ({_marks(part)})"
        found.update(connection.execute(query, (collection, *part)))
    return found


def _nodes(connection: sqlite3.Connection, rows: Sequence[tuple], collection: int | None) -> dict[int, MemoryNode]:
    """Memories from their rows, with vectors of the space in force where a collection is given."""
    vectors: dict[int, bytes] = {}
    for part in _parts([row[0] for row in rows]) if collection is not None else ():
        vectors.update(
            connection.execute(
                "SELECT v.node, v.data FROM vector v WHERE v.space = (SELECT space FROM collection WHERE id = ?) "
                f"AND v.node IN ({_marks(part)})",
                (collection, *part),
            )
        )
    return {row[0]: node_of(row[1:], unpacked(vectors[row[0]]) if row[0] in vectors else None) for row in rows}


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _PARAMETERS):
        yield values[start : start + _PARAMETERS]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
