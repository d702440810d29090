# -*- coding: utf-8 -*-
"""Messages and a manager with an agent, for the tests that re-enact what users reported."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.testing import ScriptedChatModel

SUMMARY = (
    "## Goal\n- migrate the orders\n## Constraints\n- (none)\n## Progress\n### Done\n- schema read\n"
    "### In Progress\n- copying\n### Blocked\n- (none)\n## Key Decisions\n- batches of 500\n## Next Steps\n- verify\n"
    "## Critical Context\n- port 8443"
)
"""A summary as it should be."""


QUIET = {"enable_notes": False, "enable_search_tools": False, "default_file_store_config": {"vector_enabled": False}}
"""What a scene of working memory does without: notes, tools that search them, vectors."""


def count_quarters(text: str) -> int:
    """Four characters a token."""
    return (len(text) + 3) // 4


def user(text: str) -> Msg:
    return Msg("user", text, "user")


def agent(text: str) -> Msg:
    return Msg("agent", text, "assistant")


def calls(*ids: str, text: str = "", **arguments: Any) -> Msg:
    """One assistant message with a call for each id."""
    blocks: list[Any] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": each, "name": "read_log", "input": arguments} for each in ids]
    return Msg("agent", blocks, "assistant")


def result(call_id: str, output: Any, **extra: Any) -> Msg:
    """The result of a call, in a message of its own."""
    block = {"type": "tool_result", "id": call_id, "name": "read_log", "output": output, **extra}
    return Msg("system", [block], "system")


def talk(rounds: int, size: int = 400, start: int = 0) -> list[Msg]:
    """Requests and answers of `size` characters each."""
    said = []
    for number in range(start, start + rounds):
        said.append(user((f"Question {number}: what does step {number} of the import do? " * size)[:size]))
        said.append(agent((f"Answer {number}: step {number} reads table_{number} first. " * size)[:size]))
    return said


def ids_of(messages: list[Msg]) -> list[str]:
    return [msg.id for msg in messages]


def calls_and_results(messages: list[Msg]) -> tuple[list[str], list[str]]:
    """The ids of the calls and of the results, in order."""
    blocks = [block for msg in messages if isinstance(msg.content, list) for block in msg.content]
    kinds = ("tool_use", "tool_result")
    calls, results = ([b["id"] for b in blocks if isinstance(b, dict) and b.get("type") == kind] for kind in kinds)
    return calls, results


def text_of(messages: Any) -> str:
    """Everything in messages, formatted or not, as one text."""
    plain = [msg.to_dict() if isinstance(msg, Msg) else msg for msg in messages]
    return json.dumps(plain, ensure_ascii=False)


def archived(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "dialog").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text("utf-8").split("\n") if line]


class Scene:
    """An attached agent that answers "ok" to whatever it is asked.

    Attributes:
        writer (`ScriptedChatModel | None`): the model that writes summaries.
        events (`list[Event]`): what happened.
    """

    def __init__(self, folder: Path, summary: Any, window: int, system_prompt: str, options: dict[str, Any]) -> None:
        self.folder = folder
        self.writer = (
            None if summary is None else ScriptedChatModel(summary if callable(summary) else lambda *_: summary)
        )
        self.manager = MemoryManager(
            folder,
            model=self.writer,
            formatter=OpenAIChatFormatter() if self.writer else None,
            max_input_length=window,
            **{**QUIET, "token_counter": count_quarters, **options},
        )
        self.model = ScriptedChatModel(lambda *_: "ok")
        self.agent = ReActAgent("agent", system_prompt, self.model, OpenAIChatFormatter())
        self.events: list[Event] = []
        self.manager.subscribe(self.events.append)
        self.memory = self.manager.attach(self.agent)

    async def step(self, request: str = "go on") -> list[dict[str, Any]]:
        """Ask the agent something; what its model was shown."""
        await self.agent.reply(user(request))
        return self.model.requests[-1].messages

    def told(self, *kinds: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind in kinds]

    def held(self) -> list[Msg]:
        return [msg for msg, _ in self.memory.content]

    def prompts(self) -> str:
        """Everything that the writer of summaries was asked."""
        return text_of([request.messages for request in self.writer.requests]) if self.writer else ""


Summary = str | None | Callable[..., Any]


@asynccontextmanager
async def scene(
    folder: Path, summary: Summary = None, window: int = 8_000, system_prompt: str = "You work.", **options: Any
) -> AsyncIterator[Scene]:
    made = Scene(folder, summary, window, system_prompt, options)
    try:
        yield made
    finally:
        await made.manager.close()
