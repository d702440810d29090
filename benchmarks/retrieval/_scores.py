# -*- coding: utf-8 -*-
"""How good an order is: pure functions of ids."""

import math
from collections.abc import Collection, Iterable, Sequence

__all__ = ["METRICS", "Outcome", "mean_scores", "scores"]

METRICS = ("R@5", "R@10", "R@20", "MRR", "nDCG@10")

Outcome = tuple[Sequence[str], Collection[str], str]
"""Ids in the order found, the ids that ought to be found, the question's category."""


def scores(found: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Of one question; every id counts once, at its first place."""
    order = list(dict.fromkeys(found))
    first = next((place for place, each in enumerate(order, start=1) if each in gold), 0)
    return {
        **{f"R@{k}": len(set(order[:k]) & set(gold)) / len(gold) for k in (5, 10, 20)},
        "MRR": 1 / first if first else 0.0,
        "nDCG@10": _gain(each in gold for each in order[:10]) / _gain([True] * min(10, len(gold))),
    }


def mean_scores(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The mean over questions."""
    each = [scores(found, gold) for found, gold, _ in outcomes]
    return {metric: sum(one[metric] for one in each) / len(each) for metric in METRICS} if each else {}


def _gain(hits: Iterable[bool]) -> float:
    return sum(1 / math.log2(place + 1) for place, hit in enumerate(hits, start=1) if hit)
