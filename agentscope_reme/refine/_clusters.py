# -*- coding: utf-8 -*-
"""K-means over vectors, the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["clusters"]

_SEED = 1234
_ROUNDS = 20
_PER_CENTRE = 256
"""How many vectors for each centre FAISS draws to train on; that is plenty."""


def clusters(vectors: Sequence[np.ndarray], number: int) -> list[int]:
    """The cluster of each vector, by FAISS's k-means on the unit sphere with a fixed seed.

    Args:
        vectors (`Sequence[np.ndarray]`): float, of one length.
        number (`int`): how many clusters; never more than there are vectors.

    Returns:
        `list[int]`: a number for each vector, counted from 0 in the order in which they first occur.
    """
    if not vectors:
        return []
    number = min(number, len(vectors))
    if number < 2:
        return [0] * len(vectors)
    import faiss
    import numpy as np

    matrix = np.ascontiguousarray(np.stack(vectors), dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(lengths > 0, lengths, 1.0)
    means = faiss.Kmeans(
        matrix.shape[1],
        number,
        niter=_ROUNDS,
        seed=_SEED,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=_PER_CENTRE,
    )
    means.train(matrix)
    _, nearest = means.index.search(matrix, 1)
    names: dict[int, int] = {}
    return [names.setdefault(int(each), len(names)) for each in nearest[:, 0]]
