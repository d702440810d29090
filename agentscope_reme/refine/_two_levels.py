# -*- coding: utf-8 -*-
"""A search on two levels: condensed memories, then their sources beside what is not condensed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..record import Condition, MemoryNode, parse_filters
from ..search import QueryView, SourceRecipe
from ..text import WordTokenizer
from ..vector_memory import MemoryBank, MemoryRetriever, Owner, RetrievedMemory, owned_by
from ._levels import Ranker, as_retrieved, chosen, sources_of_hits
from ._recall_plan import WEAK, RecallPlan, WeightedQuery, chained_queries
from ._refined import is_refined, shown

__all__ = ["TwoLevelSearch", "Wanted", "merged", "with_others"]

_REFINED = 24
"""Condensed memories whose sources are looked through."""

_CONDENSED = (Condition("metadata.ended", "range", (0.0, None)),)
"""What every condensed memory meets, and no other."""
_BY_WORDS = (0.2, 0.8)
"""What meaning and words count for condensed memories: their telling words say more than the vector of these words."""
_ACTIVE = Condition("is_active", "equal", (True,))


@dataclass(frozen=True)
class Wanted:
    """Whose memories are wanted, and how many.

    Args:
        owners (`tuple[Owner, ...] | None`): whose; None for everybody's.
        given (`tuple[Condition, ...]`): what they must meet.
        limit (`int`): how many at most.
    """

    owners: tuple[Owner, ...] | None
    given: tuple[Condition, ...]
    limit: int

    @property
    def conditions(self) -> list[Condition]:
        """All that they must meet."""
        return [*owned_by(self.owners), *self.given, _ACTIVE]


class TwoLevelSearch:
    """Searches a bank that is refined.

    Args:
        bank (`MemoryBank`): the memories.
        retriever (`MemoryRetriever`): searches the first level; its weights count on both.
        candidates (`int`): about how many sources are looked through.
    """

    def __init__(self, bank: MemoryBank, retriever: MemoryRetriever, candidates: int) -> None:
        self._bank, self._retriever, self._candidates = bank, retriever, candidates
        self._condensed = MemoryRetriever(bank, hybrid_weights=_BY_WORDS, recipe=retriever.recipe)
        self._tokenizer = WordTokenizer()
        self.ranker = Ranker(self._tokenizer)

    async def find(self, plan: RecallPlan, wanted: Wanted) -> tuple[list[RetrievedMemory], list[str]]:
        """The first level: active memories, condensed or not, and the queries that found them.

        Filters that the request suggests give way where they leave nothing. Where the best hit is weak, what the hits
        name is looked for too.
        """
        found = await self._first(plan, wanted)
        asked = [text for text, _ in plan.queries]
        best = max((each.score for each in found), default=0.0)
        if more := chained_queries(plan, [each.node for each in found], best):
            found = merged([found, await self._searched(more, wanted, wanted.given, wanted.limit)])
            asked += [text for text, _ in more]
        return found, asked

    async def said_then(self, plan: RecallPlan, wanted: Wanted) -> list[MemoryNode]:
        """What was said in the time that the request names, in the order of time; nothing where it names none."""
        if plan.span is None:
            return []
        start, end = (each.timestamp() for each in plan.span)
        own = [Condition("metadata.ended", "equal", (None,)), Condition("message_time", "range", (start, end))]
        over = [
            Condition("metadata.started", "range", (None, end)),
            Condition("metadata.ended", "range", (start, None)),
        ]
        find = self._bank.store.find
        return [
            *await find([*wanted.conditions, *own], limit=wanted.limit, sort_key="message_time", reverse=False),
            *await find([*wanted.conditions, *over], limit=_REFINED, sort_key="message_time", reverse=False),
        ]

    async def descend(
        self,
        plan: RecallPlan,
        wanted: Wanted,
        first: Sequence[RetrievedMemory],
        dated: Sequence[MemoryNode],
        *,
        always: bool,
    ) -> list[RetrievedMemory]:
        """The second level: the sources of what was found, ranked together with what is not condensed.

        Args:
            plan (`RecallPlan`): the plan; its first query ranks.
            wanted (`Wanted`): what is wanted.
            first (`Sequence[RetrievedMemory]`): the first level.
            dated (`Sequence[MemoryNode]`): what was said in the time that the request names.
            always (`bool`): sources stand for condensed memories whatever the request asks for.
        """
        nodes = {node.key: node for node in (*dated, *(each.node for each in first))}
        latest = await self._latest(wanted)
        condensed = {node.key: node for node in (*nodes.values(), *latest) if is_refined(node)}
        if not condensed:
            return with_others([], first, dated, {}, plan)
        vectored = self._bank.store.space is not None
        sources = await sources_of_hits(
            self._bank,
            list(condensed.values()),
            limit=self._candidates,
            conditions=wanted.given,
            with_vectors=vectored,
        )
        plain = {key: node for key, node in nodes.items() if not is_refined(node)}
        if vectored and plain:
            plain = await self._bank.store.get(list(plain), with_vectors=True)
        tops = [replace(shown(condensed[key]), ref_memory_id="") for key in sources]
        pool = [*(node for mine in sources.values() for node in mine), *plain.values(), *tops]
        speakers = {node.author for node in pool if node.author and node.ref_memory_id}
        view, vector = await self.view(plan.queries[0][0], speakers)
        hits = await self.ranker.ranked(pool, view, vector, await self.recipe(vectored=vector is not None))
        hits = chosen(hits, sources, specific=plan.specific or always)
        best = hits[0].order if hits else 0.0
        return with_others([as_retrieved(hit, best) for hit in hits], first, dated, sources, plan)

    async def view(self, query: str, speakers: Collection[str] = ()) -> tuple[QueryView, Any]:
        """A query as ranking sees it, and its vector where there are any, without the names of those who speak."""
        now = self._bank.clock().astimezone(self._bank.timezone)
        view = QueryView.of(query, self._tokenizer, now)
        if self._bank.store.space is None or not view.tokens:
            return view, None
        (vector,) = await self._bank.vectors.of_queries([view.without(speakers)])
        return view, vector

    async def recipe(self, *, vectored: bool) -> SourceRecipe:
        """How the second level weighs the signs of relevance: as the first one does."""
        meaning, words = self._retriever.hybrid_weights
        recipe = replace(self._retriever.recipe, vector_weight=meaning / (meaning + words))
        scale = await self._bank.vectors.scale() if vectored else None
        return recipe.with_cosine(scale) if scale else recipe

    # ------------------------------------------------------------------ inside

    async def _first(self, plan: RecallPlan, wanted: Wanted) -> list[RetrievedMemory]:
        conditions = (*wanted.given, *_CONDENSED)
        condensed: list[RetrievedMemory] = []
        if await self._is_refined():
            condensed = await self._searched(plan.queries, wanted, conditions, _REFINED, self._condensed)
        for suggested in plan.filters:
            hints = parse_filters(suggested, self._bank.timezone)
            plain = await self._searched(plan.queries, wanted, (*wanted.given, *hints), wanted.limit)
            if plain or not hints:
                return merged([plain, condensed])
        return condensed

    async def _searched(
        self,
        queries: Sequence[WeightedQuery],
        wanted: Wanted,
        conditions: Sequence[Condition],
        limit: int,
        retriever: MemoryRetriever | None = None,
    ) -> list[RetrievedMemory]:
        """What queries of the same weight find together, merged."""
        results = []
        for weight in dict.fromkeys(weight for _, weight in queries):
            texts = [text for text, each in queries if each == weight]
            found = await (retriever or self._retriever).search(
                texts, wanted.owners, limit=limit, filters=list(conditions), similarity="max"
            )
            results.append([replace(each, score=weight * each.score, place=weight * each.place) for each in found])
        return merged(results)

    async def _is_refined(self) -> bool:
        """Whether anything is condensed, of anybody: else there is one level, and no more to be paid."""
        return await self._bank.store.count(_CONDENSED) > 0

    async def _latest(self, wanted: Wanted) -> list[MemoryNode]:
        """The newest condensed memories: where there are few, all their sources are looked through."""
        if not await self._is_refined():
            return []
        conditions = [*wanted.conditions, *_CONDENSED]
        return await self._bank.store.find(conditions, limit=_REFINED, sort_key="metadata.ended", reverse=True)


def merged(results: Sequence[Sequence[RetrievedMemory]]) -> list[RetrievedMemory]:
    """Several results as one: each memory once, in its best place."""
    best: dict[str, RetrievedMemory] = {}
    for each in (each for result in results for each in result):
        known = best.get(each.node.key)
        if known is None or (each.place, each.score) > (known.place, known.score):
            best[each.node.key] = each
    return sorted(best.values(), key=lambda each: (-each.place, -each.score, each.node.key))


def with_others(
    found: Sequence[RetrievedMemory],
    first: Sequence[RetrievedMemory],
    dated: Sequence[MemoryNode],
    sources: Mapping[str, Sequence[MemoryNode]],
    plan: RecallPlan,
) -> list[RetrievedMemory]:
    """What was ranked, with what only another query or the time has found, and condensed memories without sources.

    Where the request names a time, what was said then comes first: what is relevant in its order, the rest in that of
    time.
    """
    then = [node for node in dated if not is_refined(node)]
    then += [node for each in dated for node in sources.get(each.key, ())]
    told = [
        RetrievedMemory(replace(node, vector=None, score=WEAK), WEAK, 0.0, 0.0, node.importance, 1.0) for node in then
    ]
    rest = [each for each in first if not sources.get(each.node.key)]
    if plan.span is not None:
        start, end = plan.span
        inside = [each for each in found if each.node.message_time and start <= each.node.message_time <= end]
        inside += [each for each in told if each.node.message_time and start <= each.node.message_time <= end]
        found = [*inside, *found]
    kept: dict[str, RetrievedMemory] = {}
    for each in (*found, *rest):
        kept.setdefault(each.node.key, replace(each, node=shown(each.node)))
    return list(kept.values())
