# -*- coding: utf-8 -*-
"""What a search by meaning finds: vectors reduced to the items that own them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DenseMatches", "best_of_each"]


@dataclass(frozen=True)
class DenseMatches:
    """The nearest items, best first; equals by id.

    Args:
        ids (`np.ndarray`): int64, the items.
        cosines (`np.ndarray`): float32, of the nearest of each item's vectors.
        typical (`float`): the median cosine between this query and what is stored: what no match looks like.
    """

    ids: np.ndarray
    cosines: np.ndarray
    typical: float


def best_of_each(items: np.ndarray, cosines: np.ndarray, k: int, typical: float) -> DenseMatches:
    """The best cosine of each item, the k best items first."""
    import numpy as np

    if len(cosines) > 4 * k:
        # An item among the k best has its best vector within the bound that k of its equals leave.
        kept = _safe_top(items, cosines, k)
        items, cosines = items[kept], cosines[kept]
    order = np.lexsort((items, -cosines))
    items, cosines = items[order], cosines[order]
    _, first = np.unique(items, return_index=True)
    chosen = np.sort(first)[:k]
    return DenseMatches(items[chosen], np.clip(cosines[chosen], -1.0, 1.0), typical)


def _safe_top(items: np.ndarray, cosines: np.ndarray, k: int) -> np.ndarray:
    """Positions that are sure to hold the best vector of each of the k best items, ties included."""
    import numpy as np

    wanted = 2 * k
    while wanted < len(cosines):
        bound = np.partition(cosines, -wanted)[-wanted]
        kept = np.flatnonzero(cosines >= bound)
        if len(np.unique(items[kept])) >= k:
            return kept
        wanted *= 4
    return np.arange(len(cosines))
