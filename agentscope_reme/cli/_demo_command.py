# -*- coding: utf-8 -*-
"""`agentscope-reme demo`: an agent at work in a context that is far too small for it, as it happens."""

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._errors import ConfigError
from ._first_session import play_first
from ._live_model import NAME_VARIABLE, live_model
from ._second_process import OPTION
from ._second_session import play_second
from ._terminal import Terminal

__all__ = ["DESCRIPTION", "NAME", "SUMMARY", "configure", "run"]

NAME = "demo"
SUMMARY = "watch an agent work for longer than its context is long, and remember it later; needs no key"
DESCRIPTION = (
    "A real ReActAgent investigates an incident in a sample project. Its window is far too small for what it reads, so "
    "tool results are cut and messages are condensed as it goes; at the end it looks up what is no longer in its "
    "context. Then a second process opens a new session in the same folder, where an agent without any tools but those "
    "of its memory is asked about the incident. The decisions are replayed from a script; the tools, the memory, the "
    "archive, the notes, the search and the compaction are real."
)

_SMALLEST, _WINDOW, _LIVE_WINDOW = 8_000, 10_000, 16_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--live",
        action="store_true",
        help="let a real model decide, and write the summaries and notes: LLM_API_KEY (with LLM_BASE_URL for an "
        "endpoint of your own), DASHSCOPE_API_KEY or OPENAI_API_KEY has the key",
    )
    parser.add_argument("--model", metavar="NAME", help=f"with --live: the model's name (or set {NAME_VARIABLE})")
    parser.add_argument("--lang", choices=("zh", "en"), help="the language; that of your locale unless given")
    parser.add_argument(
        "--window",
        type=_window,
        metavar="TOKENS",
        help=f"the agent's window, {_SMALLEST} or more ({_WINDOW}; with --live {_LIVE_WINDOW})",
    )
    parser.add_argument(
        "--dir", metavar="PATH", help="a new or empty folder to work in, which stays (else a temporary one, removed)"
    )
    parser.add_argument("--plain", action="store_true", help="plain lines, as where the output is no terminal")
    parser.add_argument("--no-color", action="store_true", help="no colours (or set NO_COLOR)")
    parser.add_argument(OPTION, metavar="PATH", help=argparse.SUPPRESS)


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the demo; 0 where the memory kept every promise and the scripted agent reported what is true."""
    if options.model and not options.live:
        raise ConfigError("--model needs --live: without it a script decides.")
    language = options.lang or terminal.language
    live = live_model(options.model, terminal.env) if options.live else None
    window = options.window or (_LIVE_WINDOW if live else _WINDOW)
    if options.second_session:
        return play_second(options, terminal, _played_in(options.second_session), language, window, live)
    with _folder(options.dir) as folder:
        return play_first(options, terminal, folder, language, window, live)


def _played_in(path: str) -> Path:
    folder = Path(path).absolute()
    if not (folder / "memory").is_dir():
        raise ConfigError(f"{OPTION} {path}: no first session was there.")
    return folder


@contextmanager
def _folder(path: str | None) -> Iterator[Path]:
    """The folder to work in: the one that was named, or one that is gone afterwards."""
    if path is None:
        folder = Path(tempfile.mkdtemp(prefix="agentscope-reme-demo-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    folder = Path(path).expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"--dir {path} is there already and not empty: name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def _window(text: str) -> int:
    """The value of `--window`."""
    try:
        window = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens") from None
    if window < _SMALLEST:
        raise argparse.ArgumentTypeError(f"{window} is too small for the agent's prompt and tools: {_SMALLEST} or more")
    return window
