# -*- coding: utf-8 -*-
"""Which of many sentences holds most of some words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from ..text import split_sentences

__all__ = ["SentenceIndex"]


class SentenceIndex:
    """The sentences of many texts, by the words in them.

    Args:
        texts (`Iterable[str]`):
            The texts.
        words_of (`Callable[[str], frozenset[str]]`):
            The words of a sentence.
        span (`int`):
            How many neighbouring sentences of a text are taken as one.
        wanted (`Callable[[str], bool]`):
            Which sentences count.
    """

    def __init__(
        self,
        texts: Iterable[str],
        words_of: Callable[[str], frozenset[str]],
        *,
        span: int = 1,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._span = span
        self._places: dict[str, list[int]] = defaultdict(list)
        number = 0
        for text in texts:
            for sentence in filter(wanted, split_sentences(text)):
                for word in words_of(sentence):
                    self._places[word].append(number)
                number += 1
            number += span - 1  # sentences of two texts are no neighbours

    def share(self, words: frozenset[str]) -> float:
        """The largest share of some words that so many neighbouring sentences hold."""
        counts: Counter[int] = Counter()
        for word in words:
            counts.update({at - back for at in self._places.get(word, ()) for back in range(self._span)})
        return max(counts.values(), default=0) / len(words) if words else 0.0
