# -*- coding: utf-8 -*-
"""Ranking as a pure function of columns, and several sources in one list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.search import (
    DIALOG_RECIPE,
    NOTES_RECIPE,
    CosineScale,
    Evidence,
    Found,
    RowFacts,
    RowTable,
    merge_sources,
    rank,
)

PLAIN = replace(NOTES_RECIPE, date=0.0, standing=0.0, breadth=0.0, cosine=CosineScale(0.3, 0.8))
SHARES = st.lists(st.floats(0, 1), min_size=5, max_size=5)


def evidence(words: list[float], cosine: list[float] | None = None, table: RowTable | None = None, **more) -> Evidence:  # type: ignore[no-untyped-def]
    if table is None:
        table = RowTable()
        for key in range(len(words)):
            table.add(key, RowFacts(), 3)
    bm25 = np.array(words)
    return Evidence(
        columns=table.columns(),
        allowed=more.pop("allowed", np.ones(len(words), dtype=bool)),
        bm25=bm25,
        coverage=np.where(bm25 > 0, bm25 / 10, 0.0),
        ceiling=10.0,
        cosine=None if cosine is None else np.array(cosine),
        **more,
    )


def conversation(turns: int) -> RowTable:
    table = RowTable()
    for turn in range(turns):
        table.add(turn, RowFacts(session=1, position=turn, speaker="ab"[turn % 2], asks=turn % 4 == 0), 3)
    return table


def rows(found: list) -> list[int]:  # type: ignore[type-arg]
    return [place.row for place in found]


def test_both_legs_are_scaled_to_the_best_and_weighted() -> None:
    found = rank(evidence([4.0, 2.0, 0.0], [0.1, 0.3, 0.5], typical=0.1), replace(PLAIN, vector_weight=0.5), 3)
    assert {place.row: place.parts for place in found} == {
        0: {"words": 0.5},
        1: {"words": 0.25, "meaning": 0.25},
        2: {"meaning": 0.5},
    }


def test_without_vectors_words_weigh_all() -> None:
    assert rank(evidence([4.0]), PLAIN, 1)[0].parts == {"words": 1.0}


def test_below_the_floor_meaning_finds_nothing_but_helps_what_a_word_found() -> None:
    found = rank(evidence([0.0, 1.0, 1.0], [0.29, 0.2, 0.28]), PLAIN, 3)
    assert rows(found) == [2, 1]


def test_meaning_counts_where_every_text_is_as_near() -> None:
    """The median of one cosine, or of equal ones, is that cosine."""
    for count in (1, 2, 5):
        found = rank(evidence([0.0] * count, [0.5] * count, typical=0.5), PLAIN, 9)
        assert len(found) == count
        assert all(each.parts.get("meaning", 0) > 0 for each in found)


def test_what_is_not_allowed_is_not_found_and_not_beside() -> None:
    allowed = np.array([True, True, False, False, True])
    found = rank(evidence([0.0, 3.0, 5.0, 0.0, 0.0], table=conversation(5), allowed=allowed), DIALOG_RECIPE, 9)
    assert sorted(rows(found)) == [0, 1, 4]
    assert rank(evidence([0.0, 0.0, 5.0, 0.0, 0.0], table=conversation(5), allowed=allowed), DIALOG_RECIPE, 9) == []


def test_what_is_not_allowed_does_not_scale() -> None:
    allowed = np.array([True, False])
    assert rank(evidence([1.0, 9.0], allowed=allowed), PLAIN, 2)[0].parts == {"words": 1.0}


def test_a_neighbour_is_half_as_sure_as_what_it_stands_beside() -> None:
    found = {place.row: place for place in rank(evidence([0.0, 5.0, 0.0], table=conversation(3)), DIALOG_RECIPE, 9)}
    assert found[0].score == pytest.approx(found[1].score / 2)
    assert "words" not in found[0].parts


def test_nothing_wanted_and_nothing_there() -> None:
    assert rank(evidence([1.0]), PLAIN, 0) == []
    assert rank(evidence([]), PLAIN, 5) == []
    assert rank(evidence([0.0, 0.0], [0.0, 0.0]), PLAIN, 5) == []


@given(SHARES, st.none() | SHARES, SHARES, st.none() | SHARES)
def test_a_score_grows_with_its_evidence(words, cosine, more_words, more_cosine) -> None:  # type: ignore[no-untyped-def]
    """More words or a higher cosine never make the absolute score of the same text smaller."""
    cosine, more_cosine = cosine or [0.0] * 5, more_cosine or [0.0] * 5
    pairs = zip(words, more_words, cosine, more_cosine, strict=True)
    stronger = [(9 * max(a, b), max(c, d)) for a, b, c, d in pairs]
    weak = evidence([9 * w for w in words], cosine)
    strong = evidence([w for w, _ in stronger], [c for _, c in stronger])
    before = {place.row: place.score for place in rank(weak, PLAIN, 9)}
    after = {place.row: place.score for place in rank(strong, PLAIN, 9)}
    for row, score in before.items():
        assert 0 < score <= after[row] <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans()), min_size=1, max_size=25))
def test_neighbours_are_those_of_the_sorted_session(steps: list[tuple[int, int, bool]]) -> None:
    """Additions in any order and removals leave the links that sorting the living texts gives."""
    table, living = RowTable(), {}
    for number, (session, position, removal) in enumerate(steps):
        if removal and living:
            key = next(iter(living))
            table.remove(key)
            del living[key]
        facts = RowFacts(session=session, position=position, speaker="ab"[number % 2], asks=number % 3 == 0)
        table.add(number, facts, 1)
        living[number] = facts
    columns = table.columns()
    assert int(columns.living.sum()) == len(table) == len(living)
    for session in {facts.session for facts in living.values()}:
        order = sorted((k for k, f in living.items() if f.session == session), key=lambda k: living[k].position)
        links = [-1, *(table.row_of[key] for key in order), -1]
        for place, key in enumerate(order, 1):
            row, after = links[place], order[place] if place < len(order) else None
            assert (columns.before[row], columns.after[row]) == (links[place - 1], links[place + 1])
            answered = after is not None and living[after].speaker != living[key].speaker
            assert columns.asks[row] == (living[key].asks and answered)


def source(*scored: tuple[str, float, float]) -> list[Found]:
    return [Found(key, score, order, {}) for key, score, order in scored]


def test_the_surer_source_goes_first_and_orders_are_kept() -> None:
    merged = merge_sources(
        {"notes": source(("n1", 0.4, 1.0), ("n2", 0.9, 0.5)), "dialog": source(("d1", 0.6, 2.0), ("d2", 0.5, 1.8))}, 4
    )
    assert [text.key for _, text in merged] == ["n1", "d1", "d2", "n2"]


def test_precedence_decides_between_equals_only() -> None:
    notes, memory = source(("n", 0.5, 1.0)), source(("m", 0.5, 1.0))
    results = {"journal": notes, "memory": memory}
    assert merge_sources(results, 2, ["memory"])[0][0] == "memory"
    assert merge_sources(results, 2, ["journal"])[0][0] == "journal"
    assert merge_sources({"journal": source(("n", 0.6, 1.0)), "memory": memory}, 2, ["memory"])[0][0] == "journal"


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 3)), max_size=5),
        max_size=3,
    ),
    st.integers(0, 12),
)
def test_merging_keeps_every_order_and_loses_nothing(results: dict, k: int) -> None:
    ranked = {
        name: source(*[(f"{name}{i}", s, o) for i, (s, o) in enumerate(sorted(v, key=lambda x: -x[1]))])
        for name, v in results.items()
    }
    merged = merge_sources(ranked, k)
    assert len(merged) == min(k, sum(map(len, ranked.values())))
    for name, texts in ranked.items():
        mine = [text for source_name, text in merged if source_name == name]
        assert mine == texts[: len(mine)]
