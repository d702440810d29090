# -*- coding: utf-8 -*-
"""`agentscope-reme demo`: an agent at work in a context that is far too small for it, as it happens."""

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import ConfigError
from .._version import __version__
from ._live_model import NAME_VARIABLE, LiveModel, live_model
from ._terminal import Terminal

if TYPE_CHECKING:
    from .demo import DemoRun, LiveView, Outcome, PlainView, Tally

__all__ = ["DESCRIPTION", "NAME", "SUMMARY", "configure", "run"]

NAME = "demo"
SUMMARY = "watch an agent work for longer than its context is long; needs no key"
DESCRIPTION = (
    "A real ReActAgent investigates an incident in a sample project. Its window is far too small for what it reads, so "
    "tool results are cut and messages are condensed as it goes; at the end it looks up what is no longer in its "
    "context. Its decisions are replayed from a script; the tools, the memory, the archive and the compaction are real."
)

_SMALLEST, _WINDOW, _LIVE_WINDOW = 5_000, 8_000, 16_000
_PACE = 0.1


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--live",
        action="store_true",
        help="let a real model decide, and write the summaries: LLM_API_KEY (with LLM_BASE_URL for an endpoint of your "
        "own), DASHSCOPE_API_KEY or OPENAI_API_KEY has the key",
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


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the demo; 0 where the memory kept every promise and the scripted agent reported what is true."""
    if options.model and not options.live:
        raise ConfigError("--model needs --live: without it a script decides.")
    language = options.lang or terminal.language
    live = live_model(options.model, terminal.env) if options.live else None
    with _folder(options.dir) as folder:
        return _play(options, terminal, folder, language, live)


def _play(options: argparse.Namespace, terminal: Terminal, folder: Path, language: str, live: LiveModel | None) -> int:
    import anyio

    from .demo import DemoRun, Tally, report

    tally = Tally()
    view = _view(options, terminal, language, tally)
    demo = DemoRun(
        folder,
        language=language,
        window=options.window or (_LIVE_WINDOW if live else _WINDOW),
        live=(live.model, live.formatter) if live else None,
        pace=0.0 if live or view.is_plain else _PACE,
    )
    view.opened(_opening(view.texts, demo, live))
    try:
        with view:
            outcome = anyio.run(demo.play, view, tally)
    except KeyboardInterrupt:
        view.show("warning", view.texts["interrupted"])
        raise
    view.lines(report(outcome, view.texts, view.width))
    view.lines(_places(outcome, folder, view, kept=bool(options.dir)))
    return 0 if outcome.sound and (live or not outcome.missing) else 1


def _view(options: argparse.Namespace, terminal: Terminal, language: str, tally: "Tally") -> "LiveView | PlainView":
    from .demo import LiveView, PlainView

    if options.plain or not terminal.is_live:
        return PlainView(language, terminal.write)
    return LiveView(language, terminal.console(color=not options.no_color), tally)


def _opening(texts: Mapping[str, str], demo: "DemoRun", live: LiveModel | None) -> Iterator[str]:
    yield texts["title"].format(version=__version__)
    yield texts["live"].format(model=live.name, endpoint=live.endpoint) if live else texts["scripted"]
    yield texts["by_model" if live else "extractive"]
    yield texts["limits"].format(window=demo.context.max_input_length, threshold=demo.context.threshold)


def _places(outcome: "Outcome", folder: Path, view: "LiveView | PlainView", kept: bool) -> Iterator[tuple[str, str]]:
    from .demo import fitted, heading, padded, wrapped

    texts, census = view.texts, outcome.census
    yield from heading(texts["where"], view.width)
    yield "plain", f"  {folder}"
    noted = (folder / texts["notes"]).exists() or any(folder.glob("memory/memory/*.md"))
    for key in ("memory", "results", "journal", *(["notes"] if noted else [])):
        what = texts[f"{key}_what"].format(lines=census.archived, files=census.files)
        yield "dim", fitted(f"    {padded(texts[key], 26)}{what}", view.width)
    if not kept:
        yield from (("plain", line) for line in wrapped(texts["removed"], view.width, "  "))


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
