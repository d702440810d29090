# -*- coding: utf-8 -*-
"""Runs the sides in turn, each time in a fresh process of its own interpreter."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Round", "peer_fault", "rounds"]

_MEASURE = Path(__file__).parent / "side" / "measure.py"
_ROOT = Path(__file__).parent.parent.parent

Round = dict[str, Any]
"""What one process printed: `figures`, and the `versions` it ran with."""


def peer_fault(python: str | None) -> str | None:
    """Why the peer cannot be measured, or `None`."""
    if not python:
        return "no interpreter was given for it (--peer-python PATH; benchmarks/README.md says how to make one)"
    if shutil.which(python) is None:
        return f"{python} is no interpreter"
    probe = "import importlib.metadata as m; print(m.version('reme-ai'))"
    run = subprocess.run([python, "-c", probe], capture_output=True, text=True, env=_environment(False), check=False)
    return None if run.returncode == 0 else f"{python} has no reme-ai: pip install what benchmarks/README.md lists"


def rounds(count: int, sizes: dict[str, Any], peer_python: str | None) -> Iterator[tuple[str, Round]]:
    """Each side's round, A B A B, so that what slows the machine for a while slows both.

    Raises:
        `RuntimeError`: a side failed; the text has the end of what it said.
    """
    for _ in range(count):
        yield "ours", _run("ours", sys.executable, sizes)
        if peer_python:
            yield "peer", _run("peer", peer_python, sizes)


def _run(which: str, python: str, sizes: dict[str, Any]) -> Round:
    with tempfile.TemporaryDirectory() as folder:  # some write logs where they are started
        command = [python, str(_MEASURE), which, json.dumps(sizes)]
        run = subprocess.run(
            command, capture_output=True, text=True, env=_environment(which == "ours"), cwd=folder, check=False
        )
    if run.returncode != 0:
        raise RuntimeError(f"the side {which!r} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def _environment(ours: bool) -> dict[str, str]:
    """The environment without what would lead one side to the other's packages, and without anybody's keys."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LLM_", "EMBEDDING_"))}
    return {**kept, "PYTHONPATH": str(_ROOT)} if ours else kept
