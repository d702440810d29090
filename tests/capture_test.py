# -*- coding: utf-8 -*-
"""What attached agents and their users say reaches the vector memory, each message once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
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
        assert list(dict.fromkeys(heard)) == said
        assert len(reme.ended) >= steps.count("new")

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


def test_what_left_before_it_could_be_handed_over_comes_with_the_next_message(tmp_path: Path) -> None:
    async def main() -> None:
        async with a_reme(tmp_path) as reme, a_manager(tmp_path, reme) as manager:
            agent, add = an_agent(), reme.add_interaction
            manager.attach(agent, user_name="小明")
            reme.add_interaction = Recorder(failing=99).add_interaction  # type: ignore[method-assign,assignment]
            await agent(Msg("小明", "记住，我的狗叫旺财", "user"))
            await manager.new()
            await manager._listening.close(5)  # type: ignore[union-attr]
            reme.add_interaction = add  # type: ignore[method-assign]
            await agent(Msg("小明", "你好", "user"))
            await manager._listening.close(5)  # type: ignore[union-attr]
            assert [node.content for node in await reme.list_memory(user_name="小明")] == ["我的狗叫旺财"]

    run(main())


LIFE = """
import asyncio, os, signal, sys
from pathlib import Path
from agentscope.message import Msg
from capture_test import Recorder, a_manager, an_agent

async def main(folder, step):
    manager, agent = a_manager(folder, Recorder(failing=99)), an_agent()
    await manager.start()
    manager.attach(agent, user_name="小明")
    await agent(Msg("小明", "记住，我的狗叫旺财", "user"))
    if step:
        await getattr(manager, step)()
    await asyncio.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="it takes SIGKILL")
@pytest.mark.parametrize("step", ["", "new", "clear", "compact"])
def test_what_was_owed_when_the_process_was_killed_is_handed_over_at_the_next_start(tmp_path: Path, step: str) -> None:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    life = [sys.executable, "-c", LIFE, str(tmp_path), step]
    died = subprocess.run(life, env={**os.environ, "PYTHONPATH": path}, check=False, timeout=120).returncode
    assert died == -signal.SIGKILL

    async def main(times: int) -> None:
        async with a_reme(tmp_path) as reme, a_manager(tmp_path, reme) as manager:
            await manager._listening.close(30)  # type: ignore[union-attr]
            nodes = await reme.list_memory(user_name="小明")
            assert [(node.content, node.metadata.get("times", 1)) for node in nodes] == [("我的狗叫旺财", 1)]
            await manager.resume(manager.sessions()[0])  # nobody holds it

    run(main(1))
    run(main(2))


def test_a_session_that_nobody_goes_on_with_is_handed_over_at_the_next_start(tmp_path: Path) -> None:
    async def main() -> None:
        away, back = Recorder(failing=99), Recorder()
        async with a_manager(tmp_path, away) as manager:
            agent = an_agent()
            manager.attach(agent, user_name="小明")
            await agent(Msg("小明", "第一句", "user"))
            await manager.new()
            await agent(Msg("小明", "第二句", "user"))
        async with a_manager(tmp_path, back) as manager:
            await manager._listening.close(5)  # type: ignore[union-attr]
            assert back.heard == ["第一句", "好的", "第二句", "好的"]
            assert back.ended == ["小明"]
            agent = an_agent()
            agent.memory = await manager.resume(manager.sessions()[0])
            manager.attach(agent, user_name="小明")
            assert [msg.get_text_content() for msg, _ in agent.memory.content] == ["第二句", "好的"]
        async with a_manager(tmp_path, back) as manager:
            await manager._listening.close(5)  # type: ignore[union-attr]
            assert len(back.heard) == 4

    run(main())


def test_nothing_of_a_session_that_is_purged_is_handed_over(tmp_path: Path) -> None:
    async def main() -> None:
        away, back = Recorder(failing=99), Recorder(failing=1)
        async with a_manager(tmp_path, away) as manager:
            agent = an_agent()
            manager.attach(agent, user_name="小明")
            await agent(Msg("小明", "第一句", "user"))
            await manager.new()
        async with a_manager(tmp_path, back) as manager:
            await manager.purge_session(manager.sessions()[0])
            agent = an_agent()
            manager.attach(agent, user_name="小明")
            await agent(Msg("小明", "第二句", "user"))
            await agent(Msg("小明", "第三句", "user"))
        assert "第一句" not in back.heard
        assert "第三句" in back.heard

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
