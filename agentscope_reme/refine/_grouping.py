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

__all__ = ["Group", "Member", "group_memories", "member_of", "session_of", "speaker_of", "time_of"]

SESSION = "session_id"
"""The key of the metadata that holds the session or task of a memory, where `ref_memory_id` is not to be it."""
SPEAKER = "speaker"
"""The key of the metadata that holds who said it, where `author` is not to be it."""

Bucket = tuple[str, "list[Member]"]
Count = Callable[[str], int]


@dataclass(frozen=True)
class Member:
    """What grouping knows of a memory: little, so that a hundred thousand can be grouped at once.

    Args:
        key (`str`): `MemoryNode.key`.
        owner (`str`): whose it is.
        time (`datetime`): when it was said.
        session (`str`): the session or task that it comes from; "" where it is not known.
        subjects (`tuple[str, ...]`): what it names, in lower case.
        tokens (`int`): how long it is.
        size (`int`): what it takes of a group: its tokens, or what a request about it takes.
        modified (`datetime`): when the memory was last changed.
    """

    key: str
    owner: str
    time: datetime
    session: str
    subjects: tuple[str, ...]
    tokens: int
    size: int
    modified: datetime


@dataclass(frozen=True)
class Group:
    """Memories of one owner that are condensed together.

    Args:
        members (`tuple[Member, ...]`): the memories, in the order of their times.
        label (`str`): what brought them together: "session s1", "entity Rex", "cluster 3".
    """

    members: tuple[Member, ...]
    label: str

    @property
    def owner(self) -> str:
        """Whose they are."""
        return self.members[0].owner

    @property
    def keys(self) -> list[str]:
        """The keys of the memories, in the order of their times."""
        return [member.key for member in self.members]

    @property
    def tokens(self) -> int:
        """How long they are together."""
        return sum(member.tokens for member in self.members)

    @property
    def size(self) -> int:
        """What they take together."""
        return sum(member.size for member in self.members)

    @cached_property
    def id(self) -> str:
        """The same for the same memories in the same state: 16 hex digits."""
        text = "\n".join(f"{member.key} {member.modified.isoformat()}" for member in self.members)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def member_of(
    node: MemoryNode, count: Count = estimate_tokens, size: Callable[[MemoryNode], int] | None = None
) -> Member:
    """What grouping knows of a memory.

    Args:
        node (`MemoryNode`): the memory.
        count (`Callable[[str], int]`): counts tokens.
        size (`Callable[[MemoryNode], int] | None`): what a memory takes of a group; its tokens by default.
    """
    names = node.entities or entities_of(node.content)
    topics = [tag for tag in node.tags if tag.startswith("topic:")]
    own = {node.memory_target.casefold(), node.author.casefold()}
    subjects = tuple(dict.fromkeys(each.casefold() for each in (*names, *topics) if each.casefold() not in own))
    tokens = count(node.content)
    taken = size(node) if size else tokens
    return Member(node.key, node.owner, time_of(node), session_of(node), subjects, tokens, taken, node.time_modified)


def session_of(node: MemoryNode) -> str:
    """The session or task that a memory comes from; "" where it is not known."""
    session = node.metadata.get(SESSION)
    return session if isinstance(session, str) and session else node.ref_memory_id


def time_of(node: MemoryNode) -> datetime:
    """When it was said, else when the memory was made."""
    return node.message_time or node.time_created


def speaker_of(node: MemoryNode) -> str:
    """Who said it, where that is known: in a conversation its author."""
    speaker = node.metadata.get(SPEAKER)
    return speaker if isinstance(speaker, str) and speaker else node.author if node.ref_memory_id else ""


