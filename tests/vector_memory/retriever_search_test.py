# -*- coding: utf-8 -*-
"""What a search for memories gives back, in which order, and what it leaves as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from _bank_world import ALICE, BOB, NOW, Clock, local_bank, note, said
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ConfigError
from agentscope_reme.record import MemoryNode, parse_filters
from agentscope_reme.vector_memory import BAND, MemoryBank, MemoryRetriever, Owner, questions_of
from agentscope_reme.vector_store import LocalVectorStore


def in_bank(folder: Path, body: Callable[[MemoryBank, MemoryRetriever], Awaitable[None]], **options: Any) -> None:
    """Run a test with a retriever over a bank."""

    async def inside() -> None:
        async with local_bank(folder, **options) as bank:
            await body(bank, MemoryRetriever(bank))

    asyncio.run(inside())


def test_an_exact_match_of_300_days_ago_comes_before_a_weak_one_of_today(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        old = NOW - timedelta(days=300)
        await bank.add(
            [
                note("The wifi password of the cabin is birchwood.", message_time=old, time_created=old),
                note("They fixed the cabin's roof.", message_time=NOW, importance=1.0),
                note("The cabin is closed in June.", message_time=NOW + timedelta(days=9), importance=1.0),
            ]
        )
        found = await retriever.retrieve("wifi password of the cabin", [ALICE])
        assert found[0].content == "The wifi password of the cabin is birchwood."

    in_bank(tmp_path, body, clock=Clock())


def test_of_what_is_as_relevant_the_important_and_the_fresh_come_first(tmp_path: Path) -> None:
    async def main() -> None:
        async with MemoryBank(LocalVectorStore(tmp_path / "memories.db"), clock=Clock()) as bank:
            await bank.add(
                [
                    note("north plan of the picnic", message_time=NOW - timedelta(days=200)),
                    note("south plan of the picnic", message_time=NOW - timedelta(days=1)),
                    note("east plan of the picnic", message_time=NOW - timedelta(days=200), importance=1.0),
                ]
            )
            order = said(await MemoryRetriever(bank).retrieve("picnic", [ALICE]))
            assert order == [f"{side} plan of the picnic" for side in ("south", "east", "north")]
            order = said(await MemoryRetriever(bank, recency_weight=0.0).retrieve("picnic", [ALICE]))
            assert order[0] == "east plan of the picnic"

    asyncio.run(main())


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1), st.integers(-50, 900)), min_size=2, max_size=8), st.data()
)
def test_whatever_the_weights_nothing_clearly_less_relevant_comes_first(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[int, float, int]], data: st.DataObject
) -> None:
    words = ["harbour", "market", "bridge", "castle", "square", "garden"]
    weights = [data.draw(st.floats(0, 50)) for _ in range(2)]

    async def body(bank: MemoryBank, _: MemoryRetriever) -> None:
        await bank.add(
            [
                note(
                    f"{' '.join(words[:count])} note {number}",
                    importance=importance,
                    message_time=NOW - timedelta(days=days),
                )
                for number, (count, importance, days) in enumerate(drawn)
            ]
        )
        retriever = MemoryRetriever(bank, importance_weight=weights[0], recency_weight=weights[1])
        plain = MemoryRetriever(bank, importance_weight=0, recency_weight=0)
        relevance = {each.node.key: each.place for each in await plain.search(" ".join(words), [ALICE])}
        found = await retriever.search(" ".join(words), [ALICE])
        for at, before in enumerate(found):
            for after in found[at + 1 :]:
                assert relevance[after.node.key] - relevance[before.node.key] <= BAND + 1e-6

    in_bank(tmp_path_factory.mktemp("bank"), body, clock=Clock())


def test_of_very_many_that_are_as_relevant_the_important_ones_are_chosen(tmp_path: Path) -> None:
    async def main() -> None:
        async with MemoryBank(LocalVectorStore(tmp_path / "memories.db")) as bank:
            await bank.add([note(f"visit number {number}", importance=0.2) for number in range(200)])
            await bank.add([note("visit number 999", importance=0.9)])
            assert said(await MemoryRetriever(bank).retrieve("visit", [ALICE], limit=3))[0] == "visit number 999"

    asyncio.run(main())


def test_a_search_changes_neither_score_nor_importance_and_notes_that_something_was_found(tmp_path: Path) -> None:
    clock = Clock()

    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        [memory] = await bank.add([note("collects stamps", score=0.25, time_modified=clock())])
        clock.go_on(days=3)
        for _ in range(3):
            [found] = await retriever.retrieve("stamps", [ALICE])
            assert found.score not in (0.0, 0.25)
        await bank._books.access.flush()
        stored = await bank.get(memory.memory_id)
        assert (stored.score, stored.importance) == (0.25, memory.importance)
        assert (stored.access_count, stored.last_accessed) == (3, clock())
        assert stored.time_modified == memory.time_modified
        await retriever.retrieve("stamps", [ALICE], record_access=False)
        await bank._books.access.flush()
        assert (await bank.get(memory.memory_id)).access_count == 3
        created, accessed = await bank.history(memory.memory_id)
        assert (created.action, accessed.action, accessed.details["times"]) == ("created", "accessed", 3)

    in_bank(tmp_path, body, clock=clock)


def test_that_something_was_found_is_written_down_before_the_bank_closes(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [memory] = await bank.add([note("collects stamps")])
            await MemoryRetriever(bank).retrieve("stamps", [ALICE])
            await bank.delete((await bank.add([note("gone")]))[0].memory_id)
        async with local_bank(tmp_path) as bank:
            assert (await bank.get(memory.memory_id)).access_count == 1
            assert await bank.store.count() == 1

    asyncio.run(main())


def test_what_is_superseded_forgotten_or_expired_takes_no_place(tmp_path: Path) -> None:
    clock = Clock()

    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        day = timedelta(days=1)
        ended = [note(f"concert number {n} in town", expires_at=clock() - day) for n in range(150)]
        await bank.add([*ended, note("the concert is in the old town hall", expires_at=clock() + day)])
        [gone] = await bank.add([note("a concert that was forgotten")])
        await bank.patch({gone.key: {"is_active": False}})
        assert said(await retriever.retrieve("concert in town", [ALICE], limit=5)) == [
            "the concert is in the old town hall"
        ]
        assert len(await retriever.retrieve("concert in town", [ALICE], limit=300, include_inactive=True)) == 152
        clock.go_on(days=2)
        assert await retriever.retrieve("concert in town", [ALICE]) == []

    in_bank(tmp_path, body, clock=clock)


def test_results_are_distinct_by_content(tmp_path: Path) -> None:
    """MemOS#978: the ten best were ten copies."""

    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        owners = [Owner("personal", f"user {number}") for number in range(9)]
        await bank.add([note("The deadline is Friday.", owner.target) for owner in owners])
        await bank.add([note("the deadline  is friday.", "user 0"), note("Friday is a holiday.", "user 0")])
        found = said(await retriever.retrieve("deadline friday", owners, limit=2))
        assert len(found) == 2
        assert "Friday is a holiday." in found

    in_bank(tmp_path, body)


