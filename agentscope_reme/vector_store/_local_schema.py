# -*- coding: utf-8 -*-
"""The tables of the local store. They are the truth; the index in memory is made from them."""

from __future__ import annotations

import sqlite3

__all__ = ["MIGRATIONS", "NUMBERS", "TEXTS"]

TEXTS = ("owner", "memory_type", "memory_target", "category", "ref_memory_id", "author")
"""Columns that hold a text; NULL for an empty one."""

NUMBERS = (
    *("importance", "score", "access_count", "is_active"),
    *("message_time", "time_created", "time_modified", "last_accessed", "expires_at"),
)
"""Columns that hold a number; times are seconds since the epoch."""


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


_TABLES = (
    "CREATE TABLE space (id INTEGER PRIMARY KEY, model TEXT NOT NULL, dimensions INT NOT NULL, "
    "UNIQUE (model, dimensions))",
    "CREATE TABLE cutter (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    # space: whose vectors are searched; target: of a reindex that has not ended; version: grows with each change;
    # forgotten: deletions up to this version are no longer listed.
    "CREATE TABLE collection (id INTEGER PRIMARY KEY AUTOINCREMENT, name UNIQUE NOT NULL, "
    "space INT REFERENCES space, target INT REFERENCES space, version INT NOT NULL, forgotten INT NOT NULL)",
    # version: of the last change; indexed: of the last one to words, vector or what ranking knows; cutter: of words;
    # rest: JSON of what has no column. A text that is not valid Unicode is a blob. An id is never given twice.
    "CREATE TABLE node (id INTEGER PRIMARY KEY AUTOINCREMENT, collection INT NOT NULL REFERENCES collection, "
    "version INT NOT NULL, indexed INT NOT NULL, cutter INT NOT NULL REFERENCES cutter, asks INT NOT NULL, "
    "key TEXT NOT NULL, memory_id TEXT NOT NULL, "
    f"{', '.join(TEXTS)}, {' REAL, '.join(NUMBERS)} REAL, content NOT NULL, when_to_use, rest NOT NULL, "
    "words NOT NULL)",
    "CREATE UNIQUE INDEX node_by_key ON node (collection, key)",
    "CREATE INDEX node_by_version ON node (collection, version)",
    "CREATE INDEX node_by_owner ON node (collection, owner, time_created)",
    "CREATE INDEX node_by_memory_id ON node (collection, memory_id)",
    "CREATE INDEX node_by_target ON node (collection, memory_target)",
    "CREATE INDEX node_by_talk ON node (collection, ref_memory_id) WHERE ref_memory_id IS NOT NULL",
    "CREATE INDEX node_by_time ON node (collection, time_created)",
    # Tags, entities, sources and metadata, a row for each value; kind: number, flag, text, or element of a list.
    "CREATE TABLE facet (collection INT NOT NULL, field NOT NULL, kind TEXT NOT NULL, value NOT NULL, "
    "node INT NOT NULL REFERENCES node ON DELETE CASCADE, PRIMARY KEY (collection, field, kind, value, node)) "
    "WITHOUT ROWID",
    "CREATE INDEX facet_by_node ON facet (node)",
    # data: float32, little-endian.
    "CREATE TABLE vector (id INTEGER PRIMARY KEY, node INT NOT NULL REFERENCES node ON DELETE CASCADE, "
    "space INT NOT NULL REFERENCES space, data BLOB NOT NULL, UNIQUE (node, space))",
    "CREATE TABLE gone (node INTEGER PRIMARY KEY, collection INT NOT NULL, version INT NOT NULL)",
    "CREATE INDEX gone_by_version ON gone (collection, version)",
)

MIGRATIONS = (_create,)
