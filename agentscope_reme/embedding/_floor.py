# -*- coding: utf-8 -*-
"""The cosine from which two texts may have to do with each other."""

from typing import TYPE_CHECKING

from ._parallel import STATEMENTS

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DEFAULT_FLOOR", "PROBES", "calibrate_floor"]

DEFAULT_FLOOR = 0.3
"""For a model that nothing is known about and that cannot be asked."""

PROBES: list[str] = [pair[number % 2] for number, pair in enumerate(STATEMENTS)]
"""Forty sentences about unrelated things, every other one in Chinese."""

_MOST = 512
_FEWEST = 20
_MARGIN = 0.05


def calibrate_floor(vectors: "np.ndarray", *, quantile: float = 0.99) -> float:
    """Take a floor from texts that have nothing to do with each other.

    It lies a twentieth of the way to 1 above the quantile of the cosines of all pairs, so it follows models whose
    unrelated texts are near 0 and models whose unrelated texts are near 0.8. Texts drawn at random from a large corpus
    do as well as ``PROBES``, where fewer than one pair in a hundred belongs together.

    Args:
        vectors (`np.ndarray`):
            Shape ``(n, dimensions)``, rows of length 1; at most 512, evenly spaced, are used.
        quantile (`float`):
            The share of unrelated pairs that is to stay below.

    Returns:
        `float`: A cosine in [-1, 1]; ``DEFAULT_FLOOR`` for fewer than 20 vectors.
    """
    import numpy as np

    if len(vectors) < _FEWEST:
        return DEFAULT_FLOOR
    sample = np.asarray(vectors)[np.unique(np.linspace(0, len(vectors) - 1, _MOST).astype(int))]
    cosines = (sample @ sample.T)[np.triu_indices(len(sample), k=1)]
    level = float(np.quantile(cosines, quantile))
    return level + _MARGIN * (1.0 - level)
