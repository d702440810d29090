# -*- coding: utf-8 -*-
"""A bank against a dictionary: whatever is added, changed, superseded and deleted, by whom and however often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _bank_model import OWNERS, TEXTS, Model, agrees, node
from _bank_world import bank_of
from _store_world import CASES, Make, every_store, fresh_name
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import MemoryNotFound
from agentscope_reme.record import memory_id_of
from agentscope_reme.vector_memory import MemoryBank


@dataclass
class World:
    """A bank, what it stands on, and what it has to agree with."""

    make: Callable[[], MemoryBank]
    bank: MemoryBank
    model: Model = field(default_factory=Model)


Step = Callable[[World], Any]
owners = st.sampled_from(OWNERS)
texts = st.sampled_from(TEXTS)


@st.composite
def adds(draw: st.DrawFn) -> Step:
    owner, contents, at_once = draw(owners), draw(st.lists(texts, min_size=1, max_size=3)), draw(st.integers(1, 3))

    async def step(world: World) -> None:
        nodes = [node(owner, text) for text in contents]
        for added in await asyncio.gather(*(world.bank.add(nodes) for _ in range(at_once))):
            assert [each.key for each in added] == [each.key for each in nodes]
        for text in contents:
            world.model.add(owner, text)

    return step


@st.composite
def updates(draw: st.DrawFn) -> Step:
    owner, old, new, importance = draw(owners), draw(texts), draw(texts), draw(st.sampled_from([None, 0.2, 0.9]))

    async def step(world: World) -> None:
        fields = {} if importance is None else {"importance": importance}
        if world.model.update(owner, old, new, importance):
            updated = await world.bank.update(memory_id_of(old), owner, content=new, **fields)
            assert (updated.content, updated.memory_id) == (new, memory_id_of(new))
        else:
            with pytest.raises(MemoryNotFound):
                await world.bank.update(memory_id_of(old), owner, content=new, **fields)

    return step


@st.composite
def supersedes(draw: st.DrawFn) -> Step:
    owner, old, new = draw(owners), draw(texts), draw(texts)

    async def step(world: World) -> None:
        await world.bank.supersede(node(owner, old), node(owner, new))
        world.model.supersede(owner, old, new)

    return step


@st.composite
def deletes(draw: st.DrawFn) -> Step:
    owner, text = draw(owners), draw(texts)

    async def step(world: World) -> None:
        try:
            deleted = world.model.delete(owner, text)
        except KeyError:
            with pytest.raises(MemoryNotFound):
                await world.bank.delete(memory_id_of(text), owner)
        else:
            assert await world.bank.delete(memory_id_of(text), owner) is deleted

    return step


@st.composite
def forgets(draw: st.DrawFn) -> Step:
    owner = draw(owners)

    async def step(world: World) -> None:
        assert await world.bank.delete_all([owner]) == world.model.delete_all(owner)

    return step


async def reopened(world: World) -> None:
    """The process ends, and another one begins."""
    await world.bank.close()
    world.bank = world.make()
    await world.bank.open()


async def live(make: Make, steps: list[Step]) -> None:
    """A life of a bank, which must agree with the dictionary at its end."""
    collection = fresh_name()

    def bank() -> MemoryBank:
        return bank_of(make(collection))

    world = World(bank, bank())
    await world.bank.open()
    try:
        for step in steps:
            await step(world)
        await reopened(world)
        await agrees(world.bank, world.model)
    finally:
        await world.bank.close()


STEPS = st.lists(
    st.one_of(adds(), adds(), updates(), updates(), supersedes(), deletes(), forgets(), st.just(reopened)), max_size=14
)


@every_store
def test_a_bank_agrees_with_a_dictionary(name: str) -> None:
    case = CASES[name]
    if reason := case.missing():
        pytest.skip(reason)
    every = settings.default.max_examples

    @settings(max_examples=case.examples or (every if name == "plain" else max(5, every // 3)))
    @given(STEPS)
    def holds(steps: list[Step]) -> None:
        async def inside() -> None:
            with TemporaryDirectory() as folder:
                async with case.place(Path(folder)) as make:
                    await live(make, steps)

        asyncio.run(inside())

    holds()
