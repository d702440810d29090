# -*- coding: utf-8 -*-
"""The demo's second session, as the process that was started for it plays it."""

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ._live_model import LiveModel, failures_of
from ._terminal import Terminal
from ._view import view_for

if TYPE_CHECKING:
    from .demo import LiveView, PlainView

__all__ = ["play_second"]

_PACE = 0.2


def play_second(
    options: argparse.Namespace, terminal: Terminal, folder: Path, language: str, window: int, live: LiveModel | None
) -> int:
    """Play it in a folder where the first one was.

    Returns:
        `int`: 0 where the memory kept its promise, and the scripted agent answered from it.
    """
    import anyio

    from .demo import SecondSession, Tally, second_report

    tally = Tally()
    view = view_for(options, terminal, language, tally)
    session = SecondSession(
        folder,
        language=language,
        window=window,
        live=(live.model, live.formatter) if live else None,
        pace=0.0 if live or view.is_plain else _PACE,
    )
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it was ignored while this process loaded
    try:
        view.lines(_opening(view))
        with failures_of(live), view:
            remembered = anyio.run(session.play, view, tally)
    except KeyboardInterrupt:
        view.show("warning", view.texts["interrupted"])
        raise
    view.lines(second_report(remembered, view.texts, view.width))
    return 0 if (remembered.fits if live else remembered.sound) else 1


def _opening(view: "LiveView | PlainView") -> Iterator[tuple[str, str]]:
    from .demo import heading, wrapped

    yield from heading(view.texts["second"], view.width)
    said = view.texts["second_what"].format(pid=os.getpid(), parent=os.getppid())
    yield from (("dim", line) for line in wrapped(said, view.width))
