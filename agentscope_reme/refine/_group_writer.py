# -*- coding: utf-8 -*-
"""What came of a group, written at once: the refined memory, its sources behind it, what it takes the place of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..record import MemoryNode
from ..vector_memory import MemoryBank
from ._condenser import EXTRACTIVE, missing_in
from ._config import RefinerConfig
from ._lexicon import Lexicon
from ._refined import CONSIDERED, SUPERSEDED_BY, Condensed, archived, refined_node
from ._run_report import RunReport
from ._schema import TagSchema

__all__ = ["ACTOR", "GroupWriter"]

ACTOR = "refiner"
"""Who stands on record for what rules decide."""

_GAIN = 0.8
"""A refined memory takes at most this share of its sources' tokens, or they stay as they are."""
_PAGE = 500


class GroupWriter:
    """Writes what came of groups.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig`): what protects.
        schema (`TagSchema`): the dimensions of tags.
        lexicon (`Lexicon`): the words that tell what must be kept.
        count (`Callable[[str], int]`): counts tokens.
    """

    def __init__(
        self,
        bank: MemoryBank,
        config: RefinerConfig,
        schema: TagSchema,
        lexicon: Lexicon,
        count: Callable[[str], int],
    ) -> None:
        self._bank, self._config, self._schema = bank, config, schema
        self._lexicon, self._count = lexicon, count

    async def put(
        self,
        condensed: Condensed | None,
        sources: Sequence[MemoryNode],
        nodes: Sequence[MemoryNode],
        touched: Sequence[MemoryNode],
        label: str,
        goal: str,
        report: RunReport,
    ) -> None:
        """Write a refined memory and archive its sources, at once; or leave them, where nothing is gained.

        Args:
            condensed (`Condensed | None`): the text; None where there is nothing to say.
            sources (`Sequence[MemoryNode]`): all it was made from, in the order of time.
            nodes (`Sequence[MemoryNode]`): those among them that are active.
            touched (`Sequence[MemoryNode]`): refined memories that it takes the place of.
            label (`str`): what brought the sources together.
            goal (`str`): what it was condensed for.
            report (`RunReport`): is told what was done.
        """
        before = sum(self._count(node.content) for node in sources)
        after = self._size(condensed) if condensed else before
        if condensed is None or after > _GAIN * before or missing_in(condensed, sources, self._config, self._lexicon):
            await self.leave({node.key for node in nodes}, report)
            return
        now = self._bank.clock()
        condensed = _distinct(condensed, {node.key for node in sources}, sources[0])
        ratio = after / before if before else 0.0
        node = refined_node(condensed, sources, now=now, schema=self._schema, label=label, goal=goal, ratio=ratio)
        changes: dict[str, Mapping[str, Any]] = {each.key: archived(each, node.memory_id, now) for each in sources}
        for old in touched:
            changes[old.key] = _superseded(old, node)
        done = await self._bank.exchange(
            [node],
            changes,
            as_of={each.key: each.time_modified for each in (*sources, *touched)},
            action="refined",
            actor=ACTOR if condensed.by == EXTRACTIVE else condensed.by,
            cause=label,
            details={"into": node.memory_id, "ratio": round(ratio, 4), "goal": goal},
        )
        if done is None:
            report.skipped += 1
            return
        report.refined += 1
        report.sources += len(nodes)
        report.tokens_before += before
        report.tokens_after += after

    def _size(self, condensed: Condensed) -> int:
        words = " ".join(condensed.keywords)
        return self._count(condensed.content) + (self._count(words) if words else 0)

    async def leave(self, keys: set[str], report: RunReport) -> None:
        """Note that memories were looked at, so that they alone do not make a later run."""
        ordered = sorted(keys)
        for at in range(0, len(ordered), _PAGE):
            nodes = await self._bank.store.get(ordered[at : at + _PAGE])
            fresh = {
                key: {"metadata": {**node.metadata, CONSIDERED: True}}
                for key, node in nodes.items()
                if node.is_active and not node.metadata.get(CONSIDERED)
            }
            report.left += len(nodes)
            if fresh:
                await self._bank.patch(fresh, action="considered", actor=ACTOR)


def _distinct(condensed: Condensed, keys: set[str], like: MemoryNode) -> Condensed:
    """With the day above it, where the text is word for word one of its sources: two memories cannot say the same."""
    if replace(like, content=condensed.content).key not in keys:
        return condensed
    return replace(condensed, content=f"{condensed.time.astimezone():%Y-%m-%d}\n{condensed.content}")


def _superseded(old: MemoryNode, new: MemoryNode) -> dict[str, Any]:
    """The fields of a refined memory that is made anew; where it says the same, it takes over what is new in it."""
    if old.key != new.key:
        return {"is_active": False, "metadata": {**old.metadata, SUPERSEDED_BY: new.memory_id}}
    names = ("importance", "tags", "entities", "source_ids", "expires_at", "metadata")
    return {name: getattr(new, name) for name in names}
