# -*- coding: utf-8 -*-
"""The two summaries of a split turn joined into one of the same six sections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from ._sections import Checkpoint, parse_checkpoint, render_checkpoint

__all__ = ["join_split_turn"]

_DROPPED_FIRST = (
    "progress_done",
    "decisions",
    "context",
    "next_steps",
    "progress_blocked",
    "progress_doing",
    "constraints",
    "goal",
)
_FORWARD = {"goal": "progress_doing"}
"""What the turn was for is work in progress: its request stays with the agent, the goals are the history's."""

Count = Callable[[str], int]


def join_split_turn(history: str, turn: str, *, budget: int, count: Count, language: str) -> str:
    """Fold the summary of a turn's beginning into the summary of what came before the turn.

    What the turn finished is no longer in progress, and nothing is said twice. Where the sum is over the budget, the
    oldest items go, finished work first and goals last.

    Args:
        history (`str`): The summary of the time before the turn.
        turn (`str`): The summary of the turn's beginning.
        budget (`int`): The most tokens of the result.
        count (`Callable[[str], int]`): Tokens in a text.
        language (`str`): The language of the headings.

    Returns:
        `str`: The summary of both.
    """
    joined = _joined(parse_checkpoint(history), parse_checkpoint(turn))
    return _cut(joined, budget, count, "zh" if language == "zh" else "en")


def _joined(history: Checkpoint, turn: Checkpoint) -> Checkpoint:
    items: dict[str, tuple[str, ...]] = {field.name: getattr(history, field.name) for field in fields(Checkpoint)}
    for name, target in ((field.name, _FORWARD.get(field.name, field.name)) for field in fields(Checkpoint)):
        items[target] += getattr(turn, name)
    done = {_key(item) for item in items["progress_done"]}
    for name in ("progress_doing", "progress_blocked", "next_steps"):
        items[name] = tuple(item for item in items[name] if _key(item) not in done)
    known = {_key(item) for item in items["goal"]}
    items["progress_doing"] = tuple(item for item in items["progress_doing"] if _key(item) not in known)
    return Checkpoint(**{name: _once(each) for name, each in items.items()})


def _once(items: tuple[str, ...]) -> tuple[str, ...]:
    """Each item once, in the place where it was said last."""
    latest = {_key(item): item for item in reversed(items)}
    return tuple(reversed(latest.values()))


def _cut(checkpoint: Checkpoint, budget: int, count: Count, language: str) -> str:
    text = render_checkpoint(checkpoint, language)  # type: ignore[arg-type]
    while (excess := count(text) - budget) > 0 and any(getattr(checkpoint, name) for name in _DROPPED_FIRST):
        checkpoint = _without_oldest(checkpoint, excess, count)
        text = render_checkpoint(checkpoint, language)  # type: ignore[arg-type]
    return text


def _without_oldest(checkpoint: Checkpoint, excess: int, count: Count) -> Checkpoint:
    """The checkpoint without as many items as hold this many tokens, and at least without one."""
    for name in _DROPPED_FIRST:
        items = getattr(checkpoint, name)
        dropped = 0
        while dropped < len(items) and excess > 0:
            excess -= max(1, count(items[dropped]))
            dropped += 1
        checkpoint = replace(checkpoint, **{name: items[dropped:]})
    return checkpoint


def _key(item: str) -> str:
    return " ".join(item.casefold().split()).rstrip(".。;；")
