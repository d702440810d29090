# -*- coding: utf-8 -*-
"""How far a refinement run is: from the first memory that is read to the last that is settled."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "RunProgress"]

Progress = Callable[[int, int], object]
"""Is told how many steps of how many are done."""


class RunProgress:
    """Counts steps, one for each memory that is read and one for each that is condensed or left, and tells them.

    Args:
        tell (`Callable[[int, int], object] | None`): is told after each; what it raises ends the run.
        total (`int`): how many steps there will be, as far as that is known.
    """

    def __init__(self, tell: Progress | None, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0
        self.went(0)

    def went(self, steps: int) -> None:
        """So many more steps are done."""
        self._done += steps
        self._total = max(self._total, self._done)
        if self._tell is not None:
            self._tell(self._done, self._total)

    def left(self, steps: int) -> None:
        """It is known how many steps are left."""
        self._total = self._done + steps
