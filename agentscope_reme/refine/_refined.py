# -*- coding: utf-8 -*-
"""A refined memory and its sources: how the one is made, and how each leads to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..record import MemoryNode
from ._entities import entities_of
from ._grouping import SESSION, session_of, time_of
from ._schema import TagSchema

__all__ = [
    "ARCHIVED",
    "CONSIDERED",
    "FORGOTTEN",
    "REFINED",
    "REFINED_INTO",
    "SUPERSEDED_BY",
    "Condensed",
    "archived",
    "is_behind",
    "is_refined",
    "refined_node",
    "restored_fields",
    "shown",
    "source_keys",
]

REFINED = "refined"
"""The key of the metadata of a refined memory that holds by what it was made: a model's name, or "extractive"."""
REFINED_INTO = "refined_into"
"""The key of the metadata of a source that holds the id of the refined memory."""
CONSIDERED = "considered"
"""The key of the metadata of a memory that a run has looked at and left as it is."""
FORGOTTEN = "forgotten"
"""The key of the metadata of a memory that was forgotten: why."""
ARCHIVED = "archived_at"
"""The key of the metadata of a memory that was archived: when, in seconds since the epoch."""
SUPERSEDED_BY = "superseded_by"
"""The key of the metadata of a memory that another has taken the place of: the id of that one."""

_SOURCES = "source_keys"
_GONE = {FORGOTTEN, SUPERSEDED_BY}
_ENTITIES = 24


@dataclass(frozen=True)
class Condensed:
    """What a group of memories was condensed to.

    Args:
        content (`str`): the text.
        keywords (`tuple[str, ...]`): telling words of the sources that are not in it.
        time (`datetime`): what "yesterday" in it counts from.
        by (`str`): the model's name, or "extractive".
        parts (`Mapping[str, Any]`): the model's answer in parts, as JSON values.
    """

    content: str
    keywords: tuple[str, ...]
    time: datetime
    by: str
    parts: Mapping[str, Any] = field(default_factory=dict)


def refined_node(
    condensed: Condensed,
    sources: Sequence[MemoryNode],
    *,
    now: datetime,
    schema: TagSchema,
    label: str = "",
    goal: str = "",
    ratio: float = 0.0,
) -> MemoryNode:
    """The refined memory of some sources of one owner.

    It is worth as much as the most important of them, has the tags and names of all, their category where they have one
    in common, and expires with the last of them where all do.

    Args:
        condensed (`Condensed`): the text.
        sources (`Sequence[MemoryNode]`): in the order of time.
        now (`datetime`): the present.
        schema (`TagSchema`): the dimensions of tags.
        label (`str`): what brought the sources together.
        goal (`str`): what it was condensed for.
        ratio (`float`): its tokens as a share of the sources'.
    """
    first = sources[0]
    categories = {node.category for node in sources}
    sessions = {session_of(node) for node in sources}
    names = [name for node in sources for name in (node.entities or entities_of(node.content))]
    tags = [tag for node in sources for tag in node.tags if ":" not in tag]
    ends = [node.expires_at for node in sources]
    metadata: dict[str, Any] = {
        REFINED: condensed.by,
        "started": min(map(time_of, sources)).timestamp(),
        "ended": max(map(time_of, sources)).timestamp(),
        "ratio": round(ratio, 4),
        "label": label,
        _SOURCES: [node.key for node in sources],
    }
    if len(sessions) == 1 and sessions != {""}:
        metadata[SESSION] = sessions.pop()
    if goal:
        metadata["goal"] = goal
    if condensed.parts:
        metadata["parts"] = dict(condensed.parts)
    node = MemoryNode(
        condensed.content,
        first.memory_type,
        first.memory_target,
        when_to_use=" ".join(condensed.keywords),
        category=categories.pop() if len(categories) == 1 else "",
        message_time=condensed.time,
        time_created=now,
        time_modified=now,
        author=condensed.by,
        importance=max(node.importance for node in sources),
        tags=tuple(tags),
        entities=tuple(dict.fromkeys(names))[:_ENTITIES],
        source_ids=tuple(node.memory_id for node in sources),
        expires_at=max(end for end in ends if end) if all(ends) else None,
        metadata=metadata,
    )
    merged = schema.merged(sources)
    return schema.tagged(node, merged) if merged else node


def archived(source: MemoryNode, refined_id: str, now: datetime) -> dict[str, Any]:
    """The fields of a source that change when it has been refined: it stays, linked, and is not found by itself."""
    return {
        "is_active": False,
        "metadata": {**source.metadata, REFINED_INTO: refined_id, ARCHIVED: now.timestamp()},
    }


def restored_fields(node: MemoryNode) -> dict[str, Any]:
    """The fields that undo `archived`."""
    gone = (REFINED_INTO, ARCHIVED, CONSIDERED)
    return {"is_active": True, "metadata": {name: each for name, each in node.metadata.items() if name not in gone}}


def is_refined(node: MemoryNode) -> bool:
    """Whether a memory was refined from others."""
    return bool(node.metadata.get(REFINED))


def is_behind(node: MemoryNode) -> bool:
    """Whether a memory is kept behind a condensed one, and was neither forgotten nor superseded there."""
    return not node.is_active and ARCHIVED in node.metadata and not _GONE & node.metadata.keys()


def source_keys(node: MemoryNode) -> list[str]:
    """The keys of the memories that one was refined from."""
    keys = node.metadata.get(_SOURCES)
    return [each for each in keys if isinstance(each, str)] if isinstance(keys, (list, tuple)) else []


def shown(node: MemoryNode) -> MemoryNode:
    """A refined memory as it is shown: without the words that it is only found by."""
    return replace(node, when_to_use="") if is_refined(node) else node
