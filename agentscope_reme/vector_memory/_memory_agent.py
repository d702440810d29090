# -*- coding: utf-8 -*-
"""An agent with tools, run once for one request, bounded in steps and time whatever its model does."""

from __future__ import annotations

import asyncio
import json

from agentscope.agent import ReActAgent
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg
from agentscope.tool import Toolkit

from .._errors import ModelReplyError
from ..chat import strip_thinking
from ._model_access import ModelAccess

__all__ = ["run_agent"]

_GRACE = 1.0
"""Seconds that a run gets to end once it was told to."""


async def run_agent(access: ModelAccess, name: str, system: str, request: str, toolkit: Toolkit) -> str:
    """Let an agent carry out one request; calls that its model makes together are made together.

    Args:
        access (`ModelAccess`):
            The model and the bounds.
        name (`str`):
            The agent's name, for messages and errors.
        system (`str`), request (`str`):
            Its system prompt, and the message to it.
        toolkit (`Toolkit`):
            Its tools.

    Returns:
        `str`: what it answered in the end, without reasoning.

    Raises:
        `ModelReplyError`: the model failed (the cause is attached), or the time ran out.
        `MissingModelError`: there is no model.
    """
    model, formatter = access.pair(f"The agent {name!r}")
    message = Msg("user", _encodable(request), "user")
    formatted = await formatter.format([Msg("system", _encodable(system), "system"), message])
    if len(json.dumps(formatted, ensure_ascii=False, default=str)) < len(system) + len(request):
        raise ModelReplyError(
            f"The formatter dropped the request of {len(request)} characters: raise its max_tokens, or give another.",
        )
    agent = ReActAgent(
        name=name,
        sys_prompt=_encodable(system),
        model=model,
        formatter=formatter,
        toolkit=toolkit,
        memory=InMemoryMemory(),
        parallel_tool_calls=True,
        max_iters=access.max_steps,
    )
    agent.set_console_output_enabled(False)
    # In a task of its own: the host turns a cancellation inside a tool into another one, which a cancel scope would not
    # know as its own, and a model that swallows cancellation must not hold up whoever waits here.
    run = asyncio.ensure_future(agent.reply(message))
    try:
        await asyncio.wait({run}, timeout=access.agent_timeout)
    except asyncio.CancelledError:
        await _stop(run)
        raise
    if not run.done():
        await _stop(run)
        raise ModelReplyError(f"The agent {name!r} did not finish within {access.agent_timeout:g} seconds.")
    return _answer(name, run)


async def _stop(run: asyncio.Future[Msg]) -> None:
    """Cancel a run and give it a moment; what becomes of it afterwards is nobody's concern."""
    run.cancel()
    run.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({run}, timeout=_GRACE)


def _answer(name: str, run: asyncio.Future[Msg]) -> str:
    try:
        reply = run.result()
    except asyncio.CancelledError as error:
        raise ModelReplyError(f"The agent {name!r} was interrupted.") from error
    except Exception as error:
        raise ModelReplyError(f"The agent {name!r} failed: {type(error).__name__}: {error}") from error
    return strip_thinking(reply.get_text_content() or "").strip()


def _encodable(text: str) -> str:
    """The text with half characters replaced: no request can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8")
