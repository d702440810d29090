# -*- coding: utf-8 -*-
"""Feedback on replies: it reaches the memories that a reply was given, within bounds, once, and on record."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from _refine_world import ALICE, BOB, active, bank_in, chat, note, refiner_of
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ConfigError
from agentscope_reme.refine._feedback_book import FeedbackBook
from agentscope_reme.refine._forgetting import strength_days, times_useful
from agentscope_reme.vector_memory import Owner


@given(
    worth=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.92, 1.0]), min_size=1, max_size=3),
    verdicts=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1, -1])), max_size=12),
)
def test_verdicts_stay_within_bounds_and_reach_no_other_memory(tmp_path_factory, worth, verdicts):
    async def main() -> None:
        async with bank_in(tmp_path_factory.mktemp("bank")) as bank:
            given_ = await bank.add([note(f"memory {n}", importance=each) for n, each in enumerate(worth)])
            [other] = await bank.add([note("memory of bob", BOB)])
            book = FeedbackBook(bank)
            for reply in range(6):
                await book.note(f"r{reply}", given_)
            last: dict[int, int] = {}
            for reply, verdict in verdicts:
                before = {node.key: node.importance for node in await active(bank)}
                changed = await book.give(f"r{reply}", verdict)
                assert not changed or last.get(reply) != verdict  # the same verdict twice counts once
                last[reply] = verdict
                for node in await active(bank):
                    moved = node.importance - before[node.key]
                    assert moved * verdict >= 0
            for node, base in zip(sorted(await active(bank), key=lambda n: n.content), worth, strict=True):
                assert abs(node.importance - base) <= 0.3 + 1e-6
                assert node.importance >= 0.9 or base < 0.9
            assert (await active(bank, BOB))[0].to_dict() == other.to_dict()

    asyncio.run(main())


def test_a_verdict_is_on_record_and_what_was_useful_fades_slower(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            [memory] = await bank.add([note("likes tea")])
            book = FeedbackBook(bank, tmp_path / "replies.jsonl")
            await book.note("r1", [memory])
            [changed] = await book.give("r1", 1, actor="alice")
            assert changed.importance > memory.importance
            assert times_useful(changed) == 1
            assert strength_days(changed, book.config) > strength_days(memory, book.config)
            row = (await bank.history(memory.memory_id))[-1]
            assert (row.action, row.actor, row.cause) == ("feedback", "alice", "+1 for the reply r1")
            [taken_back] = await book.give("r1", -1)
            assert taken_back.importance < memory.importance
            assert await book.give("r1", -1) == []
            assert await book.give("never heard of", 1) == []
            for wrong in (0, 2, True, "1"):
                with pytest.raises(ConfigError, match="give 1 for a good reply"):
                    await book.give("r1", wrong)
            with pytest.raises(ConfigError, match="give the id"):
                await book.note("", [memory])

    asyncio.run(main())


def test_a_reply_is_remembered_after_a_restart_and_by_another_process_and_leads_to_what_became_of_it(tmp_path):
    async def main() -> None:
        path = tmp_path / "replies.jsonl"
        async with bank_in(tmp_path) as bank:
            [memory] = await bank.add([note("likes tea")])
            one, other = FeedbackBook(bank, path), FeedbackBook(bank, path)
            await one.note("r1", [memory])
            updated = await bank.update(memory.memory_id, content="likes green tea")
            [changed] = await other.give("r1", 1)
            assert changed.key == updated.key
            assert await one.give("r1", 1) == []  # the other one was told already
            await bank.delete(updated.memory_id)
            assert await FeedbackBook(bank, path).give("r1", -1) == []

    asyncio.run(main())


def test_as_many_replies_are_remembered_as_there_is_room_for(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "replies.jsonl"
        async with bank_in(tmp_path) as bank:
            [memory] = await bank.add([note("likes tea")])
            book = FeedbackBook(bank, path, most=5)
            for number in range(30):
                await book.note(f"r{number}", [memory])
            assert len(path.read_bytes().splitlines()) <= 11
            again = FeedbackBook(bank, path, most=5)
            assert [bool(await again.give(f"r{number}", 1)) for number in (24, 25, 29)] == [False, True, True]

    asyncio.run(main())


def test_for_a_source_its_refined_memory_is_meant(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat(importance=0.4))
            await refiner_of(bank).run([ALICE])
            sources = await bank.list([ALICE], {"is_active": False}, include_inactive=True)
            book = FeedbackBook(bank)
            await book.note("r1", sources)
            changed = await book.give("r1", 1)
            assert {node.memory_id for node in changed} == {node.metadata["refined_into"] for node in sources}
            assert len(changed) == len({node.key for node in changed})

    asyncio.run(main())


def test_what_is_purged_is_not_in_the_file(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "replies.jsonl"
        async with bank_in(tmp_path) as bank:
            nodes = await bank.add([note("likes tea"), note("likes milk"), note("likes beer", BOB)])
            book = FeedbackBook(bank, path)
            for size, reply in itertools.product((1, 3), "ab"):
                await book.note(f"{reply}{size}", nodes[:size])
            assert await book.remove([ALICE]) == 4
            text = path.read_text("utf-8")
            assert "personal/alice" not in text
            assert nodes[2].memory_id in text
            assert await book.remove(memories=[(BOB.key, nodes[2].memory_id)]) == 2
            assert path.read_bytes() == b""
            other = FeedbackBook(bank, path, most=1)
            await other.note("c", nodes)
            await book.remove([ALICE, BOB])
            for _ in range(4):  # one that knew of them before rewrites the file
                await other.note("d", [])
                await other.note("d", await bank.add([note("likes tea", Owner("personal", "carol"))]))
            assert b"alice" not in path.read_bytes()

    asyncio.run(main())
