# -*- coding: utf-8 -*-
"""One source of texts, searched by words, by meaning and by all other signs at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from .._errors import EmbeddingError
from ._bm25_index import Bm25Index
from ._boosts import within
from ._dense_index import DenseIndex
from ._ranking import Evidence, Ranked, rank
from ._recipe import NOTES_RECIPE, SourceRecipe
from ._row_table import Columns, RowFacts, RowTable

if TYPE_CHECKING:
    import numpy as np

    from ..text import DateSpan
    from ._query_view import QueryView

__all__ = ["Allowed", "Found", "HybridIndex"]

Allowed = Collection[Hashable] | Callable[[Columns], "np.ndarray"] | None
"""Which texts may be found: their keys, or a function from columns to booleans; None for all."""

_NEAREST = 400
_WHOLE = 0.999  # of the words of a date
_NO_FACTS = RowFacts()


@dataclass(frozen=True)
class Found:
    """A text that was found.

    Args:
        key (`Any`): the text's key.
        score (`float`): 0 to 1, comparable between queries and sources.
        order (`float`): what its place was decided by; comparable within one result only.
        parts (`dict[str, float]`): what ``order`` is the sum of: words, meaning, neighbours, session, speaker, date,
            question, length, standing; only what is not 0.
    """

    key: Any
    score: float
    order: float
    parts: dict[str, float]


class HybridIndex:
    """Texts of one source under keys of your own, kept in memory and searched by every sign of relevance.

    It holds no text: words, vectors and facts go in, keys come out. Safe to share between threads; a search sees the
    state between two changes. Blocking: call it in a thread.

    Args:
        recipe (`SourceRecipe`): the weights; can be replaced at any time.
        dimensions (`int`): the length of the vectors; 0 for search by words alone.
        k1 (`float`): see ``Bm25Index``.
        b (`float`): see ``Bm25Index``.
    """

    def __init__(
        self,
        recipe: SourceRecipe = NOTES_RECIPE,
        dimensions: int = 0,
        *,
        k1: float = 0.9,
        b: float = 0.4,
    ) -> None:
        self.recipe = recipe
        self._words = Bm25Index(k1, b)
        self._vectors = DenseIndex(dimensions) if dimensions else None
        self._table = RowTable()
        self._name_words: dict[str, frozenset[str]] = {}
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._table.row_of

    @property
    def dimensions(self) -> int:
        """The length of the vectors; 0 for search by words alone."""
        return 0 if self._vectors is None else self._vectors.dimensions

    @property
    def speakers(self) -> list[str]:
        """Everybody who speaks in the texts."""
        with self._lock:
            return [str(name) for name in self._table.speakers]

    def add(
        self,
        key: Hashable,
        tokens: Sequence[str],
        *,
        vectors: np.ndarray | None = None,
        facts: RowFacts = _NO_FACTS,
    ) -> None:
        """Add a text, or replace the one of that key.

        Args:
            key (`Hashable`): your own name for it.
            tokens (`Sequence[str]`): its words.
            vectors (`np.ndarray | None`): its vector, or one a row for each sentence; None where there are none yet.
            facts (`RowFacts`): what else is known of it.

        Raises:
            `EmbeddingError`: the vectors cannot be used; the text is found by its words then.
        """
        with self._lock:
            self._remove(key)
            row = self._table.add(key, facts, len(tokens))
            self._words.add(row, tokens)
            if vectors is not None:
                self._set_vectors([(key, vectors)])
        self._settle()

    def set_vectors(self, items: Iterable[tuple[Hashable, np.ndarray]]) -> None:
        """Give texts their vectors, many at once, which is faster; keys that are not here are passed over.

        Raises:
            `EmbeddingError`: the index searches by words alone, or a vector cannot be used; nothing changed.
        """
        with self._lock:
            self._set_vectors(items)
        self._settle()

    def remove(self, key: Hashable) -> bool:
        """Remove a text; False where there is none of that key."""
        with self._lock:
            removed = self._remove(key)
        self._settle()
        return removed

    def drop_vectors(self, dimensions: int = 0) -> None:
        """Forget all vectors, for a model with others to come; search by words goes on."""
        with self._lock:
            self._vectors = DenseIndex(dimensions) if dimensions else None

    def search(
        self,
        query: QueryView,
        k: int,
        *,
        vector: np.ndarray | None = None,
        min_score: float = 0.0,
        allowed: Allowed = None,
    ) -> list[Found]:
        """Find the most relevant texts.

        Args:
            query (`QueryView`): the query.
            k (`int`): how many texts at most.
            vector (`np.ndarray | None`): the query's own vector; None searches by words alone.
            min_score (`float`): the least score, 0 to 1.
            allowed (`Allowed`): which texts may be found.

        Returns:
            The texts, best first; none where the query holds stop words only, or nothing is relevant.
        """
        if not (query.tokens or (self.recipe.by_date and query.dates())):
            return []
        with self._lock:
            evidence = self._evidence(query, vector, allowed, max(_NEAREST, 4 * k))
            ranked = rank(evidence, self.recipe, k, min_score) if evidence.allowed.any() else []
            return [self._found(place) for place in ranked]

    def _remove(self, key: Hashable) -> bool:
        row = self._table.remove(key)
        if row is None:
            return False
        self._words.remove(row)
        if self._vectors is not None:
            self._vectors.remove(row, settle=False)
        return True

    def _set_vectors(self, items: Iterable[tuple[Hashable, np.ndarray]]) -> None:
        if self._vectors is None:
            raise EmbeddingError("This index searches by words alone: make it with the vectors' dimensions.")
        rows = self._table.row_of
        self._vectors.add_many([(rows[key], vectors) for key, vectors in items if key in rows], settle=False)

    def _settle(self) -> None:
        """Let the vectors be rebuilt where it is time, without keeping searches waiting."""
        vectors = self._vectors
        if vectors is not None:
            vectors.settle()

    def _evidence(self, query: QueryView, vector: np.ndarray | None, allowed: Allowed, nearest_items: int) -> Evidence:
        import numpy as np

        columns = self._table.columns()
        may_be = self._mask(columns, allowed)
        mask = None if allowed is None else may_be
        named = self._named(query, columns, may_be) if self.recipe.speaker else {}
        dates = query.dates(_newest(columns)) if self.recipe.date else []
        times = query.time_words(dates, frozenset().union(*named.values())) if self.recipe.by_date else None
        if times is not None:
            return self._of_time(times, dates, columns, may_be, [self._table.speakers[name] for name in named])
        weights = _weights(query.tokens, named.values())
        matches = self._words.search(query.tokens, weights=weights, allowed=mask)
        bm25, coverage, cosine = np.zeros(len(may_be)), np.zeros(len(may_be)), None
        bm25[matches.ids], coverage[matches.ids] = matches.scores, matches.coverage
        typical = 0.0
        if self._vectors is not None and vector is not None:
            nearest = self._vectors.search(vector, nearest_items, allowed=mask)
            cosine, typical = np.full(len(may_be), -1.0), nearest.typical
            cosine[nearest.ids] = nearest.cosines
        session = None
        if self.recipe.session:
            session = self._words.search_groups(query.tokens, columns.session, weights=weights)
        return Evidence(
            columns=columns,
            allowed=may_be,
            bm25=bm25,
            coverage=coverage,
            ceiling=matches.ceiling,
            cosine=cosine,
            typical=typical,
            session=session,
            named=[self._table.speakers[name] for name in named],
            dates=dates,
            code_share=self._code_share(query),
        )

    def _of_time(
        self, words: Sequence[str], dates: Sequence[DateSpan], columns: Columns, may_be: np.ndarray, named: list[int]
    ) -> Evidence:
        """Of a query that asks for a time and nothing else: what is of that time matches in full, and so does what
        names it in the same words."""
        import numpy as np

        matches = self._words.search(words, allowed=may_be)
        ceiling = matches.ceiling or 1.0
        bm25, coverage = np.zeros(len(may_be)), np.zeros(len(may_be))
        whole = matches.coverage >= _WHOLE
        bm25[matches.ids[whole]], coverage[matches.ids[whole]] = matches.scores[whole], matches.coverage[whole]
        of_time = within(columns, dates)
        bm25[of_time], coverage[of_time] = ceiling, 1.0
        return Evidence(columns, may_be, bm25, coverage, ceiling, named=named, dates=dates, by_date=True)

    def _mask(self, columns: Columns, allowed: Allowed) -> np.ndarray:
        import numpy as np

        if allowed is None:
            return columns.living
        if callable(allowed):
            return columns.living & allowed(columns)
        mask = np.zeros(len(columns.living), dtype=bool)
        rows = self._table.row_of
        mask[[rows[key] for key in allowed if key in rows]] = True
        return mask

    def _named(self, query: QueryView, columns: Columns, may_be: np.ndarray) -> dict[str, frozenset[str]]:
        """Who is named of those who speak in what may be found; whoever else speaks here is nobody to this query."""
        import numpy as np

        asked, named = frozenset(query.tokens), {}
        for number in np.unique(columns.speaker[may_be]).tolist():
            if number >= 0:
                name = str(self._table.speaker_name(number))
                words = self._name_words.get(name)
                if words is None:
                    words = self._name_words[name] = frozenset(query.tokenizer.query_tokens(name))
                if words and words <= asked:
                    named[name] = words
        return named

    def _code_share(self, query: QueryView) -> float:
        """How much of what the query asks for are identifiers that stand in a text."""
        known = (parts for code, parts in query.codes.items() if self._words.holding(code))
        codes = frozenset().union(*known)
        return sum(map(self._words.idf, codes)) / sum(map(self._words.idf, query.tokens)) if codes else 0.0

    def _found(self, place: Ranked) -> Found:
        return Found(self._table.keys[place.row], place.score, place.order, place.parts)


def _weights(tokens: Sequence[str], names: Iterable[frozenset[str]]) -> list[float] | None:
    """Names of speakers weigh nothing, unless the query is nothing but names."""
    in_names = frozenset().union(*names)
    if not in_names.intersection(tokens) or in_names.issuperset(tokens):
        return None
    return [0.0 if token in in_names else 1.0 for token in tokens]


def _newest(columns: Columns) -> date | None:
    import numpy as np

    days = columns.day[columns.living & ~np.isnan(columns.day)]
    return date.fromordinal(int(days.max())) if len(days) else None
