# -*- coding: utf-8 -*-
"""Vectors: each text once, never in the way, and right again after every failure."""

import asyncio
import math
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from _note_world import embedder, found, make_workspace, paths, put, run, turn
from agentscope.embedding import EmbeddingResponse

from agentscope_reme.embedding import BatchEmbedder, EmbeddingCache
from agentscope_reme.embedding import _rest as rest_module
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.testing import HashEmbedding

PROBES = 40


class Topics(HashEmbedding):
    """Knows that a few words of two languages mean the same, and fails as it is told."""

    floor = 0.3
    groups = (("cat", "kitten", "小猫"), ("car", "automobile", "汽车"), ("tea", "茶"))

    def __init__(self, name: str = "topics", dimensions: int = 16) -> None:
        super().__init__(dimensions, name)
        self.failing = False
        self.refused = ""
        self.gate: asyncio.Event | None = None

    async def __call__(self, text: Sequence[Any], **_: Any) -> EmbeddingResponse:
        batch = [each if isinstance(each, str) else each["text"] for each in text]
        self.batches.append(batch)
        if self.gate is not None:
            await self.gate.wait()
        if self.failing or any(not each.strip() for each in batch):
            raise ConnectionError("the model is down")
        if self.refused and any(self.refused in each for each in batch):
            raise ValueError("400 Bad Request: refused")
        return EmbeddingResponse(embeddings=[self.vector(each) for each in batch])

    def vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for at, group in enumerate(self.groups):
            if any(word in text.lower() for word in group):
                vector[at] = 1.0
        if not any(vector):
            vector[3 + zlib.crc32(text.encode()) % (self.dimensions - 3)] = 1.0
        length = math.sqrt(sum(x * x for x in vector))
        return [x / length for x in vector]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_module, "_FIRST_PAUSE", 0.05)


def test_meaning_finds_what_words_do_not(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "we adopted a kitten")
        put(workspace, "memory/b.md", "the automobile broke down")
        index = NoteIndex(workspace, embedder=embedder(Topics()))
        assert await found(index, "小猫怎么样") == ["memory/a.md"]
        assert await found(index, "car") == ["memory/b.md"]
        assert await found(index, "violin") == []
        await index.close()

    run(work())


def test_a_new_note_and_the_query_that_finds_it_are_one_call(tmp_path: Path) -> None:
    async def work() -> None:
        workspace, model = make_workspace(tmp_path), Topics()
        put(workspace, "memory/a.md", "we adopted a kitten")
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        model.batches.clear()
        put(workspace, "memory/b.md", "the automobile broke down")
        assert await found(index, "汽车怎么样") == ["memory/b.md"]
        assert model.batches == [["the automobile broke down", "汽车怎么样"]]
        assert await found(index, "小猫怎么样") == ["memory/a.md"]
        assert await found(index, "汽车怎么样") == ["memory/b.md"]
        assert model.batches[1:] == [["小猫怎么样"]]
        await index.close()

    run(work())


def test_a_query_that_is_refused_costs_a_new_note_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        workspace, model = make_workspace(tmp_path), Topics()
        put(workspace, "memory/a.md", "we adopted a kitten")
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        put(workspace, "memory/b.md", "the automobile broke down")
        model.refused = "forbidden"
        assert await found(index, "forbidden automobile") == ["memory/b.md"]
        model.refused = ""
        await asyncio.sleep(0.1)
        assert await found(index, "汽车怎么样") == ["memory/b.md"]
        assert (await index.status()).waiting == 0
        await index.close()

    run(work())


