# -*- coding: utf-8 -*-
"""The demo's first session, and what is on the disk when both are over."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .._version import __version__
from ._live_model import LiveModel, failures_of
from ._second_process import run_second_process
from ._terminal import Terminal
from ._view import view_for

if TYPE_CHECKING:
    from .demo import DemoRun, LiveView, PlainView

__all__ = ["play_first"]

_PACE = 0.06


def play_first(
    options: argparse.Namespace, terminal: Terminal, folder: Path, language: str, window: int, live: LiveModel | None
) -> int:
    """Play it, let the second one follow in a process of its own, and say where everything lies.

    Returns:
        `int`: 0 where the memory kept every promise and the scripted agent reported what is true, in both sessions.
    """
    import anyio

    from .demo import DemoRun, Tally, report

    tally = Tally()
    view = view_for(options, terminal, language, tally)
    demo = DemoRun(
        folder,
        language=language,
        window=window,
        live=(live.model, live.formatter) if live else None,
        pace=0.0 if live or view.is_plain else _PACE,
    )
    try:
        view.opened(_opening(view.texts, demo, live))
        with failures_of(live), view:
            outcome = anyio.run(demo.play, view, tally, lambda it: view.lines(report(it, view.texts, view.width)))
    except KeyboardInterrupt:
        view.show("warning", view.texts["interrupted"])
        raise
    view.show("plain", "")
    failed = run_second_process(options, terminal, folder, language, window, plain=view.is_plain)
    view.lines(_places(folder, view, kept=bool(options.dir)))
    return 0 if outcome.sound and (live or not outcome.missing) and not failed else 1


def _opening(texts: Mapping[str, str], demo: "DemoRun", live: LiveModel | None) -> Iterator[str]:
    yield texts["title"].format(version=__version__)
    yield texts["live"].format(model=live.name, endpoint=live.endpoint) if live else texts["scripted"]
    yield texts["by_model" if live else "extractive"]
    yield texts["limits"].format(window=demo.context.max_input_length, threshold=demo.context.threshold)


def _places(folder: Path, view: "LiveView | PlainView", kept: bool) -> Iterator[tuple[str, str]]:
    from .demo import fitted, heading, padded, wrapped

    yield from heading(view.texts["where"], view.width)
    yield "plain", f"  {folder}"
    for name, what in _contents(folder / "memory", view):
        yield "dim", fitted(f"    {padded(name, 29)}{what}", view.width)
    if not kept:
        yield from (("plain", line) for line in wrapped(view.texts["removed"], view.width, "  "))


def _contents(memory: Path, view: "LiveView | PlainView") -> Iterator[tuple[str, str]]:
    """The paths that are worth a look, and what is in them, counted on the disk."""
    texts = view.texts
    notes = [("memory_md", memory / "MEMORY.md"), *(("day", path) for path in sorted(memory.glob("memory/*.md")))]
    for key, path in notes:
        if path.exists():
            lines = view.line_count(sum(map(_is_item, path.read_text(encoding="utf-8").splitlines())))
            yield texts[key].format(day=path.name), texts[f"{key}_what"].format(lines=lines)
    archived = sum(path.read_bytes().count(b"\n") for path in memory.glob("dialog/*.jsonl"))
    yield texts["memory"], texts["memory_what"].format(lines=archived)
    yield texts["results"], texts["results_what"].format(files=len(list(memory.glob("tool_result/*.txt"))))
    yield texts["journal"], texts["journal_what"]


def _is_item(line: str) -> bool:
    return line.lstrip().startswith(("- ", "* "))
