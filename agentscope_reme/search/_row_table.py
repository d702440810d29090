# -*- coding: utf-8 -*-
"""What ranking knows of each indexed text besides its words and vectors, in columns."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Columns", "RowFacts", "RowTable", "as_speaker"]

_ROLES = {"user": "\u200b1", "assistant": "\u200b2", "system": "\u200b3", "human": "\u200b4", "ai": "\u200b5"}
_ROLES |= {"bot": "\u200b6", "agent": "\u200b7", "用户": "\u200b8", "助手": "\u200b9"}
"""Speakers whose names name nobody: they are told apart, but a query that says "user" does not mean one of them."""


@dataclass(frozen=True)
class RowFacts:
    """What is known of one text; all of it may be left out.

    Args:
        session (`Hashable`): the conversation or document in which the text has neighbours; None for none.
        position (`float`): its place in the session; equals keep the order in which they came.
        speaker (`str`): who said it.
        time (`datetime | None`): when; the wall clock of its own time zone is what counts.
        asks (`bool`): whether it asks something, so that the next speaker's text may be the answer.
        digest (`int`): equal for texts of which one is enough in a result; 0 for none.
        standing (`float`): 0 to 1, what lifts it above another text that is just as relevant.
    """

    session: Hashable = None
    position: float = 0.0
    speaker: str = ""
    time: datetime | None = None
    asks: bool = False
    digest: int = 0
    standing: float = 0.0


@dataclass(frozen=True)
class Columns:
    """Arrays over the rows of a table; a row that is free has ``living`` False.

    Args:
        living (`np.ndarray`): bool.
        session (`np.ndarray`): int32, -1 for none.
        speaker (`np.ndarray`): int32, -1 for none.
        day (`np.ndarray`): float64, proleptic ordinal of the day plus the part of it that is over; nan for none.
        asks (`np.ndarray`): bool; True only where another speaker's text follows in the session.
        words (`np.ndarray`): int32, how many words.
        before (`np.ndarray`): int32, the row of the text before in the session; -1 for none.
        after (`np.ndarray`): int32, of the text after.
        digest (`np.ndarray`): int64.
        standing (`np.ndarray`): float64.
    """

    living: np.ndarray
    session: np.ndarray
    speaker: np.ndarray
    day: np.ndarray
    asks: np.ndarray
    words: np.ndarray
    before: np.ndarray
    after: np.ndarray
    digest: np.ndarray
    standing: np.ndarray

    def at(self, rows: np.ndarray) -> Columns:
        """Copies of some rows; the neighbours are still numbered as in the whole."""
        return Columns(**{name: column[rows] for name, column in vars(self).items()})


class _Codes:
    """Small numbers for names, used again when a name is gone."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._uses: list[int] = []
        self._free: list[int] = []

    def take(self, name: Hashable) -> int:
        number = self.numbers.get(name, -1)
        if number < 0:
            number = self.numbers[name] = self._free.pop() if self._free else self._new_number()
            self._names[number] = name
        self._uses[number] += 1
        return number

    def name(self, number: int) -> Hashable:
        return self._names[number]

    def give_back(self, number: int) -> None:
        self._uses[number] -= 1
        if not self._uses[number]:
            del self.numbers[self._names[number]]
            self._names[number] = None
            self._free.append(number)

    def _new_number(self) -> int:
        self._names.append(None)
        self._uses.append(0)
        return len(self._names) - 1