def group_memories(
    members: Iterable[Member | MemoryNode],
    config: RefinerConfig,
    *,
    vectors: Mapping[str, np.ndarray] | None = None,
    count: Count = estimate_tokens,
) -> list[Group]:
    """Group memories by `RefinerConfig.group_by`.

    ``two_level``: the memories of a session, each less than `window_minutes` after the one before it: the window
    slides, so that only a longer pause parts what was said in one go. Those that stay alone are gathered by what they
    name. ``session``: all of a session. ``time``: sliding windows of time whatever the session.
    ``entity``: by the name or topic that most memories share with them. ``cluster``: by k-means over their vectors,
    those without a vector by entity. Groups above `RefinerConfig.group_limit` are split in the order of time; only
    a memory that alone is larger stands in a larger one, alone.

    Args:
        members (`Iterable[Member | MemoryNode]`): memories of any owners, who are never mixed; the order does not
            matter.
        config (`RefinerConfig`): how.
        vectors (`Mapping[str, np.ndarray] | None`): by `MemoryNode.key`, for ``cluster``.
        count (`Callable[[str], int]`): counts tokens.

    Returns:
        `list[Group]`: ordered by owner and time; each memory is in exactly one.
    """
    read = (each if isinstance(each, Member) else member_of(each, count) for each in members)
    by_owner: dict[str, list[Member]] = {}
    for member in sorted({each.key: each for each in read}.values(), key=_place):
        by_owner.setdefault(member.owner, []).append(member)
    groups = [
        Group(tuple(part), label)
        for mine in by_owner.values()
        for label, bucket in _buckets(mine, config, vectors or {})
        for part in _packed(bucket, config.group_limit)
    ]
    return sorted(groups, key=lambda group: (group.owner, _place(group.members[0])))


def _buckets(members: list[Member], config: RefinerConfig, vectors: Mapping[str, np.ndarray]) -> list[Bucket]:
    window = timedelta(minutes=min(config.window_minutes, 60_000_000))
    if config.group_by == "time":
        return _windows("", members, window)
    if config.group_by == "entity":
        return _by_entity(members)
    if config.group_by == "cluster":
        return _by_cluster(members, vectors, config)
    sessions = [("session " + name, each) for name, each in _split(members, lambda member: member.session) if name]
    loose = [member for member in members if not member.session]
    if config.group_by == "session":
        return [*sessions, *_by_entity(loose)]
    buckets = [window_of for name, each in sessions for window_of in _windows(name, each, window)]
    buckets += _windows("", loose, window)
    alone = [bucket[0] for _, bucket in buckets if len(bucket) == 1]
    return [*(each for each in buckets if len(each[1]) > 1), *_by_entity(sorted(alone, key=_place))]


def _windows(name: str, members: list[Member], window: timedelta) -> list[Bucket]:
    """Memories that a window of time joins, which slides on from each to the next."""
    found: list[Bucket] = []
    for member in members:
        if not found or member.time - found[-1][1][-1].time >= window:
            found.append((f"{name} {member.time:%Y-%m-%d %H:%M}".strip(), []))
        found[-1][1].append(member)
    return found


def _by_entity(members: list[Member]) -> list[Bucket]:
    """Memories that share a name or a topic: each goes where most of the others are."""
    counts = Counter(subject for member in members for subject in member.subjects)

    def subject_of(member: Member) -> str:
        shared = [each for each in member.subjects if counts[each] > 1]
        return min(shared, key=lambda each: (-counts[each], each), default="")

    return [(f"entity {name}" if name else "unrelated", each) for name, each in _split(members, subject_of)]


def _by_cluster(members: list[Member], vectors: Mapping[str, np.ndarray], config: RefinerConfig) -> list[Bucket]:
    placed = [member for member in members if member.key in vectors]
    number = max(1, -(-sum(member.size for member in placed) // config.group_limit))
    numbers = clusters([vectors[member.key] for member in placed], number)
    by_key = {member.key: at for member, at in zip(placed, numbers, strict=True)}
    found = [(f"cluster {name}", each) for name, each in _split(placed, lambda member: by_key[member.key])]
    return [*found, *_by_entity([member for member in members if member.key not in vectors])]


def _split(members: list[Member], key: Callable[[Member], Hashable]) -> list[tuple[str, list[Member]]]:
    found: dict[Hashable, list[Member]] = {}
    for member in members:
        found.setdefault(key(member), []).append(member)
    return [(str(name), each) for name, each in found.items()]


def _packed(members: list[Member], limit: int) -> list[list[Member]]:
    """Memories in their order, in parts of about equal size that fit the limit."""
    total = sum(member.size for member in members)
    parts = -(-total // limit)
    wanted = total / parts if parts else 0.0
    packed: list[list[Member]] = []
    used = 0
    for member in members:
        full = used + member.size > limit or (len(packed) < parts and used + member.size / 2 > wanted)
        if not packed or (used and full):
            packed.append([])
            used = 0
        packed[-1].append(member)
        used += member.size
    return packed


def _place(member: Member) -> tuple[datetime, str]:
    return member.time, member.key
