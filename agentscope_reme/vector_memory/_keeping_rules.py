# -*- coding: utf-8 -*-
"""How what a model draws is kept beside what is known: thresholds, and what an application knows better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .._errors import ConfigError
from ..record import MemoryNode
from .kinds import MemoryKind

__all__ = ["AS_DRAWN", "KeepingRules", "Labels", "raised"]

_NEAR_COPY = 0.95
_RAISED = 0.1


class Labels(Protocol):
    """Dimensions of tags, and categories of memories of people, with the values that they allow."""

    @property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        """The values that each dimension allows; none for any value."""

    @property
    def categories(self) -> Sequence[str]:
        """The categories that memories of people may have."""

    def cleaned(self, values: Mapping[str, Any]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """The values that are allowed, by their dimensions, and what is wrong with the others."""


def raised(new: MemoryNode, old: MemoryNode) -> float:
    """The importance of what takes the place of an old memory: a little more than that of either."""
    return min(1.0, round(max(old.importance, new.importance) + _RAISED, 4))


def _replacing(new: MemoryNode, old: MemoryNode) -> MemoryNode:
    return replace(new, importance=raised(new, old))


def _judged(node: MemoryNode) -> MemoryNode:
    return node


@dataclass(frozen=True)
class KeepingRules:
    """How what a model draws is kept.

    Args:
        near_copy (`float`): the cosine from which two statements may be one in other words.
        keeps_both (`bool`): what a new memory contradicts stays beside it; else it is retired.
        replacing (`Callable[[MemoryNode, MemoryNode], MemoryNode]`): of a new memory and the old one that it retires,
            what is stored in its place.
        judged (`Callable[[MemoryNode], MemoryNode]`): a new memory of a person with what is known of its worth,
            category, tags and end.
        labels (`Labels | None`): what a model is asked to fill in, and what it may.

    Raises:
        `ConfigError`: a cosine that cannot be one.
    """

    near_copy: float = _NEAR_COPY
    keeps_both: bool = False
    replacing: Callable[[MemoryNode, MemoryNode], MemoryNode] = _replacing
    judged: Callable[[MemoryNode], MemoryNode] = _judged
    labels: Labels | None = None

    def __post_init__(self) -> None:
        if not 0 < self.near_copy <= 1:
            raise ConfigError(f"near_copy is {self.near_copy!r}: give a cosine above 0 and at most 1.")

    def of_kind(self, kind: MemoryKind) -> KeepingRules:
        """The rules for memories of a kind: worth and category are judged of what people said alone."""
        return self if kind.people_only else replace(self, judged=_judged)

    def categories(self, kind: MemoryKind) -> Sequence[str]:
        """The categories that memories of a kind may have."""
        return self.labels.categories if self.labels is not None and kind.people_only else kind.categories


AS_DRAWN = KeepingRules()
"""What holds where nothing else is said."""
