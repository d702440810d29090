# -*- coding: utf-8 -*-
"""Laws 1 to 5, 8 and 9 over generated histories, through an attached agent's own hook."""

import asyncio
import contextlib
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from _histories import HISTORIES
from _loopback import faults_of
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.message import is_user_request, pair_calls
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.working_memory._sections import heading_count, parse_checkpoint

SYSTEM = "You are a careful engineer. "
GOOD = (
    "## Goal\n- check the files\n## Constraints\n- none\n## Progress\n### Done\n- read files\n"
    "## Key Decisions\n- option 3\n## Next Steps\n- go on\n## Critical Context\n- port 8443"
)
REPLIES = {
    "good": lambda: GOOD,
    "greeting": lambda: "Hello! I am a large language model. How can I help you today?",
    "empty": lambda: "",
    "long": lambda: GOOD + "\n- more and more" * 2000,
    "failing": lambda: RuntimeError("500 from upstream"),
}


class Session:
    """An attached agent whose hook is run by hand, and what the hook told."""

    def __init__(self, folder: str, reply: str | None, window: int) -> None:
        self.model = ScriptedChatModel(lambda *_: REPLIES[reply]()) if reply else None
        self.manager = MemoryManager(
            folder,
            model=self.model,
            formatter=OpenAIChatFormatter() if reply else None,
            max_input_length=window,
            old_max_bytes=600,
            tool_result_compact_keep_n=1,
            enable_notes=False,
            enable_search_tools=False,
            default_file_store_config={"vector_enabled": False},
        )
        self.agent = ReActAgent("agent", SYSTEM * 5, ScriptedChatModel([]), OpenAIChatFormatter())
        self.events: list[Event] = []
        self.manager.subscribe(self.events.append)
        self.memory = self.manager.attach(self.agent)
        self.folder = Path(folder)

    async def hook(self) -> list[Event]:
        self.events.clear()
        await self.manager._before_reasoning(self.agent, {})
        return list(self.events)

    def archived(self) -> list[dict]:
        files = sorted((self.folder / "dialog").glob("*.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text("utf-8").split("\n") if line]

    async def request(self) -> dict:
        prompt = [Msg("system", self.agent.sys_prompt, "system"), *await self.memory.get_memory()]
        return {"messages": await self.agent.formatter.format(prompt)}

    def used(self) -> int:
        tokens, summary = self.manager._services.tokens, self.memory.summary_message()
        visible = [msg for msg, marks in self.memory.content if "compressed" not in marks]
        return (
            tokens.text(self.agent.sys_prompt)
            + tokens.tools(self.agent.toolkit.get_json_schemas())
            + sum(tokens.message(msg) for msg in visible)
            + (tokens.message(summary) if summary else 0)
        )


@contextlib.asynccontextmanager
async def session(reply: str | None = None, window: int = 6_000):
    with tempfile.TemporaryDirectory() as folder:
        made = Session(folder, reply, window)
        try:
            yield made
        finally:
            await made.manager.close()


def assert_exactly_once(said: list[Msg], it: Session) -> None:
    where = Counter(line["id"] for line in it.archived()) + Counter(msg.id for msg, _ in it.memory.content)
    assert {msg.id: where[msg.id] for msg in said} == {msg.id: 1 for msg in said}


@pytest.mark.parametrize("reply", [None, *REPLIES])
@given(history=HISTORIES, seed=st.integers(0, 3))
@settings(max_examples=4)
def test_the_hook_keeps_the_laws(reply, history, seed):
    async def main():
        async with session(reply) as it:
            said: list[Msg] = []
            for number, (messages, marks) in enumerate(history):
                await it.memory.add(messages, marks)
                if marks is None:
                    said.extend(messages)
                if (number + seed) % 2:
                    continue
                asked = len(it.model.requests) if it.model else 0
                held = [msg for msg, marks in it.memory.content if not marks]
                told = await it.hook()
                kinds = [event.kind for event in told]
                assert EventKind.HOOK_FAILED not in kinds, told
                # 1, pairs: what the model sees is what its API accepts
                assert not [fault for fault in faults_of(await it.request()) if "empty" not in fault]
                # 2, never empty: the last request and the last message are there
                visible = [msg.id for msg, _ in it.memory.content]
                requests = [msg for msg in said if is_user_request(msg)]
                if requests:
                    assert requests[-1].id in visible
                assert said[-1].id in visible if said else True
                order = [msg.id for msg in said if msg.id in visible]
                assert [each for each in visible if each in set(order)] == order
                # 3, budget: it fits, and the next hook does nothing
                assert it.used() <= it.manager._services.context.threshold or EventKind.OVER_BUDGET in kinds
                assert EventKind.OVER_BUDGET not in kinds
                asked_now = len(it.model.requests) if it.model else 0
                again = await it.hook()
                assert [event.kind for event in again if event.kind != EventKind.CHECKED] == []
                assert (len(it.model.requests) if it.model else 0) == asked_now
                assert asked_now - asked <= 12
                # 4, conservation: each message is in one place, and a summary stands for what left
                assert_exactly_once(said, it)
                if EventKind.FOLDED in kinds:
                    summary = it.memory.get_compressed_summary()
                    assert heading_count(summary) >= 3
                    assert "large language model" not in summary
                    assert "500 from upstream" not in summary
                # 8, isolation: what tools order is neither goal nor constraint
                checkpoint = parse_checkpoint(it.memory.get_compressed_summary())
                for line in (*checkpoint.goal, *checkpoint.constraints):
                    assert "production" not in line
                    assert "密码" not in line
                    assert "delete every file" not in line
                # the halves of pairs are never separated
                for call, result in pair_calls(held).result_of.items():
                    assert (held[call[0]].id in visible) == (held[result[0]].id in visible)

    asyncio.run(main())


@given(history=HISTORIES)
@settings(max_examples=8)
def test_what_is_added_deleted_or_pinned_while_the_model_is_asked_survives(history):
    async def main():
        async with session("good") as it:
            said = [msg for messages, marks in history if marks is None for msg in messages]
            await it.memory.add(said)
            changed: dict[str, str] = {}

            async def answer(*_):
                await asyncio.sleep(0)
                ids = [msg.id for msg, _ in it.memory.content]
                if not changed:
                    new = Msg("user", "新消息 while you think", "user")
                    changed.update(new=new.id, deleted=ids[0], pinned=ids[1] if len(ids) > 1 else new.id)
                    await it.memory.add(new)
                    await it.memory.delete([changed["deleted"]])
                    it.memory.pin(changed["pinned"])
                return GOOD

            it.model = ScriptedChatModel(answer)
            it.manager._models._pair = (it.model, OpenAIChatFormatter())
            await it.hook()
            if not changed:
                return
            ids = [msg.id for msg, _ in it.memory.content]
            assert changed["new"] in ids
            assert changed["pinned"] in ids
            archived = {line["id"] for line in it.archived()}
            assert changed["deleted"] not in archived | set(ids)
            assert_exactly_once([msg for msg in said if msg.id != changed["deleted"]], it)

    asyncio.run(main())


@pytest.mark.parametrize("steps", range(0, 24, 3))
def test_interruption_leaves_the_old_state_or_the_new(steps):
    """The hook is cancelled after a number of turns of the event loop."""

    async def main():
        async with session("good") as it:
            said = [
                Msg("user" if n % 2 else "agent", f"message {n} " * 60, "user" if n % 2 else "assistant")
                for n in range(40)
            ]
            await it.memory.add(said)
            before = [msg.id for msg, _ in it.memory.content]

            async def slow(*_):
                for _ in range(12):
                    await asyncio.sleep(0)
                return GOOD

            it.manager._models._pair = (ScriptedChatModel(slow), OpenAIChatFormatter())
            task = asyncio.ensure_future(it.hook())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            now = [msg.id for msg, _ in it.memory.content]
            assert (now == before) == (it.memory.get_compressed_summary() == "")
            assert_exactly_once(said, it)
            await it.hook()
            assert_exactly_once(said, it)
            assert it.used() <= it.manager._services.context.threshold

    asyncio.run(main())
