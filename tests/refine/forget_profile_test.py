# -*- coding: utf-8 -*-
"""What is forgotten or purged is in no profile any more; of what waits, a request to forget tells what went."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from _bytes_left import files_with
from _refine_world import ALICE, bank_in, note
from agentscope.message import Msg

from agentscope_reme import EventKind
from agentscope_reme.refine import Capture, Forgetter
from agentscope_reme.refine._purge import Purge
from agentscope_reme.vector_memory import Owner, ProfileBook

CASES = [
    ("The user lives in Berlin", "Forget about Berlin.", {"city": "Berlin"}, {"drink": "tea"}),
    ("用户住在杭州", "忘掉关于杭州的事", {"城市": "杭州"}, {"饮料": "茶"}),
    ("The user plays chess", "Forget about chess.", {"chess": "yes"}, {"piano": "yes", "city": "Lyon"}),
    ("Alice moved to Berlin", "Forget about Berlin.", {"city": "Berlin"}, {"name": "Alice"}),
    ("Likes walnut cake", "Forget about walnut cake.", {"cake": "walnut"}, {"diet": "allergic to walnut cake"}),
]


@pytest.mark.parametrize("how", ["ask", "forget", "purge"])
@pytest.mark.parametrize(("said", "asked", "gone", "left"), CASES)
def test_an_entry_goes_with_what_it_says_and_no_other_does(
    tmp_path: Path, how: str, said: str, asked: str, gone: dict[str, str], left: dict[str, str]
) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            [memory] = await bank.add([note(said)])
            book = ProfileBook(bank)
            await book.update("alice", {**gone, **left})
            if how == "ask":
                await Forgetter(bank).obey(asked, [ALICE])
            elif how == "forget":
                await Forgetter(bank).forget([memory])
            else:
                purged = await Purge(bank).memory(memory.memory_id)
                assert purged.counts["profiles"] == len(gone)
                for text in (*gone, *gone.values()):
                    assert text == "yes" or text in str(left) or files_with(f'"{text}"', tmp_path) == []
            assert await book.read("alice") == left
            actions = [row.category for row in await bank.ledger.find() if row.memory_type == "audit"]
            assert ("purged" if how == "purge" else "profile_deleted") in actions

    asyncio.run(main())


def test_an_entry_that_another_memory_still_says_stays(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            first, second = await bank.add([note("Rex likes the sea"), note("Rex is five")])
            task = await bank.add([note("Rex fetches", Owner("procedural", "walks"))])
            book = ProfileBook(bank)
            await book.update("alice", {"dog": "Rex"})
            await Forgetter(bank).forget([first])
            await Purge(bank).memory(task[0].memory_id)
            assert await book.read("alice") == {"dog": "Rex"}
            await Purge(bank).memory(second.memory_id)
            assert await book.read("alice") == {}

    asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "cut", "withheld"),
    [
        (["I like my cat Tom.", "My cat is ill. I like tea.", "I like tea.", "I am allergic to cat hair."], 2, 1),
        (["我喜欢喝茶"], 0, 0),
        ([], 0, 0),
    ],
)
@pytest.mark.parametrize(
    ("request_to_forget", "also"), [("Forget about the cat.", 0), ("The cat is old. Forget about the cat.", 1)]
)
def test_a_request_to_forget_tells_what_waits_and_goes_or_stays(
    tmp_path: Path, said: Sequence[str], cut: int, withheld: int, request_to_forget: str, also: int
) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            told = []
            bank.events.subscribe(told.append)
            await ProfileBook(bank).update("alice", {"pet": "cat", "health": "allergic to the cat"})
            capture = Capture(bank, forgetter=Forgetter(bank))
            await capture.hear(ALICE, [Msg("alice", each, "user") for each in (*said, request_to_forget)], "s")
            [event] = [each for each in told if each.kind == EventKind.FORGET_ASKED]
            assert (event.details["waiting"], event.details["waiting_withheld"]) == (cut + also, withheld)
            assert (event.details["profile"], event.details["profile_withheld"]) == (["pet"], ["health"])

    asyncio.run(main())
