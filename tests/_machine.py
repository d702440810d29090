# -*- coding: utf-8 -*-
"""How slow the machine is at the moment, for tests that bound what something costs."""

import time

__all__ = ["allowed"]

_STEPS = 300_000
_USUAL = 0.013
"""Seconds that the steps take on the machine that the bounds were set on, with nothing else running."""


def allowed(seconds: float) -> float:
    """A bound of seconds on the usual machine, as it is on this one now: greater where it is slower, never less."""
    return seconds * max(1.0, min(map(_steps, range(3))) / _USUAL)


def _steps(_number: int) -> float:
    began, total = time.process_time(), 0
    for step in range(_STEPS):
        total += step
    return time.process_time() - began
