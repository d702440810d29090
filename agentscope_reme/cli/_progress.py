# -*- coding: utf-8 -*-
"""How far something is that takes long: a bar on a terminal, lines anywhere else."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._terminal import Terminal

__all__ = ["Advance", "plain_progress", "progress_bar"]

Advance = Callable[[int, int], None]
"""Takes how many of how many are done."""

_PAUSE = 5.0
"""Seconds between two lines."""


@contextmanager
def progress_bar(terminal: Terminal, what: str) -> Iterator[Advance]:
    """A bar with figures and the time that is left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=terminal.console(), redirect_stdout=False) as progress:
        task = progress.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield advance


@contextmanager
def plain_progress(terminal: Terminal, what: str) -> Iterator[Advance]:
    """A line now and then, and one for the last step."""
    last = time.monotonic()

    def advance(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= total or now - last >= _PAUSE:
            last = now
            terminal.write(f"{what}: {done:,} of {total:,}\n")

    yield advance
