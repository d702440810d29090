# -*- coding: utf-8 -*-
"""What a verdict on a reply does to the memories that it used."""

from __future__ import annotations

from typing import Any

from .._errors import ConfigError
from ..record import MemoryNode
from ._config import RefinerConfig
from ._forgetting import USEFUL, times_useful

__all__ = ["BASE_IMPORTANCE", "adjusted"]

BASE_IMPORTANCE = "base_importance"
"""The key of the metadata that holds the importance before the first verdict."""

_FLOOR = 0.05


def adjusted(node: MemoryNode, verdict: int, config: RefinerConfig) -> dict[str, Any]:
    """The fields of a memory that a verdict changes.

    Importance moves a step of what is left toward 1, or toward 0.05, so that verdicts never take it out of bounds; all
    together move it no further than `feedback_range` from where it began. What is protected by its importance stays
    protected: a thumb down on a reply says little about an allergy. A memory that was superseded or forgotten changes
    nothing: telling it once more does not make it true.

    Args:
        node (`MemoryNode`): a memory that the reply used.
        verdict (`int`): +1 or -1.
        config (`RefinerConfig`): step and range.

    Returns:
        `dict[str, Any]`: importance and metadata; empty where nothing changes.

    Raises:
        `ConfigError`: another verdict.
    """
    if verdict not in (1, -1) or isinstance(verdict, bool):
        raise ConfigError(f"The verdict is {verdict!r}: give 1 for a good reply, -1 for a bad one.")
    if not node.is_active:
        return {}
    base = _base(node)
    importance = node.importance
    moved = importance + config.feedback_step * ((1 - importance) if verdict > 0 else -max(0.0, importance - _FLOOR))
    low = config.protect_from if base >= config.protect_from else max(0.0, base - config.feedback_range)
    bounded = min(max(moved, low), min(1.0, max(low, base + config.feedback_range)))
    useful = max(0, times_useful(node) + verdict)
    metadata = {**node.metadata, BASE_IMPORTANCE: base, USEFUL: useful}
    changes: dict[str, Any] = {}
    if bounded != importance:
        changes["importance"] = round(bounded, 6)
    if metadata != dict(node.metadata):
        changes["metadata"] = metadata
    return changes


def _base(node: MemoryNode) -> float:
    value = node.metadata.get(BASE_IMPORTANCE)
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else node.importance
