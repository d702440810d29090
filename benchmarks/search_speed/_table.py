# -*- coding: utf-8 -*-
"""The figures of a size as a table, with the ratio of ours to each peer's, and what was aimed at."""

import os
import platform
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["aims", "environment", "notes", "slower", "table"]

Sides = Mapping[str, Mapping[str, Any]]

_HEADS = {
    "ours_words": "ours, words",
    "ours_hybrid": "ours, hybrid",
    "rank_bm25": "rank_bm25",
    "fts5": "SQLite FTS5",
    "chroma": "chroma, vectors",
    "reme_words": "ReMe, words",
    "reme_hybrid": "ReMe, hybrid",
}
_BESIDE = {
    "rank_bm25": "ours_words",
    "fts5": "ours_words",
    "reme_words": "ours_words",
    "chroma": "ours_hybrid",
    "reme_hybrid": "ours_hybrid",
}
_ROWS = {
    "chunks": "chunks",
    "vectors": "vectors",
    "build": "build, vectors known",
    "build_cold": "build with embedding",
    "embedding": "... of which the model",
    "restart": "restart: open, first search",
    "search_p50": "search p50",
    "search_p95": "search p95",
    "query_embedding": "embedding of a query, apart",
    "add": "a note added and found",
    "stall_idle": "longest stall, idle loop: the machine's own",
    "stall_build": "longest stall, build",
    "stall_cold": "longest stall, build with embedding",
    "stall_search": "longest stall, searches",
    "stall_add": "longest stall, adding",
    "full_gc": "for comparison: one full garbage collection after the imports",
    "rss": "memory, searching",
    "rss_index": "... above the imports",
    "rss_peak": "most memory, build",
    "disk": "disk",
}
_COMPARED = ("build", "restart", "search_p50", "search_p95", "add", "rss", "disk")
_ASYNC = ("ours_words", "ours_hybrid")
_STALL_AIM = 0.05

AIMS = {
    10_000: {
        "ours_words": {"search_p50": 0.005, "add": 0.02, "restart": 2.0},
        "ours_hybrid": {"search_p50": 0.010, "add": 0.02, "restart": 2.0},
    },
    100_000: {"ours_words": {"search_p50": 0.05}, "ours_hybrid": {"search_p50": 0.05}},
}
"""Seconds that are aimed at, by size and side; a stall is to stay below 50 ms everywhere."""

NOTES = (
    "In brackets: ours / theirs, where ours is the column of the same kind; below 1.00 ours is faster or smaller.",
    "Searches are without the query's embedding, which is shown apart. Each of ours first compares the files with the "
    "index, so that what was written a moment ago is found; no other looks at files.",
    "An added note of ours is a few lines in a file, with its embedding where there are vectors; the others are handed "
    "a text, and with vectors its vector.",
    "Ours reads and cuts the files, the others are given our chunks' texts, and one mean vector a chunk.",
    "rank_bm25 keeps nothing on disk and takes no additions: it is made anew at a start and for each note. It and "
    "ReMe split words at blanks, so that they find no Chinese word inside a sentence.",
    "ReMe is measured at its local file store, without its watcher (which waits before it looks) and its embedding.",
    "chroma, rank_bm25 and FTS5 are called on the loop, so that their stall is the longest call.",
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
    """The figures in which ours is above a peer's."""
    pairs = ((side, row, _ratio(sides, side, row)) for side in _BESIDE for row in _COMPARED)
    return [f"{_ROWS[row]} ({_HEADS[side]})" for side, row, ratio in pairs if ratio is not None and ratio > 1]


def aims(size: int, sides: Sides) -> Iterator[str]:
    """What was aimed at at this size, and whether it was reached."""
    for side in _ASYNC:
        figures = sides.get(side, {}).get("figures", {})
        wanted = dict(AIMS.get(size, {}).get(side, {}))
        wanted |= {row: _STALL_AIM for row in _ROWS if row.startswith("stall_") and row != "stall_idle"}
        for row, aim in wanted.items():
            if row in figures:
                verdict = "reached" if figures[row] < aim else "MISSED"
                yield f"{verdict}: {_HEADS[side]}: {_ROWS[row]} {_shown(row, figures[row])}, aim {_shown(row, aim)}"


def environment(sides: Sides, cpu: bool) -> str:
    """What it was measured with."""
    names = {side: "agentscope-reme" if side in _ASYNC else head.split(",")[0] for side, head in _HEADS.items()}
    versions = dict.fromkeys(f"{names[side]} {each['version']}" for side, each in _measured(sides))
    python = next(each["python"] for _, each in _measured(sides))
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {python}; each side in fresh "
        f"processes, {'processor' if cpu else 'wall'} time. {', '.join(versions)}."
    )


def notes() -> str:
    """What the sides do differently."""
    return "\n".join(f"- {note}" for note in NOTES)


def _measured(sides: Sides) -> list[tuple[str, Mapping[str, Any]]]:
    return [(side, sides[side]) for side in _HEADS if "figures" in sides.get(side, {})]


def _cell(sides: Sides, side: str, row: str) -> str:
    figures = sides[side]["figures"]
    if row not in figures or not (figures[row] or row.startswith("stall")):
        return "-"
    ratio = _ratio(sides, side, row)
    return _shown(row, figures[row]) + (f" ({ratio:.2g})" if ratio is not None else "")


def _ratio(sides: Sides, side: str, row: str) -> float | None:
    if row not in _COMPARED or side not in _BESIDE:
        return None
    ours = sides.get(_BESIDE[side], {}).get("figures", {}).get(row)
    theirs = sides.get(side, {}).get("figures", {}).get(row)
    return ours / theirs if ours and theirs else None


def _shown(row: str, value: float) -> str:
    if row.startswith("rss") or row == "disk":
        return f"{value / 2**20:.3g} MB" if value < 2**30 else f"{value / 2**30:.2f} GB"
    if row in ("chunks", "vectors"):
        return f"{value:,.0f}"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"
