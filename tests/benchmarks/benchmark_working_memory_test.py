# -*- coding: utf-8 -*-
"""The benchmark of working memory runs, its table says what was measured, and a peer that is absent is said so."""

import json
import sys

import pytest

from benchmarks.working_memory import __main__ as command
from benchmarks.working_memory._rounds import peer_fault
from benchmarks.working_memory._table import medians, slower, table


@pytest.mark.slow
def test_a_quick_run_without_a_peer(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("REME_PEER_PYTHON", raising=False)
    assert command.main(["--quick", "--rounds", "1", "--json", str(tmp_path / "figures.json")]) == 0
    printed = capsys.readouterr().out
    assert "ReMe was not measured: no interpreter was given" in printed
    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    (figures,) = json.loads((tmp_path / "figures.json").read_text("utf-8"))["rounds"]["ours"]
    assert len(rows) - 1 == len(figures["figures"])  # each figure has its row, below the head
    assert all(value > 0 for name, value in figures["figures"].items() if name not in ("rss_import", "stall"))
    assert all(row.endswith("| - | - |") for row in rows[1:])


@pytest.mark.parametrize(
    ("python", "fault"),
    [
        (None, "no interpreter was given"),
        ("", "no interpreter was given"),
        ("no-such-python", "is no interpreter"),
        (sys.executable, "has no reme-ai"),
    ],
)
def test_a_peer_that_cannot_be_measured_is_named(python, fault):
    assert fault in (peer_fault(python) or "")


SIZES = {"add": 20, "results": [4, 8_000]}


def test_the_table_has_medians_and_ratios():
    ours = medians([{"figures": {"import": each, "idle_20": 0.001, "rss_peak": 2**21}} for each in (3.0, 1.0, 2.0)])
    peer = {"import": 4.0, "idle_20": 0.0005, "rss_peak": 2**22}
    lines = table(ours, peer, SIZES).splitlines()
    assert lines[2:] == [
        "| import, over AgentScope's own | 2.00 s | 4.00 s | 0.50 |",
        "| idle hook of an agent, 20 messages | 1 ms | 0.5 ms | 2.00 |",
        "| most memory used in the run | 2 MB | 4 MB | 0.50 |",
    ]
    assert slower(ours, peer) == ["idle_20"]


def test_without_a_peer_nothing_is_compared():
    ours = {"import": 1.0}
    assert table(ours, {}, SIZES).splitlines()[2] == "| import, over AgentScope's own | 1.00 s | - | - |"
    assert slower(ours, {}) == []
    assert medians([]) == {}
