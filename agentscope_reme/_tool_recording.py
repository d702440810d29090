# -*- coding: utf-8 -*-
"""The tool calls of agents, as they are made: what went in, what came out, and whether it worked."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, Protocol

import anyio
from agentscope.message import Msg
from agentscope.tool import Toolkit, ToolResponse

from ._events import EventKind
from ._tool_caller import Caller
from .message import call_input, cut_text, output_text, parsed_time, redacted
from .record import ToolCallRecord
from .storage import dump_line
from .working_memory import MemoryServices

__all__ = ["Recording", "ToolRecording"]

logger = logging.getLogger("agentscope_reme")

_OUTPUT_BYTES, _INPUT_BYTES = 4_096, 4_096
"""The most of a call that its record holds."""

_KEPT = 1_000
"""Calls that wait while they cannot be stored; of more the oldest are let go."""

_BATCH = 50

_FAULT = re.compile(
    # What the host's toolkit answers in place of a result, and what its own tools say of a process that failed.
    r"Error: |FunctionNotFoundError: |FunctionInactiveError: |Error occurred when calling MCP tool: "
    r"|Error during async execution: |<returncode>(?!0</)",
)

_AT_WORK: set[asyncio.Task[None]] = set()
"""The loop keeps weak references only: a task that nobody holds may vanish half-way."""


class Recording(Protocol):
    """What is needed of a `ReMe`."""

    async def record_tool_calls(self, records: Sequence[ToolCallRecord]) -> Any: ...


@dataclass(frozen=True)
class _Call:
    """A call that is over. Its texts are cut and counted off the loop."""

    block: Mapping[str, Any]
    caller: Caller
    seconds: float
    output: Any
    success: bool


class ToolRecording:
    """Stands around the tools of toolkits and hands what was called to a `ReMe`, in the background.

    It sees each call that is really made, once: those in parallel too, which the host's hooks do not see, and never one
    that only stands in a resumed history.

    Args:
        reme (`Recording`):
            Where the records go.
        services (`MemoryServices`):
            The counter, the redaction, and who is told.
        caller_of (`Callable[[Toolkit, Mapping], Caller | None]`):
            Says who made a call; `None` for a call that is not to be recorded.
    """

    def __init__(
        self,
        reme: Recording,
        services: MemoryServices,
        caller_of: Callable[[Toolkit, Mapping[str, Any]], Caller | None],
    ) -> None:
        self._reme = reme
        self._services = services
        self._caller_of = caller_of
        self._watched: dict[int, tuple[Toolkit, Any]] = {}
        self._waiting: deque[_Call] = deque(maxlen=_KEPT)
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ the toolkits

    def watch(self, toolkits: Sequence[Toolkit]) -> None:
        """See the calls of these toolkits from now on, and of no other one any more."""
        wanted = {id(toolkit): toolkit for toolkit in toolkits}
        for key in [key for key in self._watched if key not in wanted]:
            toolkit, middleware = self._watched.pop(key)
            if middleware in toolkit._middlewares:
                toolkit._middlewares.remove(middleware)
        for key, toolkit in wanted.items():
            if key not in self._watched:
                middleware = partial(self._around, toolkit)
                self._watched[key] = (toolkit, middleware)
                toolkit.register_middleware(middleware)

    async def _around(
        self, toolkit: Toolkit, kwargs: dict[str, Any], call_next: Callable[..., Any]
    ) -> AsyncGenerator[ToolResponse, None]:
        """A middleware of the host: passes on what comes, as it comes."""
        caller = self._caller_of(toolkit, kwargs["tool_call"])
        note = partial(self._note, kwargs["tool_call"], caller, time.monotonic())
        noted = False
        last: ToolResponse | None = None
        try:
            async for chunk in await call_next(**kwargs):
                last = chunk
                if chunk.is_interrupted:  # whoever iterates may leave here, and this generator is ended later
                    note(last, False)
                    noted = True
                yield chunk
        except BaseException as error:
            if not noted:
                note(last, isinstance(error, GeneratorExit), error)
            raise
        if not noted:
            note(last, True)

    def _note(
        self,
        block: Mapping[str, Any],
        caller: Caller | None,
        begun: float,
        last: ToolResponse | None,
        success: bool,
        error: BaseException | None = None,
    ) -> None:
        if caller is None:
            return
        output = list(last.content) if last is not None else []
        if error is not None and not success:
            output.append({"type": "text", "text": f"{type(error).__name__}: {error}"})
        said = last.metadata.get("success") if last is not None and isinstance(last.metadata, Mapping) else None
        seconds = time.monotonic() - begun
        self._waiting.append(_Call(block, caller, seconds, output, success and said is not False))
        self._wake()

    # ------------------------------------------------------------------ the background

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109
        """Store what waits, if that can be done in time. What cannot is lost, and that is logged."""
        if self._waiting or self._is_at_work():
            with anyio.move_on_after(timeout):
                if self._is_at_work() and self._task is not None:
                    await asyncio.wait({self._task})
                await self._store()
        if self._waiting:
            logger.warning("%d tool calls could not be recorded in time and are lost.", len(self._waiting))
            self._waiting.clear()

    def _is_at_work(self) -> bool:
        task = self._task
        return task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop()

    def _wake(self) -> None:
        try:
            if self._is_at_work():
                return
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a generator that was left was ended by the garbage collector
            return
        if self._task is not None:
            _AT_WORK.discard(self._task)
        self._task = loop.create_task(self._store())
        _AT_WORK.add(self._task)
        self._task.add_done_callback(_AT_WORK.discard)

    async def _store(self) -> None:
        """Store what waits, in batches. What cannot be stored goes on waiting, for the next call."""
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            try:
                records = await anyio.to_thread.run_sync(lambda calls: [self._record(call) for call in calls], batch)
                await self._reme.record_tool_calls(records)
            except BaseException as error:
                room = _KEPT - len(self._waiting)
                self._waiting.extendleft(reversed(batch[max(0, len(batch) - room) :]))
                if not isinstance(error, Exception):
                    raise
                logger.warning("%d tool calls could not be recorded: %s", len(batch), error)
                self._services.events.emit(EventKind.TOOL_CALLS_FAILED, error=error, calls=len(batch))
                return
            self._services.events.emit(EventKind.TOOL_CALLS_RECORDED, calls=len(batch))

    def _record(self, call: _Call) -> ToolCallRecord:
        given, output = call_input(dict(call.block)), output_text({"output": call.output})
        if self._services.redact is not None:
            said: Any = [{"type": "tool_use", "input": given}, {"type": "text", "text": output}]
            clean: Any = redacted(Msg("tool", said, "assistant"), self._services.redact).content
            given, output = clean[0]["input"], clean[1]["text"]
        written = dump_line(given).decode("utf-8").strip()
        seen = cut_text(output, self._services.policy.recent_max_bytes, lambda _: "").text
        count = self._services.tokens.count_text
        return ToolCallRecord(
            tool_name=str(call.block["name"]),
            input=json.loads(written) if len(written) <= _INPUT_BYTES else _bounded(written, _INPUT_BYTES),
            output=_bounded(output, _OUTPUT_BYTES),
            success=call.success and not _FAULT.match(output),
            time_cost=round(call.seconds, 6),
            token_cost=count(written) + (count(seen) if seen else 0),
            create_time=_time(call.caller.asked),
            metadata={"agent": call.caller.agent, "session_id": call.caller.session_id or ""},
        )


def _time(msg: Msg) -> datetime:
    """When a message was begun: what reads calls out of a history says so too, and they can be told to be one."""
    moment = parsed_time(msg.timestamp)
    try:
        return datetime.now(timezone.utc) if moment is None else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return datetime.now(timezone.utc)


def _bounded(text: str, most: int) -> str:
    return cut_text(text, most, lambda cut: f"\n[... {cut.hidden_bytes} bytes ...]\n").text
