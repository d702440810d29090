# -*- coding: utf-8 -*-
"""The process of the demo's second session, as the first one starts it and passes on what it prints."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from ._terminal import Terminal

__all__ = ["OPTION", "run_second_process"]

OPTION = "--second-session"
"""Of the command line, for nobody else's use."""

_INTERRUPTED = 130
_GRACE = 1.0
"""Seconds for it to end by itself after Ctrl-C, which reaches both."""


def run_second_process(
    options: argparse.Namespace, terminal: Terminal, folder: Path, language: str, window: int, *, plain: bool
) -> int:
    """Play the second session in a process of its own, and wait for it.

    Args:
        options (`argparse.Namespace`):
            Those of the demo, of which the model is passed on.
        terminal (`Terminal`):
            Shows what it prints. A person's terminal is handed over for the time.
        folder (`Path`), language (`str`), window (`int`):
            As in the first session.
        plain (`bool`):
            Whether it is to print plain lines.

    Returns:
        `int`: its exit code.

    Raises:
        `KeyboardInterrupt`: the person stopped it.
    """
    if terminal.broken:  # nobody looks any more
        return 0
    flags = [f"--{name}" for name in ("live", "no-color") if getattr(options, name.replace("-", "_"))]
    flags += [*(["--model", options.model] if options.model else []), *(["--plain"] if plain else [])]
    command = [sys.executable, "-m", __package__, "demo", "--lang", language, "--window", str(window), *flags]
    with _deaf_to_ctrl_c():
        process = subprocess.Popen(
            [*command, OPTION, str(folder)],
            stdout=subprocess.PIPE if plain else terminal.fileno(),
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
            errors="replace",
        )
    try:
        for line in process.stdout or ():
            terminal.write(line)
        code = process.wait()
    except BaseException:
        _end(process, terminal)
        raise
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A process that is started meanwhile is deaf, too, until it says otherwise: interrupted as it loads, Python would
    print where it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(process: subprocess.Popen, terminal: Terminal) -> None:
    """Let it say its last word, or none."""
    try:
        rest, _ = process.communicate(timeout=_GRACE)
        terminal.write(rest or "")
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
