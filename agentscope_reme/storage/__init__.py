# -*- coding: utf-8 -*-
"""What lies on disk: atomic files, appended lines, locks, the journal, SQLite on its own thread."""

from ._atomic import (
    make_folder,
    read_bytes,
    remove_leftovers,
    storage_error,
    sync_file,
    sync_folder,
    write_atomic,
)
from ._database import Database
from ._journal import Journal
from ._jsonl import JsonlFile, dump_line, parse_lines
from ._locks import OwnerLock, short_lock

__all__ = [
    "write_atomic",
    "read_bytes",
    "make_folder",
    "remove_leftovers",
    "sync_file",
    "sync_folder",
    "storage_error",
    "JsonlFile",
    "dump_line",
    "parse_lines",
    "short_lock",
    "OwnerLock",
    "Journal",
    "Database",
]
