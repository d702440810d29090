# -*- coding: utf-8 -*-
"""Which memories are condensed together."""

import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.message import estimate_tokens
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._clusters import clusters
from agentscope_reme.refine._config import RefinerConfig
from agentscope_reme.refine._grouping import Group, group_memories, member_of

NOON = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)
WAYS = ("two_level", "session", "time", "entity", "cluster")
TOPICS = [
    "Rex 会叫",
    "Rex 喜欢散步",
    "李雷住在上海",
    "去上海出差",
    "nothing special",
    "Meeting with Alice Smith",
    "早上跑步",
]


@st.composite
def memories(draw: st.DrawFn) -> list[MemoryNode]:
    """Memories of two owners, in sessions or not, at any time, some long."""
    count = draw(st.integers(0, 25))
    return [
        MemoryNode(
            f"{draw(st.sampled_from(TOPICS))} {number} " + "词语" * draw(st.sampled_from([0, 1, 5, 60])),
            memory_target=draw(st.sampled_from(["alice", "bob"])),
            ref_memory_id=draw(st.sampled_from(["", "s1", "s2"])),
            message_time=NOON + timedelta(minutes=draw(st.integers(0, 200))),
        )
        for number in range(count)
    ]


def vectors_of(nodes: list[MemoryNode]) -> dict[str, np.ndarray]:
    """A vector for most memories."""
    draw = np.random.default_rng(7)
    return {node.key: draw.normal(size=8).astype(np.float32) for node in nodes if int(node.key, 16) % 5}


@given(memories(), st.sampled_from(WAYS), st.sampled_from([30, 100, 4000]), st.randoms(use_true_random=False))
def test_groups_are_a_partition_whatever_the_order(
    nodes: list[MemoryNode], way: str, limit: int, shuffle: random.Random
) -> None:
    config = RefinerConfig(group_by=way, group_tokens=limit)
    vectors = vectors_of(nodes)
    groups = group_memories(nodes, config, vectors=vectors)
    assert Counter(key for group in groups for key in group.keys) == Counter({node.key for node in nodes})
    for group in groups:
        assert len({member.owner for member in group.members}) == 1
        times = [member.time for member in group.members]
        assert times == sorted(times)
        assert len(group.members) == 1 or group.tokens <= limit
    mixed = list(nodes)
    shuffle.shuffle(mixed)
    again = group_memories(mixed, config, vectors=vectors)
    assert [(group.id, group.label) for group in again] == [(group.id, group.label) for group in groups]


@given(memories(), st.sampled_from(["two_level", "time"]), st.sampled_from([100, 4000]), st.sampled_from([3, 10, 30]))
def test_a_pause_parts_and_nothing_else_but_the_limit(
    nodes: list[MemoryNode], way: str, limit: int, minutes: int
) -> None:
    config = RefinerConfig(group_by=way, group_tokens=limit, window_minutes=minutes)
    groups = group_memories(nodes, config)
    of = {member.key: group for group in groups for member in group.members}
    runs = joined([each for each in nodes if way == "time" or each.ref_memory_id], minutes, way == "two_level")
    for run in runs if way == "time" else [run for run in runs if len(run) > 1]:
        together = {of[node.key].id: of[node.key] for node in run}
        assert {key for group in together.values() for key in group.keys} == {node.key for node in run}
        if sum(estimate_tokens(node.content) for node in run) <= limit:
            assert len(together) == 1


def joined(nodes: list[MemoryNode], minutes: int, by_session: bool) -> list[list[MemoryNode]]:
    """Memories of one owner, and session, each less than a window of time after the one before it."""
    runs: list[list[MemoryNode]] = []
    for node in sorted(nodes, key=lambda each: (each.owner, each.ref_memory_id * by_session, each.message_time)):
        last = runs[-1][-1] if runs else None
        near = last is not None and node.message_time - last.message_time < timedelta(minutes=minutes)
        if near and last.owner == node.owner and (not by_session or last.ref_memory_id == node.ref_memory_id):
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def test_a_window_slides() -> None:
    def labels(*minutes: int) -> list[int]:
        nodes = [
            MemoryNode(f"Said {at}", ref_memory_id="s1", message_time=NOON + timedelta(minutes=at)) for at in minutes
        ]
        return [len(group.members) for group in group_memories(nodes, RefinerConfig())]

    assert labels(0, 29, 31, 33) == [4]
    assert labels(0, 29, 58, 87) == [4]
    assert labels(0, 1, 31, 32) == [2, 2]


@given(memories())
def test_a_session_stays_together(nodes: list[MemoryNode]) -> None:
    groups = group_memories(nodes, RefinerConfig(group_by="session", group_tokens=100_000))
    for group in groups:
        assert len({member.session for member in group.members}) == 1
    of_sessions = [(group.owner, group.members[0].session) for group in groups if group.members[0].session]
    assert len(of_sessions) == len(set(of_sessions))


def test_what_names_the_same_comes_together() -> None:
    nodes = [MemoryNode(text, message_time=NOON + timedelta(days=at)) for at, text in enumerate(TOPICS)]
    texts = {node.key: node.content for node in nodes}
    labels = {group.label: [texts[key] for key in group.keys] for group in group_memories(nodes, RefinerConfig())}
    assert labels["entity rex"] == ["Rex 会叫", "Rex 喜欢散步"]
    assert labels["entity 上海"] == ["李雷住在上海", "去上海出差"]


def test_near_vectors_come_together() -> None:
    draw = np.random.default_rng(3)
    centres = np.eye(4, 16) * 10
    nodes = [MemoryNode(f"text {number} of some length here", message_time=NOON) for number in range(40)]
    vectors = {node.key: centres[at % 4] + draw.normal(size=16) for at, node in enumerate(nodes)}
    size = estimate_tokens(nodes[0].content)
    groups = group_memories(nodes, RefinerConfig(group_by="cluster", group_tokens=11 * size), vectors=vectors)
    assert [len(group.members) for group in groups] == [10] * 4
    numbers = {node.key: at % 4 for at, node in enumerate(nodes)}
    assert all(len({numbers[key] for key in group.keys}) == 1 for group in groups)


@given(st.integers(0, 30), st.integers(1, 10))
def test_clusters_are_the_same_every_time(count: int, number: int) -> None:
    vectors = list(np.random.default_rng(count).normal(size=(count, 6)))
    found = clusters(vectors, number)
    assert found == clusters(vectors, number)
    assert len(found) == count
    assert set(found) == set(range(len(set(found))))
    assert len(set(found)) <= max(1, min(number, count)) or not count


def test_equal_and_zero_vectors_are_no_trouble() -> None:
    assert clusters([np.zeros(4)] * 3, 2) in ([0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1])
    assert clusters([], 3) == []


def test_a_group_is_known_by_its_memories_and_their_state() -> None:
    one, two = (member_of(MemoryNode(text, message_time=NOON)) for text in "ab")
    group = Group((one, two), "x")
    assert group.id == Group((one, two), "y").id
    assert group.id != Group((one,), "x").id
    assert group.id != Group((one, replace(two, modified=NOON)), "x").id


@pytest.mark.parametrize("way", WAYS)
def test_no_memories_no_groups(way: str) -> None:
    assert group_memories([], RefinerConfig(group_by=way)) == []
