# -*- coding: utf-8 -*-
"""Vectors against brute force, over histories, at every size of storage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, EmbeddingError
from agentscope_reme.search import DenseIndex

DIMENSIONS = 6
SIZES = st.sampled_from([(10**9, 10**9), (15, 10**9), (8, 25)])
STEPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=60)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def replayed(steps: list, sizes: tuple[int, int], seed: int) -> tuple[DenseIndex, dict[int, np.ndarray]]:
    """A count of vectors of 0 is a removal."""
    random = np.random.default_rng(seed)
    index, items = DenseIndex(DIMENSIONS, half_above=sizes[0], clustered_above=sizes[1]), {}
    for item_id, count in steps:
        if count:
            vectors = random.standard_normal((count, DIMENSIONS)).astype(np.float32)
            index.add(item_id, vectors if count > 1 else vectors[0])
            items[item_id] = unit(vectors)
        else:
            assert index.remove(item_id) == (items.pop(item_id, None) is not None)
    return index, items


@given(STEPS, SIZES, st.integers(0, 99), st.integers(0, 40), st.none() | st.lists(st.integers(0, 30), max_size=12))
def test_the_nearest_are_those_of_brute_force(steps, sizes, seed, k, allowed) -> None:  # type: ignore[no-untyped-def]
    index, items = replayed(steps, sizes, seed)
    query = np.random.default_rng(seed + 1).standard_normal(DIMENSIONS) * 3
    expected = {i: float((v @ unit(query[None])[0]).max()) for i, v in items.items() if allowed is None or i in allowed}
    matches = index.search(query, k, allowed=None if allowed is None else np.array(allowed, dtype=np.int64))
    assert len(index) == len(items)
    assert len(matches.ids) == min(k, len(expected))
    best = sorted(expected.values(), reverse=True)[: len(matches.ids)]
    assert np.allclose(matches.cosines, best, atol=2e-3)
    for item_id, cosine in zip(matches.ids.tolist(), matches.cosines.tolist(), strict=True):
        assert cosine == pytest.approx(expected[item_id], abs=2e-3)
    assert (np.diff(matches.cosines) <= 0).all()


@given(STEPS, SIZES, st.integers(0, 99))
def test_bytes_keep_everything(steps, sizes, seed) -> None:  # type: ignore[no-untyped-def]
    index, items = replayed(steps, sizes, seed)
    again = DenseIndex.from_bytes(index.to_bytes())
    query = np.random.default_rng(seed).standard_normal(DIMENSIONS)
    before, after = index.search(query, 50), again.search(query, 50)
    assert before.ids.tolist() == after.ids.tolist()
    assert before.cosines.tolist() == after.cosines.tolist()
    for item_id in list(items):
        assert again.remove(item_id)
    again.add(3, query)
    assert again.search(query, 5).ids.tolist() == [3]


@settings(max_examples=40, deadline=None)
@given(STEPS, st.lists(st.booleans(), min_size=31, max_size=31))
def test_booleans_by_id_filter_like_ids(steps: list, mask: list[bool]) -> None:
    index, _ = replayed(steps, (8, 25), 1)
    query, flags = np.ones(DIMENSIONS), np.array(mask)
    by_flags, by_ids = index.search(query, 9, allowed=flags), index.search(query, 9, allowed=np.flatnonzero(flags))
    assert by_flags.ids.tolist() == by_ids.ids.tolist()


def test_more_wanted_than_there_is_and_nothing_at_all() -> None:
    index = DenseIndex(3)
    assert index.search(np.array([1, 0, 0]), 10).ids.tolist() == []
    index.add(2**60, np.array([1.0, 0, 0]))
    index.add(-5, np.array([0, 1.0, 0]))
    assert index.search(np.array([1.0, 0.1, 0]), 10).ids.tolist() == [2**60, -5]
    assert index.search(np.array([1.0, 0, 0]), 0).ids.tolist() == []


def test_each_id_keeps_its_own_vector_after_a_removal() -> None:
    index, axes = DenseIndex(4), np.eye(4)
    for number, item_id in enumerate([10, 20, 30]):
        index.add(item_id, axes[number])
    index.remove(20)
    index.add(40, axes[3])
    for number, item_id in {0: 10, 2: 30, 3: 40}.items():
        assert index.search(axes[number], 1).ids.tolist() == [item_id]
    assert 20 not in index.search(axes[1], 10).ids


def test_the_second_best_takes_the_place_of_the_deleted_best() -> None:
    index = DenseIndex(2)
    index.add(1, np.array([1.0, 0.0]))
    index.add(2, np.array([1.0, 0.2]))
    index.remove(1)
    assert index.search(np.array([1.0, 0.0]), 1).ids.tolist() == [2]


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros(3),
        np.array([1.0, np.nan, 0]),
        np.array([np.inf, 0, 0]),
        np.ones(4),
        np.zeros((0, 3)),
        np.ones((2, 2, 3)),
    ],
)
def test_a_vector_that_cannot_be_used_changes_nothing(vectors: np.ndarray) -> None:
    index = DenseIndex(3)
    index.add(1, np.ones(3))
    with pytest.raises(EmbeddingError):
        index.add(1, vectors)
    with pytest.raises(EmbeddingError):
        index.add_many([(2, np.ones(3)), (3, vectors)])
    assert len(index) == 1
    assert index.search(np.ones(3), 5).cosines.tolist() == pytest.approx([1.0])


def test_an_index_has_dimensions() -> None:
    with pytest.raises(ConfigError, match="dimensions is 0"):
        DenseIndex(0)


def test_many_vectors_of_one_item_take_one_place() -> None:
    index = DenseIndex(2)
    index.add(1, np.tile([1.0, 0.01], (30, 1)))
    index.add(2, np.array([1.0, 0.2]))
    index.add(3, np.array([1.0, 0.3]))
    assert index.search(np.array([1.0, 0.0]), 2).ids.tolist() == [1, 2]


@pytest.mark.parametrize("half_above", [10**6, 50])
def test_typical_is_the_median_of_what_is_stored(half_above: int) -> None:
    index = DenseIndex(2, half_above=half_above)
    angles = np.linspace(0, np.pi, 5_001)
    index.add_many([(i, np.array([np.cos(a), np.sin(a)])) for i, a in enumerate(angles)])
    assert index.search(np.array([1.0, 0.0]), 1).typical == pytest.approx(0.0, abs=0.02)


def test_clusters_find_nearly_all_of_the_nearest() -> None:
    random = np.random.default_rng(5)
    centres = random.standard_normal((60, 32))
    vectors = (centres[random.integers(60, size=9_000)] + 0.6 * random.standard_normal((9_000, 32))).astype(np.float32)
    index = DenseIndex(32, half_above=2_000, clustered_above=8_000)
    index.add_many(enumerate(vectors))
    hits = 0
    for query in vectors[:20]:
        exact = np.argsort(-(unit(vectors) @ unit(query[None])[0]))[:20]
        hits += len(set(exact.tolist()) & set(index.search(query, 20).ids.tolist()))
    assert hits >= 0.9 * 400
