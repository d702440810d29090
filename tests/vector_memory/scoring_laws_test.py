# -*- coding: utf-8 -*-
"""The order of memories: relevance decides, whatever the weights; importance and recency order what is close."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ConfigError
from agentscope_reme.vector_memory import BAND, RankWeights
from agentscope_reme.vector_memory._scoring import check_similarity, combined, normalized, place, recency

NOW = datetime(2026, 3, 2, tzinfo=timezone.utc)
shares = st.floats(0, 1)
weights = st.builds(
    RankWeights, st.floats(0.01, 100), st.floats(0, 100), st.floats(0, 100), half_life_days=st.floats(0.1, 1000)
)
scores = st.dictionaries(st.sampled_from("abcde"), shares)


@given(weights, shares, shares, shares, shares, shares, shares)
def test_what_is_less_relevant_by_more_than_the_band_never_comes_first(
    chosen: RankWeights, one: float, other: float, high: float, low: float, fresh: float, stale: float
) -> None:
    better, worse = max(one, other), min(one, other)
    if better - worse > BAND:
        assert place(better, low, stale, chosen) > place(worse, high, fresh, chosen)
    assert 0 <= chosen.band <= BAND


@given(weights, shares, shares, shares, shares, shares)
def test_of_equal_relevance_importance_and_freshness_never_cost_a_place(
    chosen: RankWeights, relevance: float, one: float, other: float, fresh: float, stale: float
) -> None:
    important, trifling, new, old = max(one, other), min(one, other), max(fresh, stale), min(fresh, stale)
    assert place(relevance, important, new, chosen) >= place(relevance, trifling, new, chosen) - 1e-12
    assert place(relevance, one, new, chosen) >= place(relevance, one, old, chosen) - 1e-12


def test_an_exact_match_of_300_days_ago_comes_before_a_weak_one_of_today() -> None:
    """KiroCrew#12154: what decays by age alone cannot be reached any more."""
    chosen = RankWeights()
    old = place(1.0, 0.5, recency(NOW - timedelta(days=300), NOW, chosen.half_life_days), chosen)
    new = place(0.4, 1.0, recency(NOW, NOW, chosen.half_life_days), chosen)
    assert old > new


@given(st.integers(-1000, 10_000), st.floats(0.1, 1000))
def test_recency_falls_by_half_in_a_half_life_and_the_future_is_now(days: int, half_life: float) -> None:
    fresh = recency(NOW - timedelta(days=days), NOW, half_life)
    assert 0 <= fresh <= 1
    if days <= 0:
        assert fresh == 1.0
    else:
        later = recency(NOW - timedelta(days=days + half_life), NOW, half_life)
        assert later == pytest.approx(fresh / 2, rel=1e-6, abs=1e-12)


def test_what_has_no_time_has_no_penalty() -> None:
    assert recency(None, NOW, 30) == 1.0


@given(st.lists(scores, min_size=1, max_size=4))
def test_the_ways_of_making_one_relevance_of_several(found: list[dict[str, float]]) -> None:
    mean, greatest = combined(found, "mean"), combined(found, "max")
    assert mean.keys() == greatest.keys() == {key for each in found for key in each}
    for key in mean:
        values = [each.get(key, 0.0) for each in found]
        assert mean[key] == pytest.approx(sum(values) / len(values))
        assert greatest[key] == max(values)
    assert combined(found, [1.0] * len(found)) == pytest.approx(mean)
    first = combined(found, [1.0] + [0.0] * (len(found) - 1))
    assert {key: first[key] for key in found[0]} == pytest.approx(found[0])


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(-1, 5)))
def test_places_become_shares_of_the_best(orders: dict[str, float]) -> None:
    shares_of_best = normalized(orders)
    assert shares_of_best.keys() == orders.keys()
    assert all(0 <= share <= 1 for share in shares_of_best.values())
    if max(orders.values(), default=0) > 0:
        assert shares_of_best[max(orders, key=orders.__getitem__)] == 1.0


@pytest.mark.parametrize(
    "change", [{"relevance": 0}, {"importance": -0.1}, {"recency": -1}, {"half_life_days": 0}, {"relevance": -1}]
)
def test_weights_that_cannot_work_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        RankWeights(**change)


@pytest.mark.parametrize("similarity", ["median", [], [0, 0], [-1, 2], 3, [1.0]])
def test_a_similarity_that_cannot_work_is_refused(similarity: object) -> None:
    with pytest.raises(ConfigError, match="similarity"):
        check_similarity(similarity, 2)  # type: ignore[arg-type]
