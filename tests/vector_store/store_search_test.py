# -*- coding: utf-8 -*-
"""How every store searches: by vectors, by words and by both, and what filters leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _store_world import (
    FLOOR,
    PLAIN,
    Make,
    ask,
    cosine,
    every_store,
    note,
    opened,
    run,
    texts,
)

from agentscope_reme.record import parse_filters
from agentscope_reme.vector_store import VectorStore


@every_store
def test_the_nearest_come_first_with_their_cosines(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        vectors = {"same": [2, 0, 0, 0], "near": [3, 1, 0, 0], "across": [0, 0, 0, 5], "against": [-1, 0, 0, 0]}
        await store.write([*(note(text, vector) for text, vector in vectors.items()), note("without")])
        query = np.array([0.5, 0, 0, 0], dtype=np.float32)
        hits = await store.search(query, 10)
        assert texts(hits) == ["same", "near", "across", "against"]
        assert [hit.score for hit in hits] == pytest.approx([1, 3 / 10**0.5, 0, -1], abs=1e-5)
        assert all(hit.node.vector is None for hit in hits)
        assert texts(await store.search(query, 2)) == ["same", "near"]
        assert await store.search(query, 0) == []
        assert texts(await store.search([0.5, 0, 0, 0], 1)) == ["same"]  # type: ignore[arg-type]

    run(name, tmp_path, body)


@every_store
def test_nothing_filtered_out_takes_a_place(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        bobs = [note(f"bob likes tea {n}", [1, 0, 0, n / 100], "bob") for n in range(60)]
        mine = [note(f"alice drinks tea {n}", [0, 1, 0, n / 10], "alice", tags=("t",)) for n in range(3)]
        await store.write([*bobs, *mine])
        for spec in ({"owner": "personal/alice"}, {"tags": "t"}, {"content": {"contains": "DRINKS"}}):
            only = parse_filters(spec)
            assert len(await store.search(np.array([1, 0, 0, 0]), 5, only)) == 3
            hits = await store.hybrid_search(ask("who likes tea"), 5, vector=np.array([1, 0, 0, 0]), conditions=only)
            assert {hit.node.memory_target for hit in hits} == {"alice"}
            assert len(hits) == 3

    run(name, tmp_path, body)


@every_store
def test_words_and_meaning_find_together(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write(
            [
                note("张三喜欢喝绿茶", [1, 0, 0, 0]),
                note("the invoice is INV-2093", [0, 1, 0, 0]),
                note("running shoes", [0, 0, 1, 0], when_to_use="planning a marathon"),
                note("nothing of the kind", [0, 0, 0, 1]),
            ]
        )

        async def found(text: str, vector: Sequence[float] | None = None, **more: Any) -> list[str]:
            array = None if vector is None else np.array(vector, dtype=np.float32)
            hits = await store.hybrid_search(ask(text), 9, vector=array, recipe=PLAIN, **more)
            assert all(0 <= hit.score <= 1 and hit.node.vector is None for hit in hits)
            assert [hit.order for hit in hits] == sorted((hit.order for hit in hits), reverse=True)
            return texts(hits)

        assert await found("绿茶") == ["张三喜欢喝绿茶"]
        assert await found("inv-2093") == ["the invoice is INV-2093"]
        assert await found("marathons") == ["running shoes"]
        assert await found("something else entirely") == []
        assert await found("of the") == []
        assert await found("drinks", [1, 0, 0, 0.1]) == ["张三喜欢喝绿茶"]
        both = await found("invoice", [1, 0.2, 0, 0])
        if store.offers_keyword_search:
            assert sorted(both) == ["the invoice is INV-2093", "张三喜欢喝绿茶"]
        assert await found("invoice", [0, 1, 0, 0], min_score=0.9) == ["the invoice is INV-2093"]
        assert len(await store.hybrid_search(ask("invoice shoes 绿茶"), 2, recipe=PLAIN)) == 2

    run(name, tmp_path, body)


@every_store
def test_a_store_that_searches_by_words_says_so(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        nodes = [
            note("Bob likes tea and coffee", target="bob"),
            note("tea", target="alice", author="x"),
            note("会议改到周五", target="alice"),
            note("running", when_to_use="when it rains"),
        ]
        await store.write(nodes)
        if not store.offers_keyword_search:
            with pytest.raises(NotImplementedError):
                await store.keyword_search(ask("tea"), 5)
            return
        assert texts(await store.keyword_search(ask("tea coffee"), 5))[0] == "Bob likes tea and coffee"
        assert len(await store.keyword_search(ask("tea coffee"), 5)) == 2
        assert len(await store.keyword_search(ask("tea coffee"), 1)) == 1
        assert texts(await store.keyword_search(ask("会议"), 5)) == ["会议改到周五"]
        assert texts(await store.keyword_search(ask("rain"), 5)) == ["running"]
        assert texts(await store.keyword_search(ask("tea"), 5, parse_filters({"target": "alice"}))) == ["tea"]
        assert await store.keyword_search(ask("the of"), 5) == await store.keyword_search(ask("zebra"), 5) == []

    run(name, tmp_path, body)


@every_store
def test_the_floor_keeps_what_is_unlike_out(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store: VectorStore = await opened(make)
        await store.write([note("near", [1, 0.1, 0, 0]), note("far", [0.2, 1, 0, 0])])
        hits = await store.hybrid_search(ask("something"), 9, vector=np.array([1, 0, 0, 0]), recipe=PLAIN)
        assert texts(hits) == ["near"]
        assert cosine(np.array([1, 0, 0, 0]), np.array([0.2, 1, 0, 0])) < FLOOR

    run(name, tmp_path, body)
