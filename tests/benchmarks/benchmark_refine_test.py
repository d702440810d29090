# -*- coding: utf-8 -*-
"""Thousands of memories condensed, stopped half-way and resumed: what `benchmarks.refine --scale` measures."""

from pathlib import Path

import pytest

from benchmarks.refine._scale import scaled, stand_ins

_MANY = 3_000
_ABOVE = 400 * 2**20
"""Bytes: mostly dictionaries and modules that are loaded at the first use, however many memories there are."""


@pytest.mark.slow
def test_a_run_over_thousands_streams_and_can_be_stopped_and_resumed(tmp_path: Path) -> None:
    found = scaled(_MANY, tmp_path)
    assert found.faults == []
    assert 0 < found.refined_half < found.refined
    assert found.sources == _MANY
    assert (found.idle.groups, found.idle.reports) == (0, 0)
    for part in (found.stopped, found.resumed):
        assert part.reports > 2
        assert part.peak - part.base < _ABOVE


def test_stand_ins_are_the_same_each_time_and_of_several_users_and_sessions() -> None:
    nodes = list(stand_ins(500))
    assert [node.key for node in nodes] == [node.key for node in stand_ins(500)]
    assert len({node.key for node in nodes}) == 500
    assert len({node.owner for node in nodes}) > 5
    assert len({node.ref_memory_id for node in nodes}) > 5
