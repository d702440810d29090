# -*- coding: utf-8 -*-
"""One question to a host chat model, and what came back."""

import inspect
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import anyio

from .._errors import ConfigError, ModelReplyError
from ._sampling import sampling
from ._thinking import split_thinking

__all__ = ["Reply", "ask"]

_PROBE = 200
"""Characters of the question's end that must be in the request."""


@dataclass(frozen=True)
class Reply:
    """A model's answer.

    Args:
        text (`str`): The answer, without reasoning; empty where the model said nothing.
        thinking (`str`): The reasoning, from thinking blocks and from tags in the text.
        usage (`Any`): The host's `ChatUsage`, or `None`.
    """

    text: str
    thinking: str = ""
    usage: Any = None


async def ask(
    model: Any,
    formatter: Any,
    system: str,
    user: str,
    *,
    timeout: float | None = 120,  # noqa: ASYNC109
    temperature: float | None = None,
) -> Reply:
    """Ask a host chat model one question, streaming or not.

    Args:
        model (`ChatModelBase`): The model.
        formatter (`FormatterBase`): The formatter that goes with it.
        system (`str`): The system prompt; "" for none.
        user (`str`): The question.
        timeout (`float | None`): Seconds for the whole reply, `None` to wait for ever.
        temperature (`float | None`): How much replies may vary, where the model has no temperature of its own; a model
            that refuses one is asked without.

    Returns:
        `Reply`: the answer, which may be empty.

    Raises:
        `ModelReplyError`: the model or the formatter failed (the cause is attached), or the time ran out.
    """
    if model is None or formatter is None:
        raise ConfigError("A model needs the formatter that goes with it: give both.")
    try:
        with anyio.move_on_after(timeout):
            messages = await _formatted(formatter, system, user)
            options = sampling(model, temperature)
            try:
                return _read(await _respond(model, messages, options))
            except Exception as error:
                if not options or "temperature" not in str(error).lower():
                    raise
                return _read(await _respond(model, messages, {}))
    except ModelReplyError:
        raise
    except Exception as error:
        raise ModelReplyError(f"The model failed: {type(error).__name__}: {error}") from error
    raise ModelReplyError(f"The model gave no reply within {timeout:g} seconds.")


async def _formatted(formatter: Any, system: str, user: str) -> list[dict[str, Any]]:
    from agentscope.message import Msg

    messages = [Msg("user", _encodable(user), "user")]
    if system:
        messages.insert(0, Msg("system", _encodable(system), "system"))
    formatted = await formatter.format(messages)
    asked = _encodable(user).strip()[-_PROBE:]
    if not any(asked in text for text in _strings(formatted)):
        raise ModelReplyError(
            f"The formatter dropped the request of {len(user)} characters: raise its max_tokens or give one without.",
        )
    return formatted


async def _respond(model: Any, messages: list[dict[str, Any]], options: dict[str, Any]) -> list[Any]:
    """The responses that count: the whole one, or of a stream the last with content and the last with usage."""
    response = model(messages, **options)
    if inspect.isawaitable(response):
        response = await response
    if not isinstance(response, AsyncGenerator):
        return [response]
    content = usage = None
    async with aclosing(response) as chunks:
        async for chunk in chunks:
            content = chunk if chunk.content or content is None else content
            usage = chunk if chunk.usage else usage
    return [each for each in (usage, content) if each is not None]


def _read(responses: list[Any]) -> Reply:
    content = responses[-1].content if responses else None
    texts, thoughts = _texts(content)
    inline, text = split_thinking("\n".join(texts))
    return Reply(
        text=text,
        thinking="\n".join(each for each in (*thoughts, inline) if each),
        usage=responses[0].usage if responses else None,
    )


def _texts(content: Any) -> tuple[list[str], list[str]]:
    """The texts and the thoughts in a content of any shape; what is neither is passed over."""
    if isinstance(content, str):
        return [content], []
    blocks = [block for block in content or () if isinstance(block, dict)]
    return _of_type(blocks, "text"), _of_type(blocks, "thinking")


def _of_type(blocks: list[dict[str, Any]], kind: str) -> list[str]:
    found = (block.get(kind) for block in blocks if block.get("type") == kind)
    return [each for each in found if isinstance(each, str)]


def _encodable(text: str) -> str:
    """The text with half characters, as decoding errors leave them behind, replaced: no request can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _strings(each)
