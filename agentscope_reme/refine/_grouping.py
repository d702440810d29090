# -*- coding: utf-8 -*-
"""Which memories are condensed together: each in exactly one group, the same groups for the same memories."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from ..message import estimate_tokens
from ..record import MemoryNode
from ._clusters import clusters
from ._config import RefinerConfig
from ._entities import entities_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Group", "group_memories", "session_of", "time_of"]

SESSION = "session_id"
"""The key of the metadata that holds the session or task of a memory, where `ref_memory_id` is not to be it."""

Bucket = tuple[str, list[MemoryNode]]
Count = Callable[[str], int]


@dataclass(frozen=True)
class Group:
    """Memories of one owner that are condensed together.

    Args:
        nodes (`tuple[MemoryNode, ...]`): the memories, in the order of their times.
        label (`str`): what brought them together: "session s1", "entity Rex", "cluster 3".
    """

    nodes: tuple[MemoryNode, ...]
    label: str

    @property
    def owner(self) -> str:
        """Whose they are."""
        return self.nodes[0].owner

    @cached_property
    def id(self) -> str:
        """The same for the same memories in the same state: 16 hex digits."""
        text = "\n".join(f"{node.key} {node.time_modified.isoformat()}" for node in self.nodes)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def session_of(node: MemoryNode) -> str:
    """The session or task that a memory comes from; "" where it is not known."""
    session = node.metadata.get(SESSION)
    return session if isinstance(session, str) and session else node.ref_memory_id


def time_of(node: MemoryNode) -> datetime:
    """When it was said, else when the memory was made."""
    return node.message_time or node.time_created


def group_memories(
    nodes: Iterable[MemoryNode],
    config: RefinerConfig,
    *,
    vectors: Mapping[str, np.ndarray] | None = None,
    count: Count = estimate_tokens,
) -> list[Group]:
    """Group memories by `RefinerConfig.group_by`.

    ``two_level``: the memories of a session within `window_minutes` of the first of them; those that stay alone are
    gathered by what they name. ``session``: all of a session. ``time``: windows of time whatever the session.
    ``entity``: by the name or topic that most memories share with them. ``cluster``: by k-means over their vectors,
    those without a vector by entity. Groups above `RefinerConfig.group_limit` tokens are split in the order of time;
    only a memory that alone is longer stands in a larger one, alone.

    Args:
        nodes (`Iterable[MemoryNode]`): memories of any owners, who are never mixed; the order does not matter.
        config (`RefinerConfig`): how.
        vectors (`Mapping[str, np.ndarray] | None`): by `MemoryNode.key`, for ``cluster``.
        count (`Callable[[str], int]`): counts tokens.

    Returns:
        `list[Group]`: ordered by owner and time; each memory is in exactly one.
    """
    distinct = sorted({node.key: node for node in nodes}.values(), key=_place)
    groups = []
    for owner in sorted({node.owner for node in distinct}):
        mine = [node for node in distinct if node.owner == owner]
        for label, bucket in _buckets(mine, config, vectors, count):
            groups += [Group(tuple(part), label) for part in _packed(bucket, config.group_limit, count)]
    return sorted(groups, key=lambda group: (group.owner, _place(group.nodes[0])))


def _buckets(
    nodes: list[MemoryNode], config: RefinerConfig, vectors: Mapping[str, np.ndarray] | None, count: Count
) -> list[Bucket]:
    window = timedelta(minutes=min(config.window_minutes, 60_000_000))
    if config.group_by == "time":
        return _windows("", nodes, window)
    if config.group_by == "entity":
        return _by_entity(nodes)
    if config.group_by == "cluster":
        return _by_cluster(nodes, vectors or {}, config, count)
    sessions = [("session " + name, each) for name, each in _split(nodes, session_of) if name]
    loose = [node for node in nodes if not session_of(node)]
    if config.group_by == "session":
        return [*sessions, *_by_entity(loose)]
    buckets = [window_of for name, each in sessions for window_of in _windows(name, each, window)]
    buckets += _windows("", loose, window)
    alone = [bucket[0] for _, bucket in buckets if len(bucket) == 1]
    return [*(each for each in buckets if len(each[1]) > 1), *_by_entity(sorted(alone, key=_place))]


def _windows(name: str, nodes: list[MemoryNode], window: timedelta) -> list[Bucket]:
    """Memories within a window of time that begins with the first of them."""
    found: list[Bucket] = []
    for node in nodes:
        if not found or time_of(node) - time_of(found[-1][1][0]) >= window:
            label = f"{name} {time_of(node):%Y-%m-%d %H:%M}".strip()
            found.append((label, []))
        found[-1][1].append(node)
    return found


def _by_entity(nodes: list[MemoryNode]) -> list[Bucket]:
    """Memories that share a name or a topic: each goes where most of the others are."""
    named = {node.key: _subjects(node) for node in nodes}
    counts = Counter(subject for subjects in named.values() for subject in subjects)

    def subject_of(node: MemoryNode) -> str:
        shared = [each for each in named[node.key] if counts[each] > 1]
        return min(shared, key=lambda each: (-counts[each], each), default="")

    return [(f"entity {name}" if name else "unrelated", each) for name, each in _split(nodes, subject_of)]


def _subjects(node: MemoryNode) -> set[str]:
    names = node.entities or entities_of(node.content)
    topics = [tag for tag in node.tags if tag.startswith("topic:")]
    return {each.casefold() for each in (*names, *topics)} - {node.memory_target.casefold(), node.author.casefold()}


def _by_cluster(
    nodes: list[MemoryNode], vectors: Mapping[str, np.ndarray], config: RefinerConfig, count: Count
) -> list[Bucket]:
    placed = [node for node in nodes if node.key in vectors]
    tokens = sum(count(node.content) for node in placed)
    number = max(1, -(-tokens // config.group_limit))
    numbers = clusters([vectors[node.key] for node in placed], number)
    by_key = {node.key: at for node, at in zip(placed, numbers, strict=True)}
    found = [(f"cluster {name}", each) for name, each in _split(placed, lambda node: by_key[node.key])]
    return [*found, *_by_entity([node for node in nodes if node.key not in vectors])]


def _split(nodes: list[MemoryNode], key: Callable[[MemoryNode], Hashable]) -> list[tuple[str, list[MemoryNode]]]:
    found: dict[Hashable, list[MemoryNode]] = {}
    for node in nodes:
        found.setdefault(key(node), []).append(node)
    return [(str(name), each) for name, each in found.items()]


def _packed(nodes: list[MemoryNode], limit: int, count: Count) -> list[list[MemoryNode]]:
    """Memories in their order, in parts of about equal size that fit the limit."""
    sizes = [count(node.content) for node in nodes]
    parts = -(-sum(sizes) // limit)
    wanted = sum(sizes) / parts if parts else 0
    packed: list[list[MemoryNode]] = []
    room = 0.0
    for node, size in zip(nodes, sizes, strict=True):
        used = limit - room
        if not packed or size > room or (packed[-1] and used + size / 2 > wanted and len(packed) < parts):
            packed.append([])
            room = limit
        packed[-1].append(node)
        room -= size
    return packed


def _place(node: MemoryNode) -> tuple[datetime, str]:
    return time_of(node), node.key