def test_nobodys_memories_are_found_by_others(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add(
            [note("对花生过敏"), note("对芒果过敏", "bob"), note("过敏的应对步骤", memory_type="procedural")]
        )
        assert said(await retriever.retrieve("过敏", [BOB])) == ["对芒果过敏"]
        assert set(said(await retriever.retrieve("过敏", [ALICE, BOB]))) == {"对花生过敏", "对芒果过敏"}
        assert await retriever.retrieve("过敏", [Owner("personal", "eve")]) == []
        assert await retriever.retrieve("过敏", []) == []
        assert len(await retriever.retrieve("过敏", None)) == 3

    in_bank(tmp_path, body)


def test_who_is_an_author_elsewhere_is_a_word_here(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        turn = {"author": "Python", "ref_memory_id": "talk", "message_time": NOW}
        await bank.add([note("Nice weather today.", "bob", **turn), note("Python is her favourite language.")])
        await bank.add([note("Rust is what her brother likes.")])
        found = await retriever.search("Python", [ALICE])
        assert [each.node.content for each in found][:1] == ["Python is her favourite language."]
        assert found[0].parts["words"] > 0

    in_bank(tmp_path, body)


def test_a_speaker_a_date_and_the_turns_around_count_where_a_conversation_is_known(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        said_at = [
            ("Caroline", "How was the pottery class on Saturday?"),
            ("Melanie", "I made two bowls and loved it!"),
            ("Caroline", "That reminds me of my trip to the lake."),
        ]
        await bank.add(
            [
                note(text, author=who, ref_memory_id="session 1", message_time=NOW + timedelta(minutes=at))
                for at, (who, text) in enumerate(said_at)
            ]
        )
        found = await retriever.search("What did Melanie make in the pottery class?", [ALICE])
        assert found[0].node.content == "I made two bowls and loved it!"
        assert {"neighbours", "speaker"} <= found[0].parts.keys()

    in_bank(tmp_path, body, clock=Clock())


def test_knowledge_does_not_come_along_because_it_is_from_the_same_conversation(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        talk = {"author": "alice", "ref_memory_id": "session 1", "category": "fact"}
        contents = ["喜欢川菜", "works at a hospital", "plays the violin"]
        await bank.add(
            [note(text, message_time=NOW + timedelta(minutes=at), **talk) for at, text in enumerate(contents)]
        )
        assert said(await retriever.retrieve("川菜", [ALICE])) == ["喜欢川菜"]

    in_bank(tmp_path, body)


def test_more_is_asked_for_than_there_is(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        assert await retriever.retrieve("anything", [ALICE], limit=10) == []
        await bank.add([note("one about boats"), note("two about boats")])
        assert len(await retriever.retrieve("boats", [ALICE], limit=10)) == 2
        assert await retriever.retrieve("的了？", [ALICE]) == []
        assert await retriever.retrieve("zeppelin", [ALICE], hybrid_threshold=0.9) == []

    in_bank(tmp_path, body)


def test_an_identifier_is_found_at_default_settings(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add(
            [note("工单 ZX-4471 已关闭"), note("工单流程每周复盘"), note("用 9router 做 rerank，配置在 GOALS.md")]
        )
        assert said(await retriever.retrieve("ZX-4471", [ALICE]))[:1] == ["工单 ZX-4471 已关闭"]
        for query in ("9router", "GOALS.md", "goals.md"):
            assert said(await retriever.retrieve(query, [ALICE]))[:1] == ["用 9router 做 rerank，配置在 GOALS.md"]

    in_bank(tmp_path, body)


def test_filters_thresholds_and_scores(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add(
            [
                note("runs in the park", category="preference", tags=["sport"]),
                note("runs a bakery in the park", category="fact"),
                note("the park has a lake", category="fact", tags=["place"]),
            ]
        )
        found = await retriever.retrieve("runs in the park", [ALICE], filters={"category": "fact"})
        assert "runs in the park" not in said(found)
        conditions = parse_filters({"tags": {"contains": "sport"}})
        assert said(await retriever.retrieve("park", [ALICE], filters=conditions)) == ["runs in the park"]
        every = await retriever.retrieve("runs in the park", [ALICE])
        assert [each.score for each in every] == sorted((each.score for each in every), reverse=True)
        above = every[-1].score + 1e-6
        assert said(await retriever.retrieve("runs in the park", [ALICE], min_score=above)) == said(every[:-1])
        assert said(await retriever.retrieve("runs in the park", [ALICE], hybrid_threshold=0.99)) == said(every[:1])
        assert len(await retriever.retrieve("runs in the park", [ALICE], hybrid_threshold=-1.0)) == len(every)

    in_bank(tmp_path, body)


def test_memories_added_by_hand_are_found_by_the_time_they_are_of(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add([note("met the landlord", message_time=NOW), note("called the landlord")])
        days = {"message_time": ["2026-03-01", "2026-03-02"]}
        assert said(await retriever.retrieve("landlord", [ALICE], filters=days)) == ["met the landlord"]
        assert len(await retriever.retrieve("landlord", [ALICE], filters={"created": ["2026-01-01", None]})) == 2

    in_bank(tmp_path, body)


def test_several_queries_become_one_relevance(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add([note("violin lessons on Monday"), note("violin"), note("lessons in pottery")])
        for similarity in ("mean", "max", [0.0, 1.0]):
            retriever.similarity = similarity
            found = await retriever.retrieve(["violin", "pottery"], [ALICE])
            assert {"violin", "lessons in pottery"} <= set(said(found))
            assert all(0 <= each.score <= 1 for each in found)
        assert found[0].content == "lessons in pottery"
        retriever.similarity = [1.0, 2.0, 3.0]  # of another number of queries: as if it were the mean
        assert await retriever.retrieve(["violin", "pottery"], [ALICE])
        with pytest.raises(ConfigError, match="similarity"):
            await retriever.retrieve(["violin", "pottery"], [ALICE], similarity=[1.0])

    in_bank(tmp_path, body)


def test_weights_can_be_changed_at_any_time_and_are_checked(tmp_path: Path) -> None:
    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        await bank.add([note("sailing on the sea"), note("seasick on every boat")])
        for weights, sign in (((0.0, 1.0), "words"), ((1, 0), "meaning"), ((0.5, 0.5), "words")):
            retriever.hybrid_weights = weights
            [found, *_] = await retriever.search("sailing on the sea", [ALICE])
            assert found.parts[sign] > 0
        for bad in ((0, 0), (-1, 2), (1,), "half", (1, 2, 3), (float("nan"), 1), (float("inf"), 1), ("a", "b")):
            with pytest.raises(ConfigError, match="hybrid_weights"):
                retriever.hybrid_weights = bad  # type: ignore[assignment]
        assert retriever.hybrid_weights == (0.5, 0.5)
        for query in ("", "  ", [], ["ok", ""], None):
            with pytest.raises(ConfigError):
                await retriever.retrieve(query, [ALICE])  # type: ignore[arg-type]

    in_bank(tmp_path, body)


def test_a_request_is_asked_with_the_turns_that_it_leans_on() -> None:
    """MemOS#1365: "any cheaper ones?" brought last week's product."""
    talk = [
        Msg("system", "You help.", "system"),
        Msg("alice", "I look for a stroller.", "user"),
        Msg("friday", "The Joie Nitro costs 120 euros.", "assistant"),
        Msg("alice", "再找找其他价格优惠的", "user"),
    ]
    queries = questions_of(talk)
    assert queries[0] == "再找找其他价格优惠的"
    assert "stroller" in queries[1]
    assert queries[1].endswith(queries[0])
    assert "You help." not in queries[1]
    assert questions_of(talk, "cheaper strollers")[0] == "cheaper strollers"
    assert questions_of([]) == []
    assert questions_of([], "x") == ["x"]
    assert questions_of(talk[:1]) == []
    assert questions_of(talk[2:3]) == ["The Joie Nitro costs 120 euros."]


@pytest.mark.parametrize("owners", [1, 30])
def test_knowledge_is_found_by_meaning_alone_also_where_all_memories_say_the_same(tmp_path: Path, owners: int) -> None:
    """As of customers of whom one thing is known each: no word of the query is in it, and nothing is less like it."""

    async def body(bank: MemoryBank, retriever: MemoryRetriever) -> None:
        targets = [Owner("personal", f"customer {number}") for number in range(owners)]
        await bank.add([MemoryNode("harbourmaster", *target, category="fact") for target in targets])
        for target in targets[:3]:
            [found] = await retriever.search("harbour", [target])
            assert found.node.owner == target.key
            assert "words" not in found.parts

    in_bank(tmp_path, body)
