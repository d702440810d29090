# -*- coding: utf-8 -*-
"""A workspace on disk that tests write into as people, editors and other programs do, and an index over it."""

import asyncio
import json
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.record import SearchHit
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.workspace import Workspace

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def make_workspace(root: Path) -> Workspace:
    workspace = Workspace(root)
    workspace.create()
    return workspace


def put(workspace: Workspace, path: str, text: str | bytes) -> Path:
    """Write a file in place, with its folders."""
    place = workspace.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return place


def turn(number: int, text: Any, name: str = "user", role: str = "user", time: str = "", session: str = "s") -> bytes:
    """A line of the archive."""
    value = {
        "id": f"m{number}",
        "name": name,
        "role": role,
        "content": text,
        "metadata": None,
        "timestamp": time or f"2026-03-01 10:{number // 60 % 60:02d}:{number % 60:02d}.000",
        "invocation_id": None,
        "session_id": session,
    }
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def embedder(model: HashEmbedding | None = None, **options: Any) -> BatchEmbedder:
    options = {"retries": 0, "backoff": 0.0, **options}
    return BatchEmbedder(model or HashEmbedding(64), **options)


def places(hits: Iterable[SearchHit]) -> list[tuple[str, int]]:
    return [(hit.chunk.path, hit.chunk.start_line) for hit in hits]


def paths(hits: Iterable[SearchHit]) -> list[str]:
    return [hit.chunk.path for hit in hits]


async def found(index: NoteIndex, query: str, **options: Any) -> list[str]:
    """The paths of what a search finds."""
    return paths(await index.search(query, **options))
