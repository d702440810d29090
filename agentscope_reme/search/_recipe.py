# -*- coding: utf-8 -*-
"""How much each sign of relevance weighs, for each kind of source."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real

from .._errors import ConfigError

__all__ = ["DIALOG_RECIPE", "MEMORIES_RECIPE", "NOTES_RECIPE", "CosineScale", "SourceRecipe"]

_HIGHEST_FLOOR = 0.98
_SURENESS = 0.47
"""The part of the way from a model's floor to 1 from which a match is beyond doubt."""


@dataclass(frozen=True)
class CosineScale:
    """What the cosines of an embedding model mean; measured for each model.

    Args:
        floor (`float`): above the cosines of nearly all (99 %) unrelated texts; a text is found by meaning from here.
        sure (`float`): from here on, a match is beyond doubt.

    Raises:
        `ConfigError`: not -1 <= floor < sure <= 1.
    """

    floor: float = 0.24
    sure: float = 0.6

    def __post_init__(self) -> None:
        if not -1 <= self.floor < self.sure <= 1:
            raise ConfigError(f"floor {self.floor!r} and sure {self.sure!r}: give -1 <= floor < sure <= 1.")

    @classmethod
    def above(cls, floor: float) -> CosineScale:
        """The scale of a model of which only the floor was measured; see `embedding.BatchEmbedder.floor`."""
        floor = min(max(floor, -1.0), _HIGHEST_FLOOR)
        return cls(floor, floor + _SURENESS * (1 - floor))


@dataclass(frozen=True)
class SourceRecipe:
    """Weights of the signs by which the texts of one source are put in order.

    Words and meaning are scaled to the best text of the query and mixed; the boosts are added to that. A weight of 0
    switches a sign off. The signs were measured one by one; see the benchmarks of retrieval.

    Args:
        vector_weight (`float`): the share of meaning against words, 0 to 1, where there are vectors; less for a query
            with identifiers in it.
        breadth (`float`): how much covering many words of the query counts against repeating one of them.
        before (`tuple[float, ...]`): what a text gets of the scores of the texts before it, nearest first.
        after (`tuple[float, ...]`): what it gets of those after it.
        answer (`float`): how much more a text gets of a question right before it by another speaker.
        question (`float`): what such a question itself loses.
        session (`float`): the whole session's own score by words.
        speaker (`float`): for a text of a speaker whom the query names; the name is then no word of the query.
        date (`float`): for a text near a date in the query, where it was said in a conversation.
        lone_date (`float | None`): the same for a text by itself: the time at which something was written down says
            less of it; None for as much.
        date_decay (`float`): days after which nearness is worth 1/e of its weight.
        by_date (`bool`): whether a query that asks for nothing but a time finds what is of that time, and only that.
        length (`float`): for a text with much to say, in full from `long_text` words on.
        long_text (`int`): words.
        standing (`float`): for a text that stands above others of the same relevance.
        cosine (`CosineScale`): what the model's cosines mean.
    """

    vector_weight: float = 0.7
    breadth: float = 0.5
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    answer: float = 0.0
    question: float = 0.0
    session: float = 0.0
    speaker: float = 0.0
    date: float = 0.4
    lone_date: float | None = None
    date_decay: float = 7.0
    by_date: bool = True
    length: float = 0.0
    long_text: int = 20
    standing: float = 0.05
    cosine: CosineScale = field(default_factory=CosineScale)

    def __post_init__(self) -> None:
        is_number = isinstance(self.vector_weight, Real) and not isinstance(self.vector_weight, bool)
        if not (is_number and 0 <= self.vector_weight <= 1):
            raise ConfigError(f"vector_weight is {self.vector_weight!r}: give a share from 0 (words) to 1 (meaning).")
        if self.date_decay <= 0 or self.long_text < 1:
            raise ConfigError(f"date_decay {self.date_decay!r} and long_text {self.long_text!r} must be above 0.")

    def with_cosine(self, scale: CosineScale) -> SourceRecipe:
        """The same weights for another embedding model."""
        return replace(self, cosine=scale)


NOTES_RECIPE = SourceRecipe(vector_weight=0.7, date=0.4)
"""Notes and other documents, a few hundred words a chunk."""

DIALOG_RECIPE = SourceRecipe(
    vector_weight=0.4,
    before=(0.3, 0.3, 0.1),
    after=(0.3, 0.2, 0.1),
    answer=1.5,
    question=0.15,
    session=0.3,
    speaker=0.15,
    date=1.0,
    date_decay=5.0,
    length=0.1,
)
"""Chat archives, one turn a text."""

MEMORIES_RECIPE = replace(DIALOG_RECIPE, vector_weight=0.7, length=0.0, lone_date=0.3, by_date=False)
"""Memories of a sentence or two: what was said in a conversation as there, what is known by itself without that."""
