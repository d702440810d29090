# -*- coding: utf-8 -*-
"""Processes that are killed while they write to Chroma or Qdrant's local mode, and several that write to a server."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from _chroma_server import chroma_server
from _store_world import CASES, SPACE, ask, note, texts

from agentscope_reme.record import parse_filters
from agentscope_reme.vector_store import ChromaVectorStore, QdrantVectorStore, VectorSpace, VectorStore

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WRITER = """
import asyncio, itertools, sys
sys.path.insert(0, {root!r})
import numpy as np
from agentscope_reme.record import MemoryNode
from agentscope_reme.vector_store import ChromaVectorStore, QdrantVectorStore, VectorSpace

def both(turn):
    mine = dict(memory_target="writer {writer}", tags=("t",))
    return [
        MemoryNode(f"{{side}} {{turn}}", vector=np.array([*place, 0, turn], dtype=np.float32), **mine)
        for side, place in (("left", (1, 0)), ("right", (0, 1)))
    ]

async def work():
    store = {store}
    await store.open(VectorSpace("test-model", 4))
    for turn in itertools.count({start}):
        await store.write(both(turn), [node.key for node in both(turn - 3)])
        await store.patch({{node.key: {{"access_count": turn}} for node in both(turn)}})
        print(turn, flush=True)

asyncio.run(work())
"""


def start(store: str, writer: int, first: int) -> subprocess.Popen[str]:
    """A process that writes; it has told of its first write when this returns."""
    code = WRITER.format(root=str(ROOT), store=store, writer=writer, start=first)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def kill(process: subprocess.Popen[str]) -> list[int]:
    """Kill it; the turns that it told of."""
    os.kill(process.pid, signal.SIGKILL)
    return [int(line) for line in process.communicate()[0].split()]


async def check(store: VectorStore, writer: int, last: int) -> None:
    """All that was told of is there, whole; what was under way is there or not; search finds what there is."""
    mine = parse_filters({"target": f"writer {writer}"})
    await store.open(SPACE)
    kept = {node.content: node for node in await store.find(mine)}
    for turn in range(max(1, last - 1), last + 1):  # the next write takes the one before out
        for side in ("left", "right"):
            assert kept[f"{side} {turn}"].access_count == turn
    turns = {int(content.split()[1]) for content in kept}
    assert turns <= set(range(last - 6, last + 2))
    assert len(await store.search(np.ones(4), 99, mine)) == await store.count(mine) == len(kept)
    found = await store.hybrid_search(ask("left"), 99, conditions=mine)
    assert sorted(texts(found)) == sorted(content for content in kept if content.startswith("left"))
    await store.close()


@pytest.mark.parametrize("kind", ["chroma", "qdrant"])
def test_a_killed_writer_leaves_all_that_it_told_of(kind: str, tmp_path: Path) -> None:
    if reason := CASES[kind].missing():
        pytest.skip(reason)
    name = {"chroma": "ChromaVectorStore", "qdrant": "QdrantVectorStore"}[kind]
    store = {"chroma": ChromaVectorStore, "qdrant": QdrantVectorStore}[kind]
    chance, first = random.Random(3), 1
    for _ in range(3):
        writer = start(f"{name}(persist_directory={str(tmp_path)!r})", 0, first)
        time.sleep(chance.uniform(0.01, 0.4))
        last = max([first, *kill(writer)])
        asyncio.run(check(store(persist_directory=tmp_path), 0, last))
        first = last + 1


@pytest.mark.skipif(bool(CASES["chroma"].missing()), reason="chromadb is not installed")
def test_several_processes_write_to_one_server_and_are_killed(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "data") as port:
        url = f"http://127.0.0.1:{port}"
        writers = [start(f"ChromaVectorStore(url={url!r})", n, 1) for n in range(2)]
        time.sleep(0.5)
        last = [max([1, *kill(writer)]) for writer in writers]
        for number in range(2):
            asyncio.run(check(ChromaVectorStore(url=url), number, last[number]))


@pytest.mark.skipif(bool(CASES["chroma"].missing()), reason="chromadb is not installed")
def test_a_killed_reindex_goes_on(tmp_path: Path) -> None:
    code = """
import asyncio, sys
sys.path.insert(0, {root!r})
import numpy as np
from agentscope_reme.vector_store import ChromaVectorStore, VectorSpace

async def embed(texts):
    print(len(texts), flush=True)
    await asyncio.sleep(0.02)
    return [np.array([len(text), 1], dtype=np.float32) for text in texts]

asyncio.run(ChromaVectorStore(persist_directory={path!r}).reindex(VectorSpace("new", 2), embed))
"""
    new, asked = VectorSpace("new", 2), []

    async def embed(given: Sequence[str]) -> list[np.ndarray]:
        asked.extend(given)
        return [np.array([len(text), 1], dtype=np.float32) for text in given]

    async def fill() -> None:
        async with ChromaVectorStore(persist_directory=tmp_path) as store:
            await store.close()
            await store.open(SPACE)
            await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(1_000)])
            await store.close()

    async def finish() -> None:
        store = ChromaVectorStore(persist_directory=tmp_path)
        assert await store.reindex(new, embed) == len(asked)
        assert await store.count() == len(await store.search(np.ones(2), 2_000)) == 1_000
        await store.close()
        await store.open(new)
        await store.close()

    asyncio.run(fill())
    embedded = 0
    for pause in (0.02, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", code.format(root=str(ROOT), path=str(tmp_path))], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        embedded += int(process.stdout.readline())
        time.sleep(pause)
        embedded += sum(kill(process))
    asyncio.run(finish())
    assert embedded >= 200
    assert 1_000 - embedded <= len(asked) <= 1_200 - embedded  # what was under way is embedded again
