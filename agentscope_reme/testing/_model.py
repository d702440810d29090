# -*- coding: utf-8 -*-
"""A chat model that answers from a script and keeps what it was asked."""

import copy
import inspect
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import anyio
from agentscope.model import ChatModelBase, ChatResponse
from pydantic import BaseModel

from .._errors import ConfigError
from ._reply import Reply, ToolCall, blocks_of, growing

__all__ = ["ChatRequest", "ScriptedChatModel"]

Responder = Callable[[list[dict[str, Any]], list[dict[str, Any]] | None], Reply | Awaitable[Reply]]


@dataclass(frozen=True)
class ChatRequest:
    """One request, copied when it came: later edits of the messages do not reach it."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | None = None
    structured_model: type[BaseModel] | None = None


class ScriptedChatModel(ChatModelBase):
    """A chat model that gives the replies of a script, in their order, and records every request in `requests`.

    A reply is one of: a `str`; a `ToolCall` (see `call`); a content block; a list of these, in one message; a finished
    `ChatResponse`; an exception, which is raised. A list may end with an exception: a stream then breaks off after
    what stands before it. Where a structured answer is asked for, the reply is a mapping or a pydantic object with
    the fields (or their JSON as text), which becomes the response's `metadata`.

    Args:
        replies (`Iterable[Reply] | Callable`):
            The script, or a function (plain or async) of the request's messages and tools that returns the reply.
        stream (`bool`, defaults to `False`):
            Whether a reply comes as a stream of growing chunks. May be set later.
        model_name (`str`, defaults to `"scripted"`):
            The name that the model reports.
        delay (`float`, defaults to `0.0`):
            Seconds that a reply takes; a streamed one takes them before its first chunk.
        chunk_delay (`float`, defaults to `0.0`):
            Seconds between the chunks of a stream.
        piece (`int`, defaults to `16`):
            Characters that a chunk adds.

    Raises:
        `ConfigError`:
            When called, if the script has no reply left or holds something that is none.
    """

    def __init__(
        self,
        replies: Iterable[Reply] | Responder,
        *,
        stream: bool = False,
        model_name: str = "scripted",
        delay: float = 0.0,
        chunk_delay: float = 0.0,
        piece: int = 16,
    ) -> None:
        super().__init__(model_name, stream)
        if isinstance(replies, (str, ToolCall, Mapping)):
            raise ConfigError(f"replies={replies!r} is one reply; give a list of replies, or a function")
        if piece < 1:
            raise ConfigError(f"piece={piece} must be at least one character")
        self.requests: list[ChatRequest] = []
        self.delay = delay
        self.chunk_delay = chunk_delay
        self._respond = replies if callable(replies) else None
        self._script = iter(()) if callable(replies) else iter(replies)
        self._piece = piece

    async def __call__(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: str | None = None,
        structured_model: type[BaseModel] | None = None,
        **_: Any,
    ) -> ChatResponse | AsyncGenerator[ChatResponse, None]:
        """Record the request and give the next reply.

        Args:
            messages (`list[dict]`):
                Formatted messages, as a formatter returns them.
            tools (`list[dict] | None`, optional):
                The JSON schemas of the tools.
            tool_choice (`str | None`, optional):
                Recorded; the script decides all the same.
            structured_model (`type[BaseModel] | None`, optional):
                The form that the answer's `metadata` is wanted in.

        Returns:
            `ChatResponse | AsyncGenerator[ChatResponse, None]`:
                A response, or the growing chunks of one if `stream` is set.
        """
        request = ChatRequest(copy.deepcopy(messages), copy.deepcopy(tools), tool_choice, structured_model)
        self.requests.append(request)
        # A cancelled request has taken its reply, as it has at a real API.
        reply = await self._next_reply(request)
        await anyio.sleep(self.delay)
        response, error = _response(reply, structured_model)
        if self.stream:
            return self._chunks(response, error)
        if error is not None:
            raise error
        return cast(ChatResponse, response)

    async def _next_reply(self, request: ChatRequest) -> Reply:
        if self._respond is not None:
            reply = self._respond(request.messages, request.tools)
            return await reply if inspect.isawaitable(reply) else reply
        try:
            return next(self._script)
        except StopIteration:
            raise ConfigError(
                f"the script of {self.model_name!r} has no reply for request {len(self.requests)}; "
                f"it ended with: {_tail(request.messages)}",
            ) from None

    async def _chunks(
        self,
        response: ChatResponse | None,
        error: BaseException | None,
    ) -> AsyncGenerator[ChatResponse, None]:
        if response is not None:
            for content in growing(response.content, self._piece):
                chunk = ChatResponse(content=cast(Any, content), id=response.id, created_at=response.created_at)
                chunk.metadata = response.metadata
                chunk.usage = response.usage
                yield chunk
                await anyio.sleep(self.chunk_delay)
        if error is not None:
            raise error


def _response(
    reply: Reply,
    structured_model: type[BaseModel] | None,
) -> tuple[ChatResponse | None, BaseException | None]:
    """A reply as what arrives, and the error that ends it."""
    if isinstance(reply, BaseException):
        raise reply
    if isinstance(reply, ChatResponse):
        return reply, None
    if structured_model is not None:
        fields = _fields(reply)
        if fields is not None:
            text = json.dumps(fields, ensure_ascii=False)
            return ChatResponse(content=cast(Any, blocks_of([text])), metadata=fields), None
    parts: list[Any] = list(reply) if isinstance(reply, (list, tuple)) else [reply]
    error = parts.pop() if parts and isinstance(parts[-1], BaseException) else None
    return ChatResponse(content=cast(Any, blocks_of(parts))), error


def _fields(reply: Any) -> dict[str, Any] | None:
    """The fields of a structured reply, or `None` if it is an ordinary one."""
    if isinstance(reply, BaseModel):
        return reply.model_dump(mode="json")
    if isinstance(reply, Mapping) and "type" not in reply:
        return dict(reply)
    if isinstance(reply, str):
        try:
            parsed = json.loads(reply)
        except ValueError:
            return None
        return parsed if isinstance(parsed, dict) else None
    return None


def _tail(messages: list[dict[str, Any]], width: int = 200) -> str:
    text = json.dumps(messages[-1], ensure_ascii=False, default=str) if messages else "no message"
    return text if len(text) <= width else text[:width] + "..."
