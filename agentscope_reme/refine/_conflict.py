# -*- coding: utf-8 -*-
"""What becomes of a new memory beside those that are like it: added, known already, or in the place of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from ..record import MemoryNode
from ..text import detect_language
from ..vector_memory import raised
from ._comparison import Comparison, compare
from ._config import RefinerConfig
from ._frames import Frame
from ._importance import judge_importance, read_signals
from ._lexicon import Lexicon, default_lexicon
from ._refined import is_behind
from ._words import plain, words_of

__all__ = ["CURRENT", "TIMES", "Neighbour", "Resolution", "replacing", "resolve"]

Neighbour = tuple[MemoryNode, float | None]
"""A memory that is like the new one, and the cosine of their vectors, where there are any."""

CURRENT = "current"
"""The key of the metadata of a merged memory that holds what is true now."""
TIMES = "times"
"""The key of the metadata that holds how often a memory was said."""
LATEST = "said_latest"
"""The key of the metadata that holds when it was said again, in seconds: what was counted then is not counted twice."""


@dataclass(frozen=True)
class Resolution:
    """What is to be done.

    Args:
        action (`str`): ``add``: the new memory beside the others; ``known``: nothing new, the old one is said again;
            ``update``: the new text takes the place of a near copy; ``supersede``: the old one becomes inactive and
            linked; ``merge``: the same, and the new text says what changed.
        node (`MemoryNode`): what is to be stored, or, for ``known``, the old memory with what it gains.
        old (`MemoryNode | None`): the memory concerned.
        reason (`str`): why, for the audit.
    """

    action: Literal["add", "known", "update", "supersede", "merge"]
    node: MemoryNode
    old: MemoryNode | None = None
    reason: str = ""


def resolve(
    new: MemoryNode,
    neighbours: Iterable[Neighbour],
    config: RefinerConfig,
    lexicon: Lexicon | None = None,
) -> Resolution:
    """Decide what becomes of a new memory.

    Memories of the same owner count that are active, or are kept behind a condensed one: of these only what the new one
    contradicts. A near copy is updated where the new text says more, and else only
    said once more. What contradicts an old memory is treated by `RefinerConfig.conflict_policy`, unless the old one is
    the later one; where the old memory says more than what changed, it is merged under ``supersede`` too, so that
    nothing else is lost. What overrides is worth a little more than either.

    Args:
        new (`MemoryNode`): the new memory.
        neighbours (`Iterable[Neighbour]`): memories that are like it, the most like first.
        config (`RefinerConfig`): thresholds and the policy.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
    """
    lexicon = lexicon or default_lexicon()
    changed: tuple[MemoryNode, Comparison] | None = None
    for old, similarity in neighbours:
        if old.owner != new.owner or not (old.is_active or is_behind(old)):
            continue
        if old.key == new.key:
            if old.is_active:
                return _said_again(new, old, lexicon)
            continue
        comparison = compare(
            _says(old),
            _says(new),
            lexicon,
            similarity=similarity,
            dedup_threshold=config.dedup_threshold,
            about=[new.memory_target],
            times=(_said(old), _said(new)),
        )
        if comparison.relation == "same" and old.is_active:
            return _said_again(new, old, lexicon)
        if comparison.relation == "change" and changed is None:
            changed = (old, comparison)
    if changed is None or config.conflict_policy == "keep":
        return Resolution("add", new)
    return _changed(new, *changed, config, lexicon)


def _said_again(new: MemoryNode, old: MemoryNode, lexicon: Lexicon) -> Resolution:
    counted = new.message_time is not None and _said_latest(old) == new.message_time.timestamp()
    times = _times(old) + (0 if counted else _times(new))
    signals = read_signals(new.content, lexicon, times=times)
    gained: dict[str, Any] = {
        "importance": max(old.importance, new.importance, judge_importance(signals).importance),
        "tags": (*old.tags, *new.tags),
        "entities": (*old.entities, *new.entities),
        "source_ids": (*old.source_ids, *new.source_ids),
        "metadata": {**new.metadata, **old.metadata, TIMES: times},
    }
    if new.message_time is not None:
        gained["metadata"][LATEST] = new.message_time.timestamp()
    if old.key == new.key or words_of(new.content) <= words_of(_says(old)):
        return Resolution("known", replace(old, **gained), old, "said again")
    return Resolution("update", replace(new, **gained, time_created=old.time_created), old, "says the same and more")


def _changed(
    new: MemoryNode, old: MemoryNode, comparison: Comparison, config: RefinerConfig, lexicon: Lexicon
) -> Resolution:
    if new.message_time and old.message_time and new.message_time < old.message_time:
        return Resolution("known", old, old, "older than what is known")
    before, after = comparison.old, comparison.new
    if before is None or after is None:
        return Resolution("add", new)
    action: Literal["supersede", "merge"] = "merge" if _is_merged(comparison, config) else "supersede"
    node = _in_place_of(new, old, comparison, config, lexicon)
    return Resolution(action, node, old, f"{before.value} -> {after.value}")


def replacing(new: MemoryNode, old: MemoryNode, config: RefinerConfig, lexicon: Lexicon | None = None) -> MemoryNode:
    """What is stored in the place of an old memory, where somebody has decided that a new one makes it untrue.

    Args:
        new (`MemoryNode`), old (`MemoryNode`): the memories.
        config (`RefinerConfig`): the policy.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
    """
    lexicon = lexicon or default_lexicon()
    comparison = compare(_says(old), _says(new), lexicon, about=[new.memory_target], times=(_said(old), _said(new)))
    return _in_place_of(new, old, comparison, config, lexicon)


def _is_merged(comparison: Comparison, config: RefinerConfig) -> bool:
    return config.conflict_policy == "merge" or comparison.leftover


def _in_place_of(
    new: MemoryNode, old: MemoryNode, comparison: Comparison, config: RefinerConfig, lexicon: Lexicon
) -> MemoryNode:
    if not _is_merged(comparison, config):
        return replace(new, importance=raised(new, old))
    return replace(
        new,
        content=_merged(new, old, comparison, lexicon),
        importance=raised(new, old),
        tags=(*old.tags, *new.tags),
        entities=(*old.entities, *new.entities),
        source_ids=(*old.source_ids, old.memory_id, *new.source_ids),
        metadata={**new.metadata, CURRENT: _says(new)},
    )


def _merged(new: MemoryNode, old: MemoryNode, comparison: Comparison, lexicon: Lexicon) -> str:
    """What a merged memory says: the new value and the old one, or both statements."""
    before, after = comparison.old, comparison.new
    language = detect_language([new.content])
    day = (new.message_time or new.time_created).astimezone().date().isoformat()
    if before and after and before.kind == after.kind == "slot" and _is_all_of(after, new, comparison):
        values = {"subject": after.name, "before": before.value, "after": after.value, "day": day}
        return lexicon.book.text(language, "refine.merged_value", **values)
    return lexicon.book.text(
        language, "refine.merged", new=_says(new).rstrip("。. "), day=day, old=_says(old).rstrip("。. ")
    )


def _is_all_of(frame: Frame, node: MemoryNode, comparison: Comparison) -> bool:
    """Whether neither a new memory nor the old one says anything besides a frame."""
    if comparison.leftover:
        return False
    text = plain(_says(node))
    return not words_of(f"{text[: frame.start]} {text[frame.end :]}")


def _said(node: MemoryNode) -> datetime:
    return node.message_time or node.time_created


def _said_latest(node: MemoryNode) -> float | None:
    latest = node.metadata.get(LATEST)
    return latest if latest is not None else node.message_time.timestamp() if node.message_time else None


def _says(node: MemoryNode) -> str:
    """What is true now by a memory: of a merged one without what it says of before."""
    current = node.metadata.get(CURRENT)
    return current if isinstance(current, str) and current.strip() else node.content


def _times(node: MemoryNode) -> int:
    value = node.metadata.get(TIMES, 1)
    return value if isinstance(value, int) and value > 0 else 1