def test_unchanged_notes_are_embedded_once_and_searches_embed_only_queries(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for number in range(200):
            put(workspace, f"memory/{number}.md", f"note number {number} about things")
        model = Topics()
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        assert sorted(model.texts) == sorted(f"note number {n} about things" for n in range(200))
        for query in ("things one", "things two", "things three", "things four", "things five"):
            await index.search(query)
        assert len(model.texts) == 205
        await index.close()
        again = Topics()
        index = NoteIndex(workspace, embedder=embedder(again))
        await index.sync()
        assert len(await index.search("things one", max_results=100)) == 100
        assert again.texts == ["things one"]
        await index.close()

    run(work())


def test_an_edit_and_a_rename_embed_only_what_is_new(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        parts = [f"## Part {n}\nSentence of part number {n}.\n" for n in range(5)]
        note = put(workspace, "memory/a.md", "".join(parts))
        model = Topics()
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        before = len(model.texts)
        put(workspace, "memory/a.md", "".join(parts[:2]) + "## New\nSentence about the kitten.\n" + "".join(parts[2:]))
        note.rename(workspace.notes_dir / "b.md")
        await index.sync()
        assert model.texts[before:] == ["Sentence about the kitten.", "New Sentence about the kitten."]
        assert await found(index, "cat") == ["memory/b.md"]
        await index.close()

    run(work())


def test_a_heading_is_not_in_the_way_of_its_text(tmp_path: Path) -> None:
    class Strict(Topics):
        """Any word before a sentence makes it another."""

        def vector(self, text: str) -> list[float]:
            return super().vector(text if text in ("the kitten sleeps all day long", "cat") else "other")

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "# Day\n## 10:30\nthe kitten sleeps all day long\n")
        index = NoteIndex(workspace, embedder=embedder(Strict()))
        assert await found(index, "cat") == ["memory/a.md"]
        await index.close()

    run(work())


def test_blanks_are_never_sent(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "长段落\n\n\n长段落\n\n---\n\n```\n\n```\n\n| |\n|---|\n")
        put(workspace, "memory/b.md", "---\n---\n")
        put(workspace, "memory/c.md", "\u200b\n\n***\n")
        put(workspace, "dialog/2026-03-01.jsonl", turn(1, "\n \n") + turn(2, "the kitten sleeps"))
        model = Topics()
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        assert await found(index, "cat") == ["dialog/2026-03-01.jsonl"]
        assert (await index.status()).waiting == 0
        assert all(text.strip() for text in model.texts)
        await index.close()

    run(work())


def test_a_failing_model_leaves_search_by_words_and_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[tuple[str, dict]] = []

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten ZX-4471")
        model = Topics()
        model.failing = True
        index = NoteIndex(workspace, embedder=embedder(model), report=lambda *event: told.append(event))
        assert await found(index, "ZX-4471") == ["memory/a.md"]
        assert await found(index, "cat") == []
        status = await index.status()
        assert (status.waiting, "down" in status.vectors) == (1, True)
        model.failing = False
        await asyncio.sleep(0.3)
        await index.sync()
        assert await found(index, "cat") == ["memory/a.md"]
        assert ((await index.status()).waiting, (await index.status()).vectors) == (0, "on")
        await index.close()

    run(work())
    assert [kind for kind, _ in told if kind != "indexed"] == ["degraded", "recovered"]
    assert "words alone" in caplog.text


def test_a_text_that_is_refused_costs_the_others_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "There is poison in this long sentence. The kitten of this note sleeps all day.")
        put(workspace, "memory/b.md", "the automobile broke down")
        model = Topics()
        model.refused = "poison"
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        assert await found(index, "car") == ["memory/b.md"]
        assert await found(index, "cat") == ["memory/a.md"]
        assert await found(index, "poison") == ["memory/a.md"]
        await asyncio.sleep(0.1)
        calls = model.calls
        await index.sync()
        assert model.calls == calls  # it is left alone for a while
        assert (await index.status()).waiting == 1
        await index.close()
        model.refused = ""
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.sync()
        assert (await index.status()).waiting == 0
        assert "There is poison in this long sentence." in [text for batch in model.batches[calls:] for text in batch]
        await index.close()

    run(work())


def test_a_note_deleted_while_it_is_embedded_never_comes_back(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        note = put(workspace, "memory/a.md", "the kitten sleeps")
        put(workspace, "memory/b.md", "the automobile broke down")
        model = Topics()
        model.gate = asyncio.Event()
        index = NoteIndex(workspace, embedder=embedder(model))
        embedding = asyncio.create_task(index.sync())
        while not model.calls:
            await asyncio.sleep(0.01)
        note.unlink()
        await asyncio.to_thread(index._open().synchronize)
        model.gate.set()
        await embedding
        assert await found(index, "cat kitten") == []
        assert await found(index, "car") == ["memory/b.md"]
        assert await index._open().database.read(_orphans) == 0
        await index.close()

    run(work())


def _orphans(connection: Any) -> int:
    query = "SELECT count(*) FROM vector WHERE chunk NOT IN (SELECT id FROM chunk)"
    return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("other", [Topics("topics", 24), Topics("other topics", 16)])
def test_another_model_or_dimension_embeds_again_while_words_are_searched(tmp_path: Path, other: Topics) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten ZX-4471")
        index = NoteIndex(workspace, embedder=embedder(Topics()))
        await index.sync()
        await index.close()
        other.gate = asyncio.Event()
        index = NoteIndex(workspace, embedder=embedder(other))
        waiting = asyncio.create_task(found(index, "ZX-4471"))
        await asyncio.sleep(0.2)
        other.gate.set()
        assert await waiting == ["memory/a.md"]
        await index.sync()
        assert await found(index, "cat") == ["memory/a.md"]
        await index.close()
        async with NoteIndex(workspace) as plain:
            assert await found(plain, "ZX-4471") == ["memory/a.md"]
            assert await found(plain, "cat") == []

    run(work())


def test_search_does_not_wait_long_for_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentscope_reme.note_index import _note_index

    monkeypatch.setattr(_note_index, "_VECTOR_PATIENCE", 0.05)

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten ZX-4471")
        model = Topics()
        model.gate = asyncio.Event()
        index = NoteIndex(workspace, embedder=embedder(model))
        assert await found(index, "ZX-4471") == ["memory/a.md"]
        model.gate.set()
        await asyncio.sleep(0.2)
        await index.sync()
        assert await found(index, "cat") == ["memory/a.md"]
        await index.close()

    run(work())


@pytest.mark.parametrize("floor", [0.3, None])
@pytest.mark.parametrize("is_warm", [False, True])
def test_a_model_that_hangs_leaves_search_by_words_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floor: float | None, is_warm: bool
) -> None:
    from agentscope_reme.note_index import _note_index

    monkeypatch.setattr(_note_index, "_VECTOR_PATIENCE", 0.1)
    monkeypatch.setattr(rest_module, "_FIRST_PAUSE", 60.0)

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten ZX-4471")
        model = Topics()
        model.floor = floor  # type: ignore[assignment]
        index = NoteIndex(workspace, embedder=embedder(model))
        await index._synchronize(index._open())
        if is_warm:
            await index.sync()
        model.gate = asyncio.Event()
        started = time.monotonic()
        for number in range(5):
            assert await found(index, f"ZX-4471 number{number}") == ["memory/a.md"]
        assert time.monotonic() - started < 1.0
        assert "has not answered" in (await index.status()).vectors
        await index.close()

    run(work())


