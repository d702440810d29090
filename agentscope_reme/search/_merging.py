# -*- coding: utf-8 -*-
"""Results of several sources in one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._hybrid_index import Found

__all__ = ["merge_sources"]


def merge_sources(
    results: Mapping[str, Sequence[Found]],
    k: int,
    precedence: Sequence[str] = (),
) -> list[tuple[str, Found]]:
    """Interleave ranked results, keeping the order within each.

    A source's place depends on how sure its best text is, and a text's on how it stands to the best of its source.

    Args:
        results (`Mapping[str, Sequence[Found]]`): each source's texts, best first.
        k (`int`): how many texts at most.
        precedence (`Sequence[str]`): sources that go first where texts are equally relevant, to two digits.

    Returns:
        Pairs of source and text, best first.
    """
    weight = {source: len(precedence) - place for place, source in enumerate(precedence)}
    placed: list[tuple[tuple[float, int, str, int], tuple[str, Any]]] = []
    for source, texts in results.items():
        for place, (relevance, text) in enumerate(zip(_relevance(texts), texts, strict=True)):
            placed.append(((-round(relevance, 2), -weight.get(source, 0), source, place), (source, text)))
    return [pair for _, pair in sorted(placed, key=lambda entry: entry[0])[:k]]


def _relevance(texts: Sequence[Found]) -> list[float]:
    """The best score, shared out by order: falling, and between 0 and 1."""
    if not texts:
        return []
    surest = max(text.score for text in texts)
    best, least = texts[0].order, min(0.0, *(text.order for text in texts))
    span = best - least
    return [surest * ((text.order - least) / span if span > 0 else 1.0) for text in texts]
