# -*- coding: utf-8 -*-
"""From condensed memories down to their sources, and which of both are shown."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..record import Condition, MemoryNode, matches
from ..search import HybridIndex, QueryView, SourceRecipe
from ..text import WordTokenizer
from ..vector_memory import MemoryBank, RetrievedMemory
from ..vector_store import StoreHit, facts_of
from ._refined import FORGOTTEN, SUPERSEDED_BY, shown, source_keys

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Ranker", "as_retrieved", "chosen", "sources_of_hits"]

_REMEMBERED = 5_000


async def sources_of_hits(
    bank: MemoryBank,
    refined: Sequence[MemoryNode],
    *,
    limit: int,
    conditions: Sequence[Condition] = (),
    with_vectors: bool = False,
) -> dict[str, list[MemoryNode]]:
    """The sources of refined memories, by the refined memory's key, in the order of time.

    What was forgotten, superseded or has expired is left out, and so is what does not meet the conditions. Whole
    groups are taken, the first ones first, until there are about so many.

    Args:
        bank (`MemoryBank`): the memories.
        refined (`Sequence[MemoryNode]`): refined memories, the most relevant first.
        limit (`int`): about how many sources at most; those of the first one in any case.
        conditions (`Sequence[Condition]`): what sources must meet.
        with_vectors (`bool`): read their vectors too.
    """
    wanted: dict[str, list[str]] = {}
    number = 0
    for node in refined:
        keys = source_keys(node)
        if wanted and number + len(keys) > limit:
            break
        wanted[node.key] = keys
        number += len(keys)
    there = await bank.store.get([key for keys in wanted.values() for key in keys], with_vectors=with_vectors)
    now = bank.clock()
    return {
        parent: [
            there[key]
            for key in keys
            if key in there and _is_source(there[key], now) and matches(there[key], conditions)
        ]
        for parent, keys in wanted.items()
    }


class Ranker:
    """Ranks a few hundred memories for a query; what their words are is remembered from one request to the next.

    Args:
        tokenizer (`WordTokenizer`): cuts words.
    """

    def __init__(self, tokenizer: WordTokenizer) -> None:
        self._tokenizer = tokenizer
        self._cut: OrderedDict[tuple[str, str], list[str]] = OrderedDict()

    async def ranked(
        self, pool: Sequence[MemoryNode], query: QueryView, vector: np.ndarray | None, recipe: SourceRecipe
    ) -> list[StoreHit]:
        """Memories by how relevant what they show is; those that have nothing to do with the query are left out.

        Args:
            pool (`Sequence[MemoryNode]`): the memories, with their vectors where there are any.
            query (`QueryView`): the query.
            vector (`np.ndarray | None`): its vector.
            recipe (`SourceRecipe`): what weighs how much.
        """
        return await asyncio.to_thread(self._ranked, pool, query, vector, recipe)

    def _ranked(
        self, pool: Sequence[MemoryNode], query: QueryView, vector: np.ndarray | None, recipe: SourceRecipe
    ) -> list[StoreHit]:
        nodes = {node.key: node for node in pool}
        vectored = vector is not None and any(node.vector is not None for node in nodes.values())
        index = HybridIndex(recipe, len(vector) if vector is not None and vectored else 0)
        for key, node in nodes.items():
            index.add(key, self._tokens(node), vectors=node.vector if vectored else None, facts=facts_of(node))
        found = index.search(query, len(nodes), vector=vector if vectored else None)
        return [StoreHit(replace(nodes[each.key], vector=None), each.score, each.order, each.parts) for each in found]

    def _tokens(self, node: MemoryNode) -> list[str]:
        known = self._cut.get((node.key, node.when_to_use))
        if known is None:
            known = self._cut[node.key, node.when_to_use] = self._tokenizer.tokens(node.searched_text)
            while len(self._cut) > _REMEMBERED:
                self._cut.popitem(last=False)
        return known


def chosen(hits: Sequence[StoreHit], sources: Mapping[str, Sequence[MemoryNode]], *, specific: bool) -> list[StoreHit]:
    """What is shown of condensed memories and their sources.

    For a request for particulars the sources stand for a condensed memory. Else it is shown where it fits the request
    better than anything else, and its words are not repeated; its sources stand for it where one of them fits better.

    Args:
        hits (`Sequence[StoreHit]`): both, ranked together, best first.
        sources (`Mapping[str, Sequence[MemoryNode]]`): by a condensed memory's key.
        specific (`bool`): whether the request asks for particulars.
    """
    places = {hit.node.key: at for at, hit in enumerate(hits)}
    kept: list[StoreHit] = []
    told: list[str] = []
    for at, hit in enumerate(hits):
        mine = sources.get(hit.node.key)
        if mine:
            best = min((places[node.key] for node in mine if node.key in places), default=len(hits))
            if specific or best < at or at:
                continue
            told.append(hit.node.content)
        elif any(hit.node.content in text for text in told):
            continue
        kept.append(hit)
    return kept


def as_retrieved(hit: StoreHit, best: float) -> RetrievedMemory:
    """A hit of the second level as one of a retriever."""
    node = replace(shown(hit.node), score=hit.score, vector=None)
    share = max(0.0, hit.order / best) if best > 0 else 0.0
    return RetrievedMemory(node, hit.score, share, share, node.importance, 1.0, hit.parts)


def _is_source(node: MemoryNode, now: datetime) -> bool:
    over = node.expires_at is not None and node.expires_at <= now
    return not (node.metadata.get(FORGOTTEN) or node.metadata.get(SUPERSEDED_BY) or over)
