# -*- coding: utf-8 -*-
"""What every store does with vectors of a wrong kind, of another model, and of none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _store_world import SPACE, Make, ask, every_store, fresh_name, note, opened, run, same, texts

from agentscope_reme._errors import EmbeddingError, NotStartedError, VectorSpaceError
from agentscope_reme.vector_store import VectorSpace


@every_store
def test_vectors_that_cannot_be_used_are_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        for wrong, error in (
            (np.ones(3), VectorSpaceError),
            (np.ones(8), VectorSpaceError),
            (np.ones((4, 1)), VectorSpaceError),
            (np.zeros(4), EmbeddingError),
            (np.array([1, np.nan, 0, 0]), EmbeddingError),
            (np.array([1, np.inf, 0, 0]), EmbeddingError),
            (np.array([1e-30, 0, 0, 0]), EmbeddingError),
            (np.array([1e30, 0, 0, 0]), EmbeddingError),
        ):
            with pytest.raises(error) as told:
                await store.write([note("good", [1, 0, 0, 0]), replace(note("bad"), vector=wrong)])
            if error is VectorSpaceError:
                assert "4" in str(told.value)
                assert str(len(wrong)) in str(told.value)
            with pytest.raises(error):
                await store.search(wrong, 5)
            with pytest.raises(error):
                await store.hybrid_search(ask("tea"), 5, vector=wrong)
        assert await store.count() == 0

    run(name, tmp_path, body)


@every_store
def test_vectors_of_another_model_are_told_apart(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection, VectorSpace("first", 8))
        assert store.space == VectorSpace("first", 8)
        await store.write([note("no vector yet")])
        await store.close()
        await store.open(SPACE)  # it holds no vector: any model will do
        await store.write([note("tea", [1, 0, 0, 0])])
        await store.close()
        for other in (VectorSpace("test-model", 8), VectorSpace("other-model", 4)):
            with pytest.raises(VectorSpaceError) as told:
                await store.open(other)
            assert all(
                word in str(told.value) for word in ("test-model", str(other.dimensions), other.model, "reindex")
            )
            with pytest.raises(NotStartedError):
                await store.count()
        await store.open(None)
        assert store.space is None
        assert texts(await store.hybrid_search(ask("tea"), 5)) == ["tea"]
        with pytest.raises(VectorSpaceError):
            await store.search(np.ones(4), 5)
        await store.patch({note("tea").key: {"importance": 0.9}})
        await store.close()
        await store.open(SPACE)
        (hit,) = await store.search(np.array([1, 0, 0, 0]), 5)
        assert (hit.node.content, hit.node.importance) == ("tea", 0.9)

    run(name, tmp_path, body)


@every_store
def test_a_collection_without_vectors(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection, None)
        assert store.space is None
        await store.write([note("likes tea"), note("likes coffee", target="bob")])
        assert await store.count() == 2
        assert texts(await store.hybrid_search(ask("tea"), 5)) == ["likes tea"]
        with pytest.raises(VectorSpaceError):
            await store.search(np.ones(4), 5)
        with pytest.raises(VectorSpaceError):
            await store.write([note("with a vector", [1, 0, 0, 0])])
        found = await store.get([note("likes tea").key], with_vectors=True)
        assert found[note("likes tea").key].vector is None
        await store.close()
        await store.open(SPACE)
        assert await store.search(np.ones(4), 5) == []
        assert await store.reindex(SPACE, letters) == 2
        assert len(await store.search(np.ones(4), 5)) == 2

    run(name, tmp_path, body)


async def letters(given: Sequence[str]) -> list[np.ndarray]:
    """Vectors of four numbers that differ with the text."""
    return [np.array([len(text), text.count("a"), text.count("e"), 1], dtype=np.float32) for text in given]


@every_store
def test_reindex_gives_every_memory_a_vector_of_the_new_model(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection)
        nodes = [note(f"memory {'ae'[n % 2] * n}", [1, 0, 0, n], tags=(str(n),)) for n in range(5)]
        nodes += [note("by use", when_to_use="eeee"), note("refuses")]
        await store.write(nodes)
        asked: list[str] = []
        told: list[tuple[int, int]] = []
        new = VectorSpace("new-model", 3)

        async def embed(given: Sequence[str]) -> list[np.ndarray | None]:
            asked.extend(given)
            embedded = zip(given, await letters(given), strict=True)
            return [None if text == "refuses" else vector[:3] for text, vector in embedded]

        assert await store.reindex(new, embed, lambda done, total: told.append((done, total))) == 6
        assert sorted(asked) == sorted(node.embedded_text for node in nodes)
        assert told[-1] == (7, 7)
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert store.space == new
        for _ in range(2):
            hits = await store.search(np.array([4, 0, 4]), 9)
            assert hits[0].node.content == "by use"
            assert hits[0].score == pytest.approx(1)
            assert "refuses" not in texts(hits)
            assert len(hits) == 6
            assert texts(await store.hybrid_search(ask("refuses"), 9)) == ["refuses"]
            kept = await store.get([node.key for node in nodes])
            assert all(same(node, kept[node.key]) for node in nodes)
            with pytest.raises(VectorSpaceError):
                await store.search(np.ones(4), 9)
            await store.close()
            await store.open(new)
        await store.close()
        with pytest.raises(VectorSpaceError):
            await store.open(SPACE)

    run(name, tmp_path, body)


@every_store
def test_reindex_goes_on_where_it_was_broken_off(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection)
        nodes = [note(f"memory number {n}", [1, 0, 0, n]) for n in range(250)]
        await store.write(nodes)
        new = VectorSpace("new-model", 4)
        asked: list[str] = []
        words: list[int] = []

        async def breaks(given: Sequence[str]) -> list[np.ndarray]:
            words.append(len(await store.hybrid_search(ask("memory number 7"), 300)))
            if asked:
                raise EmbeddingError("the model is not to be had")
            asked.extend(given)
            return await letters(given)

        with pytest.raises(EmbeddingError, match="not to be had"):
            await store.reindex(new, breaks)
        assert 0 < len(asked) < 250
        assert words == [250, 250]  # search by words goes on
        await store.close()
        store = make(collection)
        with pytest.raises(VectorSpaceError, match="reindex"):
            await store.open(new)
        await store.open(None)
        assert await store.count() == 250

        async def embed(given: Sequence[str]) -> list[np.ndarray]:
            asked.extend(given)
            return await letters(given)

        done = len(asked)
        assert await store.reindex(new, embed) == 250 - done
        assert sorted(asked) == sorted(node.content for node in nodes)  # each once
        assert len(await store.search(np.ones(4), 300)) == 250

    run(name, tmp_path, body)


@every_store
def test_reindex_with_the_model_in_force_embeds_what_has_no_vector(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note("has one", [1, 0, 0, 0]), note("has none")])
        asked: list[str] = []

        async def embed(given: Sequence[str]) -> list[np.ndarray]:
            asked.extend(given)
            return await letters(given)

        assert len(await store.search(np.ones(4), 5)) == 1
        assert await store.reindex(SPACE, embed) == 1
        assert asked == ["has none"]
        assert len(await store.search(np.ones(4), 5)) == 2
        assert texts(await store.search(np.array([1, 0, 0, 0]), 1)) == ["has one"]
        assert await store.reindex(SPACE, embed) == 0

    run(name, tmp_path, body)
