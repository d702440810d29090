# -*- coding: utf-8 -*-
"""Several processes over one workspace, one of them killed in the middle."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from _note_world import embedder, found, make_workspace, paths, put, run

from agentscope_reme.embedding import EmbeddingCache
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.testing import HashEmbedding

HERE = Path(__file__).parent
OTHER = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = [{here!r}, {root!r}]
from _note_world import embedder, make_workspace
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.testing import HashEmbedding

class Written(HashEmbedding):
    async def __call__(self, text, **options):
        with open({log!r}, "a", encoding="utf-8") as log:
            log.writelines(f"{{each}}\\n" for each in text)
        await asyncio.sleep({pause})
        return await super().__call__(text, **options)

async def work():
    index = NoteIndex(make_workspace(Path({workspace!r})), embedder=embedder(Written(64), batch_size=4))
    print("ready", flush=True)
    await index.sync()
    print(len(await index.search("common", max_results=100)), flush=True)
    await index.close()

asyncio.run(work())
"""


def other(workspace: Path, log: Path, pause: float = 0.0) -> subprocess.Popen[str]:
    """Another process that indexes and embeds everything, and writes down what it embeds."""
    root = HERE.parent.parent
    code = OTHER.format(here=str(HERE), root=str(root), log=str(log), pause=pause, workspace=str(workspace))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def embedded(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


@pytest.mark.slow
def test_three_processes_embed_each_text_once(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w")
    for number in range(60):
        put(workspace, f"memory/{number}.md", f"common note with the number {number}")
    log = tmp_path / "log"
    processes = [other(workspace.root, log, 0.02) for _ in range(3)]
    outputs = [process.communicate(timeout=120)[0].split() for process in processes]
    assert outputs == [["ready", "60"]] * 3
    notes = [text for text in embedded(log) if text != "common"]
    probes = [text for text in notes if not text.startswith("common")]
    assert Counter(text for text in notes if text not in probes) == Counter(
        f"common note with the number {n}" for n in range(60)
    )


@pytest.mark.slow
def test_a_killed_process_leaves_an_index_that_goes_on(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w")
    for number in range(80):
        put(workspace, f"memory/{number}.md", "\n\n".join(f"## Part {n}\ncommon text {number} {n}" for n in range(5)))
    for seconds in (0.02, 0.15, 0.4):
        process = other(workspace.root, tmp_path / "log", 0.05)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    async def work() -> None:
        index = NoteIndex(workspace, embedder=embedder(HashEmbedding(64)))
        await index.sync()
        status = await index.status()
        assert (status.files, status.chunks, status.waiting) == (80, 400, 0)
        assert len(await index.search("common", max_results=100)) == 100
        await index.close()

    run(work())


class Lexical(HashEmbedding):
    """Only equal texts are alike."""

    floor = 0.97


def test_one_index_sees_what_another_has_indexed(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        cache = EmbeddingCache(tmp_path / "cache.db")
        models = [Lexical(64), Lexical(64)]
        first, second = (NoteIndex(workspace, embedder=embedder(model, cache=cache)) for model in models)
        await asyncio.gather(first.sync(), second.sync())
        for number in range(6):
            put(workspace, f"memory/{number % 3}.md", f"alpha word{'abcdef'[number]}q")
            await (first, second)[number % 2].sync()
            for index in (first, second):
                assert await found(index, f"word{'abcdef'[number]}q", sources="notes") == [f"memory/{number % 3}.md"]
        (workspace.notes_dir / "0.md").unlink()
        await first.sync()
        assert sorted(await found(second, "alpha")) == ["memory/1.md", "memory/2.md"]
        assert max(Counter(models[0].texts + models[1].texts).values()) == 1
        await first.close()
        await second.close()

    run(work())


def test_of_two_models_the_later_one_has_the_vectors(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha bravo charlie")
        first = NoteIndex(workspace, embedder=embedder(HashEmbedding(64, "one")))
        await first.sync()
        model = HashEmbedding(32, "two")
        second = NoteIndex(workspace, embedder=embedder(model))
        await second.sync()
        put(workspace, "memory/b.md", "alpha delta")
        for index in (first, second, first, second):
            await index.sync()
            assert set(paths(await index.search("alpha"))) == {"memory/a.md", "memory/b.md"}
        states = [(await index.status()).vectors for index in (first, second)]
        assert states == ["another model's vectors are in the index", "on"]
        assert model.texts.count("alpha bravo charlie") == model.texts.count("alpha delta") == 1
        await first.close()
        await second.close()

    run(work())
