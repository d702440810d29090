# -*- coding: utf-8 -*-
"""The memories of a collection in memory: words, vectors and the fields that filters name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..record import Condition
from ..search import Columns, DenseIndex, HybridIndex
from ._local_columns import FilterColumns

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Filter", "MemoryIndex"]

_DIMENSIONS = 384
_HALF_ABOVE = 50_000
_CLUSTERED_ABOVE = 100_000
"""Vectors of `_DIMENSIONS`; see `DenseIndex`."""

Filter = Callable[[Columns], "np.ndarray"] | None
"""Which memories may be found; None for all."""


class MemoryIndex(HybridIndex):
    """A `HybridIndex` under the numbers of the memories' rows in SQLite, with filters. Blocking."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions=dimensions)
        if dimensions > _DIMENSIONS:  # a search costs what the numbers are, not the rows
            half, clustered = (rows * _DIMENSIONS // dimensions for rows in (_HALF_ABOVE, _CLUSTERED_ABOVE))
            self._vectors = DenseIndex(dimensions, half_above=half, clustered_above=clustered)
        self._filters = FilterColumns()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep it as it is while several things are asked of it."""
        with self._lock:
            yield

    def set_fields(self, ids: Sequence[int], values: Sequence[Sequence[Any]]) -> None:
        """Set what memories that are here are filtered by; see `FilterColumns.set`."""
        with self._lock:
            self._filters.set([self._table.row_of[each] for each in ids], values)

    def allowed(self, conditions: Sequence[Condition], looked_up: Callable[[], Iterable[int]]) -> Filter:
        """Which memories meet conditions, for `search` and `nearest` while the index is `held`.

        Args:
            conditions (`Sequence[Condition]`): the conditions.
            looked_up (`Callable[[], Iterable[int]]`): who meets them, asked where they name what is not here.
        """
        import numpy as np

        if not conditions:
            return None
        size = len(self._table.keys)
        mask, others = self._filters.mask(conditions, size)
        if others or mask is None:
            rows = self._table.row_of
            mask = np.zeros(size, dtype=bool)
            mask[[rows[number] for number in looked_up() if number in rows]] = True
        met = mask
        return lambda columns: met

    def nearest(self, vector: np.ndarray, k: int, allowed: Filter = None) -> list[tuple[int, float]]:
        """The memories whose vectors are nearest: their numbers and cosines, best first."""
        with self._lock:
            if self._vectors is None:
                return []
            mask = None if allowed is None else self._mask(self._table.columns(), allowed)
            found = self._vectors.search(vector, k, allowed=mask)
            keys = self._table.keys
            return [(keys[row], cosine) for row, cosine in zip(found.ids, found.cosines.tolist(), strict=True)]
