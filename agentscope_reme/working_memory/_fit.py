# -*- coding: utf-8 -*-
"""Statements chosen and cut so that the checkpoint they make fits a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..text import Language
from ._one_line import clipped, width
from ._sections import Checkpoint, render_checkpoint
from ._statements import Statement

__all__ = ["fitted"]

Count = Callable[[str], int]

_SHARES = {
    "goal": 0.2,
    "constraints": 0.1,
    "progress_done": 0.2,
    "progress_doing": 0.06,
    "progress_blocked": 0.1,
    "decisions": 0.12,
    "next_steps": 0.07,
    "context": 0.15,
}
_GUARDED_SHARE = 0.75  # of the room, for the first goal, the current request and the constraints
_PASTED_SHARE = 0.5  # ... where the constraints come from long messages
_ONE_GOAL_SHARE = 0.3
_SHORTEST = 48
_ROUNDS = 4
_MOST = {
    "goal": 14,
    "progress_done": 18,
    "progress_doing": 3,
    "progress_blocked": 8,
    "decisions": 12,
    "next_steps": 6,
    "context": 18,
}


def fitted(statements: Iterable[Statement], *, count: Count, budget: int, language: Language) -> str:
    """The summary that the most telling statements make within a budget.

    The first goal, the current request and the constraints come first. Each section then has a share of what is left;
    what it does not use flows on to the others. Within a section what tells least and lies furthest back goes first.

    Args:
        statements (`Iterable[Statement]`):
            All there is to say, in the order in which it shall stand; statements of the kind `"first"` or `"current"`
            are the goals that are kept longest.
        count (`Callable[[str], int]`):
            The number of tokens of a text.
        budget (`int`):
            The number of tokens that the summary may have.
        language (`Language`):
            The language of the headings.
    """
    chosen = _Choice(list(statements), count, budget - count(_outline(language)))
    chosen.take_guarded()
    chosen.take_shares()
    picked = chosen.in_order()
    text = _rendered(picked, language)
    while picked and (over := count(text) - budget) > 0:  # tokens do not add up exactly
        for _ in range(max(1, over * len(picked) // (2 * (over + budget)))):
            picked.remove(min(picked, key=_worth))
        text = _rendered(picked, language)
    return text


class _Choice:
    """The statements taken so far and the room that is left."""

    def __init__(self, statements: list[Statement], count: Count, room: int) -> None:
        self._all = statements
        self._count = count
        self._room = room
        self._left = room
        self._taken: dict[int, Statement] = {}
        self._width = max(80, min(240, room // 3))
        self._queues = {field: self._best_first(field) for field in _SHARES}

    def take_guarded(self) -> None:
        for at in [at for at, each in enumerate(self._all) if each.kind in ("first", "current")]:
            self._take(at, min(int(_ONE_GOAL_SHARE * self._room), self._left))
        for at in self._queues["constraints"]:
            share = _GUARDED_SHARE if self._all[at].weight >= 1.0 else _PASTED_SHARE
            self._take(at, int(share * self._room) - (self._room - self._left))

    def take_shares(self) -> None:
        for _ in range(_ROUNDS):
            waiting = {field: queue for field, queue in self._queues.items() if self._pending(queue)}
            whole, room = sum(_SHARES[field] for field in waiting), self._left
            for field, queue in waiting.items():
                allowed = int(room * _SHARES[field] / whole) if whole else 0
                for at in self._pending(queue):
                    allowed -= self._take(at, min(allowed, self._left), whole=True)
        rest = [at for queue in self._queues.values() for at in self._pending(queue)]
        for at in sorted(rest, key=lambda at: _worth(self._all[at]), reverse=True):
            self._take(at, self._left, whole=True)

    def in_order(self) -> list[Statement]:
        return [self._taken[at] for at in sorted(self._taken)]

    def _pending(self, queue: list[int]) -> list[int]:
        return [at for at in queue if at not in self._taken]

    def _best_first(self, field: str) -> list[int]:
        """The places of a section's statements, the most worth keeping first; no more than could ever fit."""
        places = [at for at, each in enumerate(self._all) if each.field == field]
        places.sort(key=lambda at: _worth(self._all[at]), reverse=True)
        return places[: min(_MOST.get(field, len(places)), max(8, self._room // 4))]

    def _take(self, at: int, allowed: int, whole: bool = False) -> int:
        """Take a statement, shortened if it must be and may be; the tokens that it costs, 0 if it is left."""
        statement = self._all[at]
        if at in self._taken or allowed <= 0:
            return 0
        limit = width(statement.text) if statement.field == "goal" else self._width
        text = clipped(statement.text, limit)
        cost = self._cost(text)
        while cost > allowed and not whole and limit > _SHORTEST:
            limit = min(limit, width(text)) * 2 // 3
            text = clipped(statement.text, limit)
            cost = self._cost(text)
        if not text or cost > allowed:
            return 0
        self._taken[at] = replace(statement, text=text)
        self._left -= cost
        return cost

    def _cost(self, text: str) -> int:
        return self._count(f"- {text}\n")


def _worth(statement: Statement) -> tuple[int, float, int]:
    guarded = 2 if statement.kind in ("first", "current") else int(statement.field == "constraints")
    return guarded, statement.weight, statement.order


def _rendered(statements: Iterable[Statement], language: Language) -> str:
    items: dict[str, list[str]] = {}
    for each in statements:
        items.setdefault(each.field, []).append(each.text)
    return render_checkpoint(Checkpoint(**{field: tuple(texts) for field, texts in items.items()}), language)


def _outline(language: Language) -> str:
    """All headings that there can be."""
    return render_checkpoint(Checkpoint(**dict.fromkeys(_SHARES, ("x",))), language).replace("- x", "")
