# -*- coding: utf-8 -*-
"""Two-level recall: condensed memories first, then back to their sources, in one call and without a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from .._errors import ConfigError
from ..message import estimate_tokens
from ..record import MemoryNode, parse_filters
from ..vector_memory import Filters, MemoryBank, MemoryRetriever, Owner, RetrievedMemory
from ._levels import sources_of_hits
from ._lexicon import Lexicon, default_lexicon
from ._optional_steps import OptionalSteps, order_of, several, texts_in
from ._recall import Knowledge, Recall, asked_of_knowledge, within
from ._recall_cache import RecallCache, Same
from ._recall_models import Rerank, WriteQueries
from ._recall_plan import WEAK, plan_recall, with_queries
from ._refined import is_refined
from ._schema import TagSchema
from ._two_levels import TwoLevelSearch, Wanted, with_others

__all__ = ["Expand", "RefinedRetriever"]

Expand = Literal["auto"] | bool
"""Whether sources are looked through: as the request asks for it, always, or never."""

_RERANKED = 30


class RefinedRetriever:
    """Recalls memories of a bank that is refined.

    Condensed memories are found by their own text and by telling words and names of their sources; then their sources
    are ranked for the request, with the memories that are not condensed. Who asks for particulars is shown sources.

    Args:
        bank (`MemoryBank`): the memories.
        retriever (`MemoryRetriever | None`): searches the first level; its settings count on both.
        schema (`TagSchema | None`): whose values are looked for in requests.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        candidates (`int`): about how many sources are looked through for one request.
        cache_seconds (`float`): how long a result is kept for the same request and settings; 0: not at all. Any write
            ends that; one of another process too with the local store, and with others after so many seconds.
        rerank (`Callable | None`): puts the best hits in another order, such as `reranker` makes; off by default.
        write_queries (`Callable | None`): writes more queries, such as `query_writer` makes; off by default.
        knowledge (`Sequence[KnowledgeBase]`): asked where private memory is weak.
        patience (`float`): seconds that the last three may take together in one recall. It goes on without what is not
            there by then, or fails; that is told as `EventKind.RECALL_FAILED`.
        count (`Callable[[str], int]`): counts tokens.

    Raises:
        `ConfigError`: a number that cannot work.
    """

    def __init__(
        self,
        bank: MemoryBank,
        retriever: MemoryRetriever | None = None,
        *,
        schema: TagSchema | None = None,
        lexicon: Lexicon | None = None,
        candidates: int = 300,
        cache_seconds: float = 30.0,
        rerank: Rerank | None = None,
        write_queries: WriteQueries | None = None,
        knowledge: Sequence[Knowledge] = (),
        patience: float = 8.0,
        count: Callable[[str], int] = estimate_tokens,
    ) -> None:
        if candidates < 1 or cache_seconds < 0 or patience <= 0:
            raise ConfigError(
                f"candidates {candidates!r} must be at least 1, cache_seconds {cache_seconds!r} at least 0, "
                f"patience {patience!r} above 0."
            )
        self.retriever = retriever or MemoryRetriever(bank)
        self.rerank, self.write_queries = rerank, write_queries
        self.knowledge, self.patience = list(knowledge), patience
        self._bank, self._schema = bank, schema
        self._lexicon = lexicon or default_lexicon()
        self._count = count
        self._search = TwoLevelSearch(bank, self.retriever, candidates)
        self._cache: RecallCache[Recall] = RecallCache(bank.events, cache_seconds)

    async def recall(
        self,
        request: str,
        owners: Sequence[Owner] | None,
        *,
        recent: Sequence[str] = (),
        limit: int = 20,
        filters: Filters = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        expand: Expand = "auto",
        record_access: bool = True,
    ) -> Recall:
        """Recall what has to do with a request.

        Args:
            request (`str`): what the user says or asks.
            owners (`Sequence[Owner] | None`): whose memories; None for everybody's.
            recent (`Sequence[str]`): what was said before, oldest first.
            limit (`int`): how many memories at most.
            filters (`Mapping[str, Any] | Sequence[Condition] | None`): what memories must meet; see
                `record.parse_filters`. A condensed memory is judged by itself, and each of its sources too.
            min_score (`float`): the least score, 0 to 1.
            max_tokens (`int | None`): the most tokens of the memories together.
            expand (`"auto" | bool`): whether sources are looked through.
            record_access (`bool`): note that they were found.

        Returns:
            `Recall`: empty for a blank request.
        """
        conditions = parse_filters(filters, self._bank.timezone)
        wanted = Wanted(None if owners is None else tuple(owners), conditions, limit)
        key = (request, wanted, tuple(recent), min_score, max_tokens, expand, await self._state())
        found = self._cache.get(key)
        if found is None:
            mark = self._cache.mark
            steps = OptionalSteps(self._bank.events, self.patience)
            found = await self._recalled(steps, request, wanted, list(recent), min_score, max_tokens, expand)
            if not steps.failed:  # else the next recall tries again
                self._cache.put(key, found, mark)
        if record_access:
            self._bank.found(found.nodes, actor="recaller", cause="recalled for a request")
        return found

    async def retrieve(
        self,
        queries: str | Sequence[str],
        owners: Sequence[Owner] | None,
        *,
        limit: int = 20,
        filters: Filters = None,
        min_score: float | None = None,
        expand: Expand = "auto",
        record_access: bool = True,
    ) -> list[MemoryNode]:
        """The memories alone, as `MemoryRetriever.retrieve` returns them.

        Of several queries the first is the request, and the others are what was said before it.
        ."""
        first, *others = [queries] if isinstance(queries, str) else list(queries) or [""]
        recalled = await self.recall(
            first,
            owners,
            recent=others,
            limit=limit,
            filters=filters,
            min_score=min_score or 0.0,
            expand=expand,
            record_access=record_access,
        )
        return recalled.nodes

    async def expand(self, node: MemoryNode, query: str = "", *, limit: int | None = None) -> list[MemoryNode]:
        """The sources of a refined memory; none of another one.

        Args:
            node (`MemoryNode`): a memory, as it was found.
            query (`str`): puts those that have to do with it first, and leaves out the others; else they stand in the
                order of time.
            limit (`int | None`): how many at most.
        """
        there = (await self._bank.store.get([node.key])).get(node.key, node)
        wanted = self._bank.store.space is not None and bool(query)
        found = await sources_of_hits(self._bank, [there], limit=10**9, with_vectors=wanted)
        sources = found.get(there.key, [])
        if query:
            view, vector = await self._search.view(query)
            recipe = await self._search.recipe(vectored=vector is not None)
            sources = [hit.node for hit in await self._search.ranker.ranked(sources, view, vector, recipe)]
        return [replace(each, vector=None) for each in sources[:limit]]

    def explain(self, hit: RetrievedMemory) -> dict[str, Any]:
        """Why a memory stands where it stands: its score, the parts of its relevance, importance and recency."""
        rounded = {name: round(value, 4) for name, value in hit.parts.items()}
        return {
            "memory_id": hit.node.memory_id,
            "score": round(hit.score, 4),
            "place": round(hit.place, 4),
            "relevance": round(hit.relevance, 4),
            "importance": round(hit.importance, 4),
            "recency": round(hit.recency, 4),
            "parts": rounded,
            "refined_from": len(hit.node.source_ids) if is_refined(hit.node) else 0,
        }

    # ------------------------------------------------------------------ inside

    async def _state(self) -> Hashable:
        """What a result rests on besides the request: the settings, which may change at any time, and the store."""
        if not self._cache.is_on:
            return ()
        how = self.retriever
        bases = tuple(map(Same, self._bases()))
        settings = (
            Same(self.rerank),
            Same(self.write_queries),
            bases,
            how.hybrid_weights,
            how.weights,
            Same(how.recipe),
        )
        return (*settings, self._bank.degraded, await self._bank.store.changes_elsewhere())

    def _bases(self) -> list[Knowledge]:
        return several("knowledge", self.knowledge, "give a list of knowledge bases")

    async def _recalled(
        self,
        steps: OptionalSteps,
        request: str,
        wanted: Wanted,
        recent: Sequence[str],
        min_score: float,
        max_tokens: int | None,
        expand: Expand,
    ) -> Recall:
        now = self._bank.clock().astimezone(self._bank.timezone)
        plan = plan_recall(request, recent, now=now, schema=self._schema, lexicon=self._lexicon)
        if not plan.queries or wanted.limit < 1 or wanted.owners == ():
            return Recall()
        if self.write_queries is not None:
            written = await steps.ask("queries", self.write_queries, texts_in, (), request, list(recent))
            plan = with_queries(plan, written)
        found, asked = await self._search.find(plan, wanted)
        dated = await self._search.said_then(plan, wanted)
        if expand is False:
            found = with_others(found, found, dated, {}, plan)
        else:
            found = await self._search.descend(plan, wanted, found, dated, always=expand is True)
        found = [each for each in found if each.score >= min_score]
        if self.rerank is not None and len(found) > 1:
            found = await _reranked(steps, self.rerank, request, found)
        found = within(found[: wanted.limit], max_tokens, self._count)
        best = max((each.score for each in found), default=0.0)
        passages = await asked_of_knowledge(self._bases(), request, wanted.limit, steps) if best < WEAK else []
        return Recall(tuple(found), tuple(passages), tuple(asked), expand is not False)


async def _reranked(
    steps: OptionalSteps, rerank: Rerank, request: str, found: list[RetrievedMemory]
) -> list[RetrievedMemory]:
    """The best hits in another order; one that is not named stays behind those that are."""
    top = found[:_RERANKED]
    read = partial(order_of, count=len(top))
    order = await steps.ask("rerank", rerank, read, range(len(top)), request, [each.node for each in top])
    return [*(top[at] for at in order), *found[_RERANKED:]]
