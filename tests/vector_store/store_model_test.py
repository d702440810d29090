# -*- coding: utf-8 -*-
"""Every store against a dictionary: whatever is written, changed and deleted, it holds and finds the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _memories import SCORES, filters, memories, metadata, moments, tag_lists
from _store_world import CASES, CUT, FLOOR, PLAIN, SPACE, ask, cosine, every_store, fresh_name
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.record import Condition, MemoryNode, matches, parse_filters
from agentscope_reme.vector_store import StoreHit, VectorStore, in_order

VECTOR = st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any).map(lambda v: np.array(v, dtype=np.float32))
SORT_KEYS = [
    "time_created",
    "message_time",
    "author",
    "importance",
    "content",
    "owner",
    "metadata.n",
    "metadata.lang",
    "key",
]


@dataclass
class World:
    """A store, and the dictionary that it has to agree with."""

    store: VectorStore
    nodes: dict[str, MemoryNode]

    def kept(self, conditions: Sequence[Condition] = ()) -> list[MemoryNode]:
        return [node for node in self.nodes.values() if matches(node, conditions)]

    def pick(self, number: int) -> str:
        """A key, one that is there where there is any."""
        keys = sorted(self.nodes)
        return keys[number % len(keys)] if keys else "0" * 32


Step = Callable[[World], Any]


@st.composite
def writes(draw: st.DrawFn) -> Step:
    insert = draw(st.lists(memories(4), max_size=4))
    chosen = draw(st.lists(st.integers(0, 9), max_size=2))

    async def step(world: World) -> None:
        delete = [world.pick(number) for number in chosen]
        await world.store.write(insert, delete)
        for key in delete:
            world.nodes.pop(key, None)
        world.nodes.update((node.key, node) for node in insert)

    return step


@st.composite
def equal_writes_at_once(draw: st.DrawFn) -> Step:
    node, others = draw(memories(4)), draw(st.lists(memories(4), max_size=3, unique_by=lambda each: each.key))
    others = [each for each in others if each.key != node.key]

    async def step(world: World) -> None:
        await asyncio.gather(*(world.store.write([node, *others[at : at + 1]]) for at in range(3)))
        world.nodes.update((each.key, each) for each in (node, *others))

    return step


@st.composite
def patches(draw: st.DrawFn) -> Step:
    changes = st.fixed_dictionaries(
        {},
        optional={
            "importance": st.sampled_from(SCORES),
            "is_active": st.booleans(),
            "tags": tag_lists.map(tuple),
            "metadata": metadata,
            "message_time": st.none() | moments,
            "author": st.sampled_from(["", "bob"]),
            "access_count": st.integers(0, 5),
        },
    )
    chosen = draw(st.dictionaries(st.integers(0, 9), changes, max_size=3))

    async def step(world: World) -> None:
        by_key = {world.pick(number): change for number, change in chosen.items()}
        there = [key for key in by_key if key in world.nodes]
        assert await world.store.patch(by_key) == len(there)
        world.nodes.update((key, replace(world.nodes[key], **by_key[key])) for key in there)

    return step


@st.composite
def finds(draw: st.DrawFn) -> Step:
    conditions = parse_filters(draw(filters()))
    sort_key, reverse = draw(st.sampled_from(SORT_KEYS)), draw(st.booleans())
    limit = draw(st.none() | st.integers(0, 5))

    async def step(world: World) -> None:
        wanted = in_order(world.kept(conditions), sort_key, reverse)
        found = await world.store.find(conditions, limit=limit, sort_key=sort_key, reverse=reverse)
        assert [node.key for node in found] == [node.key for node in wanted][:limit]
        assert await world.store.count(conditions) == len(wanted)
        for node in found:
            check_same(node, world.nodes[node.key])

    return step


@st.composite
def searches(draw: st.DrawFn) -> Step:
    query, limit = draw(VECTOR), draw(st.integers(1, 12))
    conditions = parse_filters(draw(filters()))

    async def step(world: World) -> None:
        hits = await world.store.search(query, limit, conditions)
        cosines = cosines_of(world.kept(conditions), query)
        best = sorted(cosines.values(), reverse=True)[:limit]
        assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-4)
        check_hits(world, hits, conditions)
        for hit in hits:
            assert hit.score == pytest.approx(cosines[hit.node.key], abs=1e-4)

    return step


@st.composite
def questions(draw: st.DrawFn) -> Step:
    words = draw(st.lists(st.sampled_from(["tea", "likes", "喝茶", "inv-2093", "morning", "zebra", "run"]), max_size=2))
    query, limit = ask(" ".join(words)), draw(st.sampled_from([1, 3, 200]))
    vector, conditions = draw(st.none() | VECTOR), parse_filters(draw(filters()))

    async def step(world: World) -> None:
        hits = await world.store.hybrid_search(query, limit, vector=vector, conditions=conditions, recipe=PLAIN)
        check_hits(world, hits, conditions)
        asked = set(query.tokens)
        kept = world.kept(conditions)
        by_words = {node.key for node in kept if asked & set(CUT.tokens(node.searched_text))}
        cosines = {} if vector is None else cosines_of(kept, vector)
        sure = {key for key, value in cosines.items() if value > FLOOR + 1e-4}
        perhaps = sure | {key for key, value in cosines.items() if value > FLOOR - 1e-4}
        found = {hit.node.key for hit in hits}
        assert len(found) <= limit
        assert not asked or found <= by_words | perhaps
        if asked and limit == 200 and (world.store.offers_keyword_search or vector is None):
            assert found >= by_words | sure
        if world.store.offers_keyword_search:
            held = {node.key for node in await world.store.keyword_search(query, limit, conditions)}
            assert held == by_words if limit == 200 else (held <= by_words and len(held) == min(limit, len(by_words)))

    return step


@st.composite
def reopens(draw: st.DrawFn) -> Step:
    without_vectors = draw(st.booleans())

    async def step(world: World) -> None:
        await world.store.close()
        if without_vectors:
            await world.store.open(None)
            assert await world.store.count() == len(world.nodes)
            await world.store.close()
        await world.store.open(SPACE)

    return step


STEPS = st.lists(
    st.one_of(
        writes(), writes(), patches(), finds(), searches(), searches(), questions(), equal_writes_at_once(), reopens()
    ),
    min_size=3,
    max_size=12,
)


@every_store
def test_a_store_agrees_with_a_dictionary(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if reason := case.missing():
        pytest.skip(reason)

    async def history(steps: Sequence[Step]) -> None:
        async with case.place(tmp_path) as make:
            world = World(make(fresh_name()), {})
            await world.store.open(SPACE)
            try:
                for step in steps:
                    await step(world)
                await check_everything(world)
            finally:
                await world.store.close()

    @settings(max_examples=case.examples or settings().max_examples)
    @given(STEPS)
    def law(steps: Sequence[Step]) -> None:
        asyncio.run(history(steps))

    law()


async def check_everything(world: World) -> None:
    found = await world.store.get([*world.nodes, "0" * 32], with_vectors=True)
    assert found.keys() == world.nodes.keys()
    for key, node in world.nodes.items():
        check_same(found[key], node)
        assert (found[key].vector is None) is (node.vector is None)
        if node.vector is not None:
            assert cosine(found[key].vector, node.vector) == pytest.approx(1, abs=1e-4)  # type: ignore[arg-type]
    pages = [node.key async for page in world.store.pages(size=3) for node in page]
    assert pages == sorted(world.nodes)


def check_same(one: MemoryNode, other: MemoryNode) -> None:
    for each in fields(MemoryNode):
        if each.name != "vector":
            assert getattr(one, each.name) == getattr(other, each.name), each.name


def check_hits(world: World, hits: Sequence[StoreHit], conditions: Sequence[Condition]) -> None:
    keys = [hit.node.key for hit in hits]
    assert len(set(keys)) == len(keys)
    assert [hit.order for hit in hits] == sorted((hit.order for hit in hits), reverse=True)
    for hit in hits:
        assert matches(world.nodes[hit.node.key], conditions)
        check_same(hit.node, world.nodes[hit.node.key])


def cosines_of(nodes: Sequence[MemoryNode], query: np.ndarray) -> Mapping[str, float]:
    return {node.key: cosine(node.vector, query) for node in nodes if node.vector is not None}
