# -*- coding: utf-8 -*-
"""The view for a terminal: lines scroll by, and below them a panel shows how full the context is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._log_view import LogView
from ._witness import Tally

if TYPE_CHECKING:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

__all__ = ["LiveView"]

_WIDEST = 110
_REFRESHES = 4
_STYLES = {
    "plain": "",
    "title": "bold",
    "dim": "dim",
    "asked": "bold cyan",
    "said": "bold",
    "tool": "",
    "reload": "bold green",
    "truncated": "yellow",
    "folded": "bold magenta",
    "noted": "green",
    "recalled": "green",
    "warning": "bold red",
    "heading": "bold",
    "good": "green",
    "bad": "bold red",
    "answer": "cyan",
}
_PARTS = {
    "part_fixed": ("▓", "bright_black"),
    "part_summary": ("▒", "magenta"),
    "part_shown": ("▒", "green"),
    "part_messages": ("█", "cyan"),
}
_FREE, _LIMIT = "░", "┃"


class LiveView(LogView):
    """Lines in colour above a panel that stays.

    Args:
        language (`str`):
            `"en"` or `"zh"`.
        console (`Console`):
            The terminal.
        tally (`Tally`):
            What the panel shows.
    """

    def __init__(self, language: str, console: "Console", tally: Tally) -> None:
        from rich.live import Live

        super().__init__(language)
        self._console = console
        self._tally = tally
        self._live = Live(
            console=console,
            get_renderable=self._panel,
            refresh_per_second=_REFRESHES,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> "LiveView":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @property
    def width(self) -> int:
        return min(_WIDEST, self._console.width)

    def show(self, style: str, line: str) -> None:
        from rich.text import Text

        # Lines come fitted or wrapped; what is longer, such as a path, stays in one piece to be copied.
        self._console.print(Text(line.rstrip(), style=_STYLES[style]), soft_wrap=True)

    def gauged(self, tally: Tally) -> None:
        self._live.refresh()

    # ------------------------------------------------------------------ the panel

    def _panel(self) -> "Panel":
        from rich import box
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        tally = self._tally
        figure = self._say("of", used=tally.used, threshold=tally.threshold)
        figure += f" {100 * tally.used / max(1, tally.threshold):4.0f} %"
        bar = Text.assemble(*self._bar(self.width - 6 - Text(figure).cell_len), no_wrap=True)
        bar.append(f"  {figure}", style="bold red" if tally.used > tally.threshold else "bold")
        legend = Text(no_wrap=True, overflow="ellipsis")
        for key, tokens in tally.shares.items():
            if tokens:
                mark, style = _PARTS[key]
                legend.append(mark, style=style).append(f" {self.texts[key]} {tokens:,}   ")
        counts = Text(self._counts(), no_wrap=True, overflow="ellipsis")
        title = self.texts["context"]
        if tally.folding:
            title += f": {self._say('folding', messages=tally.folding)}"
        elif tally.noting:
            title += f": {self._say('noting', messages=tally.noting)}"
        clock = f"{self._say('step', step=tally.steps)} · {self._say('seconds', seconds=tally.seconds)}"
        return Panel(
            Group(bar, legend, counts),
            box=box.ROUNDED,
            title=title,
            title_align="left",
            subtitle=clock,
            subtitle_align="right",
            border_style="bright_black",
            width=self.width,
        )

    def _counts(self) -> str:
        tally = self._tally
        return self._say(
            "counts", said=tally.said, truncations=tally.truncations, folds=tally.folds, reloads=tally.reloads
        )

    def _bar(self, width: int) -> Iterator["tuple[str, str] | Text"]:
        """The whole window as a bar: what is used by what, and the limit at which it is condensed."""
        window = max(1, self._tally.window)
        limit = int(self._tally.threshold / window * width)
        ends, end = {}, 0
        for key, size in self._tally.shares.items():
            end += size
            ends[key] = round(end / window * width)
        for at in range(width):
            part = next((key for key, until in ends.items() if at < until), None)
            if at == limit:
                yield _LIMIT, "bold red"
            elif part is None:
                yield _FREE, "bright_black"
            else:
                yield _PARTS[part]
