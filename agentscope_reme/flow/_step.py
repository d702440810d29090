# -*- coding: utf-8 -*-
"""Plain async callables, composed.

``a >> b`` gives what ``a`` returns to ``b``; ``a | b`` gives the same input to both at once and returns a tuple in the
order written. A sequence is flat, so that a step in it can be found by name, replaced, or given a neighbour:

    pipeline = step(truncate) >> step(check) >> (step(history) | step(turn)) >> step(commit)
    pipeline = pipeline.before("check", audit).replace("truncate", my_truncate)
"""

from collections.abc import Awaitable, Callable
from typing import Any

from .._errors import ConfigError

__all__ = ["Step", "Sequence", "Parallel", "step"]

AsyncCallable = Callable[[Any], Awaitable[Any]]


class Step:
    """One async callable of one argument, with a name."""

    def __init__(self, call: AsyncCallable, name: str | None = None) -> None:
        self._call = call
        self.name = name or getattr(call, "__name__", type(call).__name__).strip("_")

    async def __call__(self, value: Any) -> Any:
        return await self._call(value)

    def __rshift__(self, other: AsyncCallable) -> "Sequence":
        return Sequence([*_parts(self, Sequence), *_parts(step(other), Sequence)])

    def __or__(self, other: AsyncCallable) -> "Parallel":
        return Parallel([*_parts(self, Parallel), *_parts(step(other), Parallel)])

    def __repr__(self) -> str:
        return self.name


def step(call: AsyncCallable, name: str | None = None) -> Step:
    """Make a step of an async callable; a step stays what it is.

    Raises:
        `ConfigError`: it cannot be called.
    """
    if isinstance(call, Step) and name is None:
        return call
    if not callable(call):
        raise ConfigError(f"{call!r} is not a step: give an async function of one argument.")
    return Step(call, name)


class _Group(Step):
    def __init__(self, steps: list[Step]) -> None:
        self.steps = tuple(steps)
        self.name = f"({self._sign.join(map(repr, steps))})"

    _sign = " "

    def __repr__(self) -> str:
        return self.name


class Sequence(_Group):
    """Steps that run one after another, each on what the one before returned."""

    _sign = " >> "

    async def __call__(self, value: Any) -> Any:
        for each in self.steps:
            value = await each(value)
        return value

    def replace(self, name: str, call: AsyncCallable) -> "Sequence":
        """The same sequence with another step in the place of the one so named, under the same name."""
        at = self._index(name)
        return Sequence([*self.steps[:at], Step(call, name), *self.steps[at + 1 :]])

    def before(self, name: str, call: AsyncCallable) -> "Sequence":
        """The same sequence with a step put before the one so named."""
        at = self._index(name)
        return Sequence([*self.steps[:at], step(call), *self.steps[at:]])

    def after(self, name: str, call: AsyncCallable) -> "Sequence":
        """The same sequence with a step put behind the one so named."""
        at = self._index(name)
        return Sequence([*self.steps[: at + 1], step(call), *self.steps[at + 1 :]])

    def _index(self, name: str) -> int:
        names = [each.name for each in self.steps]
        if name not in names:
            raise ConfigError(f"There is no step {name!r} in {self.name}: the steps are {', '.join(names)}.")
        return names.index(name)


class Parallel(_Group):
    """Steps that run at the same time on the same input, in a task group.

    The first failure cancels the others, and so does a cancellation from outside. One failure is raised as itself,
    several as the task group's exception group.
    """

    _sign = " | "

    async def __call__(self, value: Any) -> tuple[Any, ...]:
        import anyio

        results: list[Any] = [None] * len(self.steps)

        async def run(at: int, each: Step) -> None:
            results[at] = await each(value)

        try:
            async with anyio.create_task_group() as group:
                for at, each in enumerate(self.steps):
                    group.start_soon(run, at, each)
        except Exception as error:
            failures: tuple[Exception, ...] = getattr(error, "exceptions", ())
            if len(failures) == 1:
                raise failures[0] from None
            raise
        return tuple(results)


def _parts(each: Step, kind: type[_Group]) -> tuple[Step, ...]:
    return each.steps if isinstance(each, kind) else (each,)
