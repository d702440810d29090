# -*- coding: utf-8 -*-
"""Other systems over the same texts and questions: in this process, or in an interpreter of their own."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ._cases import DataSet
from ._scores import ASKED_FOR, Outcome

__all__ = ["PEERS", "Peer", "fault", "plain_bm25", "run_peer"]

_SIDE = Path(__file__).parent / "side"


@dataclass(frozen=True)
class Peer:
    """A system in an interpreter of its own.

    Args:
        name (`str`): as the table names it.
        package (`str`): what has to be installed there.
        script (`str`): the file in ``side`` that drives it.
        modes (`tuple[str, ...]`): the ways in which it can search.
    """

    name: str
    package: str
    script: str
    modes: tuple[str, ...]


PEERS = {
    "mem0": Peer("mem0", "mem0ai", "mem0_side.py", ("vectors",)),
    "reme": Peer("ReMe", "reme-ai", "reme_side.py", ("words", "hybrid")),
}


def plain_bm25(data: DataSet) -> list[Outcome]:
    """rank_bm25 as its own page shows it: words in lower case, nothing else."""
    from rank_bm25 import BM25Okapi

    outcomes: list[Outcome] = []
    for conversation in data.conversations:
        ids = [memory.id for memory in conversation.memories]
        index = BM25Okapi([_words(memory.text) or [""] for memory in conversation.memories])
        for question in conversation.questions:
            scores = index.get_scores(_words(question.text))
            order = sorted(range(len(ids)), key=lambda at, scores=scores: -scores[at])
            found = [ids[at] for at in order[:ASKED_FOR] if scores[at] > 0]
            outcomes.append(Outcome(found, question.gold, question.category, conversation.sizes))
    return outcomes


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def fault(peer: Peer, python: str | None) -> str | None:
    """Why a peer cannot be run, or `None`."""
    if not python:
        return "no interpreter was given for it"
    if shutil.which(python) is None:
        return f"{python} is no interpreter"
    probe = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    run = subprocess.run([python, "-c", probe], capture_output=True, text=True, env=_environment(), check=False)
    return None if run.returncode == 0 else f"{python} has no {peer.package}"


def run_peer(peer: Peer, mode: str, python: str, data: DataSet, address: str) -> list[Outcome]:
    """Let a peer answer every question of a data set.

    Args:
        peer (`Peer`): the system.
        mode (`str`): one of its modes.
        python (`str`): its interpreter.
        data (`DataSet`): the data.
        address (`str`): of the embedding server.

    Raises:
        `RuntimeError`: it failed; the text has the end of what it said.
    """
    task = {
        "mode": mode,
        "address": address,
        "count": ASKED_FOR,
        "conversations": [
            {
                "memories": [[memory.id, memory.text, memory.time.date().isoformat()] for memory in each.memories],
                "questions": [question.text for question in each.questions],
            }
            for each in data.conversations
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "task.json").write_text(json.dumps(task), encoding="utf-8")
        command = [python, str(_SIDE / peer.script), folder]
        run = subprocess.run(command, capture_output=True, text=True, env=_environment(), cwd=folder, check=False)
        answers = Path(folder) / "found.json"
        if run.returncode or not answers.exists():
            raise RuntimeError(f"{peer.name} failed:\n{run.stderr[-2000:]}")
        found = json.loads(answers.read_text(encoding="utf-8"))
    return _outcomes(data, found)


def _outcomes(data: DataSet, found: Sequence[Sequence[Sequence[str]]]) -> list[Outcome]:
    return [
        Outcome(ids, question.gold, question.category, conversation.sizes)
        for conversation, answers in zip(data.conversations, found, strict=True)
        for question, ids in zip(conversation.questions, answers, strict=True)
    ]


def _environment() -> dict[str, str]:
    """The environment without what would lead a peer to our packages, and without anybody's keys."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LLM_", "EMBEDDING_"))}
    return {**kept, "OPENAI_API_KEY": "none", "MEM0_TELEMETRY": "False", "OMP_NUM_THREADS": "1"}
