# -*- coding: utf-8 -*-
"""Coroutines run off the caller's event loop: on one loop that lives as long as the process, or on a thread each."""

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["on_own_thread", "on_shared_loop"]

T = TypeVar("T")

_STUCK = 10.0  # seconds in which a loop that lives has come round

_guard = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_unanswered = float("inf")
"""Since when the shared loop has been asked whether it lives."""


async def on_shared_loop(call: "Coroutine[Any, Any, T]") -> T:
    """Run a coroutine whose client keeps connections: always on the same loop, whichever loop the caller is on. A loop
    that some client has blocked for long is left behind."""
    loop = _shared_loop()
    future = asyncio.run_coroutine_threadsafe(call, loop)
    _ask_whether_it_lives(loop)
    return await asyncio.wrap_future(future)


async def on_own_thread(call: "Coroutine[Any, Any, T]") -> T:
    """Run a coroutine that blocks on a thread and a loop of its own, which a wait that is given up leaves behind."""
    future: Future[T] = Future()
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(_settle, future, call), name="reme-embed", daemon=True).start()
    return await asyncio.wrap_future(future)


def _settle(future: "Future[T]", call: "Coroutine[Any, Any, T]") -> None:
    if not future.set_running_or_notify_cancel():
        call.close()
        return
    try:
        future.set_result(asyncio.run(call))
    except BaseException as error:  # noqa: BLE001 - it goes to the one who waits
        future.set_exception(error)


def _shared_loop() -> asyncio.AbstractEventLoop:
    global _loop, _unanswered
    with _guard:
        if _loop is None or time.monotonic() - _unanswered > _STUCK:
            _loop, _unanswered = asyncio.new_event_loop(), float("inf")
            threading.Thread(target=_loop.run_forever, name="reme-embed-loop", daemon=True).start()
        return _loop


def _ask_whether_it_lives(loop: asyncio.AbstractEventLoop) -> None:
    global _unanswered
    with _guard:
        if loop is _loop and _unanswered == float("inf"):
            _unanswered = time.monotonic()
            loop.call_soon_threadsafe(loop.call_soon, _lives, loop)  # after what has just been given to it has begun


def _lives(loop: asyncio.AbstractEventLoop) -> None:
    global _unanswered
    with _guard:
        if loop is _loop:
            _unanswered = float("inf")


def _begin_in_child() -> None:
    """A fork has neither the thread nor whoever held the lock."""
    global _guard, _loop, _unanswered
    _guard, _loop, _unanswered = threading.Lock(), None, float("inf")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
