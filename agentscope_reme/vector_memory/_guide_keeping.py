# -*- coding: utf-8 -*-
"""Guides to tools that keep themselves up to date: in the background, once enough calls are new."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from .._errors import ConfigError, ReMeError
from ._bank import MemoryBank
from ._summarizer import MemorySummarizer

__all__ = ["GuideKeeping"]

logger = logging.getLogger("agentscope_reme")

_GRACE = 2.0
"""Seconds that work under way gets at the end."""
_MOST_TOOLS = 1_000


class GuideKeeping:
    """Has the guide of a tool updated after so many calls that it does not know yet, whoever recorded them.

    What is new is told by the guide itself, so nothing is lost by a restart. Nobody waits for any of it.

    Args:
        bank (`MemoryBank`): the memories.
        summarizer (`MemorySummarizer`): writes the guides.
        after (`int | None`): how many new calls; `None` for never.
        by_model (`bool`): whether the model is asked, if there is one; else the figures alone are brought up to date.

    Raises:
        `ConfigError`: a number that cannot work.
    """

    def __init__(
        self, bank: MemoryBank, summarizer: MemorySummarizer, *, after: int | None = 10, by_model: bool = False
    ) -> None:
        records = summarizer.records
        if after is not None and (
            isinstance(after, bool) or not isinstance(after, int) or not 1 <= after <= records.keep
        ):
            raise ConfigError(
                f"Guides are to be updated after {after!r} calls: give a whole number from 1 to {records.keep}, which "
                "are kept of each tool, or None for never.",
            )
        self.after, self.by_model = after, by_model
        self._bank, self._summarizer, self._records = bank, summarizer, records
        self._kind = next((kind for kind in summarizer.kinds.values() if kind.from_records), None)
        self._left: dict[str, int] = {}
        self._due: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, tools: Iterable[str]) -> None:
        """Calls of these tools were recorded, each named once for each call."""
        if self.after is None or self._kind is None:
            return
        if len(self._left) > _MOST_TOOLS:
            self._left.clear()
        for name in tools:
            self._left[name] = self._left.get(name, 0) - 1
            if self._left[name] <= 0:
                self._due[name] = None
        loop = asyncio.get_running_loop()
        if self._due and (self._task is None or self._task.done() or self._task.get_loop() is not loop):
            self._task = loop.create_task(self._work(self.after))

    async def wait(self) -> None:
        """Until what is due is done."""
        task = self._task
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({task})

    async def close(self) -> None:
        """Let what is under way end, if it does soon; what is left is due again after the next call."""
        task, self._task = self._task, None
        self._left.clear()
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            self._due.clear()
            done, _ = await asyncio.wait({task}, timeout=_GRACE)
            if not done:
                task.cancel()
                await asyncio.wait({task}, timeout=_GRACE)

    async def _work(self, after: int) -> None:
        while self._due:
            name = next(iter(self._due))
            del self._due[name]
            self._left[name] = after
            try:
                await self._look(name, after)
            except ReMeError as error:
                logger.warning("The guide of %s was not brought up to date: %s", name, error)
            except Exception:
                logger.exception("The guide of %s was not brought up to date.", name)

    async def _look(self, name: str, after: int) -> None:
        """Update the guide of a tool if it lacks enough calls; else note how many more it takes."""
        assert self._kind is not None
        guides = await self._bank.list([self._kind.owner(name)], {"category": "guide"}, limit=1)
        known = guides[0].message_time if guides else None
        latest = await self._records.of(name, after)
        new = sum(known is None or call.create_time > known for call in latest)
        if new < after:
            self._left[name] -= new
            return
        await self._summarizer.update_guides([name], by_model=self.by_model)
