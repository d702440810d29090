# -*- coding: utf-8 -*-
"""What a request to forget reaches: the statements that name its subject, wherever they lie, and no others."""

from __future__ import annotations

import asyncio
import logging

import pytest
from _refine_world import ALICE, BOB, Clock, active, bank_in, chat, note, refiner_of, texts
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import EventKind
from agentscope_reme.refine import Capture, Forgetter, RefinedRetriever, is_forgotten, is_refined
from agentscope_reme.refine._cold_storage import ColdStorage
from agentscope_reme.refine._naming import mentions

SUBJECTS = ["Bluebird", "chess", "番茄", "钢琴"]
SAID = {
    "Bluebird": "The Bluebird project ships its first release in June, and Maria leads it.",
    "chess": "I play in the chess club every Tuesday evening with Tom.",
    "番茄": "我家的阳台上种了很多番茄，每天傍晚都要浇一次水。",
    "钢琴": "我每周三下午三点去少年宫上钢琴课，老师姓王。",
    "radio": "Grandfather repaired old radios in the cellar for forty years.",
    "fox": "A fox lives behind our garden shed and comes at dusk.",
    "Bluebird too": "Tom has left the Bluebird team, so somebody else writes its manual now.",
}


@given(
    said=st.lists(st.sampled_from(list(SAID.values())), min_size=2, unique=True),
    later=st.lists(st.sampled_from(list(SAID.values())), max_size=2, unique=True),
    subject=st.sampled_from(SUBJECTS),
    is_cold=st.booleans(),
)
def test_the_statements_that_name_it_go_and_every_other_one_is_still_recalled(
    tmp_path_factory, said, later, subject, is_cold
):
    async def main() -> None:
        folder, clock = tmp_path_factory.mktemp("bank"), Clock()
        cold = ColdStorage(folder / "cold" / "memories.jsonl")
        async with bank_in(folder, clock) as bank:
            await bank.add(chat(said))
            await refiner_of(bank).run([ALICE])
            await bank.add(chat([each for each in later if each not in said], session="s2"))
            await bank.add([note(SAID["Bluebird"], BOB)])
            forgetter = Forgetter(bank, cold=cold)
            if is_cold:  # the sources lie in the file
                clock.go_on(days=100)
                await forgetter.sweep([ALICE])
            every = {*said, *later}
            named = {text for text in every if subject in text}
            shown = await forgetter.preview(f"忘掉关于{subject}的事", [ALICE])
            assert named <= set(texts(shown))
            assert not any(is_refined(node) for node in shown)
            gone = await forgetter.obey(f"忘掉关于{subject}的事", [ALICE])
            assert set(texts(gone)) == named
            left = await active(bank)
            assert not any(subject.casefold() in node.searched_text.casefold() for node in left)
            there = {node.key: node for node in await bank.list([ALICE], include_inactive=True)}
            there |= {each.node.key: each.node for each in await cold.all([ALICE])}
            behind = {key for node in left for key in node.metadata.get("source_keys", ())}
            recalled = {node.content for node in left} | {there[key].content for key in behind}
            assert every - named <= recalled
            for node in gone:
                assert (await forgetter.restore(node.memory_id, ALICE)).is_active
            assert texts(await active(bank, BOB)) == [SAID["Bluebird"]]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("subject", "text", "names"),
    [
        ("猫", "我养了一只猫叫咪咪", True),
        ("我的猫", "我养了一只猫叫咪咪", True),
        ("上海", "在上海出差", True),
        ("在上海的房子", "上海那边有一套房子", True),
        ("上海", "喜欢大海", False),
        ("我", "我养了一只猫", False),
        ("me", "Tell me about it", False),
        ("cat", "He works in education", False),
        ("my cats", "The cat sleeps.", True),
        ("rye bread", "The bakery sells rye bread.", True),
        ("rye bread", "The bakery sells bread.", False),
        ("ｃａｔ", "The cat sleeps.", True),
        ("Tom的猫", "tom养猫", True),
        ("第88只猫", "第88只猫很胖", True),
        ("Tom的猫", "我养猫", False),
    ],
)
def test_what_names_a_subject(subject, text, names):
    assert mentions(subject, note(text)) is names
    assert not mentions("piano", note("likes tea", when_to_use="piano"))  # by which it is only found


def test_a_word_of_many_memories_and_one_that_no_rule_knows_end_the_search(tmp_path, monkeypatch):
    monkeypatch.setattr("agentscope_reme.refine._subject_search._MOST", 3)

    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(
                [note(f"The goat named {name} is number {n} of the goats") for n, name in enumerate("ABCDE")]
            )
            assert len(await Forgetter(bank).preview("goats named", [ALICE])) == 5
            assert len(await Forgetter(bank).preview("number 3", [ALICE], limit=1)) == 1
            for odd in ("上上下下", "？！", "ねこ", "𠀀𠀁"):
                assert await Forgetter(bank).preview(odd, [ALICE]) == []

    asyncio.run(main())


