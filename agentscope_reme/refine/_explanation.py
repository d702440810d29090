# -*- coding: utf-8 -*-
"""Why a memory was found, or was not: the parts of its score, to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..record import MemoryNode
from ..vector_memory import RetrievedMemory
from ._refined import FORGOTTEN, REFINED_INTO, SUPERSEDED_BY

__all__ = ["Explanation", "explained"]


@dataclass(frozen=True)
class Explanation:
    """What made a memory come first, second, or not at all for a query.

    Args:
        memory (`MemoryNode`): the memory.
        rank (`int | None`): its place among all that was found, from 1; None where it was not found.
        score (`float`): the relevance, 0 to 1, comparable between queries.
        relevance (`float`): as a share of that of the best one.
        importance (`float`), recency (`float`): 0 to 1; they order what is about as relevant.
        parts (`Mapping[str, float]`): what each sign of relevance contributes, together about 1: ``words``,
            ``meaning``, ``neighbours``, ``speaker``, ``date``...
        reason (`str`): why it is not found: ``superseded``, ``refined``, ``forgotten``, ``inactive``, ``expired``, or
            ``irrelevant``; "" where it is.
    """

    memory: MemoryNode
    rank: int | None = None
    score: float = 0.0
    relevance: float = 0.0
    importance: float = 0.0
    recency: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, rounded."""
        numbers = {name: round(getattr(self, name), 4) for name in ("score", "relevance", "importance", "recency")}
        parts = {name: round(value, 4) for name, value in self.parts.items()}
        return {"memory_id": self.memory.memory_id, "rank": self.rank, **numbers, "parts": parts, "reason": self.reason}

    def __str__(self) -> str:
        """For a person, in a few lines."""
        place = f"place {self.rank}" if self.rank else "not among what is relevant"
        lines = [f"{self.memory.content}", f"  {place}, score {self.score:.2f}"]
        if self.reason:
            lines.append(f"  it is not found: {_REASONS[self.reason]}")
        if self.parts:
            shares = ", ".join(f"{name} {share:.0%}" for name, share in self.parts.items())
            lines.append(f"  relevance {self.relevance:.2f} of the best one's: {shares}")
            lines.append(f"  importance {self.importance:.2f}, recency {self.recency:.2f}")
        return "\n".join(lines)


_REASONS = {
    "superseded": "another memory has taken its place",
    "refined": "a refined memory stands for it",
    "forgotten": "it was forgotten",
    "inactive": "it is inactive",
    "expired": "its time is over",
    "irrelevant": "it has nothing to do with the query",
}


def explained(memory: MemoryNode, found: Sequence[RetrievedMemory], now: datetime) -> Explanation:
    """Explain a memory's place.

    Args:
        memory (`MemoryNode`): the memory.
        found (`Sequence[RetrievedMemory]`): all that was found for the query, best first, also what is inactive.
        now (`datetime`): the present.
    """
    reason = _reason(memory, now)
    for each in found:
        if each.node.key != memory.key:
            continue
        visible = [other for other in found if not _reason(other.node, now)]
        rank = visible.index(each) + 1 if not reason else None
        total = sum(value for value in each.parts.values() if value > 0)
        parts = {name: value / total for name, value in each.parts.items()} if total else {}
        ordered = dict(sorted(parts.items(), key=lambda part: -part[1]))
        return Explanation(memory, rank, each.score, each.relevance, each.importance, each.recency, ordered, reason)
    return Explanation(memory, importance=memory.importance, reason=reason or "irrelevant")


def _reason(node: MemoryNode, now: datetime) -> str:
    """Why a memory is not found, whatever is asked; "" where it may be."""
    if node.is_active:
        return "expired" if node.expires_at is not None and node.expires_at <= now else ""
    known = {FORGOTTEN: "forgotten", SUPERSEDED_BY: "superseded", REFINED_INTO: "refined"}
    return next((reason for key, reason in known.items() if node.metadata.get(key)), "inactive")
