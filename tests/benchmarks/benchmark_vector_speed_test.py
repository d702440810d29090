# -*- coding: utf-8 -*-
"""The benchmark of vector stores runs, its answers are right, and its table says what was measured and what was not."""

import asyncio
import json
import sys

import numpy as np
import pytest

from benchmarks.vector_speed import __main__ as command
from benchmarks.vector_speed._data import USERS, write_memories
from benchmarks.vector_speed._processes import PEERS, faults
from benchmarks.vector_speed._table import aims, slower, table
from benchmarks.vector_speed.side._clock import over, percentile


@pytest.mark.slow
def test_a_quick_run(capsys, tmp_path, monkeypatch):
    for name in ("REME_PEER_PYTHON", "MEM0_PEER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "figures.json"
    assert command.main(["--quick", "--sizes", "60", "--dimensions", "16", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert all(f"{side} was not measured: no interpreter was given" in printed for side in PEERS)
    sides = json.loads(file.read_text("utf-8"))["60x16"]
    assert set(sides) == {"ours"}
    figures = sides["ours"]["figures"]
    assert figures["recall"] == figures["recall_user"] == 1
    assert figures["search_count"] == figures["user_count"] == 10
    names = ("add", "add_one", "reopen", "search_p50", "user_p50", "both_p50", "list_p50", "list_all", "disk")
    assert all(figures[name] > 0 for name in names)
    assert "| recall@10 | 1.000 |" in printed


def test_sides_that_cannot_be_measured_are_named():
    found = faults({"reme": None, "chroma": "no-such-python", "mem0": sys.executable})
    assert "no interpreter was given" in found["reme"]
    assert "is no interpreter" in found["chroma"]
    assert "has no mem0" in found["mem0"]


def test_memories_are_the_same_each_time_and_their_answers_exact(tmp_path):
    for name in "ab":
        write_memories(tmp_path / name, 300, 24, 5)
    names = ["memories.json", "questions.json", "vectors.npy", "questions.npy"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    memories = json.loads((tmp_path / "a" / "memories.json").read_text("utf-8"))
    questions = json.loads((tmp_path / "a" / "questions.json").read_text("utf-8"))
    vectors, asked = (np.load(tmp_path / "a" / name).astype(float) for name in names[2:])
    assert len({text for text, _ in memories}) == 300
    assert {user for _, user in memories} <= set(range(USERS))
    cosines = (asked @ vectors.T) / np.linalg.norm(asked, axis=1)[:, None] / np.linalg.norm(vectors, axis=1)
    for (_, user, best, mine), row in zip(questions, cosines, strict=True):
        assert best == np.argsort(-row)[:10].tolist()
        of_user = [number for number in np.argsort(-row).tolist() if memories[number][1] == user]
        assert mine == of_user[:10]
    units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    assert 0.2 < np.median(units @ units.T) < 0.5  # as of embedding models, which know no opposites
    assert np.median(cosines.max(axis=1)) > 0.8


SIDES = {
    "ours": {"figures": {"add": 3_000.0, "search_p50": 0.004, "recall": 0.995, "rss": 2**21, "reopen": 1.5}},
    "chroma": {"figures": {"add": 1_000.0, "search_p50": 0.002, "recall": 0.9, "rss": 2**20}},
    "reme": {"fault": "the side 'reme' failed"},
}


def test_the_table_has_a_column_for_each_side_that_was_measured_and_ratios():
    assert table(SIDES).splitlines() == [
        "| step | ours | chroma |",
        "|---|---|---|",
        "| added a second, 1,000 at once, until they are on disk | 3,000 | 1,000 (3) |",
        "| reopen: open, first search | 1.50 s | - |",
        "| search p50 | 4 ms | 2 ms (2) |",
        "| recall@10 | 0.995 | 0.900 |",
        "| memory, searching | 2 MB | 1 MB (2) |",
    ]
    assert slower(SIDES) == ["search p50 (chroma)", "memory, searching (chroma)"]


def test_what_was_aimed_at_is_judged_at_its_size():
    assert list(aims(10_000, SIDES)) == [
        "reached: search p50 4 ms, aim 10 ms",
        "MISSED: reopen: open, first search 1.50 s, aim 1.00 s",
        "reached: recall@10 0.995, aim 0.970",
    ]
    assert list(aims(1_000, SIDES)) == []


def test_a_budget_ends_a_series():
    async def work(item):
        await asyncio.sleep(0.003)
        return item

    times, results = asyncio.run(over(range(50), work, 0.001))
    assert results == [0, 1, 2, 3, 4]
    assert percentile(times, 0.5) >= 0.002
