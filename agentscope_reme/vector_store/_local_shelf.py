# -*- coding: utf-8 -*-
"""The index of a collection, filled from SQLite at the first search and kept up with it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._errors import VectorSpaceError, VectorStoreError
from ..record import Condition, MemoryNode, matches
from ..search import Found, QueryView, SourceRecipe
from ..storage import Database
from ..text import WordTokenizer
from ._local_catalog import cutter_number, nodes_of_ids
from ._local_filters import define_functions, where
from ._local_index import Filter, MemoryIndex
from ._local_rows import readable, storable, unpacked
from ._local_schema import NUMBERS, TEXTS
from ._local_spaces import Opened
from ._ranking import facts_by

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Shelf"]

T = TypeVar("T")
Look = Callable[[MemoryIndex, Filter], list[tuple[int, T]]]

_BATCH = 1_000
_TRIES = 5
"""How often an index is made level with what others go on writing, before one that is nearly so will do."""
_FIELDS = ", ".join(f"n.{name}" for name in (*TEXTS, *NUMBERS))
_LOADED = (
    "SELECT n.version, n.id, n.indexed > :since, n.asks, CASE n.cutter WHEN :cutter THEN n.words END, "
    "CASE n.cutter WHEN :cutter THEN NULL ELSE n.content END, n.when_to_use, v.data, "
    f"{_FIELDS} FROM node n LEFT JOIN vector v ON v.node = n.id AND v.space = :space AND n.indexed > :since "
    "WHERE n.collection = :collection AND (n.version, n.id) > (:version, :node) "
    "ORDER BY n.version, n.id LIMIT :limit"
)
_OWNER, _TALK, _AUTHOR = (TEXTS.index(name) for name in ("owner", "ref_memory_id", "author"))
_TIME = len(TEXTS) + NUMBERS.index("message_time")


class _Page(NamedTuple):
    """What has changed, in the order of its versions; of one moment.

    Args:
        version (`int`): of the collection.
        forgotten (`int`): the last version whose deletions are no longer listed.
        rows (`list[tuple]`): of `_LOADED`.
        gone (`list[int] | None`): what was deleted; with the last page only.
    """

    version: int
    forgotten: int
    rows: list[tuple]
    gone: list[int] | None


class Shelf:
    """What is searched of one collection.

    An answer is that of one moment: the index is level with the snapshot of SQLite that its memories are read from.

    Args:
        database (`Database`): where the memories are.
        opened (`Opened`): the collection.
        dimensions (`int`): of its vectors; 0 for search by words alone.
        tokenizer (`WordTokenizer`): cuts the words of what nobody has cut yet, or somebody otherwise.
        cutter (`str`): its name.
    """

    def __init__(
        self, database: Database, opened: Opened, dimensions: int, tokenizer: WordTokenizer, cutter: str
    ) -> None:
        self._database = database
        self._opened = opened
        self._dimensions = dimensions
        self._tokenizer, self._cutter = tokenizer, cutter
        self._lock = threading.Lock()
        self._index = MemoryIndex(dimensions)
        self._seen = 0
        self._level: int | None = None

    async def search(
        self,
        query: QueryView,
        limit: int,
        vector: np.ndarray | None,
        conditions: Sequence[Condition],
        recipe: SourceRecipe,
        min_score: float,
    ) -> list[tuple[MemoryNode, Found]]:
        """The most relevant memories, best first."""

        def look(index: MemoryIndex, allowed: Filter) -> list[tuple[int, Found]]:
            index.recipe = recipe
            found = index.search(query, limit, vector=vector, min_score=min_score, allowed=allowed)
            return [(each.key, each) for each in found]

        return await self._answered(look, conditions)

    async def nearest(
        self, vector: np.ndarray, limit: int, conditions: Sequence[Condition]
    ) -> list[tuple[MemoryNode, float]]:
        """The memories whose vectors are nearest, with their cosines, best first."""
        return await self._answered(lambda index, allowed: index.nearest(vector, limit, allowed), conditions)

    async def _answered(self, look: Look[T], conditions: Sequence[Condition]) -> list[tuple[MemoryNode, T]]:
        for _ in range(_TRIES):
            found = await self._database.read(self._answer, look, conditions, level=True)
            if found is not None:
                return found
            await asyncio.to_thread(self._refresh)
        return await self._database.read(self._answer, look, conditions, level=False) or []

    def _answer(
        self, connection: sqlite3.Connection, look: Look[T], conditions: Sequence[Condition], *, level: bool
    ) -> list[tuple[MemoryNode, T]] | None:
        """What is found; None where the index is not level with SQLite and has to be."""
        version, _ = self._version(connection)
        index = self._index
        with index.held():
            if level and (self._level != version or index is not self._index):
                return None
            allowed = index.allowed(conditions, lambda: _matching(connection, self._opened.collection, conditions))
            found = look(index, allowed)
        nodes = nodes_of_ids(connection, [number for number, _ in found])
        there = [(nodes[number], what) for number, what in found if number in nodes]
        return there if level else [pair for pair in there if matches(pair[0], conditions)]

    def _refresh(self) -> None:
        """Take over what has changed in SQLite since the last time. Blocking."""
        with self._lock:
            while not self._is_level():
                pass

    def _is_level(self) -> bool:
        """Whether there was nothing to take over; what there was is taken over."""
        version, forgotten = self._database.read_sync(self._version)
        if version == self._seen:
            self._level = version
            return True
        self._level = None
        if self._seen < forgotten:
            self._index, self._seen = MemoryIndex(self._dimensions), 0
        reached = self._take_over(self._seen)
        self._seen = reached.version if reached.forgotten == forgotten else -1
        return False

    def _version(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the last change, and of the last one whose deletions are no longer listed."""
        query = "SELECT version, forgotten, space FROM collection WHERE id = ?"
        row = connection.execute(query, (self._opened.collection,)).fetchone()
        if row is None:
            raise VectorStoreError("The collection was dropped by somebody else: open it again.")
        if self._opened.space is not None and row[2] != self._opened.space:
            raise VectorSpaceError("The collection was embedded again with another model: open it with that one.")
        return row[0], row[1]

    def _take_over(self, since: int) -> _Page:
        """Take over what has changed since a version; the last page of it.

        Memories that change meanwhile have later versions, and so come again, later.
        """
        last = (since + 1, -1)
        while True:
            page = self._database.read_sync(self._changed, since, last)
            rows = self._with_words(page.rows)
            with self._index.held():  # nobody is to see a memory without its fields
                self._add(rows)
                for node in page.gone or ():
                    self._index.remove(node)
            if page.gone is not None:
                return page
            last = rows[-1][:2]

    def _changed(self, connection: sqlite3.Connection, since: int, last: tuple[int, int]) -> _Page:
        version, forgotten = self._version(connection)
        cutter = connection.execute("SELECT id FROM cutter WHERE name = ?", (storable(self._cutter),)).fetchone()
        values = {"collection": self._opened.collection, "space": self._opened.space, "since": since}
        values |= {"cutter": cutter[0] if cutter else -1, "version": last[0], "node": last[1], "limit": _BATCH}
        rows = connection.execute(_LOADED, values).fetchall()
        if len(rows) == _BATCH:
            return _Page(version, forgotten, rows, None)
        query = "SELECT node FROM gone WHERE collection = ? AND version > ?"
        gone = [row[0] for row in connection.execute(query, (self._opened.collection, since))]
        return _Page(version, forgotten, rows, gone)

    def _with_words(self, rows: list[tuple]) -> list[tuple]:
        """The rows, those without words with the words cut now, which are kept for the next time."""
        cut, whole = [], []
        for version, number, is_indexed, asks, words, content, use, *others in rows:
            if content is not None and is_indexed:
                words = storable("\n".join(self._tokenizer.tokens(_searched(content, use))))
                cut.append((words, number, version))
            whole.append((version, number, is_indexed, asks, words, *others))
        if cut:
            self._database.run_sync(_set_words, self._cutter, cut)
        return whole

    def _add(self, rows: Iterable[tuple]) -> None:
        numbers, fields, vectors = [], [], []
        for _, number, is_indexed, asks, words, data, *values in rows:
            if is_indexed:
                owner, talk, author = (readable(values[at] or "") for at in (_OWNER, _TALK, _AUTHOR))
                facts = facts_by(owner, talk, values[_TIME], author, bool(asks))
                self._index.add(number, readable(words).split("\n") if words else (), facts=facts)
                if data is not None and len(data) == 4 * self._dimensions:
                    vectors.append((number, unpacked(data)))
            numbers.append(number)
            fields.append(values)
        self._index.set_fields(numbers, fields)
        if vectors:
            self._index.set_vectors(vectors)


def _searched(content: Any, use: Any) -> str:
    """As `MemoryNode.searched_text`."""
    text = readable(content)
    return f"{readable(use)}\n{text}" if use is not None and readable(use).strip() else text


def _set_words(connection: sqlite3.Connection, cutter: str, cut: Sequence[tuple]) -> None:
    number = cutter_number(connection, cutter)
    query = "UPDATE node SET words = ?, cutter = ? WHERE id = ? AND version = ?"
    connection.executemany(query, [(words, number, node, version) for words, node, version in cut])


def _matching(connection: sqlite3.Connection, collection: int, conditions: Sequence[Condition]) -> list[int]:
    define_functions(connection)
    sql, values = where(collection, conditions)
    return [row[0] for row in connection.execute(f"SELECT n.id FROM node n WHERE {sql}", values)]
