# -*- coding: utf-8 -*-
"""A real HTTP server on 127.0.0.1 that speaks as much of the OpenAI API as an agent uses, and is as strict about it.

Every chat request is checked as the real API checks it: a violation is answered with 400 and kept in `violations`, so a
test that ends with `assert not server.violations` has proven that no request was malformed or over the window.
"""

import base64
import json
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agentscope_reme.testing import HashEmbedding, ToolCall

__all__ = [
    "Loopback",
    "Request",
    "Text",
    "Status",
    "Garbage",
    "Empty",
    "Broken",
    "Hang",
    "faults_of",
    "qwen_tokens",
]


@dataclass(frozen=True)
class Text:
    """A finished answer: text, calls, thinking, and how it is cut when it is streamed."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    piece: int = 12
    """Characters that one chunk adds."""
    pause: float = 0.0
    """Seconds before each chunk (or before the one answer)."""


@dataclass(frozen=True)
class Status:
    """An error answer, such as `Status(429)` or `Status(500)`."""

    code: int
    message: str = "the loopback server was told to fail"
    error_code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Garbage:
    """A body with status 200 that is no JSON."""

    body: bytes = b"<html>\xff\x00 not json"


@dataclass(frozen=True)
class Empty:
    """An answer with neither text nor calls."""


@dataclass(frozen=True)
class Broken:
    """An answer whose connection is cut after `after` chunks (in the middle of the body if it is not streamed)."""

    answer: Any
    after: int = 3


@dataclass(frozen=True)
class Hang:
    """No answer before `seconds` are over, or the server is closed; then the connection is cut."""

    seconds: float = 60.0


Answer = str | ToolCall | Sequence[Any] | Text | Status | Garbage | Empty | Broken | Hang
Script = Callable[[dict[str, Any], int], Any] | Iterable[Any]


@dataclass(frozen=True)
class Request:
    """A chat request as it arrived."""

    body: dict[str, Any]
    tokens: int | None
    """What the server counted, if it has a window."""
    faults: tuple[str, ...]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]


class Loopback:
    """The server. Use it as a context manager; `url` is the base URL that goes into a client.

    Args:
        script (`Callable[[dict, int], Answer] | Iterable[Answer]`):
            The answers, or a function of the request and its number (from 0) among the chat requests.
        window (`int | None`):
            Tokens that a request may hold; more is answered with `context_length_exceeded`.
        count (`Callable[[str], int] | None`):
            Counts the tokens of the request's messages and tools as JSON; Qwen's own tokenizer unless given.
        embed (`Callable[[list[str], int], Answer | list[list[float]]] | None`):
            The vectors for a request to `/embeddings`, or a `Status`, `Garbage` or `Hang`.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        window: int | None = None,
        count: Callable[[str], int] | None = None,
        embed: Callable[[list[str], int], Any] | None = None,
    ) -> None:
        self.window = window
        self.requests: list[Request] = []
        self.embedding_requests: list[dict[str, Any]] = []
        self.violations: list[str] = []
        self.errors: list[BaseException] = []
        self.closing = threading.Event()
        self._answers = None if callable(script) else iter(script)
        self._script = script if callable(script) else self._next
        self._count = count or (qwen_tokens if window else None)
        self._embed = embed or (lambda texts, _: [HashEmbedding(64).vector(text) for text in texts])
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "Loopback":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self.errors:
            raise self.errors[0]

    def model(self, stream: bool = True, **client: Any) -> Any:
        """The host's `OpenAIChatModel` over this server; retries are off unless `max_retries=` says otherwise."""
        from agentscope.model import OpenAIChatModel

        kwargs = {"base_url": self.url, "max_retries": 0, "timeout": 10, **client}
        return OpenAIChatModel("loopback", api_key="none", stream=stream, client_kwargs=kwargs)

    def embedding(self, dimensions: int = 64, **client: Any) -> Any:
        """The host's `OpenAITextEmbedding` over this server."""
        from agentscope.embedding import OpenAITextEmbedding

        kwargs = {"base_url": self.url, "max_retries": 0, "timeout": 10, **client}
        return OpenAITextEmbedding(api_key="none", model_name="loopback", dimensions=dimensions, **kwargs)

    def answer_chat(self, body: dict[str, Any]) -> Any:
        """Check and record a chat request, and choose its answer."""
        with self._lock:
            tokens = self._tokens(body)
            faults = faults_of(body)
            number = len(self.requests)
            too_long = self.window is not None and tokens is not None and tokens > self.window
            if too_long:
                faults = [*faults, f"{tokens} tokens are over the window of {self.window}"]
            self.requests.append(Request(body, tokens, tuple(faults)))
            self.violations += [f"request {number}: {fault}" for fault in faults]
            if faults:
                return Status(400, faults[-1], "context_length_exceeded" if too_long else "invalid_request_error")
            return self._guarded(self._script, body, number)

    def answer_embedding(self, body: dict[str, Any]) -> Any:
        """Record a request for embeddings, and choose its answer."""
        with self._lock:
            number = len(self.embedding_requests)
            self.embedding_requests.append(body)
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            return self._guarded(self._embed, texts, number)

    def _tokens(self, body: dict[str, Any]) -> int | None:
        if self._count is None:
            return None
        return self._count(json.dumps([body.get("messages"), body.get("tools") or []], ensure_ascii=False))

    def _next(self, _: dict[str, Any], number: int) -> Any:
        try:
            return next(self._answers)  # type: ignore[arg-type]
        except StopIteration:
            raise AssertionError(f"the loopback server's script has no answer for request {number}") from None

    def _guarded(self, function: Callable[[Any, int], Any], value: Any, number: int) -> Any:
        """A fault in the test's own script fails the test, instead of looking like a server that is down."""
        try:
            return function(value, number)
        except Exception as error:  # noqa: BLE001 - raised again when the server stops
            self.errors.append(error)
            return Status(500, f"{type(error).__name__}: {error}")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, loopback: Loopback) -> None:
        self.loopback = loopback
        super().__init__(("127.0.0.1", 0), _Connection)

    def server_bind(self) -> None:
        # The parent asks the name service for the host's name, which can take seconds.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def handle_error(self, *_: Any) -> None:
        """A client that went away is not an error."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        loopback = self.server.loopback
        if self.path.endswith("/chat/completions"):
            self._chat(body, loopback.answer_chat(body))
        elif self.path.endswith("/embeddings"):
            self._embeddings(body, loopback.answer_embedding(body))
        else:
            self._error(Status(404, f"no such path: {self.path}"))

    def _chat(self, body: dict[str, Any], answer: Any) -> None:
        cut = answer.after if isinstance(answer, Broken) else None
        answer = answer.answer if isinstance(answer, Broken) else answer
        if self._is_failure(answer):
            return
        answer = _text(answer)
        if body.get("stream"):
            self._stream(_chunks(body, answer), answer.pause, cut)
        else:
            self._wait(answer.pause)
            self._json(_completion(body, answer), cut=cut is not None)

    def _embeddings(self, body: dict[str, Any], answer: Any) -> None:
        if self._is_failure(answer):
            return
        encode = _base64 if body.get("encoding_format") == "base64" else list
        data = [{"object": "embedding", "index": i, "embedding": encode(vector)} for i, vector in enumerate(answer)]
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        self._json({"object": "list", "data": data, "model": body.get("model"), "usage": usage})

    def _is_failure(self, answer: Any) -> bool:
        if isinstance(answer, Status):
            self._error(answer)
        elif isinstance(answer, Garbage):
            self._send(200, answer.body, {"Content-Type": "application/json"})
        elif isinstance(answer, Hang):
            self._wait(answer.seconds)
            self.close_connection = True
        else:
            return False
        return True

    def _error(self, status: Status) -> None:
        kind = "invalid_request_error" if status.code < 500 else "server_error"
        error = {"message": status.message, "type": kind, "param": None, "code": status.error_code}
        headers = {"Content-Type": "application/json", **status.headers}
        self._send(status.code, json.dumps({"error": error}).encode(), headers)

    def _json(self, value: Any, cut: bool = False) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self._send(200, body, {"Content-Type": "application/json"}, len(body) // 2 if cut else None)

    def _send(self, code: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self._end_headers()
        self.wfile.write(body[:cut])

    def _end_headers(self) -> None:
        # One request a connection: a client may be used under several event loops, one after another.
        self.send_header("Connection", "close")
        self.end_headers()

    def _stream(self, chunks: Iterator[dict[str, Any]], pause: float, cut: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self._end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            for number, chunk in enumerate(chunks):
                self._wait(pause)
                if number == cut or self.server.loopback.closing.is_set():
                    return
                self._event(json.dumps(chunk, ensure_ascii=False))
            self._event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: str) -> None:
        line = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.server.loopback.closing.wait(seconds)


def faults_of(body: dict[str, Any]) -> list[str]:
    """What the real API would refuse in a chat request, apart from its length."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["`messages` is empty"]
    return [*_message_faults(messages), *_pair_faults(messages)]


