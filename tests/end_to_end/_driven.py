# -*- coding: utf-8 -*-
"""Real agents over the loopback server, and what must hold whatever was done to them."""

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _loopback import Loopback, Text
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse
from httpx import AsyncClient

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.message import blocks_of, is_user_request, output_text
from agentscope_reme.testing import ToolCall, call
from agentscope_reme.working_memory import ReMeInMemoryMemory, resume_memory

SYSTEM = "You are the agent under test. Read the files that the user names, one after another, and report. "
REWRITE = "rewrite the above user query"
GAVE_UP = "failed to generate response within the maximum"

SUMMARY = (
    "## Goal\n- finish the report (current)\n## Constraints\n- (none)\n## Progress\n### Done\n- files were read\n"
    "### In Progress\n- reading\n### Blocked\n- (none)\n## Key Decisions\n- go on in order\n"
    "## Next Steps\n- read the next file\n## Critical Context\n- port 8443, 端口 8443"
)

Say = Callable[[dict[str, Any], int], Any]


def text_of(message: dict[str, Any]) -> str:
    """The text of a message in a request's body."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def is_agents(body: dict[str, Any]) -> bool:
    """Whether a request is an agent's own, by its system prompt; the others ask for a summary."""
    return text_of(body["messages"][0]).startswith(SYSTEM)


class Brain:
    """The script of the one server that plays the agent's model and the writer of summaries.

    Args:
        agent (`Callable[[dict, int], Answer]`):
            What it says to the agent's request, by the number of the agent's requests before it.
        summary (`Callable[[dict, int], Answer]`):
            What it says where a summary is asked for, likewise.
    """

    def __init__(self, agent: Say, summary: Say = lambda *_: SUMMARY) -> None:
        self.agent, self.summary = agent, summary
        self.asked = Counter[str]()

    def __call__(self, body: dict[str, Any], _: int) -> Any:
        last = text_of(body["messages"][-1])
        if is_agents(body) and REWRITE in last:
            self.asked["rewrite"] += 1
            return json.dumps({"rewritten_query": "the port of the service"})
        kind = "agent" if is_agents(body) else "summary"
        number = self.asked[kind]
        self.asked[kind] += 1
        answer = (self.agent if kind == "agent" else self.summary)(body, number)
        return Text(answer, piece=100) if isinstance(answer, str) else answer  # chunks cost more than what is in them


def rounds(count: int, *, answer: str = "All files are read. 都读完了。", most: int = 3) -> Say:
    """An agent that makes so many rounds of calls after each request of the user, then answers."""
    done = {"rounds": 0}

    def say(_: dict[str, Any], number: int) -> Any:
        if done["rounds"] == count:
            done["rounds"] = 0
            return answer
        done["rounds"] += 1
        calls = [call("read", n=10 * number + at) for at in range(1 + number % most)]
        return Text(f"Round {number}: I read on. 第 {number} 轮。", tuple(calls), piece=120)

    return say


async def read(n: int) -> ToolResponse:
    """Read a file.

    Args:
        n (`int`):
            The number of the file.
    """
    return ToolResponse([TextBlock(type="text", text=file_text(n))])


def file_text(n: int) -> str:
    """A file: most are short, some are long, a few are huge."""
    pick = random.Random(n)
    line = pick.choice(
        (f"line of file {n}: port 84{n}", f"第 {n} 个文件：端口 84{n}，数据库已迁移。", f'{{"id": {n}, "amt": -88.71}}')
    )
    return f"file {n}\n" + "\n".join(f"{at} {line}" for at in range(pick.choice((1, 3, 20, 20, 60, 200, 2000))))


WORDS_ONLY = {"vector_enabled": False}


def manager_of(folder: Path, window: int = 4_000, **options: Any) -> MemoryManager:
    """A manager that takes no notes, so that the server is asked for nothing but answers and summaries."""
    plain = {"enable_notes": False, "enable_search_tools": False, "default_file_store_config": WORDS_ONLY}
    return MemoryManager(folder, **{"max_input_length": window, "old_max_bytes": 1_500, **plain, **options})


