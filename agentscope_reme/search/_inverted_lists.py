# -*- coding: utf-8 -*-
"""The statistics of BM25 kept word by word, so that a document is added, dropped and scored in numpy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["InvertedLists", "inverted_okapi", "positive_idf"]


_Postings = tuple["np.ndarray", int]
"""The documents that hold one word, in no order: slots above how often each holds it, and how many columns count.

A plain tuple, since the garbage collector passes it by. An object for each word of a large index would make it stop
the whole process, event loop included, for longer than a search takes.
"""


class InvertedLists:
    """What `rank_bm25` counts document by document, word by word instead; mixed into its ``BM25Okapi``.

    A document lives in a slot, the slot of a dropped one is used again, and every count is that of the living
    documents, so that scores are those of an index that never held anything else.
    """

    k1: float
    b: float
    corpus_size: int
    avgdl: float

    def _initialize(self, corpus: Iterable[Sequence[str]]) -> dict[str, int]:
        """Called by rank_bm25's constructor in place of its own counting."""
        import numpy as np

        self._postings: dict[str, _Postings] = {}
        self.lengths = np.zeros(16)
        self._words: list[tuple[str, ...] | None] = []
        self._free: list[int] = []
        self._total = 0
        for document in corpus:
            self.append(document)
        return {}

    def _calc_idf(self, nd: dict[str, int]) -> None:
        """Nothing to do: an idf is computed when it is asked for, because every addition changes them all."""

    def append(self, document: Sequence[str]) -> int:
        """Count a document and return its slot."""
        slot = self._free.pop() if self._free else self._new_slot()
        counts = Counter(document)
        for word, count in counts.items():
            self._postings[word] = _with(self._postings.get(word), slot, count)
        self._words[slot] = tuple(counts)
        self.lengths[slot] = len(document)
        self._resize(1, len(document))
        return slot

    def drop(self, slot: int) -> None:
        """Forget the document in a slot."""
        for word in self._words[slot] or ():
            postings = _without(self._postings[word], slot)
            if postings[1]:
                self._postings[word] = postings
            else:
                del self._postings[word]
        self._words[slot] = None
        self._resize(-1, -int(self.lengths[slot]))
        self.lengths[slot] = 0
        self._free.append(slot)

    def word_idf(self, word: str) -> float:
        """How much a word tells, in nats; most where no document holds it."""
        return positive_idf(self.corpus_size, self.holding(word))

    def holding(self, word: str) -> int:
        """How many documents hold a word."""
        postings = self._postings.get(word)
        return postings[1] if postings else 0

    def pairs(self, word: str) -> np.ndarray | None:
        """The slots of the documents that hold a word, above how often each does; None where none does.

        It is the list itself: the next change is a change of it.
        """
        postings = self._postings.get(word)
        return postings[0][:, : postings[1]] if postings else None

    def get_scores(self, query: Sequence[str]) -> np.ndarray:
        """The score of every slot for the words of a query, as rank_bm25 returns them."""
        return self.weigh(query)[0]

    def weigh(self, query: Sequence[str], weights: Sequence[float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Score every slot, and sum up the idf of the words found in it.

        Args:
            query (`Sequence[str]`): words; one that is repeated counts as often.
            weights (`Sequence[float] | None`): a factor for each word's score; the second result knows none.

        Returns:
            Two arrays over the slots, 0 where no word is found.
        """
        import numpy as np

        scores, found = np.zeros(len(self._words)), np.zeros(len(self._words))
        for position, word in enumerate(query):
            pairs = self.pairs(word)
            if pairs is not None:
                slots, counts = pairs
                idf = self.word_idf(word)
                found[slots] += idf
                weight = weights[position] if weights else 1.0
                if weight:
                    scores[slots] += self.gain(weight * idf, counts, self.lengths[slots])
        return scores, found

    def gain(self, idf: float, counts: np.ndarray, lengths: np.ndarray, mean_length: float = 0.0) -> np.ndarray:
        """Okapi's term: what a word adds to documents that hold it so often and are so long."""
        mean = mean_length or self.avgdl or 1.0
        damping = counts + (self.k1 * self.b / mean) * lengths + self.k1 * (1 - self.b)
        return (idf * (self.k1 + 1)) * counts / damping

    def _new_slot(self) -> int:
        import numpy as np

        self._words.append(None)
        if len(self._words) > len(self.lengths):
            self.lengths = np.concatenate([self.lengths, np.zeros_like(self.lengths)])
        return len(self._words) - 1

    def _resize(self, documents: int, words: int) -> None:
        self.corpus_size += documents
        self._total += words
        self.avgdl = self._total / self.corpus_size if self.corpus_size else 0.0


def _with(postings: _Postings | None, slot: int, count: int) -> _Postings:
    """A document more, which is not there yet."""
    import numpy as np

    pairs, size = postings or (np.empty((2, 2), dtype=np.int32), 0)
    if size == pairs.shape[1]:
        pairs = np.concatenate([pairs, np.empty_like(pairs)], axis=1)
    pairs[0, size] = slot
    pairs[1, size] = count
    return pairs, size + 1


def _without(postings: _Postings, slot: int) -> _Postings:
    """A document less; the last one moves into its place."""
    pairs, size = postings
    position = int((pairs[0, :size] == slot).argmax())
    pairs[:, position] = pairs[:, size - 1]
    return pairs, size - 1


def positive_idf(documents: int, holding: int) -> float:
    """Okapi's idf with 1 added inside the logarithm, as in Lucene, which keeps it above 0."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


@lru_cache(maxsize=1)
def inverted_okapi() -> Any:
    """rank_bm25's ``BM25Okapi`` over inverted lists: same constructor, same formula, the idf above."""
    from rank_bm25 import BM25Okapi

    class InvertedOkapi(InvertedLists, BM25Okapi):
        """``BM25Okapi`` that takes documents one at a time."""

    return InvertedOkapi
