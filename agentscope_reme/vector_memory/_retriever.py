# -*- coding: utf-8 -*-
"""Finding memories again, without asking a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..record import Condition, MemoryNode
from ._bank import MemoryBank
from ._owner import Owner

__all__ = ["MemoryRetriever", "Similarity"]

Similarity = Literal["mean", "max"] | Sequence[float]
"""How the relevance to several queries becomes one: their mean, the greatest, or a mean with these weights."""


class MemoryRetriever:
    """Finds memories by words and meaning together; relevance decides, importance and recency order what is close.

    Args:
        bank (`MemoryBank`): the memories.
        hybrid_weights (`tuple[float, float]`): of meaning and of words.
        relevance_weight (`float`), importance_weight (`float`), recency_weight (`float`): of the three in the order.
        half_life_days (`float`): days after which recency is worth half.
        similarity (`"mean" | "max" | Sequence[float]`): how the relevance to several queries becomes one.
    """

    def __init__(
        self,
        bank: MemoryBank,
        *,
        hybrid_weights: tuple[float, float] = (0.7, 0.3),
        relevance_weight: float = 1.0,
        importance_weight: float = 0.3,
        recency_weight: float = 0.2,
        half_life_days: float = 30.0,
        similarity: Similarity = "mean",
    ) -> None:
        self._bank = bank

    async def retrieve(
        self,
        queries: str | Sequence[str],
        owners: Sequence[Owner] | None,
        *,
        limit: int = 20,
        filters: Mapping[str, Any] | Sequence[Condition] | None = None,
        hybrid_threshold: float | None = None,
        min_score: float | None = None,
        include_inactive: bool = False,
        record_access: bool = True,
    ) -> list[MemoryNode]:
        """Find the memories that have to do with the queries.

        Args:
            queries (`str | Sequence[str]`): one or several.
            owners (`Sequence[Owner] | None`): whose memories; None for everybody's.
            limit (`int`): how many at most.
            filters (`Mapping[str, Any] | Sequence[Condition] | None`): see `record.parse_filters`.
            hybrid_threshold (`float | None`): the least cosine to the queries, taken together as `similarity` says.
            min_score (`float | None`): the least relevance, 0 to 1.
            include_inactive (`bool`): also those that were superseded or forgotten.
            record_access (`bool`): note that they were found.

        Returns:
            `list[MemoryNode]`: the best first, none twice; `score` is the relevance, 0 to 1.
        """
        raise NotImplementedError
