# -*- coding: utf-8 -*-
"""Signs of relevance beyond words and meaning: pure functions of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ..text import DateSpan
    from ._row_table import Columns

__all__ = ["best_neighbour", "from_neighbours", "from_speakers", "lateness", "length_share", "nearness", "within"]


def from_neighbours(
    givers: np.ndarray,
    scores: np.ndarray,
    columns: Columns,
    before: Sequence[float],
    after: Sequence[float],
    answer: float,
) -> np.ndarray:
    """What each text gets of the scores around it; its own is not included.

    Args:
        givers (`np.ndarray`): the rows that have a score.
        scores (`np.ndarray`): their scores.
        columns (`Columns`): all rows.
        before (`Sequence[float]`): shares of the texts before, nearest first.
        after (`Sequence[float]`): shares of the texts after.
        answer (`float`): a question by another speaker right before counts 1 + this.

    Returns:
        One value a row.
    """
    import numpy as np

    got = np.zeros(len(columns.living))
    asked = scores * (1 + answer * columns.asks[givers])
    for distance, (receivers, reached) in enumerate(_walk(givers, columns.after, len(before))):
        got[receivers] += before[distance] * (scores if distance else asked)[reached]
    for distance, (receivers, reached) in enumerate(_walk(givers, columns.before, len(after))):
        got[receivers] += after[distance] * scores[reached]
    return got


def best_neighbour(givers: np.ndarray, scores: np.ndarray, columns: Columns, before: int, after: int) -> np.ndarray:
    """The best score among the ``before`` texts before each one and the ``after`` texts after it; 0 for none."""
    import numpy as np

    best = np.zeros(len(columns.living))
    for link, reach in ((columns.after, before), (columns.before, after)):
        for receivers, reached in _walk(givers, link, reach):
            best[receivers] = np.maximum(best[receivers], scores[reached])
    return best


def _walk(rows: np.ndarray, link: np.ndarray, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Step by step, where a link leads from the rows, and which of them (by position) it still leads on."""
    import numpy as np

    reached = np.arange(len(rows))
    for _ in range(steps):
        rows = link[rows]
        there = rows >= 0
        rows, reached = rows[there], reached[there]
        yield rows, reached


def from_speakers(columns: Columns, named: Iterable[int]) -> np.ndarray:
    """1 for the texts of the named speakers (by number), else 0."""
    import numpy as np

    return np.isin(columns.speaker, list(named)).astype(float)


def within(columns: Columns, dates: Iterable[DateSpan]) -> np.ndarray:
    """Whether each text is of one of the dates; not where it has no time."""
    import numpy as np

    inside = np.zeros(len(columns.day), dtype=bool)
    for span in dates:
        inside |= (columns.day >= span.start.toordinal()) & (columns.day < span.end.toordinal() + 1)
    return inside


def lateness(columns: Columns) -> np.ndarray:
    """From 0 for the earliest of the texts to 1 for the latest; 0 for one without a time."""
    import numpy as np

    days = np.nan_to_num(columns.day, nan=np.inf)
    first, last = days.min(initial=np.inf), columns.day[days < np.inf].max(initial=-np.inf)
    return np.where((days < np.inf) & (last > first), (columns.day - first) / max(last - first, 1e-9), 0.0)


def nearness(columns: Columns, dates: Iterable[DateSpan], decay: float) -> np.ndarray:
    """1 for a text of a day in one of the spans, falling by 1/e every ``decay`` days away; 0 without a time."""
    import numpy as np

    best = np.zeros(len(columns.day))
    for span in dates:
        early = span.start.toordinal() - columns.day
        late = columns.day - (span.end.toordinal() + 1)
        away = np.maximum(np.maximum(early, late), 0.0)
        best = np.maximum(best, np.nan_to_num(np.exp(-away / decay), nan=0.0))
    return best


def length_share(columns: Columns, long_text: int) -> np.ndarray:
    """0 for a text without words to 1 for one of ``long_text`` or more."""
    import numpy as np

    return np.minimum(columns.words, long_text) / long_text