def test_health_and_safety_stay_until_it_is_confirmed_or_they_are_what_is_meant(tmp_path, caplog):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([note("我养了一只猫叫咪咪"), note("我对猫毛过敏，需要随身带药"), note("在学弹钢琴")])
            told = []
            bank.events.subscribe(told.append)
            forgetter = Forgetter(bank)
            await Capture(bank, forgetter=forgetter).hear(ALICE, [Msg("alice", "忘掉关于猫的事", "user")])
            assert set(texts(await active(bank))) == {"我对猫毛过敏，需要随身带药", "在学弹钢琴"}
            [event] = [each for each in told if each.kind == EventKind.FORGET_ASKED]
            assert event.details == {
                "owners": [ALICE.key],
                "forgotten": [note("我养了一只猫叫咪咪").memory_id],
                "withheld": [note("我对猫毛过敏，需要随身带药").memory_id],
                "profile": [],
                "profile_withheld": [],
                "waiting": 0,
                "waiting_withheld": 0,
                "everything": False,
            }
            assert "preview_forget() shows them" in caplog.text
            shown = await forgetter.preview("忘掉关于猫的事", [ALICE])
            assert texts(shown) == ["我对猫毛过敏，需要随身带药"]
            assert texts(await forgetter.obey("忘掉我对猫毛过敏的事", [ALICE])) == texts(shown)

    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        asyncio.run(main())


@pytest.mark.parametrize(
    "asked",
    [
        "忘掉所有关于我的事",
        "忘掉一切",
        "忘掉我说过的所有话。",
        "请清空你的记忆",
        "Forget everything about me.",
        "Please forget everything I told you.",
        "Delete all my memories",
        "Erase my data",
        "请删除你知道的关于我的一切",
        "Could you forget everything you know about me?",
    ],
)
def test_a_request_that_means_everything_forgets_nothing_and_says_so(tmp_path, caplog, asked):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([note("我养了一只猫叫咪咪"), note("Tell me about the sea")])
            told = []
            bank.events.subscribe(told.append)
            assert await Forgetter(bank).obey(asked, [ALICE]) == []
            assert len(await active(bank)) == 2
            [event] = told
            assert (event.kind, event.details["everything"], event.details["forgotten"]) == ("forget_asked", True, [])
            assert "purge_all()" in caplog.text
            for other in ("What a day", "Don't forget everything I told you.", "你会忘掉一切吗？", "Delete all rows."):
                assert await Forgetter(bank).obey(other, [ALICE]) == []
            assert len(told) == 1

    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        asyncio.run(main())


@pytest.mark.parametrize(
    "asked",
    [
        *("忘掉刚才那句话", "忘掉这件事", "忘了我刚说的吧", "忘掉一切关于她的事", "你可以忘掉这句话吗？"),
        *("Forget that.", "Forget what I just said", "Please forget this conversation.", "Forget about him"),
    ],
)
def test_a_request_that_only_points_forgets_nothing_and_is_told(tmp_path, asked):
    async def main() -> None:
        known = [
            "她说的那句话让我难过。",
            "我喜欢这件事的结局。",
            "That conversation with him was what I said I liked.",
        ]
        async with bank_in(tmp_path) as bank:
            await bank.add([note(each) for each in known])
            told = []
            bank.events.subscribe(told.append)
            capture = Capture(bank, forgetter=Forgetter(bank))
            await capture.hear(ALICE, [Msg("alice", known[1], "user"), Msg("alice", asked, "user")])
            [event] = [each for each in told if each.kind == EventKind.FORGET_ASKED]
            assert (event.details["everything"], event.details["forgotten"]) == (False, [])
            assert set(texts(await active(bank))) == set(known)

    asyncio.run(main())


def test_a_condensed_text_that_names_what_no_source_does_is_taken_apart(tmp_path):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            sources = await bank.add(chat([SAID["radio"], SAID["fox"]]))
            await refiner_of(bank).run([ALICE])
            [refined] = [node for node in await active(bank) if is_refined(node)]
            await bank.update(refined.memory_id, ALICE, content="Grandpa's wireless sets, and a fox.")
            assert len(await Forgetter(bank).obey("Forget about the wireless sets.", [ALICE])) == 1
            assert {node.key for node in await active(bank)} == {node.key for node in sources}
            retriever = RefinedRetriever(bank, cache_seconds=0)
            assert texts(await retriever.retrieve("old radios", [ALICE]))[0] == SAID["radio"]
            assert [is_forgotten(node) for node in await bank.list([ALICE], {"is_active": False})] == [True]

    asyncio.run(main())
