# -*- coding: utf-8 -*-
"""Laws that hold whatever a model replies: nothing of others changes, nothing is lost, and failures change nothing."""

from __future__ import annotations

import json
from typing import Any

from _extraction_scenes import ALICE, BOB, active, bank_in, ids_shown, prompt_of, run, summarizer_of, user
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.record import MemoryNode
from agentscope_reme.testing import ScriptedChatModel, call
from agentscope_reme.vector_memory import MemoryBank, ProfileBook
from agentscope_reme.vector_memory._claims import plain

KNOWN = ["alice 爱吃川菜", "alice has a dog", "alice lives in Shanghai", "alice drinks 2 cups of tea a day"]
TALK = [user("我不吃川菜了。I have a dog named Rex, I live in Beijing and drink 3 cups of tea a day. 叫我小艾")]

contents = st.sampled_from(
    [
        *KNOWN,
        "alice 不吃川菜了",
        "alice has a dog named Rex",
        "alice lives in Beijing",
        "alice drinks 3 cups of tea a day",
        "the user likes tea",
        "alice",
        "",
        "x" * 5000,
    ],
)
targets = st.sampled_from(["", "m1", "m2", "m3", "m4", "n1", "n2", "m99", "bob"])
items = st.fixed_dictionaries(
    {"content": contents},
    optional={
        "action": st.sampled_from(["add", "update", "supersede", "delete", "none", 5, None]),
        "id": targets,
        "from": st.sampled_from([[1], [2], [], "1", None, {"a": 1}]),
        "no_longer_true": st.sampled_from(["Shanghai", "2 cups", "川菜", "nothing", "", None]),
        "category": st.sampled_from(["fact", "nonsense", 3]),
        "entities": st.sampled_from([["Rex", "Tokyo"], "Rex", None]),
        "target": st.sampled_from(["alice", "bob"]),
        "importance": st.sampled_from([0.9, -1, "high"]),
    },
)
profiles = st.dictionaries(
    st.sampled_from(["name", "city", "昵称", "", "k" * 99]),
    st.sampled_from(["Beijing", "小艾", "bob", "", None, 5, ["a", "b"], "v" * 999]),
    max_size=3,
)


async def stocked(bank: MemoryBank) -> None:
    await bank.add([MemoryNode(each, memory_target="alice") for each in KNOWN])
    await bank.add([MemoryNode(each.replace("alice", "bob"), memory_target="bob") for each in KNOWN])
    await ProfileBook(bank).update("bob", {"city": "Rome"})
    await ProfileBook(bank).update("alice", {"city": "Shanghai"})


async def check(bank: MemoryBank, *, failed: bool) -> None:
    """What must hold of the bank afterwards."""
    assert await active(bank, BOB) == sorted(each.replace("alice", "bob") for each in KNOWN)
    assert await ProfileBook(bank).read("bob") == {"city": "Rome"}
    here = await active(bank, ALICE)
    if failed:
        assert here == sorted(KNOWN)
        assert await ProfileBook(bank).read("alice") == {"city": "Shanghai"}
        return
    assert len({plain(each) for each in here}) == len(here)
    everything = await bank.list([ALICE], include_inactive=True)
    kept = {node.content for node in everything}
    for node in everything:
        kept |= {version.content for version in await bank.versions(node.memory_id, ALICE)}
        if not node.is_active:
            successor = await bank.get(node.metadata["superseded_by"], ALICE)
            assert successor.is_active or successor.metadata.get("superseded_by")
    assert set(KNOWN) <= kept, "what was known is there, retired, or an old version"
    assert all(node.owner == ALICE.key and len(node.content) <= 4_000 for node in everything)


@settings(max_examples=12)
@given(st.lists(items | contents | st.none(), max_size=6), profiles)
def test_whatever_is_replied(tmp_path_factory: Any, replied: list[Any], profile: Any) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path_factory.mktemp("laws")) as bank:
            await stocked(bank)
            reply = json.dumps({"memories": replied, "profile": profile}, ensure_ascii=False)
            failed = False
            try:
                stored = await summarizer_of(bank, lambda *_: reply).summarize(TALK, [ALICE])
                assert all(node.is_active for node in stored)
            except ModelReplyError:
                failed = True
            await check(bank, failed=failed)

    run(scene)


@settings(max_examples=12)
@given(st.text(max_size=200) | st.lists(st.integers(), max_size=3).map(json.dumps), st.booleans())
def test_whatever_text_is_replied(tmp_path_factory: Any, reply: str, is_agentic: bool) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path_factory.mktemp("laws")) as bank:
            await stocked(bank)
            mode: Any = "agentic" if is_agentic else "cheap"
            failed = False
            try:
                assert await summarizer_of(bank, lambda *_: reply, mode=mode).summarize(TALK, [ALICE]) == []
            except ModelReplyError:
                failed = True
            await check(bank, failed=failed)

    run(scene)


steps = st.one_of(
    st.builds(lambda content: call("add_memory", content=content), contents),
    st.builds(lambda name, content: call("update_memory", memory_id=name, content=content), targets, contents),
    st.builds(
        lambda name, content, old: call("supersede_memory", memory_id=name, content=content, no_longer_true=old),
        targets,
        contents,
        st.sampled_from(["Shanghai", "川菜", "nothing", ""]),
    ),
    st.builds(lambda content: call("draft_memories", drafts=[content]), contents),
    st.builds(lambda entries: call("update_profile", entries=entries), profiles),
    st.just(call("delete_memory", memory_id="m1")),
    st.just(call("add_memory")),
)


@settings(max_examples=12)
@given(
    st.lists(st.lists(steps, min_size=1, max_size=3), max_size=3),
    st.sampled_from(["NOTHING TO REMEMBER", "Done.", None]),
)
def test_whatever_an_agent_calls(tmp_path_factory: Any, rounds: list[Any], end: str | None) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path_factory.mktemp("laws")) as bank:
            await stocked(bank)

            def reply(messages: Any, _: Any) -> Any:
                number = sum(message["role"] == "assistant" for message in messages)
                if number < len(rounds):
                    return [
                        type(each)(each.name, each.arguments, f"c{number}{at}")
                        for at, each in enumerate(rounds[number])
                    ]
                return RuntimeError("down") if end is None else end

            failed = False
            try:
                await summarizer_of(bank, ScriptedChatModel(reply), mode="agentic").summarize(TALK, [ALICE])
            except ModelReplyError:
                failed = True
            await check(bank, failed=failed)

    run(scene)


def test_the_ids_that_are_shown_are_those_that_may_be_named(tmp_path_factory: Any) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path_factory.mktemp("laws")) as bank:
            await stocked(bank)
            model = ScriptedChatModel(['{"memories": []}'])
            await summarizer_of(bank, model).summarize(TALK, [ALICE])
            assert ids_shown(prompt_of(model.requests[0])).keys() == set(KNOWN)

    run(scene)
