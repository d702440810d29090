# -*- coding: utf-8 -*-
"""Pairing by position and units, against slow oracles and on what users reported."""

import itertools
import time
from typing import Any

import pytest
from _message_histories import assistant, call, histories, result, results, text, tidy_histories, user
from agentscope.message import Msg
from hypothesis import given, settings

from agentscope_reme.message import Pairing, Unit, pair_calls, units

Ref = tuple[int, int]


def _refs(messages: list[Msg], kind: str) -> list[tuple[Ref, Any]]:
    found = []
    for index, msg in enumerate(messages):
        for position, block in enumerate(msg.content if isinstance(msg.content, list) else []):
            if isinstance(block, dict) and block.get("type") == kind:
                found.append(((index, position), block.get("id")))
    return found


def _slow_pairs(messages: list[Msg]) -> dict[Ref, Ref]:
    """The rule word for word: for each result, look at every call before it."""
    calls = [(ref, call_id) for ref, call_id in _refs(messages, "tool_use") if isinstance(call_id, str)]
    with_results = {ref[0] for ref, _ in _refs(messages, "tool_result")}
    with_calls = {ref[0] for ref, _ in _refs(messages, "tool_use")}
    separators = [i for i in range(len(messages)) if i in with_results or i not in with_calls]
    pairs: dict[Ref, Ref] = {}

    def given_up(ref: Ref, call_id: str, now: Ref) -> bool:
        again = [other[0] for other, other_id in calls if other_id == call_id and ref[0] < other[0] and other < now]
        return any(ref[0] < separator < message for message in again for separator in separators)

    for now, result_id in _refs(messages, "tool_result"):
        waiting = [
            ref
            for ref, call_id in calls
            if call_id == result_id and ref < now and ref not in pairs and not given_up(ref, call_id, now)
        ]
        if waiting:
            nearest = max(ref[0] for ref in waiting)
            pairs[min(ref for ref in waiting if ref[0] == nearest)] = now
    return pairs


def _slow_units(messages: list[Msg]) -> list[tuple[int, int]]:
    pairs = _slow_pairs(messages)
    borders = [
        border
        for border in range(len(messages) + 1)
        if all(not asked[0] < border <= answered[0] for asked, answered in pairs.items())
    ]
    return list(itertools.pairwise(borders))


@given(histories())
def test_the_rule_holds_on_any_history(messages: list[Msg]) -> None:
    pairing = pair_calls(messages)
    assert pairing.result_of == _slow_pairs(messages)
    calls = [ref for ref, _ in _refs(messages, "tool_use")]
    answers = [ref for ref, _ in _refs(messages, "tool_result")]
    paired = list(pairing.result_of.values())
    assert len(set(paired)) == len(paired)
    assert pairing.dangling == sorted(set(calls) - set(pairing.result_of))
    assert pairing.orphans == sorted(set(answers) - set(paired))
    assert pairing.is_valid == (not pairing.dangling and not pairing.orphans)


@given(histories())
def test_units_are_the_smallest_ranges_that_split_no_pair(messages: list[Msg]) -> None:
    found = units(messages)
    assert [(unit.start, unit.stop) for unit in found] == _slow_units(messages)
    calling = {ref[0] for ref, _ in _refs(messages, "tool_use")}
    assert [unit.has_calls for unit in found] == [
        any(index in calling for index in range(unit.start, unit.stop)) for unit in found
    ]
    assert units(messages, pair_calls(messages)) == found


@given(histories())
def test_a_cut_between_units_changes_no_pair(messages: list[Msg]) -> None:
    whole = pair_calls(messages)
    for unit in units(messages):
        cut = unit.start
        older, newer = pair_calls(messages[:cut]), _shifted(pair_calls(messages[cut:]), cut)
        assert {**older.result_of, **newer.result_of} == whole.result_of
        assert older.dangling + newer.dangling == whole.dangling
        assert older.orphans + newer.orphans == whole.orphans


@settings(max_examples=50)
@given(tidy_histories())
def test_what_an_undisturbed_agent_leaves_is_valid_after_every_cut(messages: list[Msg]) -> None:
    assert pair_calls(messages).is_valid
    for unit in units(messages):
        assert pair_calls(messages[unit.start :]).is_valid
        assert pair_calls(messages[: unit.start]).is_valid


def _shifted(pairing: Pairing, by: int) -> Pairing:
    def moved(ref: Ref) -> Ref:
        return ref[0] + by, ref[1]

    return Pairing(
        {moved(asked): moved(answered) for asked, answered in pairing.result_of.items()},
        [moved(ref) for ref in pairing.dangling],
        [moved(ref) for ref in pairing.orphans],
    )


