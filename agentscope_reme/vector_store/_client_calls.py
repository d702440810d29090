# -*- coding: utf-8 -*-
"""How a database's client is called: off the event loop where it blocks, and with one kind of error."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from .._errors import ReMeError, VectorStoreError

__all__ = ["batches", "call_client", "to_the_end"]

T = TypeVar("T")


async def call_client(action: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method of a client, which may block or be a coroutine function.

    A blocking call runs in a thread and is waited for, also where the caller is cancelled: it would go on anyway.

    Args:
        action (`str`): what is being done, for the message: ``"Chroma: add to 'reme'"``.
        function (`Callable[..., Any]`): the method.

    Raises:
        `VectorStoreError`: whatever the client raised, which is its cause.
    """
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*args, **kwargs)
        result = await to_thread.run_sync(partial(function, *args, **kwargs))
        return await result if inspect.isawaitable(result) else result
    except ReMeError:
        raise
    except Exception as error:  # clients raise what their transport raises, and bare Exception for a proxy's answer
        raise VectorStoreError(f"{action} failed ({type(error).__name__}: {error}).") from error


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Carry work to its end where the caller is cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, so that nobody warns of it
        raise


def batches(items: Sequence[T], most: int, weight: Callable[[T], int], heaviest: int) -> Iterator[list[T]]:
    """Cut a sequence where it gets too long or too heavy; an item that alone is too heavy goes alone.

    Args:
        items (`Sequence[T]`): what is to be sent.
        most (`int`): how many at once.
        weight (`Callable[[T], int]`): of one item, in bytes.
        heaviest (`int`): of a batch, in bytes.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        more = weight(item)
        if batch and (len(batch) >= most or total + more > heaviest):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += more
    if batch:
        yield batch
