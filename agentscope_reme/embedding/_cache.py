# -*- coding: utf-8 -*-
"""Vectors on disk, so that a text is embedded once ever."""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .._errors import ConfigError, EmbeddingError
from ..storage import Database

if TYPE_CHECKING:
    import numpy as np

__all__ = ["EmbeddingCache"]

_GIGABYTE = 1 << 30
_MANY = 500  # parameters of one statement


class EmbeddingCache:
    """A file of vectors, keyed by model, dimension and a hash of the text (the text itself is not in it).

    Several processes and event loops may use one file at the same time. A damaged file is set aside and begins empty.

    Args:
        path (`str | PathLike`):
            The SQLite file.
        max_bytes (`int`):
            Bytes that the vectors may take together; the ones not used for longest go first.
    """

    def __init__(self, path: str | os.PathLike, *, max_bytes: int = _GIGABYTE) -> None:
        if max_bytes < 1:
            raise ConfigError(f"max_bytes is {max_bytes}: give a positive number of bytes, or no cache at all.")
        self.max_bytes = max_bytes
        self._database = Database(path, migrations=(_create,), cache=True)
        self._touched: dict[int, None] = {}  # row ids read since the last write, in the order of their last use
        self._guard = threading.Lock()

    async def get_many(self, model: str, dimensions: int, texts: Iterable[str]) -> "dict[str, np.ndarray]":
        """Find what is known.

        Args:
            model (`str`):
                Which model, as ``model_key`` names it.
            dimensions (`int`):
                Its dimension; vectors of another dimension are other vectors.
            texts (`Iterable[str]`):
                What to look for.

        Returns:
            `dict[str, np.ndarray]`: float32 vectors of the texts that are there, in no order.
        """
        texts = list(texts)
        return await self._database.read(self._get, model, dimensions, texts) if texts else {}

    async def put_many(self, model: str, dimensions: int, vectors: "Mapping[str, np.ndarray]") -> None:
        """Keep vectors; one that is there already stays. What is over ``max_bytes`` is dropped, oldest use first.

        Raises:
            `EmbeddingError`: a vector that has another shape, is zero or not finite; then none of them is kept.
        """
        for vector in vectors.values():
            _check(vector, dimensions)
        if vectors:
            await self._database.run(self._put, model, dimensions, dict(vectors))

    async def forget(self, texts: Iterable[str]) -> int:
        """Delete the vectors of texts, of whatever model, so that no byte of them is left in the file.

        Returns:
            `int`: how many there were.
        """
        gone = await self._database.run(self._forget, list(texts))
        if gone:
            await self._database.compact()
        return gone

    async def count(self) -> int:
        """How many vectors there are."""
        return await self._database.read(lambda connection: _one(connection, "SELECT count(*) FROM vector"))

    async def close(self) -> None:
        """Note what was used, and close the file."""
        if self._touched:
            await self._database.run(self._note_uses)
        await self._database.close()

    def close_sync(self) -> None:
        """``close``, waiting without an event loop."""
        if self._touched:
            self._database.run_sync(self._note_uses)
        self._database.close_sync()

    def _get(
        self, connection: sqlite3.Connection, model: str, dimensions: int, texts: list[str]
    ) -> "dict[str, np.ndarray]":
        import numpy as np

        by_hash = {_hash(text): text for text in texts}
        found: dict[str, np.ndarray] = {}
        rows: dict[bytes, int] = {}
        for part in _parts(list(by_hash)):
            marks = ",".join("?" * len(part))
            query = (
                "SELECT v.id, v.hash, v.vector FROM vector v JOIN model m ON m.id = v.model "
                f"WHERE m.name = ? AND m.dimensions = ? AND v.hash IN ({marks})"
            )
            for row, key, blob in connection.execute(query, (model, dimensions, *part)):
                if len(blob) == 4 * dimensions:
                    found[by_hash[key]] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
                    rows[key] = row
        self._touch([rows[key] for key in by_hash if key in rows])
        return found

    def _put(
        self, connection: sqlite3.Connection, model: str, dimensions: int, vectors: "dict[str, np.ndarray]"
    ) -> None:
        import numpy as np

        self._note_uses(connection)
        connection.execute("INSERT OR IGNORE INTO model (name, dimensions) VALUES (?, ?)", (model, dimensions))
        number = _one(connection, "SELECT id FROM model WHERE name = ? AND dimensions = ?", model, dimensions)
        now = _tick(connection)
        added = connection.executemany(
            "INSERT INTO vector (model, hash, used, vector) VALUES (?, ?, ?, ?) ON CONFLICT (model, hash) DO UPDATE "
            "SET vector = excluded.vector WHERE length(vector) <> length(excluded.vector)",
            [(number, _hash(text), now, np.asarray(v, dtype="<f4").tobytes()) for text, v in vectors.items()],
        ).rowcount
        connection.execute("UPDATE size SET bytes = bytes + ?", (added * dimensions * 4,))
        self._drop_oldest(connection)

    def _forget(self, connection: sqlite3.Connection, texts: list[str]) -> int:
        count = size = 0
        for part in _parts(list({_hash(text) for text in texts})):
            found = f"FROM vector WHERE hash IN ({','.join('?' * len(part))})"
            size += _one(connection, f"SELECT coalesce(sum(length(vector)), 0) {found}", *part)
            count += connection.execute(f"DELETE {found}", part).rowcount
        connection.execute("UPDATE size SET bytes = bytes - ?", (size,))
        return count

    def _drop_oldest(self, connection: sqlite3.Connection) -> None:
        over = _one(connection, "SELECT bytes FROM size") - self.max_bytes
        gone = []
        if over > 0:
            for row, size in connection.execute("SELECT id, length(vector) FROM vector ORDER BY used, id"):
                gone.append((row, size))
                over -= size
                if over <= 0:
                    break
        connection.executemany("DELETE FROM vector WHERE id = ?", [(row,) for row, _ in gone])
        connection.execute("UPDATE size SET bytes = bytes - ?", (sum(size for _, size in gone),))

    def _touch(self, rows: Sequence[int]) -> None:
        with self._guard:
            for row in rows:
                self._touched.pop(row, None)
                self._touched[row] = None

    def _note_uses(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            rows, self._touched = list(self._touched), {}
        now = _tick(connection)
        connection.executemany(
            "UPDATE vector SET used = ? WHERE id = ?", [(now + n, row) for n, row in enumerate(rows)]
        )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimensions INT NOT NULL, "
        "UNIQUE (name, dimensions))"
    )
    connection.execute(
        "CREATE TABLE vector (id INTEGER PRIMARY KEY AUTOINCREMENT, model INT NOT NULL, hash BLOB NOT NULL, "
        "used INT NOT NULL, vector BLOB NOT NULL, UNIQUE (model, hash))",
    )
    connection.execute("CREATE INDEX vector_by_use ON vector (used, id)")
    connection.execute("CREATE TABLE size (bytes INT NOT NULL)")
    connection.execute("INSERT INTO size VALUES (0)")


def _check(vector: "np.ndarray", dimensions: int) -> None:
    import numpy as np

    if np.shape(vector) != (dimensions,):
        raise EmbeddingError(f"A vector of shape {np.shape(vector)} was to be kept where {dimensions} numbers belong.")
    if not np.isfinite(vector).all() or not np.any(vector):
        raise EmbeddingError("A vector that is zero or not finite was to be kept.")


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _one(connection: sqlite3.Connection, query: str, *values: object) -> int:
    return connection.execute(query, values).fetchone()[0]


def _tick(connection: sqlite3.Connection) -> int:
    """A time that is later than every use before it, whatever the clocks say."""
    return _one(connection, "SELECT coalesce(max(used), 0) + 1 FROM vector")


def _parts(keys: list[bytes]) -> list[list[bytes]]:
    return [keys[start : start + _MANY] for start in range(0, len(keys), _MANY)]
