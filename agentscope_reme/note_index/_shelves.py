# -*- coding: utf-8 -*-
"""The indexes in memory, one a source, filled from SQLite and kept up with it."""

from __future__ import annotations

import datetime as dt
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..search import CosineScale, HybridIndex, RowFacts, SourceRecipe, as_speaker
from ..storage import Database
from ._areas import TOOLS
from ._schema import fact

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Shelves"]

_BATCH = 1_000
_LOADED = (
    "SELECT c.id, f.source, f.path, c.kind, c.words, c.twin, c.time, c.speaker, c.message_id, c.session_id, c.episode, "
    "c.position, c.asks, c.version, v.data "
    "FROM chunk c JOIN file f ON f.id = c.file LEFT JOIN vector v ON v.chunk = c.id "
    "WHERE (c.version, c.id) > (?, ?) AND c.version <= ? ORDER BY c.version, c.id LIMIT ?"
)
_VECTORS = (
    "SELECT v.chunk, v.data, v.version FROM vector v CROSS JOIN chunk c ON c.id = v.chunk "
    "WHERE (v.version, v.chunk) > (?, ?) AND v.version <= ? AND c.version <= ? ORDER BY v.version, v.chunk LIMIT ?"
)


class _Loaded(NamedTuple):
    """A chunk as its index needs it."""

    id: int
    source: str
    path: str
    kind: str
    words: str
    twin: int
    time: str
    speaker: str
    message_id: str
    session_id: str
    episode: int
    position: float
    asks: int
    version: int
    vectors: bytes | None


