# -*- coding: utf-8 -*-
"""The figures of a size as a table, with the ratio of ours to each peer's, and what was aimed at."""

import os
import platform
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["aims", "environment", "notes", "slower", "table"]

Sides = Mapping[str, Mapping[str, Any]]

_HEADS = {"ours": "ours", "chroma": "chroma", "mem0": "mem0, FAISS", "reme": "ReMe"}
_ROWS = {
    "add": "added a second, 1,000 at once, until they are on disk",
    "add_one": "one more, p50",
    "close": "close",
    "reopen": "reopen: open, first search",
    "search_p50": "search p50",
    "search_p95": "search p95",
    "user_p50": "search of one user p50",
    "user_p95": "search of one user p95",
    "both_p50": "by words and meaning p50",
    "both_user_p50": "by words and meaning, one user p50",
    "list_p50": "list of one user, latest 20, p50",
    "list_all": "list of all",
    "recall": "recall@10",
    "recall_user": "recall@10 of one user",
    "rss": "memory, searching",
    "rss_index": "... above the imports",
    "rss_peak": "most memory, adding",
    "disk": "disk",
}
_COMPARED = ("add", "add_one", "reopen", "search_p50", "search_p95", "user_p50", "user_p95", "list_p50", "rss", "disk")
_MORE_IS_BETTER = ("add", "recall", "recall_user")

AIMS = {
    10_000: {"search_p50": 0.010, "user_p50": 0.002, "reopen": 1.0, "recall": 0.97},
    100_000: {"search_p50": 0.015, "recall": 0.97},
}
"""Seconds at most, and recall at least, that are aimed at for ours, by size."""

NOTES = (
    "In brackets: ours / theirs; below 1.00 ours is faster or smaller (above, for what is counted a second).",
    "Everybody is given the same texts and vectors, and the query's vector; nobody embeds. There are 100 users.",
    "Ours cuts words besides, to be searched by them too; its tokenizer's dictionary is loaded with the imports.",
    "ReMe writes nothing until it is closed: what it adds a second is counted until then; one more is in memory.",
    "mem0 writes its whole index with every call, and filters what it has found: of one user it may find few.",
    "chroma and mem0 list without the order of time.",
)


def table(sides: Sides) -> str:
    """The table of one size in Markdown, a column for each side that was measured."""
    shown = [side for side in _HEADS if "figures" in sides.get(side, {})]
    lines = ["| step | " + " | ".join(_HEADS[side] for side in shown) + " |", "|---|" + "---|" * len(shown)]
    for row, label in _ROWS.items():
        cells = [_cell(sides, side, row) for side in shown]
        if any(cell != "-" for cell in cells):
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def slower(sides: Sides) -> list[str]:
    """The figures in which ours is behind a peer."""
    pairs = ((side, row, _ratio(sides, side, row)) for side in _HEADS for row in _COMPARED)
    behind = ((side, row) for side, row, r in pairs if r is not None and (r < 1 if row in _MORE_IS_BETTER else r > 1))
    return [f"{_ROWS[row]} ({_HEADS[side]})" for side, row in behind]


def aims(size: int, sides: Sides) -> Iterator[str]:
    """What was aimed at at this size, and whether it was reached."""
    figures = sides.get("ours", {}).get("figures", {})
    for row, aim in AIMS.get(size, {}).items():
        if row in figures:
            reached = figures[row] >= aim if row in _MORE_IS_BETTER else figures[row] < aim
            shown, wanted = _shown(row, figures[row]), _shown(row, aim)
            yield f"{'reached' if reached else 'MISSED'}: {_ROWS[row]} {shown}, aim {wanted}"


def environment(sides: Sides, cpu: bool) -> str:
    """What it was measured with."""
    measured = [(side, each) for side, each in sides.items() if "figures" in each]
    names = {**_HEADS, "ours": "agentscope-reme", "mem0": "mem0"}
    versions = ", ".join(f"{names[side]} {each['version']}" for side, each in measured)
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {measured[0][1]['python']}; each "
        f"side in fresh processes, {'processor' if cpu else 'wall'} time. {versions}."
    )


def notes() -> str:
    """What the rows mean where it is not plain."""
    return "\n" + "\n".join(f"- {note}" for note in NOTES)


def _cell(sides: Sides, side: str, row: str) -> str:
    figures = sides[side]["figures"]
    if row not in figures:
        return "-"
    ratio = _ratio(sides, side, row)
    return _shown(row, figures[row]) + (f" ({ratio:.2g})" if ratio is not None else "")


def _ratio(sides: Sides, side: str, row: str) -> float | None:
    if row not in _COMPARED or side == "ours":
        return None
    ours = sides.get("ours", {}).get("figures", {}).get(row)
    theirs = sides.get(side, {}).get("figures", {}).get(row)
    return ours / theirs if ours and theirs else None


def _shown(row: str, value: float) -> str:
    if row.startswith("rss") or row == "disk":
        return f"{value / 2**20:.3g} MB" if value < 2**30 else f"{value / 2**30:.2f} GB"
    if row == "add":
        return f"{value:,.0f}"
    if row.startswith("recall"):
        return f"{value:.3f}"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"
