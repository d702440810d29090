# -*- coding: utf-8 -*-
"""The figures of all rounds as a table: medians of both sides, and their ratio."""

import os
import platform
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["environment", "medians", "notes", "slower", "table"]

_LABELS = (
    (r"import", "import, over AgentScope's own"),
    (r"import_host", "(AgentScope's own import)"),
    (r"import_modules", "modules loaded, over AgentScope's own"),
    (r"rss_import", "memory of the import, over AgentScope's own"),
    (r"idle_(\d+)", "idle hook of an agent, {0} messages"),
    (r"list_(\d+)", "idle hook over a list, {0} messages"),
    (r"check_(\d+)", "first check_context, {0} messages"),
    (r"recheck_(\d+)", "check_context again, {0} messages"),
    (r"add", "adding {add} messages one by one"),
    (r"truncate_first", "truncating {results} results of {kilobytes} KB"),
    (r"truncate_second", "... a second pass"),
    (r"stall", "... longest stall of the event loop"),
    (r"rss_peak", "most memory used in the run"),
)
_NOT_COMPARED = ("import_host",)

NOTES = (
    "ours / ReMe below 1.00 means that ours is faster or smaller.",
    "ReMe attaches nothing to an agent: its idle hook is what the owner of an agent has to run at each step "
    "(read the memory, call pre_reasoning_hook), without applying the outcome.",
    "ReMe keeps added messages in memory only; ours are in the journal on disk when add() returns.",
    "ReMe counts a token as 3.75 bytes of any text; ours are estimated by script.",
    "ReMe cuts results in place, keeps their head only, and does it on the event loop; ours gives new messages with "
    "head and tail, from a thread, and hashes each text, so that the same text is stored once.",
)


def medians(rounds: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The median of each figure over the rounds of one side."""
    names = rounds[0]["figures"] if rounds else ()
    return {name: statistics.median(each["figures"][name] for each in rounds) for name in names}


def slower(ours: Mapping[str, float], peer: Mapping[str, float]) -> list[str]:
    """The figures in which ours is above the peer's."""
    return [name for name in ours if name in peer and name not in _NOT_COMPARED and ours[name] > peer[name]]


def table(ours: Mapping[str, float], peer: Mapping[str, float], sizes: Mapping[str, Any]) -> str:
    """The table in Markdown; without a peer its columns are empty."""
    lines = ["| step | ours | ReMe | ours / ReMe |", "|---|---|---|---|"]
    for name, label in _labelled(ours, sizes):
        theirs = _shown(name, peer[name]) if name in peer else "-"
        compared = name in peer and name not in _NOT_COMPARED and peer[name] > 0
        ratio = f"{ours[name] / peer[name]:.2f}" if compared else "-"
        lines.append(f"| {label} | {_shown(name, ours[name])} | {theirs} | {ratio} |")
    return "\n".join(lines)


def environment(rounds: Mapping[str, Sequence[Mapping[str, Any]]], sizes: Mapping[str, Any]) -> str:
    """What it was measured with: the machine and each side's versions."""
    lines = [
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores. Medians of {len(rounds['ours'])} rounds, "
        f"the sides in turn, each in a fresh process; {'processor' if sizes['cpu'] else 'wall'} time."
    ]
    for side, name in (("ours", "agentscope-reme"), ("peer", "reme-ai")):
        if rounds.get(side):
            versions = rounds[side][0]["versions"]
            lines.append(
                f"{name} {versions['package']}, AgentScope {versions['agentscope']}, Python {versions['python']}"
            )
    return "\n".join(lines)


def notes() -> str:
    """What the two do differently in the same step."""
    return "\n".join(f"- {note}" for note in NOTES)


def _labelled(figures: Mapping[str, float], sizes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = {"add": sizes["add"], "results": sizes["results"][0], "kilobytes": sizes["results"][1] // 1000}
    for pattern, label in _LABELS:
        for name in figures:
            if match := re.fullmatch(pattern, name):
                yield name, label.format(*match.groups(), **known)


def _shown(name: str, value: float) -> str:
    if name.startswith("rss"):
        return f"{value / 2**20:.0f} MB"
    if name == "import_modules":
        return f"{value:.0f}"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"
