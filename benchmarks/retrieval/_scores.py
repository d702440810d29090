# -*- coding: utf-8 -*-
"""How good an order is: pure functions of ids."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["ASKED_FOR", "METRICS", "Outcome", "mean_scores", "scores"]

METRICS = ("R@5", "R@10", "R@20", "MRR", "nDCG@10", "R@1k tokens")
ASKED_FOR = 60
"""How many memories are asked for: as many as a thousand tokens may hold."""

_BUDGET = 1_000


@dataclass(frozen=True)
class Outcome:
    """What was found for one question.

    Args:
        found (`Sequence[str]`): ids in the order found; the first place of each counts.
        gold (`Collection[str]`): the ids that ought to be found.
        category (`str`): the question's kind.
        sizes (`Mapping[str, int]`): by id, the tokens of a memory.
    """

    found: Sequence[str]
    gold: Collection[str]
    category: str
    sizes: Mapping[str, int]


def scores(outcome: Outcome) -> dict[str, float]:
    """Of one question: recall among the first k and within 1,000 tokens, reciprocal rank, and nDCG."""
    order, gold = list(dict.fromkeys(outcome.found)), set(outcome.gold)
    first = next((place for place, each in enumerate(order, start=1) if each in gold), 0)
    return {
        **{f"R@{k}": len(set(order[:k]) & gold) / len(gold) for k in (5, 10, 20)},
        "MRR": 1 / first if first else 0.0,
        "nDCG@10": _gain(each in gold for each in order[:10]) / _gain([True] * min(10, len(gold))),
        "R@1k tokens": len(set(_within(order, outcome.sizes)) & gold) / len(gold),
    }


def mean_scores(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The mean over questions."""
    each = [scores(outcome) for outcome in outcomes]
    return {metric: sum(one[metric] for one in each) / len(each) for metric in METRICS} if each else {}


def _within(order: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """The first memories that fit the budget together."""
    room, kept = _BUDGET, []
    for each in order:
        room -= sizes[each]
        if room < 0:
            break
        kept.append(each)
    return kept


def _gain(hits: Iterable[bool]) -> float:
    return sum(1 / math.log2(place + 1) for place, hit in enumerate(hits, start=1) if hit)
