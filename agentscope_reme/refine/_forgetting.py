# -*- coding: utf-8 -*-
"""What fades, and what becomes of it: a forgetting curve, and one verdict for each memory.

The curve is that of Ebbinghaus (1885) as used in spaced repetition: of a memory that was last used ``t`` days ago,
``exp(-t / S)`` is left, where the strength ``S`` is `RefinerConfig.unused_days` for a memory that never was of use, and
longer by `RefinerConfig.strengthening` times that for each time it was. Having merely been found counts a little: the
square root of how often, at a quarter of a use.

A memory is *long unused* once the curve has fallen to 1/e, that is after ``S`` days. Retention orders memories and lets
those go that nobody valued; it never hides one whose importance is not low: an old exact match is found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ..record import MemoryNode
from ._config import RefinerConfig

__all__ = [
    "USEFUL",
    "Fate",
    "Verdict",
    "fate_of",
    "is_protected",
    "over_capacity",
    "retention",
    "strength_days",
    "times_useful",
]

Fate = Literal["keep", "archive", "cold", "expire"]
"""``archive``: inactive, still in the store; ``cold``: moved to the cold file; ``expire``: inactive, its time over."""

USEFUL = "useful"
"""The key of the metadata that holds how often a memory was useful."""

_LONG = 1 / math.e
_FOUND = 0.25
_DAY = 86_400.0


@dataclass(frozen=True)
class Verdict:
    """What is to become of a memory.

    Args:
        fate (`Fate`): what.
        reason (`str`): why, for the audit.
        retention (`float`): what the curve has left of it, 0 to 1.
    """

    fate: Fate
    reason: str
    retention: float


def times_useful(node: MemoryNode) -> int:
    """How often a memory was of use, by feedback."""
    value = node.metadata.get(USEFUL, 0)
    return max(0, int(value)) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def strength_days(node: MemoryNode, config: RefinerConfig) -> float:
    """The days after which 1/e of a memory is left, if it is not used meanwhile."""
    uses = times_useful(node) + _FOUND * math.sqrt(max(0, node.access_count))
    return config.unused_days * (1 + config.strengthening * uses)


def retention(node: MemoryNode, now: datetime, config: RefinerConfig) -> float:
    """What the curve has left of a memory, above 0 and at most 1; a time in the future counts as now."""
    used = max(filter(None, (node.last_accessed, node.time_created)))
    days = max(0.0, (_aware(now) - used).total_seconds() / _DAY)
    return math.exp(-days / strength_days(node, config))


def is_protected(node: MemoryNode, config: RefinerConfig) -> bool:
    """Whether a memory never fades and is not condensed further: asked for, of health and safety, or useful often."""
    return node.importance >= config.protect_from or times_useful(node) >= config.useful_to_protect


def fate_of(node: MemoryNode, now: datetime, config: RefinerConfig) -> Verdict:
    """What is to become of an active memory.

    Args:
        node (`MemoryNode`): the memory.
        now (`datetime`): the present.
        config (`RefinerConfig`): thresholds.

    Returns:
        `Verdict`: ``expire`` where its time is over; ``cold`` or ``archive`` where it is worth little and was not used
        for long; else ``keep``.
    """
    left = retention(node, now, config)
    if node.expires_at is not None and node.expires_at <= _aware(now):
        return Verdict("expire", f"its time was over on {node.expires_at:%Y-%m-%d}", left)
    if is_protected(node, config) or left > _LONG:
        return Verdict("keep", "", left)
    unused = f"importance {node.importance:.2f}, unused for more than {strength_days(node, config):.0f} days"
    if node.importance < config.cold_below:
        return Verdict("cold", unused, left)
    if node.importance < config.archive_below:
        return Verdict("archive", unused, left)
    return Verdict("keep", "", left)


def over_capacity(nodes: Sequence[MemoryNode], config: RefinerConfig) -> bool:
    """Whether active memories of one owner are so many, or so long, that a refinement is due."""
    return len(nodes) > config.capacity_memories or sum(len(each.content) for each in nodes) > config.capacity_chars


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.astimezone()
