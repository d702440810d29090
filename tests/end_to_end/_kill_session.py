# -*- coding: utf-8 -*-
"""A session that tells an append-only file what it is about to do and what it has done, and can die at any write.

It runs in forks of a process that has everything imported (`_kill_zygote`), so that a death costs milliseconds.
"""

import asyncio
import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _faulty_disk import path_of
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg

from agentscope_reme import MemoryManager
from agentscope_reme.testing import ScriptedChatModel

WINDOW = 3_000
DAYS = ("2026-03-01", "2026-03-02")
PATCHED = ("write", "replace", "fsync", "ftruncate", "unlink")

Op = tuple[str, Any]


def the_message(session_id: str, number: int) -> list[Msg]:
    """Message number so and so of a session, which only these two numbers decide: a turn, or a call and its result."""
    pick = random.Random(number)
    kind = pick.choice(("user", "assistant", "pair", "pair"))
    size = pick.choice((1, 3, 10, 40, 400))
    text = pick.choice(
        (f"file_{number}.py: port 84{number} ", f"第{number}条：数据库迁移完成。", f'{{"id": {number}}} ')
    )
    when = f"{DAYS[number % 2]} 10:00:00.{number % 1000:03}"
    if kind != "pair":
        made = [Msg("friday" if kind == "assistant" else "user", text * min(size, 40), kind, timestamp=when)]
    else:
        use = {"type": "tool_use", "id": f"call_{number}", "name": "read", "input": {"n": number}}
        result = {"type": "tool_result", "id": f"call_{number}", "name": "read", "output": text * size}
        made = [Msg("friday", [use], "assistant", timestamp=when), Msg("system", [result], "system", timestamp=when)]
    for part, msg in zip("ab", made, strict=False):
        msg.id = f"{session_id}-{number}{part}"
    return made


class Teller:
    """Appends lines to the file that outlives the process."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write = os.write

    def say(self, **values: Any) -> None:
        self._write(self._fd, json.dumps(values, ensure_ascii=False).encode() + b"\n")


class Death:
    """Counts what the process asks of the disk, and kills it at the n-th time: before it, or in the middle of a write.

    Args:
        at (`int`):
            The number of the call, from 1; 0 for never.
        torn (`int`):
            0; 1 where a write gets half of its bytes to the disk first, 2 where it gets all but the last.
    """

    def __init__(self, at: int = 0, torn: int = 0) -> None:
        self.at, self.torn = at, torn
        self.armed = False
        self.calls: list[str] = []
        for name in PATCHED:
            setattr(os, name, self._counting(name, getattr(os, name)))

    def _counting(self, name: str, call: Callable) -> Callable:
        def counted(*args: Any, **options: Any) -> Any:
            if self.armed and concerns_a_session(path_of(args[0])):
                self.calls.append(name)
                if len(self.calls) == self.at:
                    if self.torn and name == "write":
                        call(args[0], args[1][: len(args[1]) // 2 if self.torn == 1 else -1])
                    os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **options)

        return counted


def concerns_a_session(path: str) -> bool:
    """Whether a path is a journal's, the archive's or a long text's; the index is made anew from these."""
    return any(f"/{folder}" in path for folder in ("sessions", "dialog", "tool_result")) and not path.endswith(".lock")


