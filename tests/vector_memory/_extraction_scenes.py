# -*- coding: utf-8 -*-
"""What the tests of extraction share: messages, banks, models that answer from a script, and events."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg

from agentscope_reme._events import Event
from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.record import MemoryNode
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel
from agentscope_reme.text import PromptBook
from agentscope_reme.vector_memory import MemoryBank, MemorySummarizer, Owner
from agentscope_reme.vector_store import LocalVectorStore

BOOK = PromptBook()
DAY = "2026-09-15"
ALICE, BOB = Owner("personal", "alice"), Owner("personal", "bob")
CODING = Owner("procedural", "coding")
SEARCH = Owner("tool", "search_web")


def run(call: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(call())  # type: ignore[arg-type]


def user(text: str, time: str = f"{DAY} 10:32:00.000", name: str = "user") -> Msg:
    return Msg(name, text, "user", timestamp=time)


def agent(text: str, time: str = f"{DAY} 10:40:00.000") -> Msg:
    return Msg("Friday", text, "assistant", timestamp=time)


def tool_call(name: str = "search_web", call_id: str = "c1", time: str = f"{DAY} 10:33:00.000", **given: Any) -> Msg:
    block: Any = {"type": "tool_use", "id": call_id, "name": name, "input": given}
    return Msg("Friday", [block], "assistant", timestamp=time)


def tool_result(text: str, name: str = "search_web", call_id: str = "c1", time: str = f"{DAY} 10:33:02.000") -> Msg:
    block: Any = {"type": "tool_result", "id": call_id, "name": name, "output": text}
    return Msg("system", [block], "system", timestamp=time)


@asynccontextmanager
async def bank_in(root: Path, *, embed: bool = True, **options: Any):
    """An open bank over a local store."""
    embedder = BatchEmbedder(HashEmbedding()) if embed else None
    async with MemoryBank(LocalVectorStore(root / "memories"), embedder, **options) as bank:
        yield bank


def summarizer_of(bank: MemoryBank, script: Any, **options: Any) -> MemorySummarizer:
    """A summarizer with a scripted model where there is a script."""
    model = script if script is None or isinstance(script, ScriptedChatModel) else ScriptedChatModel(script)
    formatter = None if model is None else OpenAIChatFormatter()
    return MemorySummarizer(bank, model=model, formatter=formatter, book=BOOK, **options)


def memories(*items: Any, profile: Any = None) -> str:
    """A reply in the form that is asked for."""
    reply: dict[str, Any] = {"memories": [{"content": each} if isinstance(each, str) else each for each in items]}
    return json.dumps({**reply, **({"profile": profile} if profile is not None else {})}, ensure_ascii=False)


def listening(bank: MemoryBank) -> list[Event]:
    """The events of a bank from now on."""
    heard: list[Event] = []
    bank.events.subscribe(heard.append)
    return heard


def of_kind(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


def texts(nodes: list[MemoryNode]) -> list[str]:
    return [node.content for node in nodes]


async def active(bank: MemoryBank, owner: Owner) -> list[str]:
    return sorted(texts(await bank.list([owner])))


def prompt_of(request: Any) -> str:
    """All texts of a request to a model."""
    messages = request.messages if hasattr(request, "messages") else request
    parts = []
    for message in messages:
        content = message.get("content")
        parts += [content] if isinstance(content, str) else [part.get("text", "") for part in content or []]
    return "\n".join(parts)


def ids_shown(text: str) -> dict[str, str]:
    """The memories that a prompt shows, by their contents: which id each has."""
    found = re.findall(r'<memory id="(\w+)"[^>]*>\n(.*?)\n</memory>', text, re.DOTALL)
    return {content: name for name, content in found}


def messages_shown(text: str) -> list[tuple[int, str, str]]:
    """The messages that a prompt shows: number, role, and the text with its header."""
    found = re.findall(r'<message number="(\d+)" role="(\w+)"[^>]*>\n(.*?)\n</message>', text, re.DOTALL)
    return [(int(number), role, said) for number, role, said in found]
