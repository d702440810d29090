# -*- coding: utf-8 -*-
"""What attached agents and their users say reaches the vector memory, each message once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import ConfigError, Event, EventKind, MemoryManager, ReMe
from agentscope_reme.refine import Recall, RefinerConfig
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel

RULES = RefinerConfig(trigger_rules=["explicit", "round_count:2", "session_end"])


def run(main: Any) -> Any:
    return asyncio.run(main)


def an_agent() -> ReActAgent:
    model = ScriptedChatModel(lambda *_: "好的")
    agent = ReActAgent("bot", "You help.", model, OpenAIChatFormatter())
    agent.set_console_output_enabled(False)
    return agent


def a_reme(folder: Path) -> ReMe:
    return ReMe(folder / "reme", embedding_model=HashEmbedding(), refiner=RULES)


def a_manager(folder: Path, reme: Any, **options: Any) -> MemoryManager:
    options = {"enable_notes": False, "enable_search_tools": False, "capture": True, **options}
    return MemoryManager(
        folder / "work", recall_from=reme, default_file_store_config={"vector_enabled": False}, **options
    )


class Recorder:
    """Stands for a `ReMe`: fails where it is told to, and keeps what it is handed."""

    def __init__(self, failing: int = 0) -> None:
        self.failing = failing
        self.heard: list[str] = []
        self.ended: list[str] = []

    async def add_interaction(self, messages: list[Msg], user_name: str, session_id: str = "") -> None:
        if self.failing:
            self.failing -= 1
            raise OSError("the store is away")
        self.heard += [msg.get_text_content() or "" for msg in messages]

    async def end_session(self, user_name: str, session_id: str = "") -> None:
        self.ended.append(user_name)

    async def recall(self, *_: Any, **__: Any) -> Recall:
        return Recall()

    async def record_tool_calls(self, records: Any) -> list[Any]:
        return []

    async def list_memory(self, **_: Any) -> list[Any]:
        return []

    def subscribe(self, _: Any) -> Any:
        return lambda: None


def test_what_a_user_asks_to_remember_is_there_and_the_rest_is_drawn_by_rules(tmp_path: Path) -> None:
    async def main() -> None:
        async with a_reme(tmp_path) as reme, a_manager(tmp_path, reme) as manager:
            agent = an_agent()
            manager.attach(agent, user_name="小明")
            await agent(Msg("小明", "记住，我对花生过敏。", "user"))
            await agent(Msg("小明", "我很喜欢川菜。", "user"))
            await manager.new()
        async with a_reme(tmp_path) as reme:
            contents = [node.content for node in await reme.list_memory(user_name="小明")]
            assert sorted(contents) == ["我对花生过敏", "我很喜欢川菜。"]

    run(main())


@settings(max_examples=10)
@given(
    st.lists(st.sampled_from(["say", "new", "compact", "resume", "fail"]), min_size=1, max_size=8),
)
def test_each_message_is_handed_over_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    async def main() -> None:
        folder, reme = tmp_path_factory.mktemp("life"), Recorder()
        manager, agent = a_manager(folder, reme), an_agent()
        await manager.start()
        session = str(manager.attach(agent, user_name="小明").session_id)
        said: list[str] = []
        for number, step in enumerate(["say", *steps, "say"]):
            if step in ("say", "fail"):
                reme.failing = 1 if step == "fail" else 0
                said.append(f"第{number}句")
                await agent(Msg("小明", said[-1], "user"))
                await manager._listening.close(5)  # type: ignore[union-attr]
            elif step == "new":
                await manager.new()
            elif step == "compact":
                await manager.compact()
            else:
                await manager.close()
                manager, agent = a_manager(folder, reme), an_agent()
                await manager.start()
                agent.memory = await manager.resume(session)
                manager.attach(agent, user_name="小明")
        await manager.close()
        heard = [text for text in reme.heard if text.startswith("第")]
        if "resume" not in steps:  # after one, what is live is handed over again: the vector memory knows it by its ids
            assert len(heard) == len(set(heard))
        assert list(dict.fromkeys(heard)) == [text for text in said if text in heard]
        assert said[-1] in heard
        if "fail" not in steps:
            assert set(heard) == set(said)

    run(main())


def test_a_store_that_is_away_is_told_and_the_messages_come_with_the_next_ones(tmp_path: Path) -> None:
    async def main() -> None:
        reme, events = Recorder(failing=1), list[Event]()
        async with a_manager(tmp_path, reme) as manager:
            manager.subscribe(events.append)
            agent = an_agent()
            manager.attach(agent, user_name="小明")
            await agent(Msg("小明", "第一句", "user"))
            await manager._listening.close(5)  # type: ignore[union-attr]
            assert reme.heard == []
            assert [event.kind for event in events].count(EventKind.MEMORY_SUMMARY_FAILED) == 1
            await agent(Msg("小明", "第二句", "user"))
        assert reme.heard == ["第一句", "好的", "第二句", "好的"]

    run(main())


def test_nobody_named_is_nobody_heard_and_a_manager_without_a_store_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="recall_from"):
        MemoryManager(tmp_path, capture=True)

    async def main() -> None:
        reme = Recorder()
        async with a_manager(tmp_path, reme) as manager:
            agent = an_agent()
            manager.attach(agent, task_name="release")
            await agent(Msg("小明", "第一句", "user"))
        assert reme.heard == []

    run(main())
