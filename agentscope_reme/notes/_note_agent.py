# -*- coding: utf-8 -*-
"""The agent that writes notes, run once, bounded in steps and time whatever its model does."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from agentscope.agent import ReActAgent
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from .._errors import ModelReplyError
from ..chat import strip_thinking
from ._file_tools import FileTools

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["run_agent"]

_GRACE = 1.0
"""Seconds that a run gets to end once it was told to."""


async def run_agent(
    model: ChatModelBase,
    formatter: FormatterBase,
    tools: FileTools,
    system: str,
    request: str,
    *,
    max_steps: int,
    timeout: float | None,
) -> str:
    """Let an agent with these tools carry out one request.

    Args:
        model (`ChatModelBase`), formatter (`FormatterBase`):
            Its model, and what goes with it.
        tools (`FileTools`):
            Its tools.
        system (`str`), request (`str`):
            Its system prompt, and the message to it.
        max_steps (`int`):
            How often it may ask the model.
        timeout (`float | None`):
            Seconds for the run; `None` for as long as it takes.

    Returns:
        `str`: what it answered in the end, without reasoning.

    Raises:
        `ModelReplyError`: the model failed (the cause is attached), or the time ran out.
    """
    message = Msg("user", _encodable(request), "user")
    formatted = await formatter.format([Msg("system", _encodable(system), "system"), message])
    if len(json.dumps(formatted, ensure_ascii=False, default=str)) < len(system) + len(request):
        raise ModelReplyError(
            f"The formatter dropped the request of {len(request)} characters: raise its max_tokens, or give another.",
        )
    agent = ReActAgent(
        name="note_writer",
        sys_prompt=_encodable(system),
        model=model,
        formatter=formatter,
        toolkit=tools.toolkit(),
        memory=InMemoryMemory(),
        max_iters=max_steps,
    )
    agent.set_console_output_enabled(False)
    # A task of its own: the host turns a cancellation inside a tool into another, which a cancel scope would not know
    # as its own, and a model that swallows cancellation must not hold up whoever waits here.
    run = asyncio.ensure_future(agent.reply(message))
    try:
        await asyncio.wait({run}, timeout=timeout)
    except asyncio.CancelledError:
        await _stop(run)
        raise
    if not run.done():
        await _stop(run)
        raise ModelReplyError(f"The note writer did not finish within {timeout:g} seconds.")
    return _answer(run)


async def _stop(run: asyncio.Future[Msg]) -> None:
    """Cancel a run and give it a moment; what becomes of it afterwards is nobody's concern."""
    run.cancel()
    run.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({run}, timeout=_GRACE)


def _answer(run: asyncio.Future[Msg]) -> str:
    try:
        reply = run.result()
    except asyncio.CancelledError as error:
        raise ModelReplyError("The note writer was interrupted.") from error
    except Exception as error:
        raise ModelReplyError(f"The note writer failed: {type(error).__name__}: {error}") from error
    return strip_thinking(reply.get_text_content() or "").strip()


def _encodable(text: str) -> str:
    """The text with half characters replaced: no request can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8")