def _spans(messages: list[Msg]) -> list[tuple[int, int]]:
    return [(unit.start, unit.stop) for unit in units(messages)]


def test_three_parallel_calls_with_three_result_messages_are_one_unit() -> None:
    """Field reports A11 and C8."""
    messages = [
        user("查三件事"),
        assistant(call("A"), call("B"), call("C")),
        results(result("A", "x" * 5000)),
        results(result("B", "y" * 200)),
        results(result("C")),
        assistant(call("D"), call("E")),
        results(result("D")),
        results(result("E")),
    ]
    assert units(messages) == [Unit(0, 1, False), Unit(1, 5, True), Unit(5, 8, True)]


def test_a_second_result_for_a_call_is_an_orphan() -> None:
    """Field report C3."""
    pairing = pair_calls([assistant(call("t1")), results(result("t1")), results(result("t1"))])
    assert pairing.result_of == {(0, 0): (1, 0)}
    assert pairing.orphans == [(2, 0)]
    assert not pairing.is_valid


def test_an_interrupted_call_behind_later_talk_is_seen() -> None:
    """Field report C4."""
    messages = [user("读日志"), assistant(call("t1")), assistant(text("被打断了")), user("继续")]
    assert pair_calls(messages).dangling == [(1, 0)]
    assert _spans(messages) == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("cut", range(22))
def test_eighteen_parallel_calls_at_every_cut(cut: int) -> None:
    """Field report C5: the next border of a unit at or before any wished cut keeps as many results as calls."""
    ids = [f"c{i}" for i in range(18)]
    messages = [
        user("巡检"),
        assistant(text("开始"), *map(call, ids)),
        *(results(result(i)) for i in ids),
        assistant(text("好")),
    ]
    border = max(unit.start for unit in [*units(messages), Unit(21, 21, False)] if unit.start <= cut)
    kept = messages[border:]
    uses, answers = _refs(kept, "tool_use"), _refs(kept, "tool_result")
    assert {call_id for _, call_id in uses} == {call_id for _, call_id in answers}
    assert border in (0, 1, 20, 21)
    assert pair_calls(kept).is_valid


def test_repeated_ids_are_paired_by_position() -> None:
    """`call_0` in every round, the second round interrupted: its call is not given the third round's result."""
    messages = [
        assistant(call("call_0")),
        results(result("call_0", "first")),
        assistant(call("call_0")),
        user("停一下"),
        assistant(call("call_0")),
        results(result("call_0", "third")),
    ]
    pairing = pair_calls(messages)
    assert pairing.result_of == {(0, 0): (1, 0), (4, 0): (5, 0)}
    assert pairing.dangling == [(2, 0)]
    assert _spans(messages) == [(0, 2), (2, 3), (3, 4), (4, 6)]


def test_an_older_call_is_given_up_behind_a_younger_open_one() -> None:
    """The second answers something else: the first is given up when the third calls again, the second is not."""
    messages = [
        assistant(call("a")),
        assistant(call("a"), result("b")),
        assistant(call("a"), result("a"), result("a"), result("a")),
    ]
    pairing = pair_calls(messages)
    assert pairing.result_of == {(2, 0): (2, 1), (1, 0): (2, 2)}
    assert (pairing.dangling, pairing.orphans) == ([(0, 0)], [(1, 1), (2, 3)])


def test_unique_ids_pair_whatever_lies_between_and_ranges_merge() -> None:
    messages = [
        assistant(call("a")),
        user("等等"),
        assistant(call("b")),
        results(result("a")),
        user("然后"),
        results(result("b")),
        user("好"),
    ]
    assert pair_calls(messages).is_valid
    assert _spans(messages) == [(0, 6), (6, 7)]


def test_a_result_before_its_call_is_an_orphan_and_leaves_the_call_dangling() -> None:
    pairing = pair_calls([results(result("a")), assistant(call("a"))])
    assert (pairing.dangling, pairing.orphans) == ([(1, 0)], [(0, 0)])


def test_a_call_and_its_result_may_share_a_message() -> None:
    assert pair_calls([assistant(call("a"), result("a"), call("a"))]).result_of == {(0, 0): (0, 1)}


def test_nothing_has_no_units() -> None:
    assert units([]) == []
    assert pair_calls([]).is_valid


def test_two_thousand_messages_take_milliseconds() -> None:
    messages = [
        msg
        for _ in range(500)
        for msg in (
            user("q"),
            assistant(call("call_0"), call("call_1")),
            results(result("call_0")),
            results(result("call_1")),
        )
    ]
    best = min(_seconds(messages) for _ in range(5))
    assert best < 0.025  # some 2.5 ms on an idle core


def _seconds(messages: list[Msg]) -> float:
    start = time.perf_counter()
    units(messages)
    return time.perf_counter() - start
