# -*- coding: utf-8 -*-
"""From what was found by words and by meaning to an order: pure functions of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._boosts import best_neighbour, from_neighbours, from_speakers, lateness, length_share, nearness
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

_LATEST = 0.05
"""What the latest of the texts of a time gets where nothing but a time is asked for."""
_HAIR = 1e-3
"""How far above the typical cosine one counts at least that is above the floor."""


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
        code_share (`float`): the share of identifiers in the query, which meaning says nothing about.
        by_date (`bool`): whether a time is all that the query asks for, and the found rows are of that time.
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
    code_share: float = 0.0
    by_date: bool = False


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

    found = np.flatnonzero(_eligible(evidence, recipe.cosine))
    if k < 1 or not len(found):
        return []
    own, score = _mixed(evidence, recipe, found), _absolute(evidence, recipe, found)
    rows, score, around = _with_neighbours(evidence, recipe, found, _total(own), score)
    keep = score >= min_score
    rows, score, around = rows[keep], score[keep], around[keep]
    parts = {name: _spread(part, found, rows, len(evidence.allowed)) for name, part in own.items()}
    parts |= {"neighbours": around, **_boosts(evidence, recipe, evidence.columns.at(rows))}
    total = _total(parts)
    best = _best(rows, total, evidence.columns.digest[rows], k)
    return [_ranked(i, int(rows[i]), float(score[i]), float(total[i]), parts) for i in best]


def _eligible(evidence: Evidence, scale: CosineScale) -> np.ndarray:
    found = evidence.coverage > 0
    if evidence.cosine is not None:
        found = found | (evidence.cosine >= scale.floor)
    return found & evidence.allowed


def _mixed(evidence: Evidence, recipe: SourceRecipe, found: np.ndarray) -> dict[str, np.ndarray]:
    """Words and meaning of the found rows, each scaled to the best of them, and weighted."""
    import numpy as np

    weight = recipe.vector_weight * (1 - evidence.code_share) if evidence.cosine is not None else 0.0
    words = _scaled(evidence.bm25[found] * evidence.coverage[found] ** recipe.breadth)
    parts = {"words": (1 - weight) * words}
    if evidence.cosine is not None:
        cosine = evidence.cosine[found]
        least = np.where(cosine >= recipe.cosine.floor, _HAIR, 0.0)  # of few texts, or of texts that are all relevant
        parts["meaning"] = weight * _scaled(np.maximum(cosine - evidence.typical, least))
    return parts


def _scaled(values: np.ndarray) -> np.ndarray:
    """Divided by the best; the worst possible is 0 on both legs."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else values


def _total(parts: dict[str, np.ndarray]) -> np.ndarray:
    first, *others = parts.values()
    total = first.copy()
    for other in others:
        total += other
    return total


def _absolute(evidence: Evidence, recipe: SourceRecipe, found: np.ndarray) -> np.ndarray:
    """Scores that mean the same for every query: either leg can make a match sure, both together surer."""
    import numpy as np

    coverage, said = evidence.coverage[found], evidence.bm25[found] / (evidence.ceiling or 1.0)
    by_words = _FOUND + (1 - _FOUND) * (_SPREAD * coverage + (1 - _SPREAD) * said)
    doubt = np.where(coverage > 0, 1 - by_words, 1.0)
    if evidence.cosine is not None:
        cosine, scale = evidence.cosine[found], recipe.cosine
        above = np.clip((cosine - scale.floor) / (scale.sure - scale.floor), 0.0, 1.0)
        doubt = np.where(cosine >= scale.floor, doubt * (1 - _FOUND) * (1 - above), doubt)
    return np.clip(1 - doubt, 0.0, 1.0)


def _with_neighbours(
    evidence: Evidence,
    recipe: SourceRecipe,
    found: np.ndarray,
    mixed: np.ndarray,
    score: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The found rows and those beside them, their scores, and what they get of one another's mix."""
    import numpy as np

    if evidence.by_date or not (recipe.before or recipe.after):
        return found, score, np.zeros(len(found))
    columns = evidence.columns
    around = from_neighbours(found, mixed, columns, recipe.before, recipe.after, recipe.answer) * evidence.allowed
    beside = _BESIDE * best_neighbour(found, score, columns, len(recipe.before), len(recipe.after))
    own = _spread(score, found, np.arange(len(around)), len(around))
    rows = np.flatnonzero((around > 0) | (own > 0))
    return rows, np.maximum(own, beside)[rows], around[rows]


def _spread(values: np.ndarray, found: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    """Values of the found rows at some rows, 0 at those that were not found."""
    import numpy as np

    everywhere = np.zeros(size)
    everywhere[found] = values
    return everywhere[rows]


def _boosts(evidence: Evidence, recipe: SourceRecipe, columns: Columns) -> dict[str, np.ndarray]:
    import numpy as np

    parts = {}
    if recipe.session and evidence.session is not None and len(evidence.session):
        session = np.where(columns.session >= 0, _scaled(evidence.session)[columns.session], 0.0)
        parts["session"] = recipe.session * session
    if recipe.speaker and evidence.named:
        parts["speaker"] = recipe.speaker * from_speakers(columns, evidence.named)
    if recipe.date and evidence.dates:
        lone = recipe.date if recipe.lone_date is None else recipe.lone_date
        parts["date"] = np.where(columns.session >= 0, recipe.date, lone) * nearness(
            columns, evidence.dates, recipe.date_decay
        )
    if evidence.by_date:
        parts["latest"] = _LATEST * lateness(columns)
    if recipe.question:
        parts["question"] = -recipe.question * columns.asks
    if recipe.standing:
        parts["standing"] = recipe.standing * columns.standing
    if recipe.length:
        parts["length"] = recipe.length * length_share(columns, recipe.long_text)
    return parts


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
            mark = int(digest[position])
            if not mark or mark not in seen:
                chosen.append(position)
                seen.add(mark)
            if len(chosen) == k:
                return chosen
        if len(near) == len(rows):
            return chosen
        wanted *= 4


def _ranked(position: int, row: int, score: float, order: float, parts: dict[str, np.ndarray]) -> Ranked:
    values = {name: round(float(part[position]), 4) for name, part in parts.items()}
    return Ranked(row, score, order, {name: value for name, value in values.items() if value})
