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
from _bank_world import bank_of
from _store_world import CASES, Make, every_store, fresh_name
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import AmbiguousMemoryId, MemoryNotFound
from agentscope_reme.record import MemoryNode, memory_id_of
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever, Owner

OWNERS = [Owner("personal", "alice"), Owner("personal", "a/b"), Owner("personal", "a"), Owner("procedural", "alice")]
TEXTS = [
    "喜欢喝绿茶，不喝咖啡",
    "The staging server listens on port 8443.",
    "每周三晚上打羽毛球",
    "Her sister lives in Toronto.",
    "对花生过敏",
]

Key = tuple[Owner, str]


@dataclass
class Model:
    """What there ought to be.

    Args:
        live (`dict`): by owner and content, whether a memory is active, and its importance.
        became (`dict`): what took the place of a memory that is not there any more; None for one that was deleted.
    """

    live: dict[Key, tuple[bool, float]] = field(default_factory=dict)
    became: dict[Key, str | None] = field(default_factory=dict)

    def resolved(self, owner: Owner, content: str) -> str | None:
        """The content of the memory that an id stands for; None for one that was deleted.

        Raises:
            `KeyError`: there never was one.
        """
        now: str | None = content
        while now is not None and (owner, now) not in self.live:
            now = self.became[owner, now]
        return now

    def of(self, owner: Owner, *, active: bool) -> set[str]:
        return {text for (whose, text), (is_active, _) in self.live.items() if whose == owner and is_active >= active}


@dataclass
class World:
    """A bank, what it stands on, and what it has to agree with."""

    make: Callable[[], MemoryBank]
    bank: MemoryBank
    model: Model = field(default_factory=Model)


Step = Callable[[World], Any]
owners = st.sampled_from(OWNERS)
texts = st.sampled_from(TEXTS)


def node(owner: Owner, text: str, **fields: Any) -> MemoryNode:
    return MemoryNode(text, owner.memory_type, owner.target, **fields)


@st.composite
def adds(draw: st.DrawFn) -> Step:
    owner, contents, at_once = draw(owners), draw(st.lists(texts, min_size=1, max_size=3)), draw(st.integers(1, 3))

    async def step(world: World) -> None:
        nodes = [node(owner, text) for text in contents]
        for added in await asyncio.gather(*(world.bank.add(nodes) for _ in range(at_once))):
            assert [each.key for each in added] == [each.key for each in nodes]
        for text in contents:
            _, importance = world.model.live.get((owner, text), (True, 0.5))
            world.model.live[owner, text] = (True, importance)

    return step


@st.composite
def updates(draw: st.DrawFn) -> Step:
    owner, old, new, importance = draw(owners), draw(texts), draw(texts), draw(st.sampled_from([None, 0.2, 0.9]))

    async def step(world: World) -> None:
        model, fields = world.model, {} if importance is None else {"importance": importance}
        try:
            found = model.resolved(owner, old)
        except KeyError:
            found = None
        if found is None:
            with pytest.raises(MemoryNotFound):
                await world.bank.update(memory_id_of(old), owner, content=new, **fields)
            return
        updated = await world.bank.update(memory_id_of(old), owner, content=new, **fields)
        assert (updated.content, updated.memory_id) == (new, memory_id_of(new))
        was_active, had = model.live.pop((owner, found))
        if found != new:
            model.became[owner, found] = new
            was_active, had = (True, model.live[owner, new][1]) if (owner, new) in model.live else (was_active, had)
        model.live[owner, new] = (was_active, had if importance is None else importance)

    return step


@st.composite
def supersedes(draw: st.DrawFn) -> Step:
    owner, old, new = draw(owners), draw(texts), draw(texts)

    async def step(world: World) -> None:
        model = world.model
        await world.bank.supersede(node(owner, old), node(owner, new))
        try:
            found = model.resolved(owner, old)
        except KeyError:
            found = None
        importance = model.live.get((owner, new), (True, 0.5))[1]
        if found is not None and found != new:
            model.live[owner, found] = (False, model.live[owner, found][1])
        model.live[owner, new] = (True, importance)

    return step


@st.composite
def deletes(draw: st.DrawFn) -> Step:
    owner, text = draw(owners), draw(texts)

    async def step(world: World) -> None:
        try:
            found = world.model.resolved(owner, text)
        except KeyError:
            with pytest.raises(MemoryNotFound):
                await world.bank.delete(memory_id_of(text), owner)
            return
        assert await world.bank.delete(memory_id_of(text), owner) is (found is not None)
        if found is not None:
            del world.model.live[owner, found]
            world.model.became[owner, found] = None

    return step


@st.composite
def forgets(draw: st.DrawFn) -> Step:
    owner = draw(owners)

    async def step(world: World) -> None:
        mine = world.model.of(owner, active=False)
        assert await world.bank.delete_all([owner]) == len(mine)
        for held in (world.model.live, world.model.became):
            for key in [key for key in held if key[0] == owner]:
                del held[key]

    return step


async def reopened(world: World) -> None:
    """The process ends, and another one begins."""
    await world.bank.close()
    world.bank = world.make()
    await world.bank.open()


async def agrees(world: World) -> None:
    """The bank holds, names and finds what the dictionary does."""
    for owner in OWNERS:
        assert {each.content for each in await world.bank.list([owner])} == world.model.of(owner, active=True)
        every = await world.bank.list([owner], include_inactive=True)
        assert {each.content: (each.is_active, each.importance) for each in every} == {
            text: state for (whose, text), state in world.model.live.items() if whose == owner
        }
        for text in TEXTS:
            await check_id(world, owner, text)
    for text in TEXTS:
        await check_bare_id(world, text)
        await check_search(world, text)


async def check_id(world: World, owner: Owner, text: str) -> None:
    try:
        wanted = world.model.resolved(owner, text)
    except KeyError:
        wanted = None
    if wanted is None:
        with pytest.raises(MemoryNotFound):
            await world.bank.get(memory_id_of(text), owner)
    else:
        assert (await world.bank.get(memory_id_of(text), owner)).content == wanted


async def check_bare_id(world: World, text: str) -> None:
    named = set()
    for owner in OWNERS:
        try:
            wanted = world.model.resolved(owner, text)
        except KeyError:
            continue
        named |= {(owner, wanted)} if wanted is not None else set()
    if len(named) == 1:
        [(owner, wanted)] = named
        found = await world.bank.get(memory_id_of(text))
        assert (found.owner, found.content) == (owner.key, wanted)
    else:
        with pytest.raises(AmbiguousMemoryId if named else MemoryNotFound):
            await world.bank.get(memory_id_of(text))


async def check_search(world: World, text: str) -> None:
    retriever = MemoryRetriever(world.bank)
    for owner in OWNERS:
        active = world.model.of(owner, active=True)
        found = await retriever.retrieve(text, [owner], record_access=False)
        assert {each.owner for each in found} <= {owner.key}
        assert {each.content for each in found} <= active
        assert [each.content for each in found[:1]] == ([text] if text in active else []) or text not in active


async def live(make: Make, steps: list[Step]) -> None:
    collection = fresh_name()

    def bank() -> MemoryBank:
        return bank_of(make(collection))

    world = World(bank, bank())
    await world.bank.open()
    try:
        for step in steps:
            await step(world)
        await reopened(world)
        await agrees(world)
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
