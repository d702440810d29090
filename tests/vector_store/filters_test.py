# -*- coding: utf-8 -*-
"""Filters mean the same to every store: what `record.matches` says of each memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _memories import filters, memories
from _store_world import CASES, PLAIN, SPACE, ask, every_store, fresh_name
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode, matches, parse_filters

NODES = st.lists(memories(4), min_size=5, max_size=25, unique_by=lambda node: node.key)


@every_store
def test_filters_mean_what_matches_says(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if reason := case.missing():
        pytest.skip(reason)

    async def compare(nodes: Sequence[MemoryNode], tried: Sequence[Mapping[str, Any]]) -> None:
        async with case.place(tmp_path) as make:
            store = make(fresh_name())
            await store.open(SPACE)
            await store.write(nodes)
            for spec in tried:
                conditions = parse_filters(spec)
                wanted = {node.key for node in nodes if matches(node, conditions)}
                assert {node.key for node in await store.find(conditions)} == wanted, spec
                assert await store.count(conditions) == len(wanted), spec
                hits = await store.search(np.ones(4), 99, conditions)
                with_vector = {node.key for node in nodes if node.vector is not None} & wanted
                assert {hit.node.key for hit in hits} == with_vector, spec
                hits = await store.hybrid_search(ask("likes tea 喝茶"), 99, conditions=conditions, recipe=PLAIN)
                assert {hit.node.key for hit in hits} <= wanted, spec
            await store.drop()

    @settings(max_examples=case.examples or settings().max_examples)
    @given(NODES, st.lists(filters(), min_size=5, max_size=12))
    def law(nodes: Sequence[MemoryNode], tried: Sequence[Mapping[str, Any]]) -> None:
        asyncio.run(compare(nodes, tried))

    law()
