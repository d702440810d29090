# -*- coding: utf-8 -*-
"""The fields that most filters name, in columns beside the index, so that a filter is a comparison of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..record import FIELDS, Condition, meets
from ._local_rows import readable, storable
from ._local_schema import NUMBERS, TEXTS

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FilterColumns"]


class FilterColumns:
    """Columns over the rows of an index. Not shared between threads.

    Texts are numbered; 0 is the number of an empty one. Numbers are float64, nan where there is none.
    """

    def __init__(self) -> None:
        import numpy as np

        self._texts = {name: np.zeros(16, dtype=np.int32) for name in TEXTS}
        self._numbers = {name: np.full(16, np.nan) for name in NUMBERS}
        self._known: dict[str, dict[str | bytes | None, int]] = {name: {None: 0} for name in TEXTS}

    def set(self, rows: Sequence[int], values: Sequence[Sequence[Any]]) -> None:
        """Set the fields of rows.

        Args:
            rows (`Sequence[int]`): the rows.
            values (`Sequence[Sequence]`): of each, the values of `TEXTS` and `NUMBERS`.
        """
        import numpy as np

        if not rows:
            return
        self._reserve(max(rows) + 1)
        columns = list(zip(*values, strict=True))
        for name, column in zip(TEXTS, columns, strict=False):
            known = self._known[name]
            self._texts[name][rows] = [known.setdefault(value, len(known)) for value in column]
        for name, column in zip(NUMBERS, columns[len(TEXTS) :], strict=True):
            self._numbers[name][rows] = np.array(column, dtype=np.float64)

    def mask(self, conditions: Iterable[Condition], size: int) -> tuple[np.ndarray | None, list[Condition]]:
        """Which rows meet conditions.

        Args:
            conditions (`Iterable[Condition]`): the conditions.
            size (`int`): how many rows there are.

        Returns:
            `tuple[np.ndarray | None, list[Condition]]`: booleans, None for all rows; and the conditions that name
            other fields, which have to be met besides.
        """
        mask, others = None, []
        for condition in conditions:
            if condition.field not in self._texts and condition.field not in self._numbers:
                others.append(condition)
                continue
            met = self._met(condition, size)
            mask = met if mask is None else mask & met
        return mask, others

    def _met(self, condition: Condition, size: int) -> np.ndarray:
        import numpy as np

        if condition.field in self._numbers:
            return self._number_met(condition, self._numbers[condition.field][:size])
        found, numbers = self._numbers_of(condition), self._texts[condition.field][:size]
        return numbers == found[0] if len(found) == 1 else np.isin(numbers, found)

    def _numbers_of(self, condition: Condition) -> list[int]:
        """The numbers of the texts that meet a condition."""
        known = self._known[condition.field]
        if condition.operator in ("equal", "any_of"):  # there may be as many texts as memories
            texts = [None if each is None else storable(each) for each in condition.values if _is_text(each)]
            return [known[text] for text in texts if text in known]
        met = [(number, None if text is None else readable(text)) for text, number in known.items()]
        return [number for number, text in met if meets(text, condition)]

    def _number_met(self, condition: Condition, column: np.ndarray) -> np.ndarray:
        import numpy as np

        flag = FIELDS[condition.field] == "flag"
        met = np.zeros(len(column), dtype=bool)
        if condition.operator == "range":
            if flag or any(isinstance(end, (str, bool)) for end in condition.values):
                return met
            low, high = condition.values
            met = ~np.isnan(column)
            met &= True if low is None else column >= low
            met &= True if high is None else column <= high
        elif condition.operator != "contains":
            for value in condition.values:
                if value is None:
                    met |= np.isnan(column)
                elif isinstance(value, bool) is flag and not isinstance(value, str):
                    met |= column == value
        return met

    def _reserve(self, rows: int) -> None:
        import numpy as np

        for columns in (self._texts, self._numbers):
            for name, column in columns.items():
                if rows > len(column):
                    columns[name] = np.concatenate([column, np.resize(column[:1], max(rows, 2 * len(column)))])


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)