def _message_faults(messages: list[dict[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            yield f"message {index} has the role {role!r}"
        if content is None and not (role == "assistant" and message.get("tool_calls")):
            yield f"message {index} ({role}) has neither content nor calls"
        for tool_call in message.get("tool_calls") or ():
            if not isinstance(tool_call["function"]["arguments"], str):
                yield f"message {index}: the arguments of {tool_call['id']} are not a string"


def _pair_faults(messages: list[dict[str, Any]]) -> Iterator[str]:
    """An assistant's calls are answered by the tool messages right behind it: all of them, once each, and no other."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            answered = message.get("tool_call_id")
            if answered not in waiting:
                yield f"message {index} answers {answered!r}, which nothing before it asks"
            else:
                waiting.remove(answered)
            continue
        if waiting:
            yield f"message {index} ({message.get('role')}) comes before the results of {waiting}"
        waiting = [tool_call["id"] for tool_call in message.get("tool_calls") or ()]
    if waiting:
        yield f"the messages end without the results of {waiting}"


def _text(answer: Any) -> Text:
    if isinstance(answer, Text):
        return answer
    if isinstance(answer, Empty):
        return Text()
    parts = [answer] if isinstance(answer, (str, ToolCall)) else list(answer)
    calls = tuple(part for part in parts if isinstance(part, ToolCall))
    return Text("".join(part for part in parts if isinstance(part, str)), calls)


def _completion(body: dict[str, Any], answer: Text) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [_tool_call(tool_call) for tool_call in answer.calls]
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, answer)}


def _chunks(body: dict[str, Any], answer: Text) -> Iterator[dict[str, Any]]:
    head = _head(body, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**head, "choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"reasoning_content": piece}) for piece in _pieces(answer.thinking, answer.piece))
    yield from (chunk({"content": piece}) for piece in _pieces(answer.text, answer.piece))
    for index, tool_call in enumerate(answer.calls):
        whole = _tool_call(tool_call)
        opening = {**whole, "index": index, "function": {"name": tool_call.name, "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in _pieces(whole["function"]["arguments"], answer.piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(answer))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(body, answer)}


def _tool_call(tool_call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(tool_call.arguments), ensure_ascii=False)
    return {"id": tool_call.id, "type": "function", "function": {"name": tool_call.name, "arguments": arguments}}


def _finish(answer: Text) -> str:
    return "tool_calls" if answer.calls else "stop"


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-loopback", "object": kind, "created": int(time.time()), "model": body.get("model")}


def _usage(body: dict[str, Any], answer: Text) -> dict[str, int]:
    asked = len(json.dumps(body.get("messages"), ensure_ascii=False)) // 4
    said = 1 + (len(answer.text) + len(answer.thinking)) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def qwen_tokens(text: str) -> int:
    """Tokens by Qwen's own tokenizer, which dashscope ships; about two seconds at first use."""
    return len(_qwen().encode(text))


@cache
def _qwen() -> Any:
    import dashscope

    return dashscope.get_tokenizer("qwen-turbo")
