# -*- coding: utf-8 -*-
"""That memories were found is on record: how often, when, by whom; however often, the record stays small."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from _machine import allowed
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import VectorStoreError
from agentscope_reme.record import MemoryNode
from agentscope_reme.vector_memory import AuditRow, MemoryBank, MemoryRetriever, Owner
from agentscope_reme.vector_store import LocalVectorStore

ALICE, BOB = Owner("personal", "alice"), Owner("personal", "bob")
NOW = datetime(2026, 3, 1, 23, tzinfo=timezone.utc)


class World:
    """A bank whose clock is set by hand."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW
        self.bank = MemoryBank(LocalVectorStore(folder / "memories.db"), clock=lambda: self.now)

    async def accesses(self, node: MemoryNode) -> list[AuditRow]:
        history = await self.bank.history(node.memory_id, Owner(node.memory_type, node.memory_target))
        return [row for row in history if row.action == "accessed"]

    async def count(self, node: MemoryNode) -> int:
        return (await self.bank.store.get([node.key]))[node.key].access_count


def memory(text: str, owner: Owner = ALICE) -> MemoryNode:
    return MemoryNode(text, owner.memory_type, owner.target)


NODES = [memory("tea"), memory("coffee"), memory("tea", BOB)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sets(st.integers(0, 2), min_size=1), st.sampled_from(["retriever", "recaller"])),
        st.just("flush"),
        st.integers(1, 12),
        st.just("again"),
    ),
    max_size=25,
)


@given(STEPS)
def test_every_access_is_on_record_with_who_and_when_in_one_row_a_day(steps: list) -> None:
    async def main(folder: Path) -> None:
        world = World(folder)
        seen: dict[tuple[int, str], list[datetime]] = {}
        async with world.bank as bank:
            await bank.add(NODES)
            for step in steps:
                if step == "flush":
                    await bank.history(NODES[0].memory_id, ALICE)
                elif step == "again":
                    await bank.close()
                    await bank.open()
                elif isinstance(step, int):
                    world.now += timedelta(hours=step)
                else:
                    bank.found([NODES[at] for at in step[0]], actor=step[1], cause="found")
                    for at in step[0]:
                        seen.setdefault((at, step[1]), []).append(world.now)
            for at, node in enumerate(NODES):
                rows = await world.accesses(node)
                whose = {actor: times for (number, actor), times in seen.items() if number == at}
                assert sum(row.details["times"] for row in rows) == sum(map(len, whose.values()))
                assert await world.count(node) == sum(map(len, whose.values()))
                assert all(row.memory_ids == (node.memory_id,) and row.cause == "found" for row in rows)
                for actor, times in whose.items():
                    mine = [row for row in rows if row.actor == actor]
                    assert len(mine) <= len({time.date() for time in times})
                    assert {row.time for row in mine} <= set(times)
                    assert max(row.time for row in mine) == max(times)

    with TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))


def test_a_search_says_what_it_is_and_what_is_not_to_be_noted_is_not(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            await bank.add(NODES)
            retriever = MemoryRetriever(bank)
            await retriever.retrieve("tea", [ALICE], record_access=False)
            assert await world.accesses(NODES[0]) == []
            for _ in range(4):
                await retriever.retrieve("tea", [ALICE])
            [row] = await world.accesses(NODES[0])
            assert (row.actor, row.cause, row.details["times"]) == ("retriever", "found by a search", 4)

    asyncio.run(main())


def test_it_goes_with_a_memory_that_is_erased_and_with_its_owner(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            nodes = await bank.add(NODES)
            for _ in range(2):
                bank.found(nodes)
                await world.accesses(nodes[0])
                world.now += timedelta(days=1)
            await bank.erase([nodes[0]])
            held = [row for row in await bank.ledger.find() if row.category == "accessed"]
            assert {row.source_ids for row in held} == {(nodes[1].key,), (nodes[2].key,)}
            await bank.delete_all([BOB])
            assert BOB.key not in {row.memory_target for row in await bank.ledger.find()}

    asyncio.run(main())


def test_where_the_store_refuses_nothing_is_on_record_that_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> int:
        raise VectorStoreError("the disk is full")

    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            await bank.add(NODES)
            bank.found(NODES[:1])
            assert [row.details["times"] for row in await world.accesses(NODES[0])] == [1]
            with monkeypatch.context() as patched:
                patched.setattr(bank.store, "patch", refuse)
                bank.found(NODES[:2])
                assert [row.details["times"] for row in await world.accesses(NODES[0])] == [1]
                assert await world.accesses(NODES[1]) == []
            assert await world.count(NODES[0]) == 1

    asyncio.run(main())


def test_a_hundred_thousand_recalls_leave_a_row_for_each_memory(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            nodes = await bank.add([memory(f"tea number {number}") for number in range(20)])
            began = asyncio.get_running_loop().time()
            for _ in range(10):
                for _ in range(10_000):
                    bank.found(nodes[:1])
                await world.accesses(nodes[0])
            spent = asyncio.get_running_loop().time() - began
            assert spent < allowed(3), "noting takes some microseconds"
            assert [row.details["times"] for row in await world.accesses(nodes[0])] == [100_000]
            assert len([row for row in await bank.ledger.find() if row.category == "accessed"]) == 1

    asyncio.run(main())
