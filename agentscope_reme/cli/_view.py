# -*- coding: utf-8 -*-
"""The view of a command: a picture at a person's terminal, lines anywhere else."""

import argparse
from typing import TYPE_CHECKING

from ._terminal import Terminal

if TYPE_CHECKING:
    from .demo import LiveView, PlainView, Tally

__all__ = ["view_for"]


def view_for(options: argparse.Namespace, terminal: Terminal, language: str, tally: "Tally") -> "LiveView | PlainView":
    """The view that the options and the terminal allow.

    Args:
        options (`argparse.Namespace`):
            `plain` and `no_color`.
        terminal (`Terminal`):
            Where it is shown.
        language (`str`):
            `"en"` or `"zh"`.
        tally (`Tally`):
            What the live view's panel shows.
    """
    from .demo import LiveView, PlainView

    if options.plain or not terminal.is_live:
        return PlainView(language, terminal.write)
    return LiveView(language, terminal.console(color=not options.no_color), tally)
