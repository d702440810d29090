# -*- coding: utf-8 -*-
"""Search by meaning: cosine over vectors that come and go, several to an item."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._errors import ConfigError, EmbeddingError
from ._dense_matches import DenseMatches, best_of_each
from ._vector_storage import VectorStorage

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DenseIndex"]

_SAMPLE = 512
_GATHERED = 4_096
_DEAD_SHARE = 0.3
_DEAD_ROWS = 1_000
_OUTGROWN = 4


class DenseIndex:
    """Cosine search over FAISS; an item has one vector or several, the nearest of which counts.

    Exact in single precision while small, exact in half precision above ``half_above`` vectors, an inverted file of
    clusters in half precision above ``clustered_above`` (then approximate, but for a filter that leaves few). Safe to
    share between threads: a search sees the state between two changes.

    Args:
        dimensions (`int`): the length of a vector.
        half_above (`int`): vectors.
        clustered_above (`int`): vectors.
    """

    def __init__(self, dimensions: int, *, half_above: int = 50_000, clustered_above: int = 100_000) -> None:
        import numpy as np

        if dimensions < 1:
            raise ConfigError(f"dimensions is {dimensions!r}: give the length of the model's vectors.")
        self.dimensions = dimensions
        self._half_above, self._clustered_above = half_above, clustered_above
        self._storage = VectorStorage(dimensions)
        self._owners = np.empty(0, dtype=np.int64)
        self._living = np.zeros(0, dtype=bool)
        self._spans: dict[int, tuple[int, int]] = {}
        self._dead = 0
        self._built_for = 0
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def __len__(self) -> int:
        """How many items there are."""
        return len(self._spans)

    def __contains__(self, item_id: int) -> bool:
        return item_id in self._spans

    def add(self, item_id: int, vectors: np.ndarray) -> None:
        """Add an item, or replace the one of that id.

        Args:
            item_id (`int`): your own number for it; any int64.
            vectors (`np.ndarray`): one vector, or one a row; of any length above 0.

        Raises:
            `EmbeddingError`: vectors of another dimension, none, a zero or an infinite number; nothing changed.
        """
        self.add_many([(item_id, vectors)])

    def add_many(self, items: Iterable[tuple[int, np.ndarray]], *, settle: bool = True) -> None:
        """Add or replace many items at once, which is faster; see ``add``.

        Args:
            items (`Iterable[tuple[int, np.ndarray]]`): ids and their vectors; of equal ids the last.
            settle (`bool`): False leaves it to you to call ``settle``.
        """
        import numpy as np

        latest = {item_id: self._unit(vectors) for item_id, vectors in items}
        if not latest:
            return
        with self._writing, self._lock:
            for item_id in latest:
                self._drop(item_id)
            start = len(self._storage)
            counts = [len(vectors) for vectors in latest.values()]
            self._storage.add(np.concatenate(list(latest.values())))
            self._reserve(len(self._storage))
            self._owners[start : start + sum(counts)] = np.repeat(list(latest), counts)
            self._living[start : start + sum(counts)] = True
            ends = start + np.cumsum(counts)
            self._spans.update(zip(latest, zip((ends - counts).tolist(), ends.tolist(), strict=True), strict=True))
        if settle:
            self.settle()

    def remove(self, item_id: int, *, settle: bool = True) -> bool:
        """Remove an item with all its vectors; False where there is none of that id."""
        with self._writing, self._lock:
            removed = self._drop(item_id)
        if settle:
            self.settle()
        return removed

    def settle(self) -> None:
        """Rebuild without the dead rows, or for the next size, where it is time. Searches go on meanwhile."""
        with self._writing:
            if self._crowded or self._outgrown:
                self._rebuild()

    def search(self, vector: np.ndarray, k: int = 400, *, allowed: np.ndarray | None = None) -> DenseMatches:
        """Find the nearest items.

        Args:
            vector (`np.ndarray`): the query, of any length above 0.
            k (`int`): how many items at most; fewer where there are fewer.
            allowed (`np.ndarray | None`): the only items that may be found: their ids, or booleans indexed by id.

        Raises:
            `EmbeddingError`: a vector of another dimension, zero, or not finite.
        """
        import numpy as np

        query = self._unit(vector)[0]
        with self._lock:
            rows = len(self._storage)
            owners, living = self._owners[:rows], self._living[:rows]
            if allowed is not None:
                living = living & _is_allowed(owners, living, allowed)
            if k < 1 or not living.any():
                return DenseMatches(np.empty(0, np.int64), np.empty(0, np.float32), 0.0)
            found, cosines, typical = self._nearest_rows(query, k, living)
            items = owners[found]
        return best_of_each(items, cosines, k, typical)

    def to_bytes(self) -> bytes:
        """The whole index; give it to ``from_bytes`` on the same or another machine."""
        import numpy as np

        with self._lock:
            rows = len(self._storage)
            kind = np.array([self.dimensions, self._half_above, self._clustered_above])
            buffer = io.BytesIO()
            np.savez(
                buffer,
                kind=kind,
                half=self._storage.half,
                clustered=self._storage.clustered,
                faiss=self._storage.to_bytes(),
                owners=self._owners[:rows],
                living=self._living[:rows],
            )
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> DenseIndex:
        """Read what ``to_bytes`` wrote. Only from a place you trust: FAISS does not check what it reads."""
        import numpy as np

        with np.load(io.BytesIO(data), allow_pickle=False) as saved:
            dimensions, half_above, clustered_above = saved["kind"].tolist()
            index = cls(dimensions, half_above=half_above, clustered_above=clustered_above)
            index._storage = VectorStorage.from_bytes(saved["faiss"], bool(saved["half"]), bool(saved["clustered"]))
            index._owners, index._living = saved["owners"], saved["living"]
        rows = np.flatnonzero(index._living)
        index._built_for = len(rows)
        index._dead = len(index._living) - len(rows)
        index._spans = _spans_of(index._owners[rows], rows)
        return index

    def _unit(self, vectors: np.ndarray) -> np.ndarray:
        """Rows of length 1 in single precision."""
        import numpy as np

        rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if rows.ndim != 2 or rows.shape[1] != self.dimensions or not len(rows):
            raise EmbeddingError(f"Vectors of shape {np.shape(vectors)} in an index of {self.dimensions} dimensions.")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise EmbeddingError("A vector is zero or not finite: the embedding model failed on this text.")
        return np.ascontiguousarray(rows / lengths)

    def _nearest_rows(self, query: np.ndarray, k: int, living: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Enough rows for k items, their cosines, and the typical cosine."""
        import numpy as np

        rows = np.flatnonzero(living)
        step = max(1, len(rows) // _SAMPLE)
        if self._storage.exact and len(rows) * 2 > len(living):
            cosines = self._storage.all_cosines(query)[rows]
            return rows, cosines, float(np.median(cosines[::step]))
        if len(rows) <= _GATHERED:
            cosines = self._storage.rows(rows) @ query
            return rows, cosines, float(np.median(cosines[::step]))
        typical = float(np.median(self._storage.rows(rows[::step]) @ query))
        wanted = int(k * len(rows) / max(1, len(self._spans)) * 1.5) + 16
        found, cosines = self._storage.nearest(query, wanted, None if len(rows) == len(living) else living)
        return found, cosines, typical

    def _drop(self, item_id: int) -> bool:
        span = self._spans.pop(item_id, None)
        if span is None:
            return False
        self._living[slice(*span)] = False
        self._dead += span[1] - span[0]
        return True

    def _reserve(self, rows: int) -> None:
        import numpy as np

        if rows > len(self._owners):
            more = max(1_024, rows * 2) - len(self._owners)
            self._owners = np.concatenate([self._owners, np.zeros(more, dtype=np.int64)])
            self._living = np.concatenate([self._living, np.zeros(more, dtype=bool)])

    @property
    def _crowded(self) -> bool:
        return self._dead > _DEAD_ROWS and self._dead > _DEAD_SHARE * len(self._storage)

    @property
    def _outgrown(self) -> bool:
        count = len(self._storage) - self._dead
        if count > self._clustered_above:
            return not self._storage.clustered or count > _OUTGROWN * self._built_for
        return count > self._half_above and self._storage.exact

    def _rebuild(self) -> None:
        import numpy as np

        with self._lock:
            rows = np.flatnonzero(self._living[: len(self._storage)])
            vectors, owners = self._storage.rows(rows), self._owners[rows]
        count = len(rows)
        storage = VectorStorage(
            self.dimensions,
            half=count > self._half_above,
            clustered_on=vectors if count > self._clustered_above else None,
        )
        storage.add(vectors)
        with self._lock:
            self._storage, self._owners, self._built_for = storage, owners, count
            self._living, self._dead = np.ones(len(rows), dtype=bool), 0
            self._spans = _spans_of(owners, np.arange(len(rows)))


def _is_allowed(owners: np.ndarray, living: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    import numpy as np

    if allowed.dtype != bool:
        return np.isin(owners, allowed)
    inside = np.zeros(len(owners), dtype=bool)
    inside[living] = allowed[owners[living]]
    return inside


def _spans_of(owners: np.ndarray, rows: np.ndarray) -> dict[int, tuple[int, int]]:
    """First row and the one after the last of each item, whose rows follow one another."""
    import numpy as np

    if not len(owners):
        return {}
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    ends = np.r_[starts[1:], len(owners)]
    spans = zip(rows[starts].tolist(), (rows[ends - 1] + 1).tolist(), strict=True)
    return dict(zip(owners[starts].tolist(), spans, strict=True))
