# -*- coding: utf-8 -*-
"""What the tests of notes share: messages, workspaces, writers, and the text of a tool's answer."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from agentscope.tool import ToolResponse

from agentscope_reme.notes import NoteWriter
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.text import PromptBook
from agentscope_reme.workspace import Workspace

BOOK = PromptBook()
DAY = "2026-09-15"
JOURNAL = f"memory/{DAY}.md"


def run(call: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(call())  # type: ignore[arg-type]


def user(text: str, time: str = f"{DAY} 10:32:00.000", name: str = "Alice") -> Msg:
    return Msg(name, text, "user", timestamp=time)


def agent(text: str, time: str = f"{DAY} 10:40:00.000") -> Msg:
    return Msg("Friday", text, "assistant", timestamp=time)


def tool_call(name: str = "fetch", time: str = f"{DAY} 10:33:00.000") -> Msg:
    block: Any = {"type": "tool_use", "id": "c1", "name": name, "input": {}}
    return Msg("Friday", [block], "assistant", timestamp=time)


def tool_result(text: str, name: str = "fetch", time: str = f"{DAY} 10:34:00.000") -> Msg:
    block: Any = {"type": "tool_result", "id": "c1", "name": name, "output": text}
    return Msg("system", [block], "system", timestamp=time)


def writer_of(root: Path, script: Any = None, **options: Any) -> NoteWriter:
    """A note writer over a folder, with a scripted model where there is a script."""
    model = script if script is None or isinstance(script, ScriptedChatModel) else ScriptedChatModel(script)
    formatter = None if model is None else OpenAIChatFormatter()
    return NoteWriter(Workspace(root), model=model, formatter=formatter, book=BOOK, **options)


def said(response: ToolResponse) -> str:
    return "".join(block["text"] for block in response.content if block["type"] == "text")


def ok(response: ToolResponse) -> bool:
    assert response.metadata is not None
    return bool(response.metadata["ok"])


def put(root: Path, path: str, text: str | bytes) -> None:
    """Write a file as a person does."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())


def read(root: Path, path: str) -> str:
    target = root / path
    return target.read_bytes().decode("utf-8", "surrogateescape") if target.exists() else ""


def is_part_in_order(few: list[Any], many: list[Any]) -> bool:
    """Whether the few stand among the many in their order."""
    rest = iter(many)
    return all(any(each == other for other in rest) for each in few)


def prompt_of(request: Any) -> str:
    """All texts of a request to a model."""
    parts = []
    for message in request.messages:
        content = message.get("content")
        parts += [content] if isinstance(content, str) else [part.get("text", "") for part in content or []]
    return "\n".join(parts)
