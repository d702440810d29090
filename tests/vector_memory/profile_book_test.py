# -*- coding: utf-8 -*-
"""Profiles: pairs of key and value that are lost to nobody, neither to a neighbour nor to one who writes at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from _bank_world import ALICE, Clock, bank_of, local_bank
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ConfigError, Event
from agentscope_reme._events import EventBus
from agentscope_reme.vector_memory import Owner, ProfileBook
from agentscope_reme.vector_store import LocalVectorStore

names = st.sampled_from(["city", "语言", "job", "pet"])
values = st.sampled_from(["Berlin", "中文", "none", "yes"])


@given(st.lists(st.tuples(st.sampled_from(["alice", "Alice"]), names, values | st.none()), max_size=12))
def test_a_profile_agrees_with_a_dictionary(tmp_path_factory, steps: list[tuple[str, str, str | None]]) -> None:  # type: ignore[no-untyped-def]
    async def main() -> None:
        folder = tmp_path_factory.mktemp("bank")
        model: dict[str, dict[str, str]] = {"alice": {}, "Alice": {}}
        async with local_bank(folder) as bank:
            book = ProfileBook(bank)
            for user, key, value in steps:
                if value is None:
                    assert await book.delete(user, key) == (key in model[user])
                    model[user].pop(key, None)
                else:
                    model[user][key] = value
                    assert await book.update(user, {key: value}) == model[user]
        async with local_bank(folder) as bank:
            for user, profile in model.items():
                assert await ProfileBook(bank).read(user) == profile

    asyncio.run(main())


def test_equal_values_of_two_keys_are_two_entries(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            book = ProfileBook(bank)
            await book.update("alice", {"home": "Berlin", "work": "Berlin"})
            assert await book.read("alice") == {"home": "Berlin", "work": "Berlin"}
            await book.delete("alice", "home")
            assert await book.read("alice") == {"work": "Berlin"}

    asyncio.run(main())


def test_writers_at_the_same_time_lose_nothing_also_in_two_processes(tmp_path: Path) -> None:
    async def main() -> None:
        banks = [bank_of(LocalVectorStore(tmp_path / "memories.db")) for _ in range(2)]
        for bank in banks:
            await bank.open()
        books = [ProfileBook(bank) for bank in banks]
        await asyncio.gather(*(books[n % 2].update("alice", {f"key {n}": str(n), "same": str(n)}) for n in range(20)))
        for book in books:
            profile = await book.read("alice")
            assert {key: value for key, value in profile.items() if key != "same"} == {
                f"key {n}": str(n) for n in range(20)
            }
            assert profile["same"] in map(str, range(20))
        for bank in banks:
            await bank.close()

    asyncio.run(main())


def test_a_full_profile_drops_what_was_set_longest_ago_and_says_so(tmp_path: Path) -> None:
    heard: list[Event] = []
    clock = Clock()

    async def main() -> None:
        events = EventBus()
        events.subscribe(heard.append)
        async with local_bank(tmp_path, events=events, clock=clock) as bank:
            book = ProfileBook(bank, capacity=3)
            for number in range(3):
                clock.go_on(minutes=1)
                await book.update("alice", {f"key {number}": "x"})
            clock.go_on(minutes=1)
            await book.update("alice", {"key 0": "new"})
            clock.go_on(minutes=1)
            assert await book.update("alice", {"key 3": "x"}) == {"key 0": "new", "key 2": "x", "key 3": "x"}
            with pytest.raises(ConfigError, match="4 keys"):
                await book.update("alice", dict.fromkeys("abcd", "x"))
            assert len(await book.read("alice")) == 3

    asyncio.run(main())
    assert [each.details["dropped"] for each in heard if each.kind == "profile_changed"][-1] == ["key 1"]


def test_a_question_finds_what_has_to_do_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            book = ProfileBook(bank)
            await book.update("alice", {"编程语言": "Python", "city": "Hangzhou", "diet": "vegetarian"})
            assert await book.read("alice", "她用什么编程语言？") == {"编程语言": "Python"}
            assert next(iter(await book.read("alice", "which city"))) == "city"
            assert await book.read("alice", "的了？") == {}
            assert await book.read("bob", "city") == {}

    asyncio.run(main())


@pytest.mark.parametrize("entries", [{"": "x"}, {"k": ""}, {"k": None}, {3: "x"}, {" ": "x"}])
def test_blank_keys_and_values_are_refused(tmp_path: Path, entries: dict) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            with pytest.raises(ConfigError, match="profile"):
                await ProfileBook(bank).update("alice", entries)
            with pytest.raises(ConfigError, match="user_name"):
                await ProfileBook(bank).read(" ")

    asyncio.run(main())


def test_profiles_are_on_record_and_go_with_their_owner(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path, redact=lambda text: text.replace("sk-1", "***")) as bank:
            book = ProfileBook(bank)
            assert await book.update("alice", {"key": "sk-1"}) == {"key": "***"}
            await book.update("a", {"city": "Rome"})
            await bank.delete_all([ALICE])
            assert await book.read("alice") == {}
            assert await book.read("a") == {"city": "Rome"}
            await bank.delete_all([Owner("personal", "a")])
            assert await bank.ledger.count() == 0

    asyncio.run(main())
