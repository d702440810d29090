# -*- coding: utf-8 -*-
"""Coroutines run off the caller's event loop: on one loop that lives as long as the process, or on a thread each."""

import asyncio
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["on_own_thread", "on_shared_loop"]

T = TypeVar("T")

_guard = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


async def on_shared_loop(call: "Coroutine[Any, Any, T]") -> T:
    """Run a coroutine whose client keeps connections: always on the same loop, whichever loop the caller is on."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, _shared_loop()))


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
    global _loop
    with _guard:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="reme-embed-loop", daemon=True).start()
        return _loop


def _begin_in_child() -> None:
    """A fork has neither the thread nor whoever held the lock."""
    global _guard, _loop
    _guard, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
