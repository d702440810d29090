# -*- coding: utf-8 -*-
"""Refined memories beside their sources, for a person to judge: `refine --review n`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..message import estimate_tokens
from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, Owner, owned_by
from ._fidelity import Fault, check_fidelity
from ._grounds import Grounds, sources_of
from ._levels import sources_of_hits
from ._lexicon import Lexicon, default_lexicon

__all__ = ["Review", "review"]

_MOST = 1_000


@dataclass(frozen=True)
class Review:
    """One refined memory beside what it was made from.

    Args:
        refined (`MemoryNode`): the refined memory.
        sources (`tuple[MemoryNode, ...]`): its sources that are kept, in the order of time.
        faults (`tuple[Fault, ...]`): claims of it that they do not bear out; none, unless a source is gone by now.
        ratio (`float`): its tokens as a share of theirs.
    """

    refined: MemoryNode
    sources: tuple[MemoryNode, ...]
    faults: tuple[Fault, ...]
    ratio: float

    def __str__(self) -> str:
        """Both, one under the other, and what is wrong."""
        lines = [f"== {self.refined.memory_id} ({self.refined.author}, {self.ratio:.0%}) {self.refined.owner}"]
        lines += [self.refined.content, "-- from"]
        lines += [str(source) for source in self.sources] or ["(the sources are gone)"]
        lines += [f"!! {fault}" for fault in self.faults]
        return "\n".join(lines)


async def review(
    bank: MemoryBank,
    number: int,
    owners: Sequence[Owner] | None = None,
    *,
    seed: int = 0,
    lexicon: Lexicon | None = None,
) -> list[Review]:
    """A sample of refined memories beside their sources.

    Args:
        bank (`MemoryBank`): the memories.
        number (`int`): how many.
        owners (`Sequence[Owner] | None`): whose; None for everybody's.
        seed (`int`): another seed, another sample.
        lexicon (`Lexicon | None`): the words of negation; those of the package by default.
    """
    conditions = [
        *owned_by(owners),
        Condition("is_active", "equal", (True,)),
        Condition("metadata.ended", "range", (0.0, None)),
    ]
    found = await bank.store.find(conditions, limit=_MOST, sort_key="time_created", reverse=True)
    found.sort(key=lambda node: node.key)
    picked = random.Random(seed).sample(found, min(number, len(found)))
    return [await _reviewed(bank, node, lexicon or default_lexicon()) for node in picked]


async def _reviewed(bank: MemoryBank, node: MemoryNode, lexicon: Lexicon) -> Review:
    sources = (await sources_of_hits(bank, [node], limit=_MOST)).get(node.key, [])
    grounds = Grounds(sources_of(sources), lexicon, known=[node.memory_target])
    faults = check_fidelity(node.content, grounds, node.message_time) if sources else []
    total = sum(estimate_tokens(source.content) for source in sources)
    return Review(node, tuple(sources), tuple(faults), estimate_tokens(node.content) / total if total else 0.0)