def test_a_cosine_below_the_models_floor_is_no_match(tmp_path: Path) -> None:
    class Muddy(Topics):
        """All texts are rather alike."""

        floor = None  # type: ignore[assignment]

        def vector(self, text: str) -> list[float]:
            own = super().vector(text)
            mixed = [0.9 / math.sqrt(self.dimensions) + 0.3 * x for x in own]
            length = math.sqrt(sum(x * x for x in mixed))
            return [x / length for x in mixed]

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "we adopted a kitten")
        put(workspace, "memory/b.md", "violin lessons on Monday")
        model = Muddy(dimensions=2048)
        index = NoteIndex(workspace, embedder=embedder(model))
        assert await found(index, "cat") == ["memory/a.md"]
        assert await found(index, "car") == []
        assert len(model.texts) == 2 + PROBES + 2
        await index.close()

    run(work())


def test_deleting_the_better_note_gives_its_place_to_the_other(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        better = put(workspace, "memory/a.md", "kitten kitten")
        put(workspace, "memory/b.md", "a kitten and many other words beside it")
        index = NoteIndex(workspace, embedder=embedder(Topics()))
        assert await found(index, "kitten", max_results=1) == ["memory/a.md"]
        better.unlink()
        assert await found(index, "kitten", max_results=1) == ["memory/b.md"]
        assert await found(index, "cat", max_results=1) == ["memory/b.md"]
        await index.close()

    run(work())


def test_names_of_speakers_are_pronouns_to_the_model(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        lines = turn(1, "I adopted a kitten", name="Caroline") + turn(2, "茶很好喝", name="王小明")
        put(workspace, "dialog/2026-03-01.jsonl", lines)
        put(workspace, "memory/a.md", "Caroline is a friend")
        model = Topics()
        index = NoteIndex(workspace, embedder=embedder(model))
        await index.search("Which is caroline's cat, Caroline?")
        await index.search("王小明喜欢喝茶吗")
        assert {"Which is their cat, they?", "他喜欢喝茶吗"} < set(model.texts)
        await index.search("Caroline")
        await index.search("what does the user like")
        assert {"Caroline", "what does the user like"} < set(model.texts)
        await index.close()

    run(work())


def test_the_cache_and_the_index_share_the_work(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten sleeps")
        cache = EmbeddingCache(workspace.state_dir / "embeddings.db")
        model = Topics()
        index = NoteIndex(workspace, embedder=BatchEmbedder(model, cache=cache))
        await index.sync()
        await index.close()
        (workspace.state_dir / "index.db").unlink()
        index = NoteIndex(workspace, embedder=BatchEmbedder(model, cache=cache))
        assert paths(await index.search("cat")) == ["memory/a.md"]
        assert model.texts == ["the kitten sleeps", "cat"]
        await index.close()
        await cache.close()

    run(work())


def test_words_can_be_switched_off(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "the kitten ZX-4471")
        index = NoteIndex(workspace, embedder=embedder(Topics()), keyword_search=False)
        assert await found(index, "cat") == ["memory/a.md"]
        assert await found(index, "ZX-4471") == []
        await index.close()

    run(work())