class RowTable:
    """Rows for texts, with the neighbours of each kept as the texts come and go; not shared between threads.

    All of it lies in arrays: an object for each text would be one more for the garbage collector to visit, which stops
    the whole process for as long.
    """

    def __init__(self) -> None:
        import numpy as np

        self.row_of: dict[Hashable, int] = {}
        self.keys: list[Any] = []
        self._free: list[int] = []
        self._sessions, self._speakers = _Codes(), _Codes()
        self._order: dict[int, list[tuple[float, int]]] = {}
        kinds = {"living": bool, "asks": bool, "day": np.float64, "digest": np.int64, "standing": np.float64}
        self._columns = {name: np.zeros(16, kinds.get(name, np.int32)) for name in Columns.__dataclass_fields__}
        self._position, self._is_question = np.zeros(16), np.zeros(16, dtype=bool)

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def speakers(self) -> dict[Hashable, int]:
        """The speakers and their numbers."""
        return self._speakers.numbers

    def speaker_name(self, number: int) -> Hashable:
        """The speaker with a number."""
        return self._speakers.name(number)

    def columns(self) -> Columns:
        """The columns as they are now; they change with the table."""
        return Columns(**{name: column[: len(self.keys)] for name, column in self._columns.items()})

    def add(self, key: Hashable, facts: RowFacts, words: int) -> int:
        """Give a text that is not here yet a row, and return it."""
        row = self._free.pop() if self._free else self._new_row()
        self.row_of[key], self.keys[row] = row, key
        self._position[row], self._is_question[row] = facts.position, facts.asks
        self._set(row, living=True, words=words, digest=facts.digest, before=-1, after=-1, asks=False)
        self._set(row, day=_wall_clock(facts.time), session=-1, speaker=-1, standing=facts.standing)
        if facts.speaker:
            self._set(row, speaker=self._speakers.take(facts.speaker))
        if facts.session is not None:
            session = self._sessions.take(facts.session)
            self._set(row, session=session)
            self._enter(row, session, facts.position)
        return row

    def remove(self, key: Hashable) -> int | None:
        """Free the row of a text and return it; None where there is no such text."""
        row = self.row_of.pop(key, None)
        if row is None:
            return None
        session, speaker = int(self._columns["session"][row]), int(self._columns["speaker"][row])
        if session >= 0:
            self._leave(row, session)
            self._sessions.give_back(session)
        if speaker >= 0:
            self._speakers.give_back(speaker)
        self._set(row, living=False, session=-1, speaker=-1, before=-1, after=-1, asks=False)
        self.keys[row] = None
        self._free.append(row)
        return row

    def _new_row(self) -> int:
        import numpy as np

        self.keys.append(None)
        if len(self.keys) > len(self._position):
            self._columns = {name: np.concatenate([c, np.zeros_like(c)]) for name, c in self._columns.items()}
            self._position = np.concatenate([self._position, np.zeros_like(self._position)])
            self._is_question = np.concatenate([self._is_question, np.zeros_like(self._is_question)])
        return len(self.keys) - 1

    def _set(self, row: int, **values: float) -> None:
        for name, value in values.items():
            self._columns[name][row] = value

    def _enter(self, row: int, session: int, position: float) -> None:
        order = self._order.setdefault(session, [])
        last = order[-1][0] if order else position
        place = (position, row)
        if position >= last:
            order.append(place)
        else:
            insort(order, place, key=lambda other: other[0])
        self._link_around(order, len(order) - 1 if position >= last else order.index(place))

    def _leave(self, row: int, session: int) -> None:
        order = self._order[session]
        index = bisect_left(order, self._position[row], key=lambda other: other[0])
        while order[index][1] != row:
            index += 1
        del order[index]
        if not order:
            del self._order[session]
        else:
            self._link(order, index - 1, index)

    def _link_around(self, order: list[tuple[float, int]], index: int) -> None:
        self._link(order, index - 1, index)
        self._link(order, index, index + 1)

    def _link(self, order: list[tuple[float, int]], index: int, following: int) -> None:
        """Make two places of a session neighbours; one outside the session stands for its border."""
        row = order[index][1] if index >= 0 else -1
        after = order[following][1] if following < len(order) else -1
        if row >= 0:
            self._set(row, after=after, asks=self._asks(row, after))
        if after >= 0:
            self._set(after, before=row)

    def _asks(self, row: int, after: int) -> bool:
        speaker = self._columns["speaker"]
        return bool(self._is_question[row] and after >= 0 and speaker[after] != speaker[row])


def as_speaker(name: str) -> str:
    """The speaker of a text, by the name that its author has: a role is told apart from others and is nobody's name."""
    return _ROLES.get(name.strip().lower(), name)


def _wall_clock(time: datetime | None) -> float:
    if time is None:
        return float("nan")
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    return time.toordinal() + (time - midnight).total_seconds() / 86_400
