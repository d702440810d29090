# -*- coding: utf-8 -*-
"""Memories and an embedding model that fails, lies, changes, or is not there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _bank_world import ALICE, FailingEmbedding, bank_of, local_bank, note, said
from agentscope.embedding import EmbeddingResponse

from agentscope_reme import Event, MissingModelError
from agentscope_reme._events import EventBus
from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever
from agentscope_reme.vector_memory import _vectors as vectors_module
from agentscope_reme.vector_store import LocalVectorStore


async def vectors_of(bank: MemoryBank) -> dict[str, Any]:
    """The stored vectors by content."""
    nodes = await bank.store.find()
    held = await bank.store.get([node.key for node in nodes], with_vectors=True)
    return {node.content: node.vector for node in held.values()}


def rested(bank: MemoryBank) -> None:
    """The pause after a failure is over."""
    bank.vectors._rest._until = 0.0


def test_while_the_model_fails_memories_are_stored_and_found_by_words(tmp_path: Path) -> None:
    heard: list[Event] = []
    model = FailingEmbedding(64)

    async def main() -> None:
        events = EventBus()
        events.subscribe(heard.append)
        async with local_bank(tmp_path, model, events=events) as bank:
            await bank.add([note("The badge number is KX-4471.")])
            model.is_down = True
            await bank.add([note("The locker code is 2093.")])
            rested(bank)
            found = await MemoryRetriever(bank).retrieve("locker code", [ALICE])
            assert said(found)[:1] == ["The locker code is 2093."]
            assert "down" in (bank.degraded or "")
            calls = model.calls
            await bank.add([note("The desk is next to the window.")])  # the model is left alone for a while
            assert model.calls == calls
        async with local_bank(tmp_path, model, events=events) as bank:
            model.is_down = False
            await bank.add([note("The floor is the third.")])
            await bank.filled()
            assert all(vector is not None for vector in (await vectors_of(bank)).values())
            assert bank.degraded is None
        model.batches.clear()
        async with local_bank(tmp_path, model) as bank:
            await bank.filled()
            assert model.calls == 0  # nothing is left to fill in

    asyncio.run(main())
    kinds = [each.kind.value for each in heard if each.kind.value.startswith("search_")]
    assert kinds.count("search_degraded") >= 1


class Hanging(HashEmbedding):
    """A model whose server does not answer any more."""

    floor = 0.3
    delay = 0.0

    async def __call__(self, text: Sequence[Any], **options: Any) -> EmbeddingResponse:
        await asyncio.sleep(self.delay)
        return await super().__call__(text, **options)


@pytest.mark.parametrize("floor", [0.3, None])
def test_a_model_that_hangs_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floor: float | None
) -> None:
    monkeypatch.setattr(vectors_module, "_QUERY_PATIENCE", 0.1)
    monkeypatch.setattr(vectors_module, "_TEXT_PATIENCE", 0.1)

    async def main() -> None:
        model = Hanging(64)
        model.floor = floor  # type: ignore[assignment]
        impatient = BatchEmbedder(model, retries=0, backoff=0.0, timeout=1.5)  # a request that hangs holds its text
        async with MemoryBank(LocalVectorStore(tmp_path / "memories.db"), impatient) as bank:
            model.delay = 1000.0
            started = time.monotonic()
            await bank.add([note("The badge number is KX-4471.")])
            for _ in range(3):
                assert said(await MemoryRetriever(bank).retrieve("badge number", [ALICE])) == [
                    "The badge number is KX-4471."
                ]
            assert await bank.vectors.scale() is None
            assert time.monotonic() - started < 1.0
            assert "has not answered" in (bank.degraded or "")
            model.delay = 0.0
            rested(bank)
            await bank.add([note("The floor is the third.")])
            await bank.filled()
            assert all(vector is not None for vector in (await vectors_of(bank)).values())

    asyncio.run(main())


def test_memories_of_a_time_without_a_model_get_their_vectors_when_there_is_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with MemoryBank(LocalVectorStore(tmp_path / "memories.db")) as bank:
            await bank.add([note("grows tomatoes"), note("plays the cello")])
            assert said(await MemoryRetriever(bank).retrieve("cello", [ALICE])) == ["plays the cello"]
            with pytest.raises(MissingModelError):
                await bank.reindex()
        model = HashEmbedding(64)
        async with local_bank(tmp_path, model) as bank:
            await bank.filled()
            assert all(vector is not None for vector in (await vectors_of(bank)).values())
            assert sorted(model.texts) == ["grows tomatoes", "plays the cello"]

    asyncio.run(main())


@pytest.mark.parametrize("other", [HashEmbedding(128), HashEmbedding(64, "another-model")])
def test_another_model_is_noticed_and_reindex_cures_it(tmp_path: Path, other: HashEmbedding) -> None:
    """QwenPaw#7133 and others: an assertion, or silently nothing; also with the same dimension."""
    heard: list[Event] = []

    async def main() -> None:
        async with local_bank(tmp_path, HashEmbedding(64)) as bank:
            await bank.add([note(f"fact number {number} about lighthouses") for number in range(30)])
        events = EventBus()
        events.subscribe(heard.append)
        async with local_bank(tmp_path, other, events=events) as bank:
            assert "reindex" in (bank.degraded or "")
            assert (await MemoryRetriever(bank).retrieve("lighthouses", [ALICE], limit=5))[0].score > 0
            [new] = await bank.add([note("written in between")])
            await bank.update(new.memory_id, content="changed in between")
            seen: list[tuple[int, int]] = []
            assert await bank.reindex(lambda done, total: seen.append((done, total))) == 31
            assert seen[-1] == (31, 31)
            assert bank.degraded is None
            vectors = await vectors_of(bank)
            assert {len(vector) for vector in vectors.values()} == {other.dimensions}
            assert np.allclose(vectors["changed in between"], other.vector("changed in between"), atol=1e-5)
            found = await MemoryRetriever(bank).search("fact number 7 about lighthouses", [ALICE])
            assert found[0].parts["meaning"] > 0
        async with local_bank(tmp_path, other) as bank:
            assert bank.degraded is None

    asyncio.run(main())
    assert [each.kind.value for each in heard if each.kind.value.startswith("search_")] == [
        "search_degraded",
        "search_recovered",
    ]


