# -*- coding: utf-8 -*-
"""Filters mean the same to every store: what `record.matches` says of each memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _memories import filters, memories
from _store_world import CASES, PLAIN, SPACE, Make, ask, every_store, fresh_name, note, opened, run
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.record import FIELDS, MemoryNode, matches, parse_filters

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


@every_store
def test_every_operator_on_every_field(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write(SIX)
        tried = list(every_filter())
        for spec in tried[:: 4 if CASES[name].examples else 1]:  # fewer where a store is slow
            conditions = parse_filters(spec)
            wanted = {node.key for node in SIX if matches(node, conditions)}
            assert {node.key for node in await store.find(conditions)} == wanted, spec
            hits = await store.search(np.ones(4), 3, conditions)
            assert len(hits) == min(3, len(wanted)), spec
            assert {hit.node.key for hit in hits} <= wanted, spec
        await store.drop()

    run(name, tmp_path, body)


def six() -> list[MemoryNode]:
    """Memories with something different, and now and then nothing, in every field."""
    start = datetime(2026, 3, 1, tzinfo=timezone.utc)
    nodes = []
    for n in range(6):
        later = start + timedelta(hours=n)
        nodes.append(
            note(
                f"{'Tea 喝茶' if n % 2 else 'coffee'} {n}",
                [1, 0, 0, n],
                ["alice", "Alice", "alice/b", "张三", "", "bob"][n],
                memory_type=["personal", "tool"][n % 2],
                when_to_use=["", "At Noon", "", "开会", "", "noon"][n],
                category=["", "fact", "plan"][n % 3],
                message_time=later if n % 2 else None,
                ref_memory_id=["", "talk-1"][n % 2],
                time_created=later,
                time_modified=later + timedelta(days=n),
                author=["", "Ada", "ada", "用户"][n % 4],
                score=n / 10,
                importance=n / 5,
                last_accessed=later if n > 3 else None,
                access_count=n,
                tags=(("a", "b"), ("B",), ())[n % 3],
                entities=((), ("张三", "a,b"))[n % 2],
                is_active=n % 2 == 0,
                source_ids=((), ("0123",))[n % 2],
                expires_at=None if n % 3 else later,
                metadata=[
                    {"lang": "zh", "n": 1, "flag": True, "list": ["x", "Y"]},
                    {"lang": "Zhu", "n": 1.5, "flag": False},
                    {"n": "1", "lang": ["zh"]},
                    {"n": True, "lang": ""},
                    {},
                    {"n": -2, "lang": None, "list": [], "flag": 1},
                ][n],
            )
        )
    return nodes


SIX = six()


def every_filter() -> Iterator[dict[str, Any]]:
    """For each field and operator, values that are there and that are not."""
    for field, kind in FIELDS.items():
        held = [getattr(node, field) for node in SIX]
        if kind == "texts":
            held = [each for values in held for each in values]
        yield from ({field: spec} for spec in specs_for(kind, [each for each in held if each not in (None, "")]))
    for field, kind, held in (
        ("lang", "text", ["zh", "Zhu", "en"]),
        ("lang", "number", ["a", "zz"]),
        ("n", "number", [1, 1.5, -2]),
        ("n", "flag", [True, False]),
        ("n", "text", ["1"]),
        ("flag", "flag", [True, False]),
        ("flag", "number", [1, 0]),
        ("list", "texts", ["x", "Y", "y"]),
        ("nothing", "text", ["x"]),
    ):
        yield from ({f"metadata.{field}": spec} for spec in specs_for(kind, held))
    yield {"owner": "personal/alice", "tags": "a", "metadata.n": [0, 2], "content": {"contains": "COFFEE"}}
    yield {"owner": {"any_of": ["personal/alice", "tool/bob"]}, "is_active": True}


def specs_for(kind: str, held: Sequence[Any]) -> Iterator[Any]:
    first, *others = dict.fromkeys(held)
    second = others[0] if others else first
    yield from (None, {"any_of": []}, {"any_of": [first, second]}, first, {"any_of": [second]})
    if kind in ("number", "time"):
        yield from ([None, None], [None, second], [second, None], [first, second], [second, first])
    elif kind in ("text", "texts"):
        yield from ({"contains": part} for part in (first, second.upper(), second[1:]))
