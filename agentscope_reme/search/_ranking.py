# -*- coding: utf-8 -*-
"""From what was found by words and by meaning to an order: pure functions of columns, one value a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._boosts import from_neighbours, from_speakers, length_share, nearness
from ._recipe import CosineScale, SourceRecipe

if TYPE_CHECKING:
    import numpy as np

    from ..text import DateSpan
    from ._row_table import Columns

__all__ = ["Evidence", "Ranked", "rank"]

_FOUND = 0.2
"""The least score of a text that a word or the meaning of the query has found."""
_BESIDE = 0.5
"""The part of a found text's score that its neighbours get."""
_SPREAD = 0.7
"""How much of the score by words is what share of the query is there; the rest is how much is said of it."""


@dataclass(frozen=True)
class Evidence:
    """What a query has to do with each row of a table.

    Args:
        columns (`Columns`): the rows.
        allowed (`np.ndarray`): bool, the rows that may be found.
        bm25 (`np.ndarray`): float64, the scores by words; 0 where no word matches.
        coverage (`np.ndarray`): float64, the share of the query's idf that is in the row; above 0 where a word matches.
        ceiling (`float`): what no BM25 score of this query can exceed.
        cosine (`np.ndarray | None`): float, by meaning, -1 where it was not among the nearest; None without vectors.
        typical (`float`): the median cosine of this query.
        session (`np.ndarray | None`): float64, indexed by session: its score by words.
        named (`Sequence[int]`): the numbers of the speakers in the query.
        dates (`Sequence[DateSpan]`): the dates in the query.
    """

    columns: Columns
    allowed: np.ndarray
    bm25: np.ndarray
    coverage: np.ndarray
    ceiling: float
    cosine: np.ndarray | None = None
    typical: float = 0.0
    session: np.ndarray | None = None
    named: Sequence[int] = ()
    dates: Sequence[DateSpan] = ()


@dataclass(frozen=True)
class Ranked:
    """A row in its place.

    Args:
        row (`int`): the row.
        score (`float`): 0 to 1, comparable between queries and sources.
        order (`float`): what the place was decided by; comparable within one result only.
        parts (`dict[str, float]`): what ``order`` is the sum of, by sign; only what is not 0.
    """

    row: int
    score: float
    order: float
    parts: dict[str, float]


def rank(evidence: Evidence, recipe: SourceRecipe, k: int, min_score: float = 0.0) -> list[Ranked]:
    """Put the relevant rows in order.

    A row is eligible if a word of the query matches or its cosine reaches the model's floor. Scores are scaled, mixed
    and boosted among the eligible ones only; others can join as neighbours of one.

    Args:
        evidence (`Evidence`): what was found.
        recipe (`SourceRecipe`): the weights.
        k (`int`): how many rows at most.
        min_score (`float`): the least absolute score.

    Returns:
        The rows, best first; none where nothing is eligible. Of rows with the same digest only the best is there.
    """
    import numpy as np

    eligible = _eligible(evidence, recipe.cosine)
    if k < 1 or not eligible.any():
        return []
    parts = _mixed(evidence, recipe, eligible)
    mixed = _total(parts)
    if recipe.before or recipe.after:
        around = from_neighbours(mixed, evidence.columns, recipe.before, recipe.after, recipe.answer)
        parts["neighbours"] = around * evidence.allowed
    joined = eligible | (parts["neighbours"] > 0) if "neighbours" in parts else eligible
    parts |= _boosts(evidence, recipe)
    score = _absolute(evidence, recipe, eligible)
    rows = np.flatnonzero(joined & (score >= min_score))
    total = _total(parts)[rows]
    best = _best(rows, total, evidence.columns.digest, k)
    return [_ranked(int(rows[i]), score, float(total[i]), parts) for i in best]


def _eligible(evidence: Evidence, scale: CosineScale) -> np.ndarray:
    found = evidence.coverage > 0
    if evidence.cosine is not None:
        found = found | (evidence.cosine >= scale.floor)
    return found & evidence.allowed


