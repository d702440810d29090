# -*- coding: utf-8 -*-
"""Tools as an agent gets them: lenient in their arguments, with an answer for whatever goes wrong."""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentscope.message import TextBlock
from agentscope.tool import Toolkit, ToolResponse

from .._errors import ReMeError
from ..chat import parse_json
from ..text import PromptBook

__all__ = ["AgentTool", "Say", "as_texts", "toolkit_of"]

logger = logging.getLogger("agentscope_reme")

_THINKING = "thinking"

AgentTool = Callable[..., Awaitable[str]]
"""An async function that answers with a text; its docstring is what the model reads."""

Narrow = Callable[[dict[str, Any]], None]
"""Changes the parameters of a tool's schema in place."""


class Say:
    """The texts that tools answer with, in one language.

    Args:
        book (`PromptBook`): the texts.
        language (`str`): the language.
    """

    def __init__(self, book: PromptBook, language: str) -> None:
        self._book, self._language = book, language

    def __call__(self, name: str, **values: object) -> str:
        return self._book.get(self._language, f"memory_agent.{name}").fill(**values)


def toolkit_of(
    tools: Sequence[AgentTool], say: Say, *, thinking: bool = False, narrow: dict[str, Narrow] | None = None
) -> Toolkit:
    """A toolkit with tools that never raise: what goes wrong is told to the model.

    Args:
        tools (`Sequence[AgentTool]`):
            The tools.
        say (`Say`):
            The texts of the answers.
        thinking (`bool`):
            Whether each tool takes a ``thinking`` argument, before all others.
        narrow (`dict[str, Callable] | None`):
            By a tool's name, what changes its parameters.
    """
    toolkit = Toolkit()
    for tool in tools:
        schema = _schema(tool)
        parameters = schema["function"]["parameters"]
        if narrow and tool.__name__ in narrow:
            narrow[tool.__name__](parameters)
        if thinking:
            thought = {"type": "string", "description": say(_THINKING)}
            parameters["properties"] = {_THINKING: thought, **parameters.get("properties", {})}
            parameters["required"] = [_THINKING, *parameters.get("required", [])]
        toolkit.register_tool_function(_answering(tool, say), json_schema=schema, func_name=tool.__name__)
    return toolkit


def as_texts(value: Any) -> list[str]:
    """The texts in what a model gave for a list of them: a list, a list as JSON text, or one text."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return as_texts(parse_json(text))
            except ReMeError:
                pass
        return [text] if text else []
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return []
    found = (each if isinstance(each, str) else _text_in(each) for each in value)
    return list(dict.fromkeys(each.strip() for each in found if each.strip()))


def _text_in(value: Any) -> str:
    return next((each for each in value.values() if isinstance(each, str)), "") if isinstance(value, dict) else ""


def _schema(tool: AgentTool) -> dict[str, Any]:
    """The schema that the host reads from a tool's docstring."""
    reading = Toolkit()
    reading.register_tool_function(tool)  # type: ignore[arg-type]
    return copy.deepcopy(reading.tools[tool.__name__].json_schema)


def _answering(tool: AgentTool, say: Say) -> Callable[..., Awaitable[ToolResponse]]:
    known = inspect.signature(tool).parameters
    needed = [name for name, each in known.items() if each.default is inspect.Parameter.empty]

    async def answering(**arguments: Any) -> ToolResponse:
        given = {name: value for name, value in arguments.items() if name in known and value is not None}
        missing = next((name for name in needed if name not in given), None)
        try:
            text = say("missing_argument", argument=missing) if missing else await tool(**given)
        except Exception as error:
            logger.warning("The tool %s failed: %s", tool.__name__, error, exc_info=not isinstance(error, ReMeError))
            text = say("failed", reason=f"{type(error).__name__}: {error}")
        return ToolResponse(content=[TextBlock(type="text", text=text)])

    answering.__name__ = tool.__name__
    return answering
