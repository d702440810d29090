# -*- coding: utf-8 -*-
"""The tables of ``index.db``. Everything in it can be made again from the files."""

from __future__ import annotations

import sqlite3

__all__ = ["MIGRATIONS", "fact", "next_version", "set_fact"]


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO fact VALUES ('version', 0), ('forgotten', 0)")


_TABLES = (
    # version: grows with each change; forgotten: removals up to this version are no longer listed;
    # cut, words, model: how files were cut, who cut the words, whose the vectors are.
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # revision: of the row; read_at: the clock before the file was read; lines, bytes: how far it was read;
    # digest: of that many bytes.
    "CREATE TABLE file (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, source TEXT NOT NULL, "
    "revision INT NOT NULL, size INT NOT NULL, mtime INT NOT NULL, ctime INT NOT NULL, inode INT NOT NULL, "
    "read_at INT NOT NULL, lines INT NOT NULL, bytes INT NOT NULL, digest BLOB NOT NULL)",
    # stale: its words were cut by another tokenizer; waiting: for vectors. An id is never given twice.
    "CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, file INT NOT NULL REFERENCES file ON DELETE CASCADE, "
    "start_line INT NOT NULL, end_line INT NOT NULL, offset INT NOT NULL, kind TEXT NOT NULL, version INT NOT NULL, "
    "stale INT NOT NULL, waiting INT NOT NULL, twin INT NOT NULL, time TEXT NOT NULL, asks INT NOT NULL, "
    "speaker TEXT NOT NULL, message_id TEXT NOT NULL, session_id TEXT NOT NULL, episode INT NOT NULL, "
    "position REAL NOT NULL, digest BLOB NOT NULL, heading TEXT NOT NULL, words TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX chunk_by_file ON chunk (file, start_line)",
    "CREATE INDEX chunk_by_version ON chunk (version)",
    "CREATE INDEX chunk_by_twin ON chunk (twin)",
    "CREATE INDEX chunk_stale ON chunk (id) WHERE stale",
    "CREATE INDEX chunk_waiting ON chunk (id) WHERE waiting",
    # data: in half precision, one vector after the other.
    "CREATE TABLE vector (chunk INTEGER PRIMARY KEY REFERENCES chunk ON DELETE CASCADE, version INT NOT NULL, "
    "data BLOB NOT NULL)",
    "CREATE INDEX vector_by_version ON vector (version)",
    "CREATE TABLE gone (chunk INTEGER PRIMARY KEY, version INT NOT NULL)",
    "CREATE INDEX gone_by_version ON gone (version)",
)

MIGRATIONS = (_create,)


def fact(connection: sqlite3.Connection, name: str) -> str | int | None:
    """What is noted under this name."""
    row = connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def set_fact(connection: sqlite3.Connection, name: str, value: str | int) -> None:
    """Note something."""
    connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))


def next_version(connection: sqlite3.Connection) -> int:
    """The number of the change that this transaction makes."""
    connection.execute("UPDATE fact SET value = value + 1 WHERE name = 'version'")
    return int(fact(connection, "version") or 0)