class Shelves:
    """What is searched: each source's index in memory. Blocking: call it in a thread, any one.

    Args:
        database (`Database`): where the chunks are.
        recipes (`Mapping[str, SourceRecipe]`): by source, how it is searched.
        lifted (`str`): the path of the file that stands above others.
        timezone (`tzinfo | None`): whose clock the times are read on; None is this machine's.
        model (`str`): whose vectors are taken; those of another model are passed over.
        dimensions (`int`): of the vectors; 0 for search by words alone.
        by_words (`bool`): whether words are searched at all.
    """

    def __init__(
        self,
        database: Database,
        recipes: Mapping[str, SourceRecipe],
        *,
        lifted: str,
        timezone: dt.tzinfo | None,
        model: str = "",
        dimensions: int = 0,
        by_words: bool = True,
    ) -> None:
        self.recipes = dict(recipes)
        self._database = database
        self._lifted, self._timezone, self._by_words = lifted, timezone, by_words
        self._model, self._dimensions = model, dimensions
        self._vectors_are_ours = False
        self._lock = threading.Lock()
        self._indexes: dict[str, HybridIndex] = {}
        self._source_of: dict[int, str] = {}
        self._seen = (0, 0)

    def __len__(self) -> int:
        return len(self._source_of)

    def index(self, source: str) -> HybridIndex | None:
        """The index of a source; None where it has no chunk yet."""
        return self._indexes.get(source)

    @property
    def sources(self) -> list[str]:
        """The sources that have chunks."""
        return [source for source, index in self._indexes.items() if len(index)]

    def set_scale(self, scale: CosineScale) -> None:
        """Say what the model's cosines mean."""
        self.recipes = {source: recipe.with_cosine(scale) for source, recipe in self.recipes.items()}
        for source, index in self._indexes.items():
            index.recipe = self.recipes[source]

    def refresh(self) -> None:
        """Take over what has changed in SQLite since the last time."""
        with self._lock:
            while not self._is_level():
                pass

    def _is_level(self) -> bool:
        """Whether there was nothing to take over; what there was is taken over."""
        version, forgotten, model = self._database.read_sync(_versions)
        generation = self._database.generation
        if self._seen[0] != generation or self._seen[1] < forgotten or self._seen[1] > version:
            self._clear(generation)
        self._vectors_are_ours = bool(self._dimensions) and model == self._model
        if self._seen == (generation, version):
            return True
        self._take_over(self._seen[1], version)
        self._seen = (generation, version)
        return False

    def _clear(self, generation: int) -> None:
        self._indexes.clear()
        self._source_of.clear()
        self._seen = (generation, 0)

    def _take_over(self, since: int, version: int) -> None:
        for chunk in self._database.read_sync(_gone, since) if since else ():
            self._remove(chunk)
        last = (since + 1, -1)
        while rows := self._database.read_sync(_rows, _LOADED, (*last, version, _BATCH)):
            self._add(map(_Loaded._make, rows))
            newest = _Loaded._make(rows[-1])
            last = (newest.version, newest.id)
        last = (since + 1, -1)
        while self._vectors_are_ours and (
            vectors := self._database.read_sync(_rows, _VECTORS, (*last, version, since, _BATCH))
        ):
            self._set_vectors([row[:2] for row in vectors])
            last = (vectors[-1][2], vectors[-1][0])

    def _remove(self, chunk: int) -> None:
        source = self._source_of.pop(chunk, None)
        if source is not None:
            self._indexes[source].remove(chunk)

    def _add(self, rows: Iterable[_Loaded]) -> None:
        vectors = []
        for row in rows:
            source = TOOLS if row.kind == "tool" else row.source
            index = self._indexes.get(source) or self._new_index(source)
            words = row.words.split("\n") if row.words and self._by_words else []
            index.add(row.id, words, facts=self._facts(row))
            self._source_of[row.id] = source
            if row.vectors and self._vectors_are_ours:
                vectors.append((row.id, row.vectors))
        self._set_vectors(vectors)

    def _new_index(self, source: str) -> HybridIndex:
        recipe = self.recipes[source]
        if not self._by_words:
            recipe = replace(recipe, vector_weight=1.0)
        self._indexes[source] = HybridIndex(recipe, self._dimensions)
        return self._indexes[source]

    def _set_vectors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        by_source: dict[str, list[tuple[int, np.ndarray]]] = {}
        for chunk, data in rows:
            vectors = self._unpacked(data)
            source = self._source_of.get(chunk)
            if vectors is not None and source is not None:
                by_source.setdefault(source, []).append((chunk, vectors))
        for source, items in by_source.items():
            self._indexes[source].set_vectors(items)

    def _unpacked(self, data: bytes) -> np.ndarray | None:
        import numpy as np

        if not data or len(data) % (2 * self._dimensions):
            return None
        return np.frombuffer(data, dtype="<f2").astype(np.float32).reshape(-1, self._dimensions)

    def _facts(self, row: _Loaded) -> RowFacts:
        time = self.local_time(row.time)
        if row.kind == "note":
            return RowFacts(time=time, digest=row.twin, standing=1.0 if row.path == self._lifted else 0.0)
        if row.kind == "tool":
            return RowFacts(time=time, digest=row.twin)
        return RowFacts(
            session=(row.path, row.session_id, row.episode),
            position=row.position,
            speaker=as_speaker(row.speaker),
            time=time,
            asks=bool(row.asks),
            digest=hash((row.message_id or (row.time, row.speaker), row.twin)) or 1,
        )

    def local_time(self, text: str) -> dt.datetime | None:
        """A stored time on the clock that counts; a day begins at midnight there."""
        if not text:
            return None
        moment = dt.datetime.fromisoformat(text)
        try:
            if moment.tzinfo is None and self._timezone is not None:
                return moment.replace(tzinfo=self._timezone)
            return moment.astimezone(self._timezone)
        except (ValueError, OverflowError, OSError):  # at either end of the calendar
            return None


def _versions(connection: sqlite3.Connection) -> tuple[int, int, str]:
    version, forgotten, model = (fact(connection, name) for name in ("version", "forgotten", "model"))
    return int(version or 0), int(forgotten or 0), str(model or "")


def _gone(connection: sqlite3.Connection, since: int) -> list[int]:
    return [row[0] for row in connection.execute("SELECT chunk FROM gone WHERE version > ?", (since,))]


def _rows(connection: sqlite3.Connection, query: str, values: tuple) -> list[tuple]:
    return connection.execute(query, values).fetchall()
