# -*- coding: utf-8 -*-
"""Keyword search by Okapi BM25 over documents that come and go one at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._inverted_lists import inverted_okapi, positive_idf

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Bm25Index", "Bm25Matches"]


@dataclass(frozen=True)
class Bm25Matches:
    """Every document that holds a word of the query, in no order.

    Args:
        ids (`np.ndarray`): int64, the documents.
        scores (`np.ndarray`): float64, their BM25 scores.
        coverage (`np.ndarray`): float64 in (0, 1], the share of the query's idf that their words carry.
        ceiling (`float`): what no score of this query can exceed.
    """

    ids: np.ndarray
    scores: np.ndarray
    coverage: np.ndarray
    ceiling: float


class Bm25Index:
    """Okapi BM25 with an idf that is never negative, over an inverted index in memory.

    Adding or removing costs what the document's own words cost; scores are always those of an index built from the
    living documents alone. Safe to share between threads: a search sees the state between two changes.

    Args:
        k1 (`float`): how fast repetitions of a word saturate; at least 0.
        b (`float`): how much long documents are discounted; 0 to 1.
    """

    def __init__(self, k1: float = 0.9, b: float = 0.4) -> None:
        import numpy as np

        self._lists = inverted_okapi()([], k1=k1, b=b)
        self._slots: dict[int, int] = {}
        self._ids = np.zeros(16, dtype=np.int64)
        self._living = np.zeros(16, dtype=bool)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, document_id: int) -> bool:
        return document_id in self._slots

    def add(self, document_id: int, tokens: Sequence[str]) -> None:
        """Add a document, or replace the one of that id.

        Args:
            document_id (`int`): your own number for it; any int64.
            tokens (`Sequence[str]`): its words, with repetitions; may be empty.
        """
        import numpy as np

        with self._lock:
            self._drop(document_id)
            slot = self._lists.append(tokens)
            if slot == len(self._ids):
                self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])
                self._living = np.concatenate([self._living, np.zeros_like(self._living)])
            self._ids[slot], self._living[slot] = document_id, True
            self._slots[document_id] = slot

    def remove(self, document_id: int) -> bool:
        """Remove a document; False where there is none of that id."""
        with self._lock:
            return self._drop(document_id)

    def idf(self, token: str) -> float:
        """How much a word tells, in nats."""
        with self._lock:
            return float(self._lists.word_idf(token))

    def holding(self, token: str) -> int:
        """How many documents hold a word."""
        with self._lock:
            return int(self._lists.holding(token))

    def search(
        self,
        tokens: Sequence[str],
        *,
        weights: Sequence[float] | None = None,
        allowed: np.ndarray | None = None,
    ) -> Bm25Matches:
        """Score every document that holds one of the words.

        Args:
            tokens (`Sequence[str]`): the query's words; one that is repeated counts as often.
            weights (`Sequence[float] | None`): a factor for each word's score. A word of weight 0 still matches.
            allowed (`np.ndarray | None`): the only documents that may be found: their ids, or booleans indexed by id.

        Returns:
            The matches; a document whose words all weigh 0 is one, with the score 0.
        """
        import numpy as np

        with self._lock:
            scores, found = self._lists.weigh(tokens, weights)
            total = sum(self._lists.word_idf(token) for token in tokens)
            slots = np.flatnonzero(found)
            ids = self._ids[slots]
        if allowed is not None:
            keep = allowed[ids] if allowed.dtype == bool else np.isin(ids, allowed)
            slots, ids = slots[keep], ids[keep]
        coverage = np.minimum(found[slots] / total, 1.0) if len(slots) else np.zeros(0)
        return Bm25Matches(ids, scores[slots], coverage, total * (self._lists.k1 + 1))

    def search_groups(
        self,
        tokens: Sequence[str],
        group_of: np.ndarray,
        *,
        weights: Sequence[float] | None = None,
    ) -> np.ndarray:
        """Score groups of documents, each as if it were one long document.

        Args:
            tokens (`Sequence[str]`): the query's words.
            group_of (`np.ndarray`): integers indexed by document id (which must not be negative then): the group, or
                -1 for a document in none.
            weights (`Sequence[float] | None`): a factor for each word.

        Returns:
            float64, indexed by group.
        """
        import numpy as np

        with self._lock:
            groups = np.full(len(self._ids), -1, dtype=np.int64)
            groups[self._living] = group_of[self._ids[self._living]]
            found = [self._lists.pairs(token) for token in tokens]
            pairs = [pair.copy() if pair is not None else None for pair in found]
            lengths = self._lists.lengths[: len(groups)].copy()
        grouped = groups >= 0
        if not grouped.any():
            return np.zeros(0)
        members = np.bincount(groups[grouped])
        group_lengths = np.bincount(groups[grouped], weights=lengths[grouped])
        number, scores = int(np.count_nonzero(members)), np.zeros(len(members))
        for position, pair in enumerate(pairs):
            if pair is not None:
                counts = _grouped(pair, groups, len(scores))
                idf = positive_idf(number, int(np.count_nonzero(counts)))
                gain = self._lists.gain(idf, counts, group_lengths, group_lengths.sum() / number)
                scores += (weights[position] if weights else 1.0) * gain
        return scores

    def _drop(self, document_id: int) -> bool:
        slot = self._slots.pop(document_id, None)
        if slot is None:
            return False
        self._lists.drop(slot)
        self._ids[slot], self._living[slot] = 0, False
        return True


def _grouped(pair: np.ndarray, groups: np.ndarray, number: int) -> np.ndarray:
    """How often each group holds a word, from the slots that hold it and how often they do."""
    import numpy as np

    group = groups[pair[0]]
    inside = group >= 0
    return np.bincount(group[inside], weights=pair[1][inside], minlength=number)
