# -*- coding: utf-8 -*-
"""The file of memories that were let go: what is put in comes out, whatever else shares the file."""

from __future__ import annotations

import asyncio
import multiprocessing
import stat
from datetime import datetime, timezone
from pathlib import Path

from _memories import memories
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._cold_storage import ColdMemory, ColdStorage
from agentscope_reme.vector_memory import Owner

NOW = datetime(2026, 3, 2, tzinfo=timezone.utc)
ALICE, BOB = Owner("personal", "alice"), Owner("personal", "bob")


def cold(content: str, target: str = "alice") -> ColdMemory:
    return ColdMemory(MemoryNode(content, memory_target=target), NOW, "unused")


@given(st.lists(st.tuples(st.sampled_from(["put", "remove", "owner"]), st.lists(memories(), max_size=3)), max_size=6))
def test_it_holds_the_last_of_what_was_put_and_not_removed(tmp_path_factory, steps):
    async def main() -> None:
        storage = ColdStorage(tmp_path_factory.mktemp("cold") / "x" / "memories.jsonl")
        model: dict[str, MemoryNode] = {}
        for action, nodes in steps:
            if action == "put":
                await storage.put([ColdMemory(node, NOW) for node in nodes])
                model |= {node.key: node for node in nodes}
            elif action == "remove":
                await storage.remove([node.key for node in nodes])
                model = {key: node for key, node in model.items() if node not in nodes}
            else:
                owners = {Owner(node.memory_type, node.memory_target) for node in nodes}
                await storage.remove(owners=owners)
                model = {key: node for key, node in model.items() if node.owner not in {each.key for each in owners}}
        held = {each.node.key: each.node.to_dict() for each in await storage.all()}
        assert held == {key: node.to_dict() for key, node in model.items()}
        for node in model.values():
            owner = Owner(node.memory_type, node.memory_target)
            assert [each.node.key for each in await storage.find(node.memory_id, owner)] == [node.key]
            assert node.key in {each.node.key for each in await storage.all([owner])}

    asyncio.run(main())


def test_a_line_that_cannot_be_read_is_passed_over_and_stays(tmp_path: Path, caplog):
    async def main() -> None:
        storage = ColdStorage(tmp_path / "memories.jsonl")
        await storage.put([cold("tea"), cold("coffee", "bob")])
        with open(storage.path, "ab") as file:
            file.write(b'{"memory": {"content": ""}, "time": "2026"}\nno json\n{"torn')
        assert [each.node.content for each in await storage.all()] == ["tea", "coffee"]
        assert await storage.remove(owners=[ALICE]) == 1
        await storage.put([cold("milk", "bob")])
        assert b"no json" in storage.path.read_bytes()
        assert [each.node.content for each in await storage.all([BOB])] == ["coffee", "milk"]
        assert await storage.remove(owners=None) == 2
        assert await storage.all() == []

    asyncio.run(main())


def test_it_is_for_its_owner_alone_and_there_need_not_be_one(tmp_path: Path):
    async def main() -> None:
        storage = ColdStorage(tmp_path / "cold" / "memories.jsonl")
        assert (await storage.all(), await storage.find("0" * 16), await storage.remove(owners=None)) == ([], [], 0)
        assert not storage.path.exists()
        await storage.put([cold("tea")])
        assert stat.S_IMODE(storage.path.stat().st_mode) == 0o600
        await storage.remove([cold("tea").node.key])
        assert stat.S_IMODE(storage.path.stat().st_mode) == 0o600
        assert storage.path.read_bytes() == b""

    asyncio.run(main())


def _put_and_remove(path: str, name: str) -> None:
    async def main() -> None:
        storage = ColdStorage(path)
        for number in range(20):
            await storage.put([cold(f"{name} {number}")])
            if number % 2:
                await storage.remove([cold(f"{name} {number}").node.key])

    asyncio.run(main())


def test_several_processes_lose_nothing(tmp_path: Path):
    path = tmp_path / "memories.jsonl"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_put_and_remove, args=(str(path), name)) for name in ("a", "b")]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    held = sorted(each.node.content for each in asyncio.run(ColdStorage(path).all()))
    assert held == sorted(f"{name} {number}" for name in "ab" for number in range(0, 20, 2))
