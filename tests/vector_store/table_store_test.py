# -*- coding: utf-8 -*-
"""What stores over the tables of a database do beside the contract: names, plain values, copies and broken calls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _memories import memories
from _store_world import SPACE, Make, ask, fresh_name, note, opened, run, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, VectorSpaceError, VectorStoreError
from agentscope_reme.record import MemoryNode, parse_filters
from agentscope_reme.vector_store import VectorSpace, _table_listing, in_order
from agentscope_reme.vector_store._client_calls import batches, call_client
from agentscope_reme.vector_store._physical_name import given_name, physical_name
from agentscope_reme.vector_store._plain_node import (
    node_of_text,
    plain_fields,
    plain_flag,
    plain_number,
    plain_text,
    text_of_node,
)

pytestmark = pytest.mark.slow  # another store than the default: with the slow tests, in CI

NEW = VectorSpace("new-model", 3)
CHROMA_TAKES = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]")

tables = pytest.mark.parametrize("name", ["chroma", "qdrant"])


async def letters(given_texts: Sequence[str]) -> list[np.ndarray]:
    """Vectors of three numbers that differ with the text."""
    return [np.array([len(text), text.count("a"), 1], dtype=np.float32) for text in given_texts]


# ---------------------------------------------------------------------- plain values


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_every_name_has_a_name_of_its_own_that_servers_take(one: str, other: str) -> None:
    for name in (one, other, f"{one}_ledger", f"n.-{one}.-n", f".{other}"):
        physical = physical_name(name, 500)
        assert CHROMA_TAKES.fullmatch(physical)
        assert given_name(physical) == name
    assert (physical_name(one, 500) == physical_name(other, 500)) is (one == other)


def test_plain_names_stay_and_long_ones_are_refused() -> None:
    assert physical_name("reme_ledger", 500) == "reme_ledger"
    with pytest.raises(ConfigError, match="room for 500"):
        physical_name("记" * 100, 500)


@given(memories())
def test_a_memory_survives_being_a_text(node: MemoryNode) -> None:
    text = text_of_node(node)
    assert text.isascii()
    assert node_of_text(text).to_dict() == node.to_dict()


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match="JSON values"):
        text_of_node(note("x", metadata={"when": datetime.now(timezone.utc)}))


@given(memories(), st.integers(0, 40))
def test_fields_are_sound_finite_and_no_more_than_allowed(node: MemoryNode, most: int) -> None:
    fields = plain_fields(node, most)
    values = [*fields.values.values(), *(text for each in fields.lists.values() for text in each)]
    assert len(values) <= most
    assert fields.cut or len(fields.values) + len(fields.lists) >= 8
    for value in values:
        if isinstance(value, str):
            assert value.encode("utf-8")
        elif not isinstance(value, bool):
            assert abs(value) < float("inf")


def test_odd_texts_stay_different_and_become_sound() -> None:
    odd = ["a", "a\0b", "a\0c", "\ud800", "\ud801", "x" * 5_000, "x" * 5_001, "", "\x1fTrue"]
    plain = [plain_text(text) for text in odd]
    assert len({*plain, plain_flag(True)}) == len(odd) + 1
    assert plain[0] == "a"
    assert all("\0" not in text and len(text.encode()) < 100 for text in plain)


@given(st.lists(st.integers() | st.floats(allow_nan=False), min_size=2))
def test_plain_numbers_keep_their_order(numbers: list[float]) -> None:
    in_order = sorted(numbers)
    plain = [plain_number(number) for number in in_order]
    assert plain == sorted(plain)


@given(st.lists(st.integers(0, 50)), st.integers(1, 5), st.integers(1, 60))
def test_batches_are_short_and_light_and_lose_nothing(items: list[int], most: int, heaviest: int) -> None:
    cut = list(batches(items, most, lambda item: item, heaviest))
    assert [item for batch in cut for item in batch] == items
    assert all(0 < len(batch) <= most and (len(batch) == 1 or sum(batch) <= heaviest) for batch in cut)


# ---------------------------------------------------------------------- calls


def test_whatever_a_client_raises_is_one_kind_of_error() -> None:
    def refuses(**_: Any) -> None:
        raise Exception("502 Bad Gateway")

    async def takes_coroutines(value: int) -> int:
        return value + 1

    async def body() -> None:
        with pytest.raises(VectorStoreError, match=r"add to 'reme' failed \(Exception: 502 Bad Gateway\)") as told:
            await call_client("add to 'reme'", refuses, ids=[1])
        assert type(told.value.__cause__) is Exception
        assert await call_client("add", takes_coroutines, 1) == await call_client("add", lambda: takes_coroutines(1))
        with pytest.raises(ConfigError):
            await call_client("add", physical_name, "x" * 9, 3)

    asyncio.run(body())


@tables
def test_a_write_that_fails_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        old, new = note("old", [1, 0, 0, 0]), note("new", [0, 1, 0, 0])
        await store.write([old])
        working = store._table.put  # type: ignore[attr-defined]
        store._table.put = _refuse  # type: ignore[attr-defined]
        with pytest.raises(VectorStoreError, match="no room"):
            await store.write([new], delete=[old.key])
        store._table.put = working  # type: ignore[attr-defined]
        assert texts(await store.find()) == ["old"]
        await store.write([new], delete=[old.key])
        assert texts(await store.find()) == ["new"]

    run(name, tmp_path, body)


async def _refuse(*_: Any) -> None:
    raise VectorStoreError("there is no room on the server")


@tables
def test_a_write_that_is_cancelled_is_done_to_its_end(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        old, new = note("old", [1, 0, 0, 0]), note("new", [0, 1, 0, 0])
        await store.write([old])
        begun, put = asyncio.Event(), store._table.put  # type: ignore[attr-defined]

        async def slow(*given_nodes: Any) -> None:
            begun.set()
            await asyncio.sleep(0.05)
            await put(*given_nodes)

        store._table.put = slow  # type: ignore[attr-defined]
        writing = asyncio.create_task(store.write([new], delete=[old.key]))
        await begun.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert texts(await store.find()) == ["new"]

    run(name, tmp_path, body)


@tables
def test_a_store_goes_on_in_another_event_loop(name: str, tmp_path: Path) -> None:
    made: list[Any] = []

    async def first(make: Make) -> None:
        made.append(await opened(make))
        await made[0].write([note("tea", [1, 0, 0, 0])])

        def elsewhere() -> None:
            asyncio.run(made[0].write([note("coffee", [0, 1, 0, 0])]))

        await asyncio.to_thread(elsewhere)
        assert sorted(texts(await made[0].search(np.ones(4), 9))) == ["coffee", "tea"]

    run(name, tmp_path, first)


# ---------------------------------------------------------------------- another model


@tables
def test_what_is_written_during_a_reindex_is_not_lost(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        nodes = [note(f"memory {n}", [1, 0, 0, n]) for n in range(230)]
        await store.write(nodes)
        by_key = sorted(nodes, key=lambda node: node.key)
        first, last = by_key[0], by_key[-1]
        steps: list[Callable[[], Awaitable[Any]]] = [
            lambda: store.write([note("new", [1, 1, 0, 0])], delete=[first.key]),
            lambda: store.patch({last.key: {"importance": 0.9}, by_key[1].key: {"tags": ("t",)}}),
            lambda: store.write([note(by_key[2].content, [1, 0, 0, 0], when_to_use="aaaa")]),
            lambda: store.write(delete=[by_key[3].key]),  # all is copied already
        ]

        async def embed(given_texts: Sequence[str]) -> list[np.ndarray]:
            if steps:
                await steps.pop(0)()
            return await letters(given_texts)

        assert await store.reindex(NEW, embed) >= 230
        assert not steps
        found = {node.content: node for node in (await store.get([n.key for n in await store.find()])).values()}
        assert found.keys() == {node.content for node in nodes} - {first.content, by_key[3].content} | {"new"}
        assert found[last.content].importance == 0.9
        assert found[by_key[1].content].tags == ("t",)
        hits = await store.search(np.array([4, 4, 1]), 300)
        assert len(hits) == 229
        assert hits[0].node.when_to_use == "aaaa"
        assert texts(await store.find(parse_filters({"tags": "t"}))) == [by_key[1].content]

    run(name, tmp_path, body)


@tables
def test_a_reindex_with_a_third_model_begins_anew(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(120)])
        asked: list[str] = []

        async def breaks(given_texts: Sequence[str]) -> list[np.ndarray]:
            if asked:
                raise RuntimeError("power cut")
            asked.extend(given_texts)
            return await letters(given_texts)

        with pytest.raises(RuntimeError):
            await store.reindex(NEW, breaks)
        assert len(await store.search(np.ones(4), 200)) == 120  # the old vectors are in use
        await store.write([note("later", [1, 0, 0, 0])])
        third = VectorSpace("third-model", 2)

        async def embed(given_texts: Sequence[str]) -> list[np.ndarray]:
            return [vector[:2] for vector in await letters(given_texts)]

        assert await store.reindex(third, embed) == 121
        await store.close()
        with pytest.raises(VectorSpaceError, match=r"third-model.*new-model|new-model.*third-model"):
            await store.open(NEW)
        await store.open(third)
        assert len(await store.search(np.ones(2), 200)) == 121
        assert (await store.collections()).count(store.collection_name) == 1

    run(name, tmp_path, body)


@tables
def test_going_back_to_the_old_model_drops_what_was_begun(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(120)] + [note("no vector")])

        async def breaks(given_texts: Sequence[str]) -> list[np.ndarray]:
            raise RuntimeError("power cut")

        with pytest.raises(RuntimeError):
            await store.reindex(NEW, breaks)
        await store.close()
        await store.open(SPACE)

        async def embed(given_texts: Sequence[str]) -> list[np.ndarray]:
            return [np.array([0, 0, 1, 0]) for _ in given_texts]

        assert await store.reindex(SPACE, embed) == 1
        await store.close()
        with pytest.raises(VectorSpaceError, match="test-model"):
            await store.open(NEW)
        await store.open(SPACE)
        assert texts(await store.search(np.array([0, 0, 1, 0]), 1)) == ["no vector"]

    run(name, tmp_path, body)


@tables
def test_a_vector_that_came_while_one_was_made_stays(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note("tea"), note("coffee"), note("water", when_to_use="thirst")])

        async def embed(given_texts: Sequence[str]) -> list[np.ndarray]:
            await store.write([note("tea", [0, 0, 0, 1]), note("water", when_to_use="heat")], [note("coffee").key])
            return [np.array([1, 0, 0, 0]) for _ in given_texts]

        await store.reindex(SPACE, embed)
        hits = await store.search(np.array([0, 0, 0, 1]), 9)
        assert [(hit.node.content, hit.score) for hit in hits] == [("tea", pytest.approx(1))]
        assert await store.count() == 2

    run(name, tmp_path, body)


@tables
def test_odd_names_and_values_of_metadata_are_filtered_by(name: str, tmp_path: Path) -> None:
    odd = ["x" * 5_000, "a\0b", "\ud800", "\x1fTrue", "a.b", "$and", 'q"[0]', "键"]

    async def body(make: Make) -> None:
        store = await opened(make)
        nodes = [
            note(f"{n}", [1, 0, 0, n], tags=(f"t{text}",), metadata={f"k{text}": text}) for n, text in enumerate(odd)
        ]
        lists = [note(f"list {n}", [1, 0, 0, n], metadata={f"k{text}": [text, "also"]}) for n, text in enumerate(odd)]
        await store.write([*nodes, *lists, note("flag", metadata={"k\x1fTrue": True})])
        for n, text in enumerate(odd):
            mine = parse_filters({"metadata": {f"k{text}": text}})
            wanted = [f"{n}", f"list {n}"]
            assert sorted(texts(await store.find(mine))) == sorted(wanted), text
            assert sorted(texts(await store.search(np.ones(4), 99, mine))) == sorted(wanted), text
            for operator in ("equal", "contains", "any_of"):
                value = [f"t{text}"] if operator == "any_of" else f"t{text}"
                assert texts(await store.find(parse_filters({"tags": {operator: value}}))) == [f"{n}"]

    run(name, tmp_path, body)


@tables
def test_numbers_that_floats_cannot_tell_apart_are_told_apart(name: str, tmp_path: Path) -> None:
    whole = 2**53

    async def body(make: Make) -> None:
        store = await opened(make)
        numbers = [whole - 1, whole, whole + 1, 10**400]
        await store.write([note(f"{n}"[:20], [1, 0, 0, n / whole % 2], metadata={"n": n}) for n in numbers[:3]])
        await store.write([note("huge", [1, 0, 0, 0], metadata={"n": numbers[3]})])
        for spec, wanted in {
            (whole + 1,): [f"{whole + 1}"],
            (whole - 1,): [f"{whole - 1}"],
            (whole + 1, None): [f"{whole + 1}", "huge"],
            (0, whole): [f"{whole - 1}", f"{whole}"],
            (10**400,): ["huge"],
        }.items():
            conditions = parse_filters({"metadata.n": spec[0] if len(spec) == 1 else list(spec)})
            assert sorted(texts(await store.find(conditions))) == sorted(wanted)
            assert await store.count(conditions) == len(wanted)
            assert sorted(texts(await store.search(np.ones(4), len(wanted), conditions))) == sorted(wanted)

    run(name, tmp_path, body)


@tables
def test_memories_without_vectors_are_found_by_words_beside_the_nearest(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        near = [note(f"nothing of it {n}", [1, 0, 0, n / 1_000]) for n in range(40)]
        await store.write([*near, note("the code is ZX-4471")])
        query = np.array([1, 0, 0, 0])
        hits = await store.hybrid_search(ask("ZX-4471"), 5, vector=query, candidates=10)
        assert "the code is ZX-4471" in texts(hits)

    run(name, tmp_path, body)


@tables
def test_the_latest_are_found_without_reading_all(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table_listing, "_FEW", 10)
    now = datetime.now(timezone.utc)
    ages = [0.01, 0.01, 0.5, 3, 3, 5, 20, 100, 400, *range(1_000, 1_060), -2]
    nodes = [
        note(f"memory {n}", time_created=now - timedelta(days=age), message_time=now if n % 9 == 0 else None)
        for n, age in enumerate(ages)
    ]

    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write(nodes)
        read: list[int] = []
        get = store._table.get  # type: ignore[attr-defined]
        scroll = getattr(store._table, "_scroll", None)

        async def counted(keys: Sequence[str], *given_too: Any) -> Any:
            read.append(len(keys))
            return await get(keys, *given_too)

        async def counted_scroll(*asked: Any) -> Any:
            records, after = await scroll(*asked)
            read.append(len(records))
            return records, after

        store._table.get, store._table._scroll = counted, counted_scroll  # type: ignore[attr-defined]
        for sort_key in ("time_created", "message_time", "last_accessed"):
            for limit in (1, 2, 5, 9, 10, 40, 90):
                for reverse in (True, False):
                    found = await store.find(limit=limit, sort_key=sort_key, reverse=reverse)
                    assert texts(found) == texts(in_order(nodes, sort_key, reverse)[:limit]), (sort_key, limit)
        read.clear()
        await store.find(limit=5)
        assert sum(read) == 7  # of the last week, and one of the day after tomorrow

    run(name, tmp_path, body)


@tables
def test_metadata_may_change_its_kind(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        kinds: list[Any] = ["a", ["a", "b"], 1, True, 1.5, {"deep": 1}, ["b"], None, "b"]
        node = note("x", [1, 0, 0, 0])
        for number, value in enumerate(kinds):
            change = {"metadata": {"k": value}}
            if number % 2:
                await store.patch({node.key: change})
            else:
                await store.write([note("x", [1, 0, 0, 0], **change)])
            for other in ("a", "b", 1, True, 1.5):
                there = value == other and isinstance(value, bool) is isinstance(other, bool)
                there = there or (isinstance(value, list) and other in value)
                assert await store.count(parse_filters({"metadata.k": other})) == there, (value, other)
            missing = value is None or isinstance(value, dict)
            assert await store.count(parse_filters({"metadata.k": None})) == missing

    run(name, tmp_path, body)
