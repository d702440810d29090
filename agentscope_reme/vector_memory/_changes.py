# -*- coding: utf-8 -*-
"""What becomes of a memory when it is changed, added again, or superseded: pure functions of memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from .._errors import ConfigError
from ..record import MemoryNode

__all__ = [
    "TICK",
    "changed",
    "check_fields",
    "following",
    "is_over",
    "restored",
    "says_the_same",
    "superseded",
    "superseding",
]

_CHANGEABLE = frozenset(each.name for each in fields(MemoryNode)) - {
    *("content", "when_to_use"),  # which have arguments of their own
    *("memory_type", "memory_target", "vector", "time_created", "time_modified"),
}
TICK = timedelta(microseconds=1)
"""The least that two moments differ by."""
_SUPERSEDED_BY, _SUPERSEDES = "superseded_by", "supersedes"


def check_fields(names: Mapping[str, Any]) -> None:
    """Refuse to change what makes a memory another owner's, or is no field.

    Raises:
        `ConfigError`: such a field.
    """
    for name in names:
        if name not in _CHANGEABLE:
            known = ", ".join(sorted(_CHANGEABLE))
            raise ConfigError(f"{name!r} of a memory cannot be changed: there are content, when_to_use, {known}.")


def following(now: datetime, *before: MemoryNode | None) -> datetime:
    """A moment after every change of these memories, whatever the clocks of their writers said."""
    return max([now, *(node.time_modified + TICK for node in before if node is not None)])


def changed(
    old: MemoryNode, there: MemoryNode | None, texts: Mapping[str, str], values: Mapping[str, Any], time: datetime
) -> MemoryNode:
    """The memory that an update makes.

    Args:
        old (`MemoryNode`): the memory that is updated.
        there (`MemoryNode | None`): where the new content is that of another memory of the same owner: that one, into
            which the old one goes over.
        texts (`Mapping[str, str]`): the new content and when_to_use, those that are given.
        values (`Mapping[str, Any]`): the other fields.
        time (`datetime`): when.
    """
    base = old
    if there is not None and there.key != old.key:
        base = restored(there, there)
    return replace(base, **{**texts, **values}, time_modified=time, vector=None)


def restored(there: MemoryNode, given: MemoryNode) -> MemoryNode:
    """A memory that was inactive or had expired, when it is added again."""
    metadata = {key: value for key, value in there.metadata.items() if key != _SUPERSEDED_BY}
    return replace(there, is_active=True, expires_at=given.expires_at, metadata=metadata)


def is_over(node: MemoryNode, now: datetime) -> bool:
    """Whether a memory is not found any more: inactive, or expired."""
    return not node.is_active or (node.expires_at is not None and node.expires_at <= now)


def superseded(old: MemoryNode, new: MemoryNode, time: datetime) -> MemoryNode:
    """The old memory, when another takes its place."""
    metadata = {**old.metadata, _SUPERSEDED_BY: new.memory_id}
    return replace(old, is_active=False, metadata=metadata, time_modified=time)


def superseding(new: MemoryNode, old: MemoryNode, time: datetime) -> MemoryNode:
    """The new memory, when it takes the place of another."""
    before = [*_ids(new.metadata.get(_SUPERSEDES)), old.memory_id]
    metadata = {**new.metadata, _SUPERSEDES: list(dict.fromkeys(before))}
    metadata.pop(_SUPERSEDED_BY, None)
    return replace(new, is_active=True, metadata=metadata, time_modified=time)


def says_the_same(node: MemoryNode, other: MemoryNode) -> bool:
    """Whether two versions of a memory differ in nothing but the time."""
    mine, theirs = node.to_dict(), other.to_dict()
    return {**mine, "time_modified": ""} == {**theirs, "time_modified": ""}


def _ids(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple)) else []
