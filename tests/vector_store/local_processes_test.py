# -*- coding: utf-8 -*-
"""Several processes over one file of memories, some of them killed in the middle."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from _store_world import SPACE, ask, note, texts

from agentscope_reme.record import MemoryNode, parse_filters
from agentscope_reme.vector_store import LocalVectorStore, VectorSpace

ROOT = Path(__file__).parents[2]
WRITER = """
import asyncio, itertools, sys
sys.path.insert(0, {root!r})
import numpy as np
from agentscope_reme.record import MemoryNode
from agentscope_reme.vector_store import LocalVectorStore, VectorSpace

def both(turn):
    mine = dict(memory_target="writer {writer}", tags=("t",))
    return [
        MemoryNode(f"{{side}} {{turn}}", vector=np.array([*place, 0, turn], dtype=np.float32), **mine)
        for side, place in (("left", (1, 0)), ("right", (0, 1)))
    ]

async def work():
    store = LocalVectorStore({path!r})
    await store.open(VectorSpace("test-model", 4))
    for turn in itertools.count({start}):
        old = [node.key for node in both(turn - 3)]
        await store.write(both(turn), old)
        await store.patch({{node.key: {{"access_count": turn}} for node in both(turn)}})
        print(turn, flush=True)
        if turn % 7 == {writer}:
            await store.search(np.ones(4), 5)

asyncio.run(work())
"""
REINDEXER = """
import asyncio, sys
sys.path.insert(0, {root!r})
import numpy as np
from agentscope_reme.vector_store import LocalVectorStore, VectorSpace

async def embed(texts):
    print(len(texts), flush=True)
    await asyncio.sleep(0.02)
    return [np.array([len(text), 1], dtype=np.float32) for text in texts]

asyncio.run(LocalVectorStore({path!r}).reindex(VectorSpace("new", 2), embed))
"""


def start(code: str, **values: object) -> subprocess.Popen[str]:
    """Another process."""
    command = [sys.executable, "-c", code.format(root=str(ROOT), **values)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def kill(process: subprocess.Popen[str]) -> list[str]:
    """Kill it, and say what it printed."""
    os.kill(process.pid, signal.SIGKILL)
    return process.communicate()[0].split()


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_writes_and_all_that_it_told_of(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    chance = random.Random(5)
    first, last = [1, 1], [0, 0]
    for _ in range(2):
        writers = [start(WRITER, path=str(path), writer=n, start=first[n]) for n in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline()
        time.sleep(chance.uniform(0.01, 0.3))
        for number, writer in enumerate(writers):
            last[number] = max(first[number], *map(int, kill(writer) or ["0"]))
            asyncio.run(check_turns(path, number, last[number]))
        first = [turn + 1 for turn in last]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for table in ("facet", "vector"):
        assert not connection.execute(f"SELECT 1 FROM {table} WHERE node NOT IN (SELECT id FROM node)").fetchone()
    connection.close()


async def check_turns(path: Path, writer: int, last: int) -> None:
    """Of each turn there are both halves; the last one told of is whole, and there is at most one more."""
    mine = parse_filters({"target": f"writer {writer}"})
    store = LocalVectorStore(path)
    await store.open(SPACE)
    kept = await store.find(mine)
    turns = {int(node.content.split()[1]) for node in kept}
    assert sorted(texts(kept)) == sorted(f"{side} {turn}" for turn in turns for side in ("left", "right"))
    assert last in turns
    assert max(turns) <= last + 1
    for node in kept:
        turn = int(node.content.split()[1])
        assert node.access_count in ({turn} if turn <= last else {0, turn})
    assert {hit.node.key for hit in await store.search(np.ones(4), 99, mine)} == {node.key for node in kept}
    assert len(await store.hybrid_search(ask("left"), 99, conditions=mine)) == len(kept) / 2
    await store.close()


@pytest.mark.slow
def test_a_killed_reindex_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    nodes = [MemoryNode(f"memory {'x' * n}", vector=np.ones(4, dtype=np.float32)) for n in range(1_000)]

    async def prepare() -> None:
        async with LocalVectorStore(path) as store:
            await store.open(SPACE)
            await store.write(nodes)

    asyncio.run(prepare())
    embedded = 0
    for pages in (2, 3):
        process = start(REINDEXER, path=str(path))
        assert process.stdout is not None
        for _ in range(pages):
            embedded += int(process.stdout.readline())
        embedded += sum(map(int, kill(process)))
    assert embedded < 1_000

    async def check() -> None:
        store = LocalVectorStore(path)
        await store.open(SPACE)
        assert len(await store.search(np.ones(4), 2_000)) == 1_000
        asked: list[str] = []

        async def embed(given: list[str]) -> list[np.ndarray]:
            asked.extend(given)
            return [np.array([len(text), 1], dtype=np.float32) for text in given]

        done = await store.reindex(VectorSpace("new", 2), embed)  # type: ignore[arg-type]
        assert 1_000 - embedded <= done <= 1_200 - embedded  # a page under way when it was killed is embedded again
        kept = await store.get([node.key for node in nodes], with_vectors=True)
        assert all(n.vector is not None and n.vector.tolist() == [len(n.content), 1] for n in kept.values())
        await store.close()

    asyncio.run(check())


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    writers = [start(WRITER, path=str(path), writer=n, start=1) for n in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline()

    async def watch() -> None:
        """Read while they write."""
        store = LocalVectorStore(path)
        await store.open(SPACE)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            for hit in await store.search(np.ones(4), 99):
                assert hit.node.memory_target.startswith("writer")
            tagged = parse_filters({"tags": "t", "access_count": [1, None]})
            for hit in await store.search(np.ones(4), 99, tagged):
                assert hit.node.access_count == int(hit.node.content.split()[1])
        await store.write([note("of this process", [1, 1, 1, 1])])
        assert texts(await store.search(np.ones(4), 1)) == ["of this process"]
        await store.close()

    asyncio.run(watch())
    told = [kill(writer) for writer in writers]
    assert all(len(printed) > 3 for printed in told)