@dataclass
class Driven:
    """A manager, its agents over the server, and a record of what was ever given to their memories."""

    server: Loopback
    manager: MemoryManager
    folder: Path
    events: list[Event] = field(default_factory=list)
    said: dict[str, list[Msg]] = field(default_factory=dict)
    """What was added that was no hint, by session."""

    def __post_init__(self) -> None:
        self.manager.subscribe(self.events.append)

    def agent(
        self,
        name: str = "friday",
        *,
        stream: bool = True,
        system: str = SYSTEM,
        toolkit: Toolkit | None = None,
        session_id: str | None = None,
        client: dict[str, Any] | None = None,
        **options: Any,
    ) -> ReActAgent:
        """A new agent, attached, whose memory is watched."""
        if toolkit is None:
            toolkit = Toolkit()
            toolkit.register_tool_function(read)
        options = {"max_iters": 100, **options}
        # The certificates that a client loads take longer than most of these tests.
        model = self.server.model(stream=stream, http_client=AsyncClient(verify=False), **(client or {}))
        made = ReActAgent(name, system, model, OpenAIChatFormatter(), toolkit, **options)
        self.watch(self.manager.attach(made, session_id))
        return made

    def watch(self, memory: ReMeInMemoryMemory) -> None:
        """Note from now on what is added to a memory."""
        add, said = memory.add, self.said.setdefault(memory.session_id or "", [])

        async def noting(memories: Msg | list[Msg] | None, marks: Any = None, *args: Any, **kwargs: Any) -> None:
            if marks is None and memories is not None:
                said.extend(copy.deepcopy([memories] if isinstance(memories, Msg) else memories))
            await add(memories, marks, *args, **kwargs)

        memory.add = noting  # type: ignore[method-assign]

    def told(self, *kinds: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind in kinds]

    def archived(self) -> list[dict[str, Any]]:
        return archived(self.folder)

    def assert_sound(self, *agents: ReActAgent) -> None:
        """Laws 1, 3 and 4: no request was malformed or over the window, and each message is in one place, whole."""
        assert self.server.violations == []
        assert not self.told(EventKind.HOOK_FAILED), self.told(EventKind.HOOK_FAILED)
        self.assert_nothing_lost(*agents)

    def assert_nothing_lost(self, *agents: ReActAgent) -> None:
        lines = self.archived()
        for agent in agents:
            memory = agent.memory
            mine = [line for line in lines if line["session_id"] == memory.session_id]
            held = [msg for msg, _ in memory.content]
            assert_one_copy(self.said[memory.session_id], held, mine)
            self.assert_whole(self.said[memory.session_id], [*held, *map(Msg.from_dict, mine)])

    def assert_one_resume(self, agent: ReActAgent) -> None:
        """The journal holds what the memory holds: another manager that resumes from it has the same."""
        memory = agent.memory
        memory.close()
        again = resumed(self.folder, memory.session_id)
        try:
            assert records_of(again) == records_of(memory)
            assert [list(marks) for _, marks in again.content] == [list(marks) for _, marks in memory.content]
            assert again.get_compressed_summary() == memory.get_compressed_summary()
            assert again.pins == memory.pins
        finally:
            again.close()

    def assert_whole(self, said: Iterable[Msg], copies: Iterable[Msg]) -> None:
        """What was cut has a pointer to all of it."""
        store = self.manager._services.results
        kept = {msg.id: _plain(store.original(msg)) for msg in copies}
        for msg in said:
            assert kept[msg.id] == _plain(msg), msg.id


def resumed(folder: Path, session_id: str, **options: Any) -> ReMeInMemoryMemory:
    """A session as another process would find it; call it outside of the event loop's own tasks or in them."""
    services = manager_of(folder, model=None, **options)._services
    return resume_memory(session_id, services)


def archived(folder: Path) -> list[dict[str, Any]]:
    """All lines of the archive; each of them parses."""
    files = sorted((folder / "dialog").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_bytes().split(b"\n") if line]


def assert_one_copy(said: Iterable[Msg], held: Iterable[Msg], lines: Iterable[dict[str, Any]]) -> None:
    """Each message is in the memory or in the archive, once, and nothing else is there."""
    where = Counter(msg.id for msg in held) + Counter(line["id"] for line in lines)
    expected = Counter({msg.id for msg in said})
    assert (where - expected, expected - where) == ({}, {}), "there twice, or lost"


def records_of(memory: ReMeInMemoryMemory) -> list[dict[str, Any]]:
    """The messages as dictionaries; the host makes metadata of `None` and reads them back as empty."""
    return [{**msg.to_dict(), "metadata": msg.metadata or {}} for msg, _ in memory.content]


def last_request(memory: ReMeInMemoryMemory) -> Msg | None:
    return next((msg for msg, _ in reversed(memory.content) if is_user_request(msg)), None)


def summaries(driven: Driven) -> list[str]:
    """Every summary that stood in for messages."""
    return [event.details["summary"] for event in driven.told(EventKind.FOLDED)]


def requests_of(server: Loopback, kind: str) -> list[dict[str, Any]]:
    """The bodies of the agents' requests, or of those for summaries."""
    return [each.body for each in server.requests if is_agents(each.body) is (kind == "agent")]


def ids_of(agent: ReActAgent) -> list[str]:
    return [msg.id for msg, _ in agent.memory.content]


def user(text: str) -> Msg:
    return Msg("user", text, "user")


def tool_call(name: str, call_id: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, call_id)


def _plain(msg: Msg) -> tuple[list[Any], str]:
    """What a message says, without how it is laid out in blocks."""
    parts: list[Any] = []
    texts: list[str] = []
    for block in blocks_of(msg):
        if block["type"] == "tool_result":
            parts.append((block["id"], output_text(block)))
        elif block["type"] == "tool_use":
            parts.append((block["id"], block["name"], block["input"]))
        elif block["type"] == "text":
            texts.append(block["text"])
    return parts, "\n".join(texts)
