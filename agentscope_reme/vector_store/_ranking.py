# -*- coding: utf-8 -*-
"""How memories are ranked: what an index knows of each, and an index made for a few candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..record import MemoryNode
from ..search import HybridIndex, QueryView, RowFacts, SourceRecipe
from ..text import WordTokenizer
from ._base import StoreHit

if TYPE_CHECKING:
    import numpy as np

__all__ = ["facts_of", "rank_candidates"]


def facts_of(node: MemoryNode) -> RowFacts:
    """What ranking knows of a memory besides its words and its vector.

    Memories that come from one stored conversation are neighbours in it, in the order of their times.
    """
    time = node.message_time
    return RowFacts(
        session=(node.owner, node.ref_memory_id) if node.ref_memory_id and time else None,
        position=time.timestamp() if time else 0.0,
        speaker=node.author,
        time=time.astimezone() if time else None,
        asks=node.content.rstrip().endswith(("?", "？")),
    )


def rank_candidates(
    nodes: Sequence[MemoryNode],
    query: QueryView,
    limit: int,
    vector: np.ndarray | None,
    recipe: SourceRecipe,
    min_score: float,
) -> list[StoreHit]:
    """Rank a few memories by words and meaning; vectors are taken from the memories.

    How rare a word is, is told from these memories alone.
    """
    tokenizer = WordTokenizer()
    index = HybridIndex(recipe, 0 if vector is None else len(vector))
    by_key = {node.key: node for node in nodes}
    for key, node in by_key.items():
        index.add(
            key,
            tokenizer.tokens(node.searched_text),
            vectors=node.vector if vector is not None else None,
            facts=facts_of(node),
        )
    found = index.search(query, limit, vector=vector, min_score=min_score)
    return [StoreHit(by_key[each.key], each.score, each.order, each.parts) for each in found]
