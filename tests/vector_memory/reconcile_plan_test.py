# -*- coding: utf-8 -*-
"""Reconciliation: what is retired, completed, dropped or added, over generated proposals and as users reported it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.vector_memory._claims import Claim, contradicts, likeness, plain, wording
from agentscope_reme.vector_memory._keeping_rules import KeepingRules
from agentscope_reme.vector_memory._proposal import Proposal
from agentscope_reme.vector_memory._reconcile import Plan, reconcile

NOW = datetime(2026, 9, 15, 10, 0, tzinfo=timezone.utc)
SUBJECTS = ["sushi", "川菜", "tea", "甲公司", "running", "3 cups of coffee", "早上八点起床"]


def memory(content: str, **fields: Any) -> MemoryNode:
    return MemoryNode(content, memory_target="alice", **{"message_time": NOW, **fields})


def planned(
    proposals: list[Proposal], known: list[MemoryNode], similarity: Any = wording, related: float = 0.0
) -> Plan:
    shown = {f"m{at}": node for at, node in enumerate(known, 1)}
    return reconcile(proposals, shown, similarity=similarity, about="alice", related=related)


def steps(plan: Plan) -> list[tuple[str, str, str]]:
    return [(each.action, each.old.content if each.old else "", each.proposal.content) for each in plan.changes]


# ---------------------------------------------------------------------- over generated proposals

sentences = st.builds(
    lambda verb, subject, more: f"alice {verb} {subject}{more}",
    st.sampled_from(["likes", "does not like", "likes very much", "每天都要", "不再需要"]),
    st.sampled_from(SUBJECTS),
    st.sampled_from(["", " at home", " on Monday", "了"]),
)
nodes = st.lists(
    st.builds(
        lambda content, day: memory(content, message_time=NOW + timedelta(days=day)), sentences, st.integers(-3, 3)
    ),
    max_size=6,
    unique_by=lambda node: node.key,
)
proposals = st.lists(
    st.builds(
        Proposal,
        sentences,
        st.sampled_from(["add", "update", "supersede"]),
        st.sampled_from(["", "m1", "m2", "m3", "m9"]),
        message_time=st.sampled_from([None, NOW - timedelta(days=5), NOW, NOW + timedelta(days=5)]),
        outdated=st.sampled_from(["", "sushi", "likes", "川菜", "not in it"]),
    ),
    max_size=6,
)


@given(proposals, nodes)
def test_each_memory_is_changed_once_and_each_proposal_is_accounted_for(
    given: list[Proposal], known: list[MemoryNode]
) -> None:
    plan = planned(given, known)
    old = [each.old.key for each in plan.changes if each.old]
    assert len(old) == len(set(old))
    assert set(old) <= {node.key for node in known}
    assert len(plan.changes) + len(plan.known) + len(plan.refusals) == len(given)
    contents = [plain(each.proposal.content) for each in plan.changes]
    assert len(contents) == len(set(contents))


@given(proposals, nodes)
def test_what_is_retired_is_contradicted_quoted_or_has_another_value(
    given: list[Proposal], known: list[MemoryNode]
) -> None:
    for each in planned(given, known).changes:
        if each.action == "supersede":
            assert each.old
            one, other = Claim(each.proposal.content, "alice"), Claim(each.old.content, "alice")
            quoted = plain(each.proposal.outdated)
            assert (
                contradicts(one, other)
                or (quoted and quoted in plain(each.old.content) and quoted not in plain(each.proposal.content))
                or (likeness(one, other) >= 0.5 and not (one.agrees_with(other)))
            )
            assert not (each.proposal.message_time and each.proposal.message_time < (each.old.message_time or NOW))


@given(proposals, nodes)
def test_nothing_known_is_stored_again_and_a_second_time_changes_nothing(
    given: list[Proposal], known: list[MemoryNode]
) -> None:
    plan = planned(given, known)
    assert not {plain(each.proposal.content) for each in plan.changes} & {plain(node.content) for node in known}
    after = {node.key: node for node in known}
    for each in plan.changes:
        if each.old:
            del after[each.old.key]
        new = memory(each.proposal.content, message_time=each.proposal.message_time)
        after[new.key] = new
    again = planned([each.proposal for each in plan.changes], list(after.values()))
    assert steps(again) == []


# ---------------------------------------------------------------------- near copies


def test_a_near_copy_that_says_more_completes_the_memory() -> None:
    plan = planned(
        [Proposal("alice likes concise Python code with type hints")],
        [memory("alice likes concise Python code")],
        similarity=lambda *_: 0.97,
    )
    assert steps(plan) == [
        ("update", "alice likes concise Python code", "alice likes concise Python code with type hints")
    ]


def test_a_near_copy_that_says_no_more_is_known() -> None:
    old = memory("alice prefers concise Python code with comments")
    plan = planned([Proposal("alice likes concise Python code")], [old], similarity=lambda *_: 0.96)
    assert (steps(plan), plan.known) == ([], [old])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alice drinks two cups of coffee a day", "alice drinks three cups of coffee a day"),
        ("alice 每天跑 5 公里", "alice 每天跑 8 公里"),
        ("alice 每天喝两杯茶", "alice 每天喝三杯茶"),
        ("alice's brother is called Tom", "alice's sister is called Tom"),
        ("alice moves to Berlin before May", "alice doesn't move to Berlin before June"),
    ],
)
def test_other_numbers_another_answer_or_another_person_are_no_copy(old: str, new: str) -> None:
    plan = planned([Proposal(new)], [memory(old)], similarity=lambda *_: 0.99)
    assert steps(plan) == [("add", "", new)]


def test_below_the_threshold_there_are_two() -> None:
    new = "alice likes concise code and comments"
    for similarity, action in ((KeepingRules().near_copy - 0.01, "add"), (KeepingRules().near_copy, "update")):
        plan = planned([Proposal(new)], [memory("alice likes concise code")], similarity=lambda *_, s=similarity: s)
        assert [each.action for each in plan.changes] == [action]


# ---------------------------------------------------------------------- as users reported it


def test_j4_unrelated_facts_are_never_retired() -> None:
    old, new = "alice 在甲公司任工程师", "alice 负责甲公司的代码库"
    for outdated in ("", "任设计师", "甲公司"):
        for similarity in (wording, lambda *_: 0.48, lambda *_: 0.9):
            plan = planned([Proposal(new, "supersede", "m1", outdated=outdated)], [memory(old)], similarity)
            assert steps(plan) == [("add", "", new)]


def test_j4_what_has_nothing_to_do_with_it_is_not_retired_even_if_it_is_quoted() -> None:
    plan = planned(
        [Proposal("alice moved to Beijing", "supersede", "m1", outdated="a dog")],
        [memory("alice has a dog")],
        similarity=lambda *_: 0.3,
        related=0.47,
    )
    assert steps(plan) == [("add", "", "alice moved to Beijing")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alice 爱吃川菜", "alice 不吃川菜了"),
        ("我爱吃川菜", "我不吃川菜了"),
        ("alice likes sushi", "alice doesn't like sushi any more"),
        ("alice lives in Shanghai", "alice no longer lives in Shanghai"),
        ("alice smokes", "alice quit smoking"),
        ("alice 对花生不过敏", "alice 对花生过敏"),
    ],
)
@pytest.mark.parametrize("action", ["add", "update", "supersede"])
def test_j6_a_contradiction_leaves_the_new_one(old: str, new: str, action: Any) -> None:
    target = "" if action == "add" else "m1"
    plan = planned([Proposal(new, action, target, message_time=NOW + timedelta(days=1))], [memory(old)])
    assert steps(plan) == [("supersede", old, new)]


def test_j6_within_one_conversation_the_later_statement_holds() -> None:
    first, second = Proposal("alice 爱吃川菜", message_time=NOW), Proposal("alice 不吃川菜了", message_time=NOW)
    plan = planned([first, second], [])
    assert steps(plan) == [("add", "", "alice 不吃川菜了")]
    assert [each.reason for each in plan.refusals] == ["taken_back"]


def test_what_was_said_earlier_does_not_retire_what_was_said_later() -> None:
    old = memory("alice 不吃川菜了", message_time=NOW)
    plan = planned([Proposal("alice 爱吃川菜", message_time=NOW - timedelta(days=30))], [old])
    assert steps(plan) == []
    assert [each.reason for each in plan.refusals] == ["older"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("alice runs the migration after the backup", "alice never runs the migration before the backup"),
        ("alice likes sushi", "alice does not like sushi on Mondays"),
        ("alice 以前爱吃川菜", "alice 不吃川菜了"),
        ("alice 爱吃川菜", "alice 不得不吃川菜"),
        ("alice likes C++", "alice doesn't like C#"),
    ],
)
def test_what_only_looks_like_a_contradiction_is_none(one: str, other: str) -> None:
    assert not contradicts(Claim(one, "alice"), Claim(other, "alice"))
    assert [each.action for each in planned([Proposal(other)], [memory(one)]).changes] == ["add"]


def test_j8_an_id_that_is_not_there_is_skipped_and_the_others_are_done() -> None:
    plan = planned([Proposal("alice has a cat", "update", "m12"), Proposal("alice has a dog")], [memory("alice sings")])
    assert steps(plan) == [("add", "", "alice has a dog")]
    assert [(each.reason, each.value) for each in plan.refusals] == [("id", "m12")]


@pytest.mark.parametrize("action", ["add", "update", "supersede"])
def test_j10_two_distinct_texts_stay_two(action: Any) -> None:
    old, new = "alice 周末吃夜宵", "alice 想周游世界"
    plan = planned([Proposal(new, action, "" if action == "add" else "m1")], [memory(old)])
    assert steps(plan) == [("add", "", new)]


def test_j11_the_same_twice_is_one_and_known() -> None:
    plan = planned([Proposal("alice has a dog"), Proposal("Alice has a dog.")], [])
    assert steps(plan) == [("add", "", "alice has a dog")]
    old = memory("alice has a dog")
    assert planned([Proposal("Alice  has a dog。")], [old]).known == [old]


def test_a_value_that_changed_retires_the_old_one_where_it_is_quoted() -> None:
    plan = planned(
        [Proposal("alice lives in Beijing now", "supersede", "m1", outdated="lives in Shanghai")],
        [memory("alice lives in Shanghai")],
        similarity=lambda *_: 0.6,
        related=0.47,
    )
    assert [each.action for each in plan.changes] == ["supersede"]


def test_of_two_that_aim_at_one_memory_the_second_is_added() -> None:
    plan = planned(
        [
            Proposal("alice has a dog named Rex", "update", "m1"),
            Proposal("alice has a dog and a horse", "update", "m1"),
        ],
        [memory("alice has a dog")],
    )
    assert [each.action for each in plan.changes] == ["update", "add"]


@pytest.mark.parametrize(("one", "other"), [("C++", "C#"), ("3.5 kg", "35 kg"), ("-5", "5"), ("a/b", "ab")])
def test_what_differs_in_a_sign_that_counts_is_not_the_same(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@given(st.text(max_size=60), st.text(max_size=60))
def test_comparisons_are_symmetric_and_bounded(one: str, other: str) -> None:
    a, b = Claim(one), Claim(other)
    assert 0 <= likeness(a, b) == likeness(b, a) <= 1
    assert contradicts(a, b) == contradicts(b, a)
    assert a.agrees_with(a)
    assert not contradicts(a, a)
