# -*- coding: utf-8 -*-
"""A recorded run lived through once more by a real agent: its model and its tools say what they said then."""

from collections import deque
from typing import Any

from _trace_formats import Trace
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme.testing import ScriptedChatModel

__all__ = ["RecordedAgent"]

_PAUSE = "(waiting)"
"""Ends a reply where in the recording something was said between two steps of the agent."""


class RecordedAgent:
    """A `ReActAgent` that does again what a trace did.

    Args:
        trace (`Trace`):
            The run.

    Attributes:
        agent (`ReActAgent`): to attach a manager to.
        steps (`list[int | None]`): for each request to the model, the index in the trace of the message that
            answered it; `None` where nothing did.
        shown (`list[list[dict]]`): what the model was shown in each request.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._outputs = deque(
            block["output"]
            for msg in trace.messages
            if msg.role == "system"
            for block in msg.content
            if isinstance(block, dict)
        )
        self._script: deque[tuple[int | None, Any]] = deque()
        self.steps: list[int | None] = []
        self.shown: list[list[dict[str, Any]]] = []
        self.agent = ReActAgent(
            "agent",
            trace.system_prompt or "You work with tools.",
            ScriptedChatModel(self._reply),
            OpenAIChatFormatter(),
            toolkit=self._toolkit(),
            max_iters=10_000,
        )

    async def live(self) -> None:
        """Go through the whole run, a reply for each time the agent was asked something."""
        asked: list[Msg] = []
        for at, msg in enumerate(self._trace.messages):
            if msg.role == "user":
                asked.append(msg)
            elif msg.role == "assistant":
                self._script.append((at, msg.content))
            if self._script and self._asked_next(at):
                if not isinstance(self._script[-1][1], str):
                    self._script.append((None, _PAUSE))
                await self.agent.reply(asked or None)
                asked = []

    def _asked_next(self, at: int) -> bool:
        """Whether the agent has the floor no longer: something is said to it next, it has answered, or it is over."""
        msg, following = self._trace.messages[at], self._trace.messages[at + 1 : at + 2]
        answered = msg.role == "assistant" and isinstance(msg.content, str)
        return answered or not following or following[0].role == "user"

    def _reply(self, messages: list[dict[str, Any]], _: Any) -> Any:
        at, content = self._script.popleft()
        self.steps.append(at)
        self.shown.append(messages)
        return content

    def _toolkit(self) -> Toolkit:
        toolkit = Toolkit()
        calls = [
            block
            for msg in self._trace.messages
            if isinstance(msg.content, list)
            for block in msg.content
            if block["type"] == "tool_use"
        ]
        for name in dict.fromkeys(call["name"] for call in calls):
            parameters = {"type": "object", "properties": {}}
            schema = {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}
            toolkit.register_tool_function(self._tool, func_name=name, json_schema=schema)
        return toolkit

    async def _tool(self, **_: Any) -> ToolResponse:
        text = self._outputs.popleft() if self._outputs else ""
        return ToolResponse(content=[TextBlock(type="text", text=text)])
