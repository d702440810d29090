# -*- coding: utf-8 -*-
"""`agentscope-reme refine`: memories of ReMe are condensed; `--review` shows refined ones beside their sources."""

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import ConfigError
from ._live_model import live_model
from ._progress import Advance, plain_progress, progress_bar
from ._terminal import Terminal

if TYPE_CHECKING:
    from .._reme import ReMe
    from ..refine import Review, RunReport

__all__ = ["DESCRIPTION", "NAME", "SUMMARY", "configure", "run"]

NAME = "refine"
SUMMARY = "condense the memories of ReMe, or look at refined ones beside their sources"
DESCRIPTION = (
    "Condenses what is new: memories that belong together become one, and their sources stay behind it. It can be "
    "broken off at any time, and the same command goes on there. Without --model the sources' own sentences are kept; "
    "with it a model writes, and what it claims beyond its sources is left out."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--dir", metavar="PATH", default=".reme", help="the working folder of ReMe (.reme)")
    for kind in ("user", "task", "tool"):
        parser.add_argument(f"--{kind}", metavar="NAME", action="append", default=[], help=f"of this {kind} alone")
    parser.add_argument("--goal", metavar="TEXT", help="what the memory is for")
    parser.add_argument(
        "--model",
        metavar="NAME",
        nargs="?",
        const="",
        help="condense with a model: LLM_API_KEY (and LLM_BASE_URL), DASHSCOPE_API_KEY or OPENAI_API_KEY has the key; "
        "without NAME it is LLM_MODEL_NAME, or a small one of the provider",
    )
    parser.add_argument("--review", type=int, metavar="N", help="condense nothing; show N refined memories")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another sample to review")
    parser.add_argument("--plain", action="store_true", help="plain lines, as where the output is no terminal")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Condense, or show; 0 where that could be done."""
    from .._reme import ReMe

    folder = Path(options.dir).expanduser().absolute()
    if not folder.is_dir():
        raise ConfigError(f"--dir {options.dir}: there is no such folder: name the working_dir of your ReMe.")
    if options.review is not None and options.review < 1:
        raise ConfigError(f"--review {options.review}: give how many refined memories to show.")
    live = live_model(options.model or None, terminal.env, "--model") if options.model is not None else None
    reme = ReMe(folder, model=live.model if live else None, formatter=live.formatter if live else None)
    if options.review is not None:
        _show(asyncio.run(_reviewed(reme, options)), terminal)
        return 0
    shown = plain_progress if options.plain or not terminal.is_live else progress_bar
    with shown(terminal, "steps") as advance:
        report = asyncio.run(_refined(reme, options, advance))
    terminal.write(_told(report))
    return 0


async def _refined(reme: "ReMe", options: argparse.Namespace, advance: Advance) -> "RunReport":
    async with reme:
        return await reme.refine(options.user, options.task, options.tool, goal=options.goal, progress=advance)


async def _reviewed(reme: "ReMe", options: argparse.Namespace) -> "list[Review]":
    async with reme:
        return await reme.review_refined(options.review, options.user, options.task, options.tool, seed=options.seed)


def _show(reviews: "list[Review]", terminal: Terminal) -> None:
    for each in reviews:
        terminal.write(f"{each}\n\n")
    if not reviews:
        terminal.write("There are no refined memories yet: agentscope-reme refine makes them.\n")


def _told(report: "RunReport") -> str:
    lines = [
        f"{report.refined:,} refined memories of {report.sources:,} sources, {report.left:,} left as they are: "
        f"{report.tokens_before:,} tokens before, {report.tokens_after:,} after, {report.calls:,} calls of a model.",
        *(f"not used: {reason}" for reason in report.failures),
        *(f"left out: {fault}" for fault in report.faults),
    ]
    if not report.groups:
        lines[0] = "Nothing is new: no memory was touched, no model was asked."
    return "\n".join(lines) + "\n"
