# -*- coding: utf-8 -*-
"""A model that fails is left alone for a while, longer each time."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["ModelRest"]

_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 300.0


class ModelRest:
    """Whether a model may be asked: for a while that doubles from 2 seconds to 5 minutes it may not, after it failed.

    Args:
        begun (`Callable[[str], object]`): told why, when a model that worked has failed.
        ended (`Callable[[], object]`): called when it works again.
        monotonic (`Callable[[], float]`): seconds.
    """

    def __init__(
        self,
        begun: Callable[[str], object],
        ended: Callable[[], object],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failure = ""
        """Why the model did not work the last time; "" where it did."""
        self._begun, self._ended, self._monotonic = begun, ended, monotonic
        self._pause, self._until = _FIRST_PAUSE, 0.0

    @property
    def is_on(self) -> bool:
        """Whether the model has failed lately and is left alone."""
        return self._monotonic() < self._until

    def fail(self, error: Exception, *, longer: bool = True) -> None:
        """Begin to rest.

        Args:
            error (`Exception`): Why.
            longer (`bool`): Whether the next rest, if there is one before the model works, is twice as long.
        """
        was_working, self.failure = not self.failure, str(error) or type(error).__name__
        self._until = self._monotonic() + self._pause
        if longer:
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        if was_working:
            self._begun(self.failure)

    def end(self) -> None:
        """The model works."""
        had_failed, self.failure = bool(self.failure), ""
        self._pause, self._until = _FIRST_PAUSE, 0.0
        if had_failed:
            self._ended()
