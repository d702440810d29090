# -*- coding: utf-8 -*-
"""Steps of a recall that are somebody else's: a model, a callable, a knowledge base. Recall goes on where one fails."""

from __future__ import annotations

import inspect
import logging
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from .._errors import ConfigError
from .._events import EventBus, EventKind

__all__ = ["OptionalSteps", "order_of", "several", "texts_in"]

T = TypeVar("T")
logger = logging.getLogger("agentscope_reme")


class OptionalSteps:
    """What one recall asks and can do without. A step that raises, hangs or answers what cannot be read is logged and
    told as an event, and something else stands for its answer.

    Args:
        events (`EventBus`): told what failed.
        seconds (`float`): how long all steps of this recall may take together.
    """

    def __init__(self, events: EventBus, seconds: float) -> None:
        self._events = events
        self._until = anyio.current_time() + seconds
        self.failed = False
        """Whether a step failed so far."""

    async def ask(
        self,
        name: str,
        step: Callable[..., Any],
        read: Callable[[Any], list[T]],
        instead: Sequence[T],
        *given: Any,
        **options: Any,
    ) -> list[T]:
        """What a step answers.

        Args:
            name (`str`): what is asked, for the log and the event.
            step (`Callable[..., Any]`): asked; one that is not async runs on a thread.
            read (`Callable[[Any], list]`): reads the answer.
            instead (`Sequence`): stands for it where the step fails.
            *given, **options: handed to the step.
        """
        try:
            with anyio.fail_after(self._until - anyio.current_time()):
                return read(await _answer(step, *given, **options))
        except Exception as error:
            self.failed = True
            logger.warning("Recall goes on without its step %r, which failed.", name, exc_info=True)
            self._events.emit(EventKind.RECALL_FAILED, error=error, source=name)
            return list(instead)


def order_of(answer: Any, count: int) -> list[int]:
    """An order as a rerank step answers it: each number once, those that it does not name behind the others.

    Raises:
        `ConfigError`: it is no list of numbers.
    """
    cure = "give the numbers of the memories, counted from 0, best first"
    numbers = []
    for each in several("The order", answer, cure):
        if isinstance(each, bool) or not hasattr(each, "__index__"):
            raise ConfigError(f"The order has {each!r:.200}: {cure}.")
        numbers.append(operator.index(each))
    return list(dict.fromkeys([*(at for at in numbers if 0 <= at < count), *range(count)]))


def texts_in(answer: Any) -> list[str]:
    """Texts as a step answers them that writes queries.

    Raises:
        `ConfigError`: it is no list of texts.
    """
    found = several("The answer", answer, "give a list of texts")
    if wrong := [each for each in found if not isinstance(each, str)]:
        raise ConfigError(f"The answer has {wrong[0]!r:.200}: give texts only.")
    return found


def several(what: str, answer: Any, cure: str) -> list[Any]:
    """The things that an answer lists.

    Raises:
        `ConfigError`: it lists nothing, as a single text or a dictionary does not.
    """
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise ConfigError(f"{what} is {answer!r:.200}: {cure}.")
    return list(answer)


async def _answer(step: Callable[..., Any], *given: Any, **options: Any) -> Any:
    if not callable(step):
        raise ConfigError(f"{step!r:.200} cannot be called: give a function, async or not.")
    if inspect.iscoroutinefunction(step) or inspect.iscoroutinefunction(getattr(step, "__call__", None)):  # noqa: B004
        return await step(*given, **options)
    limiter = anyio.CapacityLimiter(1)  # one of its own: a step that hangs keeps nobody else from a thread
    call = partial(step, *given, **options)
    answer = await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
    return await answer if inspect.isawaitable(answer) else answer
