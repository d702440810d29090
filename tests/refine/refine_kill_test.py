# -*- coding: utf-8 -*-
"""`kill -9` in the middle of a refinement run: the old state or the new one is there, and the next run goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from _refine_world import ALICE, CHAT, NOW, active, bank_in, chat, refiner_of

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._refined import is_refined, source_keys

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="it takes SIGKILL")]

LIFE = """
import asyncio, os, signal, sys
from pathlib import Path
from _refine_world import bank_in, refiner_of

async def main(folder, die_at, before):
    async with bank_in(Path(folder)) as bank:
        writes = 0
        def counted(write):
            async def call(*args, **options):
                nonlocal writes
                writes += 1
                if writes == die_at and before:
                    os.kill(os.getpid(), signal.SIGKILL)
                answer = await write(*args, **options)
                if writes == die_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return answer
            return call
        for store in (bank.store, bank.ledger):
            store.write, store.patch = counted(store.write), counted(store.patch)
        await refiner_of(bank).run()

asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "before"))
"""


def nodes_of_three_sessions() -> list[MemoryNode]:
    return [
        node
        for day in range(3)
        for node in chat([f"第{day}天：{text}" for text in CHAT], session=f"s{day}", start=NOW + timedelta(days=day))
    ]


async def check(folder: Path, nodes: list[MemoryNode]) -> int:
    """Each memory is found, or stands behind exactly one that is; how many are refined."""
    async with bank_in(folder) as bank:
        found = await active(bank)
        refined = [node for node in found if is_refined(node)]
        behind = [key for node in refined for key in source_keys(node)]
        shown = [node.key for node in found if not is_refined(node)]
        assert sorted(behind + shown) == sorted(node.key for node in nodes)
        assert len(await bank.store.get(behind)) == len(behind)
        return len(refined)


def die(folder: Path, at: int, when: str) -> int:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), str(here.parent.parent), os.environ.get("PYTHONPATH", "")])
    life = [sys.executable, "-c", LIFE, str(folder), str(at), when]
    return subprocess.run(life, env={**os.environ, "PYTHONPATH": path}, check=False, timeout=120).returncode


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_write_of_a_run(tmp_path: Path, when: str) -> None:
    async def begin(folder: Path, nodes: list[MemoryNode]) -> None:
        async with bank_in(folder) as bank:
            await bank.add(nodes)

    async def again(folder: Path) -> Any:
        async with bank_in(folder) as bank:
            return await refiner_of(bank).run([ALICE])

    nodes = nodes_of_three_sessions()
    for at in range(1, 7):
        folder = tmp_path / str(at)
        folder.mkdir()
        asyncio.run(begin(folder, nodes))
        status = die(folder, at, when)
        refined = asyncio.run(check(folder, nodes))
        assert status in (0, -9)
        assert asyncio.run(again(folder)).skipped == 0
        assert asyncio.run(check(folder, nodes)) == 3 >= refined
        assert asyncio.run(again(folder)).groups == 0
