# -*- coding: utf-8 -*-
"""Runs each side's steps at one size, each in a fresh process of the side's interpreter."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._data import write_memories

__all__ = ["PEERS", "at_size", "faults"]

_SIDE = Path(__file__).parent / "side"
_ROOT = Path(__file__).parent.parent.parent
_PACKAGES = {"chroma": "chromadb", "mem0": "mem0.vector_stores.faiss", "reme": "reme.core.vector_store"}

PEERS = tuple(_PACKAGES)


def faults(pythons: Mapping[str, str | None]) -> dict[str, str]:
    """Why peers cannot be measured, by peer.

    Args:
        pythons (`Mapping[str, str | None]`): The interpreter of each peer.
    """
    found = {side: _fault(side, pythons[side]) for side in PEERS}
    return {side: fault for side, fault in found.items() if fault}


def at_size(
    size: int, dimensions: int, sides: Mapping[str, str], plan: Mapping[str, Any], tell: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """The figures of all sides at a size.

    Args:
        size (`int`): Memories.
        dimensions (`int`): Of their vectors.
        sides (`Mapping[str, str]`): The interpreter of each side to measure.
        plan (`Mapping[str, Any]`): What is done how often.
        tell (`Callable[[str], None]`): Told of each step.

    Returns:
        `dict`: by side `figures`, `version` and `python`; or `fault`, if it failed.
    """
    done: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        given = Path(folder) / "given"
        write_memories(given, size, dimensions, plan["queries"])
        for side, python in sides.items():
            tell(f"{size} x {dimensions}: {side}")
            place = Path(folder) / side
            try:
                built, used = (_run(side, python, step, given, place, plan) for step in ("build", "use"))
                done[side] = {**used, "figures": {**built["figures"], **used["figures"]}}
            except RuntimeError as error:
                if side == "ours":
                    raise
                done[side] = {"fault": str(error)}
            shutil.rmtree(place, ignore_errors=True)
    return done


def _run(side: str, python: str, step: str, given: Path, place: Path, plan: Mapping[str, Any]) -> dict[str, Any]:
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:  # some write logs where they are started
        command = [python, str(_SIDE / "measure.py"), side, step, str(given), str(place), json.dumps(plan)]
        environment = _environment(side == "ours")
        run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"the side {side!r} failed at {step!r}:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def _fault(side: str, python: str | None) -> str | None:
    if not python:
        return "no interpreter was given for it (benchmarks/README.md says how to make one)"
    if shutil.which(python) is None:
        return f"{python} is no interpreter"
    command = [python, "-c", f"import {_PACKAGES[side]}"]
    run = subprocess.run(command, capture_output=True, text=True, env=_environment(False), check=False)
    return None if run.returncode == 0 else f"{python} has no {_PACKAGES[side].split('.')[0]}"


def _environment(ours: bool) -> dict[str, str]:
    """The environment without what would lead one side to the other's packages, and without anybody's keys."""
    others = ("PYTHON", "LLM_", "EMBEDDING_", "OPENAI_", "DASHSCOPE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    kept |= {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False"}
    return {**kept, "PYTHONPATH": str(_ROOT)} if ours else kept
