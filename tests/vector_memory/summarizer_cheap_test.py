# -*- coding: utf-8 -*-
"""One reply for each target: stored, reconciled and linked; what fails stores nothing and says so."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import (
    ALICE,
    BOB,
    CODING,
    SEARCH,
    active,
    agent,
    bank_in,
    ids_shown,
    listening,
    memories,
    messages_shown,
    of_kind,
    prompt_of,
    run,
    summarizer_of,
    texts,
    tool_call,
    tool_result,
    user,
)
from agentscope.message import Msg

from agentscope_reme._errors import ConfigError, MissingModelError, ModelReplyError
from agentscope_reme.message import MARK_KEY
from agentscope_reme.record import MemoryNode
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.vector_memory import Conversations, Owner, ProfileBook

TALK = [
    user("I moved to Beijing. Please always answer in short sentences."),
    agent("Noted."),
]


def test_memories_are_stored_with_their_source(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            item = {
                "content": "The user moved to Beijing.",
                "category": "Event",
                "from": [1],
                "entities": ["Beijing", "Shanghai"],
            }
            model = ScriptedChatModel([memories(item, {"content": "alice wants short sentences", "from": [1]})])
            events = listening(bank)
            stored = await summarizer_of(bank, model).summarize(TALK, [ALICE])
            assert texts(stored) == ["alice moved to Beijing.", "alice wants short sentences"]
            assert len(model.requests) == 1
            node = await bank.get(stored[0].memory_id, ALICE)
            assert (node.category, node.author, node.entities) == ("event", "alice", ("Beijing",))
            assert node.message_time == datetime(2026, 9, 15, 10, 32).astimezone()
            assert (node.importance, node.owner) == (0.5, "personal/alice")
            kept = await Conversations(bank).read(node.ref_memory_id, ALICE)
            assert [(msg.role, msg.get_text_content()) for msg in kept] == [
                ("user", "I moved to Beijing. Please always answer in short sentences."),
                ("assistant", "Noted."),
            ]
            [row] = await bank.history(node.memory_id, ALICE)
            assert (row.action, row.actor, row.cause) == ("created", "scripted", "conversation")
            [told] = of_kind(events, "memories_summarized")
            assert told.details == {
                "owner": "personal/alice",
                "added": 2,
                "updated": 0,
                "superseded": 0,
                "known": 0,
                "calls": 1,
            }

    run(scene)


def test_without_an_embedding_model_it_is_the_same(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path, embed=False) as bank:
            replies = [memories("alice 爱吃川菜"), memories("alice 不吃川菜了")]
            summarizer = summarizer_of(bank, replies)
            await summarizer.summarize([user("我爱吃川菜")], [ALICE])
            await summarizer.summarize([user("我不吃川菜了", "2026-09-20 08:00:00")], [ALICE])
            assert await active(bank, ALICE) == ["alice 不吃川菜了"]

    run(scene)


def test_the_model_sees_what_is_known_and_may_complete_or_retire_it(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            for content in ("alice has a dog", "alice lives in Shanghai", "alice plays chess on Sundays"):
                await bank.add([MemoryNode(content, memory_target="alice")])
            await bank.add([MemoryNode("bob lives in Rome", memory_target="bob")])
            seen: list[str] = []

            def reply(messages: Any, _: Any) -> str:
                seen.append(prompt_of(messages))
                ids = ids_shown(seen[-1])
                return memories(
                    {"content": "alice has a dog named Rex", "action": "update", "id": ids["alice has a dog"]},
                    {
                        "content": "alice lives in Beijing",
                        "action": "supersede",
                        "id": ids["alice lives in Shanghai"],
                        "no_longer_true": "in Shanghai",
                    },
                )

            talk = [user("My dog is called Rex, and I live in Beijing now.")]
            stored = await summarizer_of(bank, reply).summarize(talk, [ALICE])
            assert "Rome" not in seen[0]
            assert await active(bank, ALICE) == [
                "alice has a dog named Rex",
                "alice lives in Beijing",
                "alice plays chess on Sundays",
            ]
            new = {node.content: node for node in stored}
            [old] = [node for node in await bank.list([ALICE], include_inactive=True) if not node.is_active]
            assert old.content == "alice lives in Shanghai"
            assert old.metadata["superseded_by"] == new["alice lives in Beijing"].memory_id
            versions = await bank.versions(new["alice has a dog named Rex"].memory_id, ALICE)
            assert texts(versions) == ["alice has a dog"]

    run(scene)


def test_the_profile_is_brought_up_to_date(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            book = ProfileBook(bank)
            await book.update("alice", {"city": "Shanghai", "diet": "vegan"})
            model = ScriptedChatModel([memories(profile={"city": "Beijing", "name": "alice", "job": None})])
            assert await summarizer_of(bank, model).summarize(TALK, [ALICE]) == []
            assert "city: Shanghai" in prompt_of(model.requests[0])
            assert await book.read("alice") == {"city": "Beijing", "diet": "vegan", "name": "alice"}
            assert await book.read("bob") == {}

    run(scene)


def test_nothing_to_store_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, [memories(), "NOTHING TO REMEMBER", "没有需要记住的内容"])
            for _ in range(3):
                assert await summarizer.summarize(TALK, [ALICE]) == []
            assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)

    run(scene)


# ---------------------------------------------------------------------- several targets


def by_target(answers: dict[str, Any]) -> Any:
    """Answers by whose memories are asked for; an exception is raised."""

    def reply(messages: Any, _: Any) -> Any:
        system = prompt_of(messages[:1])
        return next(answer for target, answer in answers.items() if target in system)

    return reply


def test_targets_and_kinds_are_worked_on_at_the_same_time(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(
                by_target(
                    {
                        "memories of alice": memories("alice moved to Beijing"),
                        "memories of bob": memories(),
                        '"coding"': memories({"content": "Answer in short sentences.", "when_to_use": "answering"}),
                    },
                ),
                delay=0.2,
            )
            started = asyncio.get_running_loop().time()
            stored = await summarizer_of(bank, model).summarize(TALK, [ALICE, BOB, CODING, ALICE])
            assert asyncio.get_running_loop().time() - started < 0.5
            assert [(node.owner, node.when_to_use) for node in stored] == [
                ("personal/alice", ""),
                ("procedural/coding", "answering"),
            ]
            assert len(model.requests) == 3

    run(scene)


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            events = listening(bank)
            model = ScriptedChatModel(
                by_target(
                    {
                        "memories of alice": RuntimeError("the server is down"),
                        '"coding"': memories({"content": "Answer in short sentences.", "when_to_use": "answering"}),
                    },
                ),
            )
            stored = await summarizer_of(bank, model).summarize(TALK, [ALICE, CODING])
            assert [node.owner for node in stored] == ["procedural/coding"]
            [failed] = of_kind(events, "memory_summary_failed")
            assert failed.details == {"owner": "personal/alice", "stage": "summary"}
            assert failed.error
            assert "the server is down" in failed.error

    run(scene)


def test_if_all_fail_it_is_an_error_that_says_why(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(by_target({"alice": RuntimeError("one"), "coding": "I have stored it."}))
            with pytest.raises(ModelReplyError, match=r"2 targets.*personal/alice.*one.*procedural/coding"):
                await summarizer_of(bank, model).summarize(TALK, [ALICE, CODING])
            assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)

    run(scene)


# ---------------------------------------------------------------------- replies that cannot be used


@pytest.mark.parametrize("bad", ["I have stored everything.", "", '{"memories": [{"content": ""}, {}]}', "[1, 2]"])
def test_a_bad_reply_is_asked_for_again_once_and_then_stores_nothing(tmp_path: Path, bad: str) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([bad, memories("alice moved to Beijing")])
            assert texts(await summarizer_of(bank, model).summarize(TALK, [ALICE])) == ["alice moved to Beijing"]
            assert "could not be used" in prompt_of(model.requests[1])
            model = ScriptedChatModel([bad, bad])
            with pytest.raises(ModelReplyError, match="personal/alice"):
                await summarizer_of(bank, model).summarize([*TALK, user("I also have a cat.")], [ALICE])
            assert len(model.requests) == 2
            assert await active(bank, ALICE) == ["alice moved to Beijing"]

    run(scene)


def test_a_model_that_hangs_is_given_up(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, ScriptedChatModel([memories(), memories()], delay=30), timeout=0.05)
            with pytest.raises(ModelReplyError, match="no reply within"):
                await summarizer.summarize(TALK, [ALICE])
            assert await bank.store.count() == 0

    run(scene)


def test_an_interruption_stores_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([memories("alice moved to Beijing")], delay=30)
            task = asyncio.ensure_future(summarizer_of(bank, model).summarize(TALK, [ALICE]))
            while not model.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)

    run(scene)


def test_without_a_model_the_cure_is_named(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, None)
            for owner in (ALICE, CODING):
                with pytest.raises(MissingModelError, match=r"model=.*default_llm_config"):
                    await summarizer.summarize(TALK, [owner])
            with pytest.raises(MissingModelError):
                await summarizer.summarize(TALK, [ALICE, CODING])

    run(scene)


def test_without_a_model_guides_are_still_made(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            talk = [*TALK, tool_call(q="x"), tool_result("found")]
            stored = await summarizer_of(bank, None).summarize(talk, [ALICE, SEARCH])
            assert [node.owner for node in stored] == ["tool/search_web"]

    run(scene)


@pytest.mark.parametrize(
    ("owners", "said"), [([], "user_name, task_name, tool_name"), ([Owner("mood", "alice")], "'mood'")]
)
def test_targets_that_cannot_be_are_refused(tmp_path: Path, owners: list[Owner], said: str) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            with pytest.raises(ConfigError, match=said):
                await summarizer_of(bank, []).summarize(TALK, owners)

    run(scene)


@pytest.mark.parametrize("options", [{"mode": "dear"}, {"max_input_tokens": 0}, {"max_steps": 0}])
def test_settings_that_cannot_work_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            with pytest.raises(ConfigError, match=next(iter(options))):
                summarizer_of(bank, [], **options)

    run(scene)


def test_a_window_without_room_is_refused_with_the_least_that_works(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            with pytest.raises(ConfigError, match="give at least"):
                await summarizer_of(bank, [], max_input_tokens=1_000).summarize(TALK, [ALICE])

    run(scene)


# ---------------------------------------------------------------------- long conversations


def long_talk(facts: int) -> list[Msg]:
    """A conversation with a fact in each message of a user, and much else."""
    talk: list[Msg] = []
    for number in range(facts):
        time = f"2026-09-{number % 28 + 1:02d} 10:00:00"
        talk.append(user(f"My {number}th password-free hobby is hobby-{number}. " + "and so on " * 60, time))
        talk.append(agent("I see. " + "tell me more " * 60, time))
    return talk


def finds_hobbies(messages: Any, _: Any) -> str:
    """A model that takes down each hobby in the messages of users that it is shown."""
    items = [
        {"content": f"alice has the hobby hobby-{word[6:-1]}", "from": [number]}
        for number, role, said in messages_shown(prompt_of(messages))
        if role == "user"
        for word in said.split()
        if word.startswith("hobby-") and word.endswith(".")
    ]
    return memories(*items)


def test_a_long_conversation_is_worked_on_in_parts_and_nothing_is_missing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(finds_hobbies)
            talk = long_talk(40)
            stored = await summarizer_of(bank, model, max_input_tokens=8_000).summarize(talk, [ALICE])
            assert len(model.requests) > 2
            assert sorted(texts(stored)) == sorted(f"alice has the hobby hobby-{number}" for number in range(40))
            assert len({node.ref_memory_id for node in stored}) == 1
            times = {node.content: node.message_time for node in stored}
            assert times["alice has the hobby hobby-3"] == datetime(2026, 9, 4, 10).astimezone()
            first, last = prompt_of(model.requests[0]), prompt_of(model.requests[-1])
            assert "part 1 of" in first
            assert "hobby-0" in last, "what was proposed before is shown"

    run(scene)


def test_if_one_part_fails_nothing_of_the_conversation_is_stored(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:

            def reply(messages: Any, tools: Any) -> Any:
                return finds_hobbies(messages, tools) if "part 1 of" in prompt_of(messages) else RuntimeError("down")

            with pytest.raises(ModelReplyError, match="down"):
                await summarizer_of(bank, reply, max_input_tokens=8_000).summarize(long_talk(40), [ALICE])
            assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)

    run(scene)


def test_a_later_part_may_complete_what_an_earlier_one_proposed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:

            def reply(messages: Any, _: Any) -> str:
                prompt = prompt_of(messages)
                if "part 1 of" in prompt:
                    return memories({"content": "alice has a dog", "from": [1]})
                if "dog named Rex" in prompt:
                    return memories()
                item = {
                    "content": "alice has a dog named Rex",
                    "action": "update",
                    "id": ids_shown(prompt)["alice has a dog"],
                }
                return memories(item)

            talk = [user("I have a dog. " + "bla " * 3000), user("My dog is named Rex. " + "bla " * 3000)]
            stored = await summarizer_of(bank, reply, max_input_tokens=8_000).summarize(talk, [ALICE])
            assert texts(stored) == ["alice has a dog named Rex"]

    run(scene)


# ---------------------------------------------------------------------- languages


@pytest.mark.parametrize(
    ("text", "language", "marks"),
    [
        ("我搬到北京了", None, ["请按以下步骤进行", "使用对话所用的语言"]),
        ("I moved to Beijing", None, ["Work in these steps", "Write in the language of the conversation"]),
        ("Je déménage à Paris", None, ["Work in these steps", "Write in the language of the conversation"]),
        ("I moved to Beijing", "zh", ["请按以下步骤进行", "用中文书写"]),
        ("我搬到北京了", "", ["Work in these steps", "Write in English"]),
    ],
)
def test_i9_the_prompt_says_which_language_and_the_text_stays_as_it_is(
    tmp_path: Path, text: str, language: str | None, marks: list[str]
) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([memories("丁宁搬到北京了")])
            [node] = await summarizer_of(bank, model).summarize([user(text)], [ALICE], language=language)
            prompt = prompt_of(model.requests[0])
            assert all(mark in prompt for mark in marks)
            assert node.content == "丁宁搬到北京了"

    run(scene)


def test_the_description_is_shown(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([memories()])
            await summarizer_of(bank, model).summarize(TALK, [ALICE], description="A call to the help desk")
            assert "A call to the help desk" in prompt_of(model.requests[0])

    run(scene)


def test_two_conversations_at_once_leave_one_memory_of_one_thing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, lambda *_: memories("alice moved to Beijing"))
            talks = [[user("I moved to Beijing", f"2026-09-15 1{at}:00:00")] for at in range(5)]
            await asyncio.gather(*(summarizer.summarize(talk, [ALICE]) for talk in talks))
            assert await active(bank, ALICE) == ["alice moved to Beijing"]

    run(scene)


def test_redaction_comes_before_the_store(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path, redact=lambda text: text.replace("sk-12345", "***")) as bank:
            reply = memories("alice uses the key sk-12345", profile={"key": "sk-12345"})
            await summarizer_of(bank, [reply]).summarize([user("My key is sk-12345")], [ALICE])
            held = json.dumps([node.to_dict() for node in [*await bank.store.find(), *await bank.ledger.find()]])
            assert "sk-12345" not in held
            assert await active(bank, ALICE) == ["alice uses the key ***"]

    run(scene)


def test_recalled_messages_are_neither_shown_nor_kept(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            recalled = Msg("user", "alice lives in Rome", "user", metadata={MARK_KEY: "recalled"})
            model = ScriptedChatModel([memories("alice moved to Beijing")])
            [node] = await summarizer_of(bank, model).summarize([recalled, *TALK], [ALICE])
            assert "Rome" not in prompt_of(model.requests[0])
            kept = await Conversations(bank).read(node.ref_memory_id, ALICE)
            assert "alice lives in Rome" not in [msg.get_text_content() for msg in kept]

    run(scene)


def test_fault_77_messages_may_be_dictionaries(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            said = {"role": "user", "content": "I moved to Beijing", "time_created": "2026-02-28 10:00:00"}
            [node] = await summarizer_of(bank, [memories("alice moved to Beijing")]).summarize([said], [ALICE])
            assert node.message_time == datetime(2026, 2, 28, 10).astimezone()
            assert node.author == "alice"

    run(scene)
