# -*- coding: utf-8 -*-
"""Where a history is cut: laws 1 and 2 over generated histories."""

from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.message import Unit
from agentscope_reme.working_memory._split import plan_split


@st.composite
def histories(draw):
    """Unit lengths, message sizes, requests (single messages), pinned and unusable messages, a budget."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=12))
    units, at = [], 0
    for length in lengths:
        units.append(Unit(at, at + length, length > 1))
        at += length
    sizes = draw(st.lists(st.integers(0, 50), min_size=at, max_size=at))
    singles = [unit.start for unit in units if not unit.has_calls]
    requests = sorted(draw(st.sets(st.sampled_from(singles)))) if singles else []
    always = draw(st.sets(st.integers(0, at - 1), max_size=2))
    never = draw(st.sets(st.integers(0, at - 1), max_size=2)) - always
    return units, sizes, requests, always, never, draw(st.integers(0, 300))


@given(histories())
def test_a_cut_keeps_the_laws(history):
    units, sizes, requests, always, never, budget = history
    plan = plan_split(sizes, units, requests, budget=budget, always=always, never=never)
    assert sorted([*plan.fold, *plan.keep]) == list(range(len(sizes)))
    assert list(plan.fold) == sorted(plan.fold)
    assert list(plan.keep) == sorted(plan.keep)
    kept = set(plan.keep)
    sides = [{at in kept for at in range(unit.start, unit.stop)} for unit in units]
    assert all(len(side) == 1 for side in sides), "a unit lies on both sides"
    dropped = {number for number, unit in enumerate(units) if never & set(range(unit.start, unit.stop))}
    assert not any(True in sides[number] for number in dropped)
    usable = [number for number in range(len(units)) if number not in dropped]
    if not usable:
        assert plan.keep == ()
        return
    required = {usable[-1]}
    required |= {n for n in usable if always & set(range(units[n].start, units[n].stop))}
    required |= {n for n in usable if requests and units[n].start <= requests[-1] < units[n].stop}
    assert all(True in sides[n] for n in required), "something that must be kept is not"
    weight = [sum(sizes[unit.start : unit.stop]) for unit in units]
    extra = [n for n in usable if True in sides[n] and n not in required]
    if extra:
        assert sum(weight[n] for n in usable if True in sides[n]) <= budget
        between = [n for n in usable if n >= min(extra)]
        assert all(True in sides[n] for n in between), "the kept run has a hole"
    before = [n for n in usable if n not in required and False in sides[n]]
    if before and not [n for n in usable if max(before) < n and n not in required and False in sides[n]]:
        total = sum(weight[n] for n in usable if True in sides[n])
        assert total + weight[max(before)] > budget, "one more unit would have fitted"
    assert plan.kept_tokens == sum(sizes[at] for at in plan.keep)


@given(histories())
def test_a_split_turn_begins_at_its_request_or_right_behind_it(history):
    units, sizes, requests, always, never, budget = history
    plan = plan_split(sizes, units, requests, budget=budget, always=always, never=never)
    if plan.turn_start is None:
        return
    first = plan.fold[plan.turn_start]
    begun = [at for at in requests if at <= first]
    assert begun
    assert [at for at in plan.keep if at > first], "nothing of the turn is kept"
    assert all(at < begun[-1] or at == first for at in plan.fold[: plan.turn_start + 1])


def test_one_request_with_a_hundred_rounds_goes_on():
    units = [Unit(0, 1, False), *(Unit(1 + 2 * n, 3 + 2 * n, True) for n in range(100))]
    plan = plan_split([10] * 201, units, [0], budget=100)
    assert plan.keep == (0, *range(193, 201))
    assert plan.turn_start == 0


def test_a_cut_between_turns_is_no_split_turn():
    units = [Unit(n, n + 1, False) for n in range(6)]
    plan = plan_split([10] * 6, units, [0, 2, 4], budget=20)
    assert plan.keep == (4, 5)
    assert plan.turn_start is None
