# -*- coding: utf-8 -*-
"""Calls that try again, and that shrink until one bad text stands alone."""

import logging
import random
from typing import TYPE_CHECKING

import anyio

from ._model_call import ModelCall
from ._plain_text import worth_cutting
from ._reply import CallFailed

if TYPE_CHECKING:
    import numpy as np

__all__ = ["BatchCall", "Tally"]

_LONGEST_PAUSE = 8.0
_HOPELESS_AT_FIRST = 3
_HOPELESS_LATER = 10
_log = logging.getLogger("agentscope_reme")


class Tally:
    """Of one ``embed``: whether any text was embedded, and how many in a row failed when they stood alone."""

    def __init__(self) -> None:
        self._any = False
        self._failed = 0

    def succeeded(self) -> None:
        self._any, self._failed = True, 0

    def failed(self, text: str, failure: CallFailed) -> None:
        """Count a failure; raise it when so many have failed that the model must be the cause."""
        if failure.kind == "refused" and worth_cutting(text):
            return  # it may be too long
        self._failed += 1
        if self._failed >= (_HOPELESS_LATER if self._any else _HOPELESS_AT_FIRST):
            raise failure


class BatchCall:
    """Asks for the vectors of a batch; a text that cannot be embedded costs the others nothing.

    A call that fails is tried again after a pause that doubles. A batch that still fails, is refused or comes back
    garbled is halved, down to single texts. ``batch_size`` shrinks when a batch failed and both its halves did not.

    Args:
        call (`ModelCall`):
            The model.
        batch_size (`int`):
            The most texts in one call, at first.
        retries (`int`):
            How often a call is repeated.
        backoff (`float`):
            Seconds before the first repetition.
    """

    def __init__(self, call: ModelCall, *, batch_size: int, retries: int, backoff: float) -> None:
        self.batch_size = batch_size
        self._call = call
        self._retries = retries
        self._backoff = backoff

    async def rows(self, texts: list[str], tally: Tally) -> "list[np.ndarray | CallFailed]":
        """Vectors in the order of the texts, and for a text that cannot be embedded the reason.

        Raises:
            `CallFailed`: the model cannot be reached, cannot work at all, or fails with whatever it is given.
        """
        return await self._rows(texts, tally, self._retries)

    async def _rows(self, texts: list[str], tally: Tally, retries: int) -> "list[np.ndarray | CallFailed]":
        try:
            rows = await self._patient(texts, retries)
        except CallFailed as failure:
            if failure.kind in ("final", "down"):
                raise
            if len(texts) > 1:
                return await self._halves(texts, tally, may_be_size=failure.kind != "garbled")
            tally.failed(texts[0], failure)
            return [failure]
        tally.succeeded()
        return list(rows)

    async def _halves(self, texts: list[str], tally: Tally, *, may_be_size: bool) -> "list[np.ndarray | CallFailed]":
        middle = (len(texts) + 1) // 2
        halves = [await self._rows(half, tally, min(1, self._retries)) for half in (texts[:middle], texts[middle:])]
        rows = [row for half in halves for row in half]
        if may_be_size and middle < self.batch_size and not any(isinstance(row, CallFailed) for row in rows):
            self.batch_size = middle
            _log.info("The embedding model gets %d texts a call from here on: %d were too many.", middle, len(texts))
        return rows

    async def _patient(self, texts: list[str], retries: int) -> "list[np.ndarray]":
        for attempt in range(retries + 1):
            try:
                return await self._call.rows(texts)
            except CallFailed as failure:
                alone = len(texts) == 1
                hopeless = failure.kind in ("final", "refused") or (failure.kind == "garbled" and not alone)
                if hopeless or attempt == retries:
                    raise
                await anyio.sleep(0.0 if failure.at_once else self._pause(attempt))
        raise AssertionError("unreachable")

    def _pause(self, attempt: int) -> float:
        return min(_LONGEST_PAUSE, self._backoff * 2**attempt) * random.uniform(0.8, 1.2)
