# -*- coding: utf-8 -*-
"""Signs of relevance beyond words and meaning: pure functions of columns, one value a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ..text import DateSpan
    from ._row_table import Columns

__all__ = ["from_neighbours", "from_speakers", "length_share", "nearness"]


def from_neighbours(
    scores: np.ndarray,
    columns: Columns,
    before: Sequence[float],
    after: Sequence[float],
    answer: float,
) -> np.ndarray:
    """What each text gets of the scores around it: its own is not included.

    Args:
        scores (`np.ndarray`): one a row.
        columns (`Columns`): the rows.
        before (`Sequence[float]`): shares of the texts before, nearest first.
        after (`Sequence[float]`): shares of the texts after.
        answer (`float`): a question by another speaker right before counts 1 + this.
    """
    import numpy as np

    got = np.zeros(len(scores))
    for link, shares, extra in ((columns.before, before, answer), (columns.after, after, 0.0)):
        row = np.arange(len(scores))
        for share in shares:
            row = np.where(row >= 0, link[row], -1)
            there = row >= 0
            gift = share * scores[row[there]]
            if extra:
                gift = gift * (1 + extra * columns.asks[row[there]])
                extra = 0.0
            got[there] += gift
    return got


def from_speakers(columns: Columns, named: Iterable[int]) -> np.ndarray:
    """1 for the texts of the named speakers (by number), else 0."""
    import numpy as np

    return np.isin(columns.speaker, list(named)).astype(float)


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
