# -*- coding: utf-8 -*-
"""Finding memories again, without asking a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from .._errors import ConfigError, VectorSpaceError
from ..record import Condition, MemoryNode
from ..search import MEMORIES_RECIPE, QueryView, SourceRecipe
from ..text import WordTokenizer
from ..vector_store import StoreHit
from ._bank import Filters, MemoryBank, conditions_of
from ._changes import is_over
from ._owner import Owner
from ._scoring import RankWeights, Similarity, check_similarity, combined, normalized, place, recency

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MemoryRetriever", "RetrievedMemory"]

_FEWEST = 30  # candidates of a query
_MOST_AS_GOOD = 300  # candidates that importance and recency choose from, where many are as relevant
_SPEAKING = 30  # memories whose authors may be whom a query names
_END = 2_000  # characters of a query at each end
_OWN = frozenset({"words", "meaning"})


@dataclass(frozen=True)
class RetrievedMemory:
    """A memory that was found, and why it stands where it stands.

    Args:
        node (`MemoryNode`): the memory; its `score` is the relevance.
        score (`float`): the relevance, 0 to 1, comparable between queries.
        place (`float`): what the order was decided by; comparable within one result only.
        relevance (`float`): what of that was relevance, as a share of the best one's.
        importance (`float`), recency (`float`): 0 to 1, what ordered it among those that are as relevant.
        parts (`Mapping[str, float]`): the signs of relevance: words, meaning, neighbours, speaker, date...; of several
            queries, those of the one that it fits best.
    """

    node: MemoryNode
    score: float
    place: float
    relevance: float
    importance: float
    recency: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Asked:
    """A query, read and embedded."""

    view: QueryView
    vector: np.ndarray | None


@dataclass(frozen=True)
class _Wanted:
    """What is to be found of what is relevant."""

    limit: int
    similarity: Similarity
    threshold: float | None
    min_score: float | None
    include_inactive: bool


class MemoryRetriever:
    """Finds memories by words and meaning together; relevance decides, importance and recency order what is close.

    All of its settings can be changed at any time.

    Args:
        bank (`MemoryBank`): the memories.
        hybrid_weights (`tuple[float, float]`): of meaning and of words.
        relevance_weight (`float`), importance_weight (`float`), recency_weight (`float`): of the three in the order;
            see `RankWeights`.
        half_life_days (`float`): days after which recency is worth half.
        similarity (`"mean" | "max" | Sequence[float]`): how the relevance to several queries becomes one.
        recipe (`SourceRecipe`): the other signs of relevance.

    Raises:
        `ConfigError`: a setting that cannot work.
    """

    def __init__(
        self,
        bank: MemoryBank,
        *,
        hybrid_weights: tuple[float, float] = (0.7, 0.3),
        relevance_weight: float = 1.0,
        importance_weight: float = 0.3,
        recency_weight: float = 0.2,
        half_life_days: float = 30.0,
        similarity: Similarity = "mean",
        recipe: SourceRecipe = MEMORIES_RECIPE,
    ) -> None:
        check_similarity(similarity)
        self.recipe = recipe
        self.similarity: Similarity = similarity
        self.weights = RankWeights(relevance_weight, importance_weight, recency_weight, half_life_days)
        self.hybrid_weights = hybrid_weights
        self._bank = bank
        self._tokenizer = WordTokenizer()

    @property
    def hybrid_weights(self) -> tuple[float, float]:
        """What meaning and words count; only their proportion matters."""
        return self._hybrid_weights

    @hybrid_weights.setter
    def hybrid_weights(self, weights: tuple[float, float]) -> None:
        numbers = isinstance(weights, (tuple, list)) and all(isinstance(each, (int, float)) for each in weights)
        if not numbers or len(weights) != 2:
            raise ConfigError(f"hybrid_weights is {weights!r}: give two numbers, of meaning and of words.")
        meaning, words = (float(each) for each in weights)
        if not (meaning >= 0 and words >= 0 and 0 < meaning + words < float("inf")):
            raise ConfigError(f"hybrid_weights is {weights!r}: give numbers of at least 0, not both 0.")
        self._hybrid_weights = (meaning, words)

    async def retrieve(
        self,
        queries: str | Sequence[str],
        owners: Sequence[Owner] | None,
        *,
        limit: int = 20,
        filters: Filters = None,
        hybrid_threshold: float | None = None,
        min_score: float | None = None,
        include_inactive: bool = False,
        similarity: Similarity | None = None,
        record_access: bool = True,
    ) -> list[MemoryNode]:
        """Find the memories that have to do with the queries.

        Args:
            queries (`str | Sequence[str]`): one or several.
            owners (`Sequence[Owner] | None`): whose memories; None for everybody's.
            limit (`int`): how many at most.
            filters (`Mapping[str, Any] | Sequence[Condition] | None`): see `record.parse_filters`.
            hybrid_threshold (`float | None`): the least cosine to the queries, made one as `similarity` says; a memory
                or a query without a vector is judged by its score instead.
            min_score (`float | None`): the least score, 0 to 1.
            include_inactive (`bool`): also what was superseded or forgotten, or has expired.
            similarity (`Similarity | None`): for this call.
            record_access (`bool`): note that they were found.

        Returns:
            `list[MemoryNode]`: the best first, none of them twice; `score` is the relevance, 0 to 1.

        Raises:
            `ConfigError`: no query, or an argument that cannot work.
        """
        found = await self.search(
            queries,
            owners,
            limit=limit,
            filters=filters,
            hybrid_threshold=hybrid_threshold,
            min_score=min_score,
            include_inactive=include_inactive,
            similarity=similarity,
        )
        nodes = [each.node for each in found]
        if record_access:
            self._bank.found(nodes, actor="retriever", cause="found by a search")
        return nodes

    async def search(
        self,
        queries: str | Sequence[str],
        owners: Sequence[Owner] | None,
        *,
        limit: int = 20,
        filters: Filters = None,
        hybrid_threshold: float | None = None,
        min_score: float | None = None,
        include_inactive: bool = False,
        similarity: Similarity | None = None,
    ) -> list[RetrievedMemory]:
        """The same, with the reasons for the order; that they were found is not noted."""
        texts = _texts(queries)
        how = self.similarity if similarity is None else similarity
        if isinstance(how, str) or similarity is not None:
            check_similarity(how, len(texts))
        elif len(how) != len(texts):  # weights for another number of queries than these
            how = "mean"
        if limit < 1 or (owners is not None and not owners):
            return []
        conditions = conditions_of(owners, filters, self._bank.timezone, include_inactive)
        wanted = _Wanted(limit, how, hybrid_threshold, min_score, include_inactive)
        try:
            return await self._search(texts, conditions, wanted)
        except VectorSpaceError as error:
            if self._bank.store.space is None:
                raise
            await self._bank.displaced(error)
            return await self._search(texts, conditions, wanted)

    # ------------------------------------------------------------------ inside

    async def _search(
        self, texts: Sequence[str], conditions: Sequence[Condition], wanted: _Wanted
    ) -> list[RetrievedMemory]:
        asked = await self._asked(texts, conditions)
        count = max(_FEWEST, wanted.limit + wanted.limit // 2)
        while True:
            results = [await self._hits(each, conditions, count) for each in asked]
            found = [each for each in self._placed(results, wanted.similarity) if _is_meant(each)]
            if not wanted.include_inactive:
                now = self._bank.clock()
                found = [each for each in found if not is_over(each.node, now)]
            if wanted.min_score is not None:
                found = [each for each in found if each.score >= wanted.min_score]
            if wanted.threshold is not None:
                found = await self._near(found, asked, wanted.threshold, wanted.similarity)
            found = _once(found)
            if all(len(hits) < count for hits in results) or _is_enough(found, wanted.limit, count):
                return [replace(each, node=_scored(each)) for each in found[: wanted.limit]]
            count = max(4 * count, _MOST_AS_GOOD)

    async def _asked(self, texts: Sequence[str], conditions: Sequence[Condition]) -> list[_Asked]:
        bank = self._bank
        now = bank.clock().astimezone(bank.timezone)
        views = await asyncio.to_thread(lambda: [QueryView.of(text, self._tokenizer, now) for text in texts])
        if bank.store.space is None:
            return [_Asked(view, None) for view in views]
        put = [await self._put(view, conditions) if view.tokens else "" for view in views]
        vectors = await bank.vectors.of_queries(put)
        return [_Asked(view, vector) for view, vector in zip(views, vectors, strict=True)]

    async def _put(self, view: QueryView, conditions: Sequence[Condition]) -> str:
        """The query as it is embedded: with pronouns for those who speak in what it is about."""
        if not self._bank.store.offers_keyword_search:
            return view.text
        near = await self._bank.store.keyword_search(view, _SPEAKING, conditions)
        return view.without({node.author for node in near if node.author and node.ref_memory_id})

    async def _hits(self, asked: _Asked, conditions: Sequence[Condition], count: int) -> list[StoreHit]:
        if not asked.view.tokens:
            return []
        meaning, words = self.hybrid_weights
        recipe = replace(self.recipe, vector_weight=meaning / (meaning + words))
        if asked.vector is not None and (scale := await self._bank.vectors.scale()):
            recipe = recipe.with_cosine(scale)
        return await self._bank.store.hybrid_search(
            asked.view, count, vector=asked.vector, conditions=conditions, recipe=recipe, candidates=count
        )

    def _placed(self, results: Sequence[Sequence[StoreHit]], how: Similarity) -> list[RetrievedMemory]:
        """What the queries found as one result, in order."""
        scores = combined([{hit.node.key: hit.score for hit in hits} for hits in results], how)
        orders = combined([normalized({hit.node.key: hit.order for hit in hits}) for hits in results], how)
        orders = normalized(orders)
        best: dict[str, StoreHit] = {}
        for hit in (hit for hits in results for hit in hits):
            if hit.node.key not in best or best[hit.node.key].score < hit.score:
                best[hit.node.key] = hit
        now = self._bank.clock()
        found = []
        for key, hit in best.items():
            fresh = recency(_last_use(hit.node), now, self.weights.half_life_days)
            where = place(orders[key], hit.node.importance, fresh, self.weights)
            importance = hit.node.importance
            found.append(RetrievedMemory(hit.node, scores[key], where, orders[key], importance, fresh, hit.parts))
        return sorted(found, key=lambda each: (-each.place, -each.score, each.node.key))

    async def _near(
        self, found: Sequence[RetrievedMemory], asked: Sequence[_Asked], threshold: float, how: Similarity
    ) -> list[RetrievedMemory]:
        """Those whose cosine to the queries reaches the threshold."""
        vectors = [each.vector for each in asked]
        known = [vector for vector in vectors if vector is not None]
        if len(known) < len(vectors):
            return [each for each in found if each.score >= threshold]
        nodes = await self._bank.store.get([each.node.key for each in found], with_vectors=True)
        held = {key: node.vector for key, node in nodes.items() if node.vector is not None}
        cosines = combined([{key: float(vector @ each) for key, vector in held.items()} for each in known], how)
        return [each for each in found if cosines.get(each.node.key, each.score) >= threshold]


def _texts(queries: str | Sequence[str]) -> list[str]:
    if isinstance(queries, str):
        queries = [queries]
    given = list(queries) if isinstance(queries, (list, tuple)) else []
    texts = [text.strip() for text in given if isinstance(text, str) and text.strip()]
    if not texts or len(texts) != len(given):
        raise ConfigError(f"The query is {queries!r}: say what is looked for.")
    return [text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}" for text in texts]


def _is_enough(found: Sequence[RetrievedMemory], limit: int, count: int) -> bool:
    """Whether there is nothing to be gained by more candidates: not where the last one is as relevant as what would be
    returned, for then importance and recency have to choose from all of those."""
    if len(found) < limit:
        return False
    least = min(each.relevance for each in found)
    return count >= _MOST_AS_GOOD or found[limit - 1].relevance > least


def _scored(found: RetrievedMemory) -> MemoryNode:
    return replace(found.node, score=found.score, vector=None)


def _is_meant(found: RetrievedMemory) -> bool:
    """Whether it has to do with the query itself; a turn may also stand beside one that has, and be its other half.
    What has a category or a situation of its own is knowledge, whatever else came from the same conversation."""
    return not (found.node.category or found.node.when_to_use) or not _OWN.isdisjoint(found.parts)


def _last_use(node: MemoryNode) -> datetime:
    return node.last_accessed or node.message_time or node.time_created


def _once(found: Sequence[RetrievedMemory]) -> list[RetrievedMemory]:
    """Without those that say the same as one before."""
    seen: set[str] = set()
    kept = []
    for each in found:
        said = " ".join(each.node.content.split()).casefold()
        if said not in seen:
            seen.add(said)
            kept.append(each)
    return kept
