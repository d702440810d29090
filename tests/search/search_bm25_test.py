# -*- coding: utf-8 -*-
"""BM25 against rank_bm25, over histories of additions, replacements and removals."""

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from agentscope_reme.search import Bm25Index
from agentscope_reme.search._inverted_lists import inverted_okapi
from agentscope_reme.text import WordTokenizer

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "会议", "评审", "排期", "rain"])
DOCUMENT = st.lists(WORDS, max_size=8)
STEP = st.tuples(st.integers(0, 9), st.none() | DOCUMENT)


class PositiveOkapi(BM25Okapi):
    """rank_bm25's own scoring, with the idf that is never negative."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, holding in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - holding + 0.5) / (holding + 0.5))


def replayed(steps: list[tuple[int, list[str] | None]], **parameters: float) -> tuple[Bm25Index, dict[int, list[str]]]:
    index, documents = Bm25Index(**parameters), {}
    for document_id, tokens in steps:
        if tokens is None:
            assert index.remove(document_id) == (documents.pop(document_id, None) is not None)
        else:
            index.add(document_id, tokens)
            documents[document_id] = tokens
    return index, documents


def found(index: Bm25Index, query: list[str], **options: object) -> dict[int, float]:
    matches = index.search(query, **options)  # type: ignore[arg-type]
    assert len(set(matches.ids.tolist())) == len(matches.ids)
    return dict(zip(matches.ids.tolist(), matches.scores.tolist(), strict=True))


@given(
    st.lists(STEP, max_size=30),
    st.lists(WORDS | st.just("unknown"), max_size=5),
    st.sampled_from([(0.9, 0.4), (1.5, 0.75), (0.5, 0.0), (1.2, 0.9)]),
)
def test_scores_are_those_of_rank_bm25(steps: list, query: list[str], parameters: tuple[float, float]) -> None:
    k1, b = parameters
    index, documents = replayed(steps, k1=k1, b=b)
    scores = found(index, query)
    assert len(index) == len(documents)
    if any(documents.values()):
        theirs = PositiveOkapi(list(documents.values()), k1=k1, b=b).get_scores(query)
        for document_id, expected in zip(documents, theirs, strict=True):
            assert scores.get(document_id, 0.0) == pytest.approx(expected, abs=1e-9)
    assert set(scores) == {i for i, tokens in documents.items() if set(tokens) & set(query)}


@given(st.lists(DOCUMENT, max_size=8), st.lists(WORDS, max_size=4))
def test_it_is_rank_bm25s_class_and_takes_a_corpus_at_once(corpus: list[list[str]], query: list[str]) -> None:
    okapi = inverted_okapi()(corpus, k1=0.9, b=0.4)
    assert isinstance(okapi, BM25Okapi)
    if any(corpus):
        assert np.allclose(okapi.get_scores(query), PositiveOkapi(corpus, k1=0.9, b=0.4).get_scores(query))
        best = okapi.get_top_n(query, [str(i) for i in range(len(corpus))], n=1)
        assert len(best) == 1


@given(
    st.lists(STEP, max_size=25),
    st.lists(WORDS, min_size=1, max_size=4),
    st.lists(st.integers(-1, 3), min_size=10, max_size=10),
)
def test_a_group_scores_like_one_long_document(steps: list, query: list[str], groups: list[int]) -> None:
    index, documents = replayed(steps)
    scores = index.search_groups(query, np.array(groups))
    joined: dict[int, list[str]] = {}
    for document_id, tokens in documents.items():
        if groups[document_id] >= 0:
            joined.setdefault(groups[document_id], []).extend(tokens)
    if any(joined.values()):
        theirs = PositiveOkapi(list(joined.values()), k1=0.9, b=0.4).get_scores(query)
        for group, expected in zip(joined, theirs, strict=True):
            assert scores[group] == pytest.approx(expected, abs=1e-9)


@given(st.lists(STEP, max_size=20), st.lists(WORDS, min_size=1, max_size=5))
def test_coverage_and_ceiling(steps: list, query: list[str]) -> None:
    index, documents = replayed(steps)
    matches = index.search(query)
    assert (matches.scores > 0).all()
    assert (matches.scores <= matches.ceiling).all()
    assert ((matches.coverage > 0) & (matches.coverage <= 1)).all()
    for document_id, share in zip(matches.ids.tolist(), matches.coverage.tolist(), strict=True):
        assert (share == pytest.approx(1)) == set(query).issubset(documents[document_id])


def test_half_of_two_notes_still_tells_them_apart() -> None:
    cut = WordTokenizer()
    index = Bm25Index()
    index.add(1, cut.tokens("今天很好"))
    index.add(2, cut.tokens("伦敦风很大"))
    scores = found(index, cut.query_tokens("伦敦"))
    assert list(scores) == [2]
    assert scores[2] > 0


def test_a_corpus_of_none_and_one() -> None:
    index = Bm25Index()
    assert found(index, ["rain"]) == {}
    assert index.search([]).ids.size == 0
    assert len(index.search_groups(["rain"], np.zeros(0, dtype=int))) == 0
    index.add(7, ["rain"])
    assert found(index, ["rain"])[7] > 0
    index.add(8, [])
    assert found(index, ["snow"]) == {}
    assert 8 in index


def test_weights_and_filters() -> None:
    index = Bm25Index()
    index.add(1, ["rain", "berlin"])
    index.add(2, ["rain"])
    index.add(3, ["berlin"])
    assert found(index, ["rain", "berlin"], weights=[1.0, 0.0])[3] == 0.0
    assert set(found(index, ["rain"], allowed=np.array([2, 3]))) == {2}
    assert set(found(index, ["rain"], allowed=np.array([False, True, False, True]))) == {1}
    whole = found(index, ["rain"])
    assert found(index, ["rain"], allowed=np.array([2]))[2] == whole[2]


def test_searches_while_another_thread_writes_see_whole_states() -> None:
    index = Bm25Index()
    index.add(0, ["rain"] * 3)
    faults: list[str] = []

    def write() -> None:
        for i in range(300):
            index.add(1 + i % 5, ["rain", f"word{i}"])
            index.remove(1 + (i * 3) % 5)

    def read() -> None:
        for _ in range(300):
            matches = index.search(["rain", "word7"])
            if 0 not in matches.ids or not np.isfinite(matches.scores).all() or (matches.scores <= 0).any():
                faults.append(str(matches))

    threads = [threading.Thread(target=work) for work in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