def test_a_bank_goes_on_when_another_process_has_embedded_its_store_again(tmp_path: Path) -> None:
    async def main() -> None:
        old = bank_of(LocalVectorStore(tmp_path / "memories.db"), HashEmbedding(64))
        new = bank_of(LocalVectorStore(tmp_path / "memories.db"), HashEmbedding(64, "another"))
        await old.open()
        await old.add([note("keeps bees")])
        await new.open()
        await new.reindex()
        assert said(await MemoryRetriever(old).retrieve("bees", [ALICE])) == ["keeps bees"]
        assert "another" in (old.degraded or "")
        await old.add([note("keeps hens")])
        assert said(await MemoryRetriever(new).retrieve("hens", [ALICE]))[:1] == ["keeps hens"]
        await old.close()
        await new.close()

    asyncio.run(main())


class _LyingEmbedding(HashEmbedding):
    """Answers NaN for one text."""

    async def __call__(self, text: Sequence[Any], **options: Any) -> EmbeddingResponse:
        answer = await super().__call__(text, **options)
        batch = self.batches[-1]
        answer.embeddings = [
            [float("nan")] * self.dimensions if "poison" in item else vector
            for item, vector in zip(batch, answer.embeddings, strict=True)
        ]
        return answer


def test_a_vector_that_is_no_number_takes_no_other_memorys_place(tmp_path: Path) -> None:
    """dify#41988: the vectors after it went to the wrong texts."""

    async def main() -> None:
        model = _LyingEmbedding(64)
        async with local_bank(tmp_path, model) as bank:
            contents = ["first is an apple", "second is poison", "third is a cherry"]
            await bank.add([note(each) for each in contents])
            await bank.filled()
            vectors = await vectors_of(bank)
            assert vectors[contents[1]] is None
            for content in (contents[0], contents[2]):
                assert np.allclose(vectors[content], model.vector(content), atol=1e-5)
            for content, word in zip(contents, ("apple", "poison", "cherry"), strict=True):
                assert said(await MemoryRetriever(bank).retrieve(word, [ALICE]))[:1] == [content]

    asyncio.run(main())


class _StrictEmbedding(HashEmbedding):
    """Takes ten texts at most, as DashScope does."""

    async def __call__(self, text: Sequence[Any], **options: Any) -> EmbeddingResponse:
        assert len(text) <= 10
        return await super().__call__(text, **options)


def test_many_memories_are_embedded_in_batches_that_the_provider_takes(tmp_path: Path) -> None:
    async def main() -> None:
        model = _StrictEmbedding(64)
        async with local_bank(tmp_path, model) as bank:
            await bank.add([note(f"memory number {number}") for number in range(25)])
            assert sorted(map(len, model.batches)) == [5, 10, 10]
            await bank.add([note(f"memory number {number}") for number in range(25)])
            assert len(model.batches) == 3  # once a text, ever
            vectors = await vectors_of(bank)
            for content, vector in vectors.items():
                assert np.allclose(vector, model.vector(content), atol=1e-5)

    asyncio.run(main())


def test_no_log_no_event_and_no_text_of_a_memory_shows_its_vector(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []

    async def main() -> None:
        events = EventBus()
        events.subscribe(lambda event: told.append(repr(event)))
        async with local_bank(tmp_path, events=events) as bank:
            [node] = await bank.add([note("The badge number is KX-4471.")])
            await bank.update(node.memory_id, ALICE, content="The badge number is KX-4472.")
            found = await MemoryRetriever(bank).retrieve("badge number", [ALICE])
            held = await bank.store.get([each.key for each in found], with_vectors=True)
            [vector] = [each.vector for each in held.values()]
            parts = {str(value)[:6] for value in vector.tolist() if abs(value) > 1e-3}
            assert parts
            told.extend(f"{each!r} {each} {each.to_dict()}" for each in held.values())
            shown = "\n".join([caplog.text, *told])
            assert not [part for part in parts if part in shown]

    with caplog.at_level(logging.DEBUG):
        asyncio.run(main())
