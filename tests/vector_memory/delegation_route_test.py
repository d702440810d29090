# -*- coding: utf-8 -*-
"""One conversation, several targets: chosen by a model from those that were named, worked on at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import (
    ALICE,
    BOB,
    BOOK,
    CODING,
    SEARCH,
    active,
    agent,
    bank_in,
    listening,
    of_kind,
    prompt_of,
    run,
    summarizer_of,
    tool_call,
    tool_result,
    user,
)
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.testing import ScriptedChatModel, call
from agentscope_reme.vector_memory import Owner
from agentscope_reme.vector_memory._agent_tools import Say
from agentscope_reme.vector_memory._delegation import DelegateTask

NOTHING = "NOTHING TO REMEMBER"
TALK = [user("alice moved to Beijing, bob has a cat. Always run the tests first."), agent("Noted.")]


def asks(request_messages: Any) -> str:
    """Which agent asks: the one that routes, or the one of a target."""
    system = prompt_of(request_messages[:1])
    return next(
        name
        for mark, name in (
            ("You decide which memories", "route"),
            ("memories of alice", "alice"),
            ("memories of bob", "bob"),
            ('task "coding"', "coding"),
        )
        if mark in system
    )


def answered(messages: Any) -> int:
    return sum(message["role"] == "tool" for message in messages)


def team(targets: Any, after: Any = "Delegated.", **failing: Any) -> Any:
    """A router that delegates, and agents that take down one memory each."""
    contents = {"alice": "alice moved to Beijing", "bob": "bob has a cat", "coding": "Run the tests first."}

    def reply(messages: Any, tools: Any) -> Any:
        who = asks(messages)
        if who in failing:
            return failing[who]
        if who == "route":
            return call("delegate_task", targets=targets) if not answered(messages) else after
        names = {each["function"]["name"] for each in tools}
        if "add_memory" not in names or answered(messages):
            return NOTHING
        return call("add_memory", content=contents[who])

    return reply


class Meeting(ScriptedChatModel):
    """Answers nobody before all of these have asked."""

    def __init__(self, reply: Any, *names: str) -> None:
        super().__init__(reply)
        self.missing, self.all_here = set(names), asyncio.Event()

    async def __call__(self, messages: Any, *given: Any, **options: Any) -> Any:
        who = asks(messages)
        self.missing.discard(who)
        if not self.missing:
            self.all_here.set()
        if who != "route":
            await asyncio.wait_for(self.all_here.wait(), 30)
        return await super().__call__(messages, *given, **options)


def test_what_was_chosen_is_worked_on_in_parallel(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = Meeting(team(["personal/alice", "procedural/coding"]), "alice", "coding")
            stored = await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, BOB, CODING])
            assert [node.owner for node in stored] == ["personal/alice", "procedural/coding"]
            assert await active(bank, BOB) == []
            assert len(model.requests) == 2 + 3 + 2

    run(scene)


def test_the_targets_are_an_enum_of_the_named_ones(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(team(["personal/alice"]))
            await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING])
            [tool] = model.requests[0].tools or []
            assert tool["function"]["name"] == "delegate_task"
            assert tool["function"]["parameters"]["properties"]["targets"]["items"]["enum"] == [
                "personal/alice",
                "procedural/coding",
            ]
            prompt = prompt_of(model.requests[0])
            assert "- personal/alice\n- procedural/coding" in prompt
            assert "bob" in prompt, "the conversation is shown"

    run(scene)


def test_a_target_that_is_invented_gets_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            targets = ["personal/bob", "personal/alice", "procedural/../alice", "alice"]
            model = ScriptedChatModel(team(targets))
            stored = await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING])
            assert [node.owner for node in stored] == ["personal/alice"]
            assert await active(bank, BOB) == []
            told = "\n".join(prompt_of(request) for request in model.requests)
            assert "personal/bob is no target" in told

    run(scene)


def test_fault_78_a_router_that_calls_no_tool_stores_nothing_and_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            events = listening(bank)
            model = ScriptedChatModel(team([], route="I have delegated everything."))
            with pytest.raises(ModelReplyError, match="no tool"):
                await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING])
            failed = of_kind(events, "memory_summary_failed")
            assert [event.details["stage"] for event in failed] == ["delegation", "delegation"]
            assert await bank.store.count() == 0

    run(scene)


@pytest.mark.parametrize("answer", [NOTHING, "没有需要记住的内容"])
def test_a_router_may_find_that_nobody_is_concerned(tmp_path: Path, answer: str) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(team([], route=answer))
            assert await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING]) == []
            assert len(model.requests) == 1

    run(scene)


def test_a_router_that_fails_after_it_delegated_does_no_harm(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(team(["personal/alice"], after=RuntimeError("down")))
            stored = await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING])
            assert [node.owner for node in stored] == ["personal/alice"]

    run(scene)


def test_one_that_fails_does_not_stop_the_other(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            events = listening(bank)
            model = ScriptedChatModel(team(["personal/alice", "procedural/coding"], alice=RuntimeError("down")))
            stored = await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE, CODING])
            assert [node.owner for node in stored] == ["procedural/coding"]
            [failed] = of_kind(events, "memory_summary_failed")
            assert failed.details == {"owner": "personal/alice", "stage": "summary"}

    run(scene)


def test_one_target_needs_no_router_and_guides_none_either(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([call("add_memory", content="alice moved to Beijing"), "Done.", NOTHING])
            await summarizer_of(bank, model, mode="agentic").summarize(TALK, [ALICE])
            assert asks(model.requests[0].messages) == "alice"
            review = '{"guide": "Short queries work.", "when_to_use": "looking something up", "verdicts": []}'
            talk = [tool_call(q="x"), tool_result("found")]
            [guide] = await summarizer_of(bank, [review], mode="agentic").summarize(talk, [SEARCH])
            assert guide.content.startswith("Short queries work.")

    run(scene)


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)


@given(
    st.lists(names, min_size=1, max_size=4, unique=True),
    st.lists(names | st.integers() | st.none(), max_size=5),
    st.data(),
)
def test_only_named_targets_ever_start_and_each_once(targets: list[str], asked: list[Any], data: Any) -> None:
    owners = [Owner("personal", name) for name in targets]
    some = data.draw(st.lists(st.sampled_from([owner.key for owner in owners]), max_size=4))
    started: list[Owner] = []
    tool = DelegateTask(owners, started.append, Say(BOOK, "en"))

    async def scene() -> None:
        for _ in range(2):
            assert await tool.delegate_task([*asked, *some])

    run(scene)
    wanted = {" ".join(each.split()) for each in [*some, *asked] if isinstance(each, str)}
    assert started == tool.delegated
    assert len(started) == len(set(started))
    assert {owner.key for owner in started} == {owner.key for owner in owners if " ".join(owner.key.split()) in wanted}
