# -*- coding: utf-8 -*-
"""How memories are ranked: what an index knows of each, and an index made for a few candidates."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..record import MemoryNode
from ..search import HybridIndex, QueryView, RowFacts, SourceRecipe, as_speaker
from ..text import WordTokenizer
from ._base import StoreHit

if TYPE_CHECKING:
    import numpy as np

__all__ = ["asks", "facts_by", "facts_of", "rank_candidates"]


def facts_of(node: MemoryNode) -> RowFacts:
    """What ranking knows of a memory besides its words and its vector.

    Memories that come from one stored conversation are neighbours in it, in the order of their times, and their
    authors speak in it.
    """
    seconds = node.message_time.timestamp() if node.message_time else None
    return facts_by(node.owner, node.ref_memory_id, seconds, node.author, asks(node.content))


def asks(content: str) -> bool:
    """Whether it asks something."""
    return content.rstrip().endswith(("?", "？"))


def facts_by(owner: str, conversation: str, seconds: float | None, author: str, asking: bool) -> RowFacts:
    """`facts_of` from single fields: the owner, `ref_memory_id`, the time since the epoch, the author, and `asks`."""
    told = bool(conversation) and seconds is not None
    time = None
    if seconds is not None:
        with suppress(ValueError, OverflowError, OSError):  # at either end of the calendar
            time = datetime.fromtimestamp(seconds).astimezone()
    return RowFacts(
        session=(owner, conversation) if told else None,
        position=seconds or 0.0,
        speaker=as_speaker(author) if told else "",
        time=time,
        asks=asking and told,
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
    return [StoreHit(replace(by_key[each.key], vector=None), each.score, each.order, each.parts) for each in found]
