# -*- coding: utf-8 -*-
"""How slow the machine is at the moment, for tests that bound what something costs."""

import ast
import gc
import time
from pathlib import Path

__all__ = ["allowed"]

_USUAL = 0.2e-6
"""Seconds that a character of Python takes to parse on the machine that the bounds were set on, with all of it free."""


def allowed(seconds: float) -> float:
    """A bound of seconds on the usual machine, as it is on this one now: greater where it is slower, never less."""
    return seconds * max(1.0, min(map(_parsing, range(3))) / _USUAL)


def _parsing(_number: int) -> float:
    text, collects = Path(ast.__file__).read_text("utf-8"), gc.isenabled()
    gc.disable()
    try:
        began = time.process_time()
        ast.parse(text)
        return (time.process_time() - began) / len(text)
    finally:
        if collects:
            gc.enable()