def _mixed(evidence: Evidence, recipe: SourceRecipe, eligible: np.ndarray) -> dict[str, np.ndarray]:
    """Words and meaning, each scaled to the best of all eligible rows, and weighted."""
    import numpy as np

    weight = recipe.vector_weight if evidence.cosine is not None else 0.0
    words = np.where(eligible, evidence.bm25 * evidence.coverage**recipe.breadth, 0.0)
    parts = {"words": (1 - weight) * _scaled(words)}
    if evidence.cosine is not None and weight:
        meaning = np.where(eligible, np.maximum(evidence.cosine - evidence.typical, 0.0), 0.0)
        parts["meaning"] = weight * _scaled(meaning)
    return parts


def _total(parts: dict[str, np.ndarray]) -> np.ndarray:
    first, *others = parts.values()
    total = first.copy()
    for other in others:
        total += other
    return total


def _scaled(values: np.ndarray) -> np.ndarray:
    """Divided by the best; the worst possible is 0 on both legs."""
    best = values.max()
    return values / best if best > 0 else values


def _boosts(evidence: Evidence, recipe: SourceRecipe) -> dict[str, np.ndarray]:
    import numpy as np

    columns, parts = evidence.columns, {}
    if recipe.session and evidence.session is not None and len(evidence.session):
        session = np.where(columns.session >= 0, _scaled(evidence.session)[columns.session], 0.0)
        parts["session"] = recipe.session * session
    if recipe.speaker and evidence.named:
        parts["speaker"] = recipe.speaker * from_speakers(columns, evidence.named)
    if recipe.date and evidence.dates:
        parts["date"] = recipe.date * nearness(columns, evidence.dates, recipe.date_decay)
    if recipe.question:
        parts["question"] = -recipe.question * columns.asks
    if recipe.standing:
        parts["standing"] = recipe.standing * columns.standing
    if recipe.length:
        parts["length"] = recipe.length * length_share(columns, recipe.long_text)
    return parts


def _absolute(evidence: Evidence, recipe: SourceRecipe, eligible: np.ndarray) -> np.ndarray:
    """Scores that mean the same for every query: either leg can make a match sure, both together surer."""
    import numpy as np

    said = evidence.bm25 / evidence.ceiling if evidence.ceiling else evidence.bm25
    by_words = _FOUND + (1 - _FOUND) * (_SPREAD * evidence.coverage + (1 - _SPREAD) * said)
    doubt = np.where(evidence.coverage > 0, 1 - by_words, 1.0)
    if evidence.cosine is not None:
        scale = recipe.cosine
        above = np.clip((evidence.cosine - scale.floor) / (scale.sure - scale.floor), 0.0, 1.0)
        doubt = np.where(evidence.cosine >= scale.floor, doubt * (1 - _FOUND) * (1 - above), doubt)
    score = np.where(eligible, np.clip(1 - doubt, 0.0, 1.0), 0.0)
    if recipe.before or recipe.after:
        score = np.maximum(score, _BESIDE * _best_around(score, evidence.columns, recipe))
    return score


def _best_around(score: np.ndarray, columns: Columns, recipe: SourceRecipe) -> np.ndarray:
    import numpy as np

    best = np.zeros(len(score))
    for link, shares in ((columns.before, recipe.before), (columns.after, recipe.after)):
        row = np.arange(len(score))
        for share in shares:
            row = np.where(row >= 0, link[row], -1)
            if share:
                best = np.maximum(best, np.where(row >= 0, score[row], 0.0))
    return best


def _best(rows: np.ndarray, total: np.ndarray, digest: np.ndarray, k: int) -> list[int]:
    """Positions of the k best, equals by row, without a second one of a digest."""
    import numpy as np

    wanted = 4 * k
    while True:
        near = np.arange(len(rows))
        if wanted < len(rows):
            near = np.flatnonzero(total >= np.partition(total, -wanted)[-wanted])
        order = near[np.lexsort((rows[near], -total[near]))]
        seen: set[int] = set()
        chosen = []
        for position in order.tolist():
            mark = int(digest[rows[position]])
            if not mark or mark not in seen:
                chosen.append(position)
                seen.add(mark)
            if len(chosen) == k:
                return chosen
        if len(near) == len(rows):
            return chosen
        wanted *= 4


def _ranked(row: int, score: np.ndarray, order: float, parts: dict[str, np.ndarray]) -> Ranked:
    values = {name: round(float(part[row]), 4) for name, part in parts.items()}
    return Ranked(row, float(score[row]), order, {name: value for name, value in values.items() if value})
