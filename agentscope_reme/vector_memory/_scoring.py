# -*- coding: utf-8 -*-
"""In which order memories are given back: relevance decides, importance and recency order what is close to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .._errors import ConfigError

__all__ = ["BAND", "RankWeights", "Similarity", "check_similarity", "combined", "normalized", "place", "recency"]

Similarity = Literal["mean", "max"] | Sequence[float]
"""How the relevance to several queries becomes one: their mean, the greatest, or a mean with these weights."""

BAND = 0.1
"""The most that importance and recency together can make up for, of a relevance from 0 to 1. What is less relevant by
more than this never comes first."""

_DAY = 86_400.0


@dataclass(frozen=True)
class RankWeights:
    """What counts how much in the order.

    Args:
        relevance (`float`): above 0.
        importance (`float`), recency (`float`): 0 or more; beside relevance they count inside `BAND` only.
        half_life_days (`float`): days after which recency is worth half.

    Raises:
        `ConfigError`: a weight that cannot work.
    """

    relevance: float = 1.0
    importance: float = 0.3
    recency: float = 0.2
    half_life_days: float = 30.0

    def __post_init__(self) -> None:
        if not (self.relevance > 0 and self.importance >= 0 and self.recency >= 0):
            raise ConfigError(
                f"relevance_weight {self.relevance!r} must be above 0, importance_weight {self.importance!r} and "
                f"recency_weight {self.recency!r} at least 0: relevance always decides.",
            )
        if not self.half_life_days > 0:
            raise ConfigError(f"half_life_days is {self.half_life_days!r}: give a number of days above 0.")

    @property
    def band(self) -> float:
        """What importance and recency can make up for with these weights, at most `BAND`."""
        return BAND * min(1.0, (self.importance + self.recency) / self.relevance)


def recency(last: datetime | None, now: datetime, half_life_days: float) -> float:
    """How fresh something is: 1 now, half after the half-life, towards 0.

    Args:
        last (`datetime | None`): when it was last of use; a time to come counts as now, and None costs nothing.
        now (`datetime`): now.
        half_life_days (`float`): days.
    """
    if last is None:
        return 1.0
    days = max(0.0, (now - last).total_seconds() / _DAY)
    return math.pow(0.5, days / half_life_days)


def place(relevance: float, importance: float, fresh: float, weights: RankWeights) -> float:
    """What a memory's place is decided by; the greatest comes first.

    Args:
        relevance (`float`), importance (`float`), fresh (`float`): each 0 to 1; the last one from `recency`.
        weights (`RankWeights`): what counts how much.

    Returns:
        `float`: the relevance, and at most ``weights.band`` more.
    """
    total = weights.importance + weights.recency
    share = (weights.importance * importance + weights.recency * fresh) / total if total else 0.0
    return relevance + weights.band * share


def normalized(orders: Mapping[str, float]) -> dict[str, float]:
    """What the places of one result were decided by, as shares of the best."""
    best = max(orders.values(), default=0.0)
    return {key: max(0.0, order / best) if best > 0 else 0.0 for key, order in orders.items()}


def combined(per_query: Sequence[Mapping[str, float]], similarity: Similarity) -> dict[str, float]:
    """The relevance to several queries as one.

    Args:
        per_query (`Sequence[Mapping[str, float]]`): for each query, the relevance by key; what is not there is 0.
        similarity (`Similarity`): how.
    """
    keys = dict.fromkeys(key for found in per_query for key in found)
    if similarity == "max":
        return {key: max(found.get(key, 0.0) for found in per_query) for key in keys}
    weights = [1.0] * len(per_query) if similarity == "mean" else [float(each) for each in similarity]
    total = sum(weights)
    return {
        key: sum(w * found.get(key, 0.0) for w, found in zip(weights, per_query, strict=True)) / total for key in keys
    }


def check_similarity(similarity: Similarity, queries: int | None = None) -> None:
    """Refuse what `combined` cannot use.

    Raises:
        `ConfigError`: no such way, or weights that are not one for each query, negative, or all 0.
    """
    if similarity in ("mean", "max"):
        return
    if isinstance(similarity, str) or not isinstance(similarity, (list, tuple)):
        raise ConfigError(f"similarity is {similarity!r}: it is 'mean', 'max' or a list of weights.")
    numbers = all(isinstance(each, (int, float)) for each in similarity)
    if not similarity or not numbers or min(similarity) < 0 or sum(similarity) <= 0:
        raise ConfigError(f"similarity is {similarity!r}: give weights of at least 0, not all of them 0.")
    if queries is not None and len(similarity) != queries:
        raise ConfigError(f"similarity has {len(similarity)} weights for {queries} queries: give one for each.")