class Session:
    """One session, and how its operations are carried out."""

    def __init__(self, folder: str, session_id: str, teller: Teller, *, notes: bool = False) -> None:
        self.id, self.teller = session_id, teller
        self.manager = MemoryManager(
            folder,
            model=None,
            max_input_length=WINDOW,
            old_max_bytes=500,
            tool_result_compact_keep_n=1,
            enable_notes=notes,
            enable_search_tools=False,
            default_file_store_config={"vector_enabled": False},
        )
        self.agent = ReActAgent("friday", "You help.", ScriptedChatModel([]), OpenAIChatFormatter())

    async def begin(self, *, resume: bool) -> None:
        if resume:
            self.agent.memory = await self.manager.resume(self.id)
        await self.manager.start()
        self.manager.attach(self.agent, None if resume else self.id)

    @property
    def memory(self) -> Any:
        return self.agent.memory

    async def do(self, op: Op) -> None:
        name, value = op
        self.teller.say(intent=name, value=value, held=[msg.id for msg, _ in self.memory.content])
        await getattr(self, f"_{name}")(value)
        self.teller.say(
            done=name, value=value, summary=self.memory.get_compressed_summary(), pins=sorted(self.memory.pins)
        )

    async def _add(self, numbers: list[int]) -> None:
        await self.memory.add([msg for number in numbers for msg in the_message(self.id, number)])

    async def _hint(self, number: int) -> None:
        hint = Msg("user", "<system-hint>go on</system-hint>", "user")
        hint.id = f"{self.id}-hint{number}"
        await self.memory.add(hint, "hint")

    async def _hook(self, _: Any) -> None:
        await self.manager._before_reasoning(self.agent, {})

    async def _delete(self, ids: list[str]) -> None:
        await self.memory.delete(ids)

    async def _pin(self, ids: list[str]) -> None:
        self.memory.pin(ids)

    async def _unpin(self, ids: list[str]) -> None:
        self.memory.unpin(ids)

    async def _clear(self, _: Any) -> None:
        await self.manager.clear()

    async def _new(self, _: Any) -> None:
        await self.manager.new()

    async def _compact(self, _: Any) -> None:
        await self.manager.compact()

    async def _summary(self, text: str) -> None:
        await self.memory.update_compressed_summary(text)

    async def _mark(self, ids: list[str]) -> None:
        await self.memory.mark_messages_compressed([msg for msg, _ in self.memory.content if msg.id in ids])


def random_ops(session: Session, seed: int, count: int) -> Iterator[Op]:
    """So many operations, each chosen when the one before is done."""
    pick = random.Random(seed)
    number = since_clear = 0
    for _ in range(count):
        held = [msg.id for msg, _ in session.memory.content if "hint" not in msg.id]
        some = pick.sample(held, min(len(held), pick.randint(1, 3)))
        name = pick.choices(
            ("add", "hook", "delete", "pin", "unpin", "hint", "compact", "clear", "new", "summary", "mark", "readd"),
            (30, 14, 3, 2, 2, 2, 2, 1, 1, 1, 2, 2),
        )[0]
        if name == "add":
            numbers = list(range(number, number + pick.randint(1, 4)))
            number = numbers[-1] + 1
            yield "add", numbers
        elif name == "readd":
            if number > since_clear:  # what was cleared is not known any more, and adding it makes it new
                yield "add", [pick.randrange(since_clear, number)]
        elif name == "hint":
            yield "hint", number
        elif name == "summary":
            yield "summary", f"## Goal\n- summary {number}"
        elif name in ("delete", "pin", "unpin", "mark"):
            if some:
                yield name, some
        else:
            since_clear = number if name in ("clear", "new") else since_clear
            yield name, None


async def live(order: dict[str, Any]) -> None:
    """Do what an order says: so many random operations, or the ones given, of which some are armed."""
    session = Session(order["folder"], order["session"], Teller(order["told"]), notes=order.get("notes", False))
    death = Death(order.get("die_at", 0), order.get("torn", 0))
    resume = order.get("resume", False)
    death.armed = resume
    session.teller.say(intent="begin", value=resume)
    await session.begin(resume=resume)
    session.teller.say(done="begin", value=resume, summary=session.memory.get_compressed_summary(), pins=[])
    death.armed = False
    armed = order.get("armed", -1)
    for at, op in enumerate(order.get("ops") or random_ops(session, order["seed"], order["count"])):
        death.armed = at == armed
        await session.do((op[0], op[1]))
        death.armed = False
    session.teller.say(calls=death.calls)
    if order.get("close"):
        await session.manager.close()


def run(order: dict[str, Any]) -> None:
    Path(order["folder"]).mkdir(parents=True, exist_ok=True)
    asyncio.run(live(order))
