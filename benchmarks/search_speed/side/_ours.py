# -*- coding: utf-8 -*-
"""agentscope-reme as a side: the note index over the files of a workspace, by words alone or with vectors."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _clock import now
from _texts import MARK, latest_note

__all__ = ["Ours", "export"]


class Ours:
    """One workspace.

    Args:
        folder (`Path`): with the workspace in ``workspace/``, and the cache of vectors beside it.
        vectors (`bool`): whether there is an embedding model.
    """

    def __init__(self, folder: Path, vectors: bool) -> None:
        self._root, self._cache_file = folder / "workspace", folder / "vectors.db"
        self._with_vectors = vectors
        self._index: Any = None
        self._cache: Any = None
        self.embedder: Any = None
        self.embedding = 0.0
        """Seconds that the model took."""

    @staticmethod
    def load() -> str:
        from agentscope_reme import __version__
        from agentscope_reme.note_index import NoteIndex  # noqa: F401

        return __version__

    async def open(self) -> None:
        from agentscope_reme.note_index import NoteIndex
        from agentscope_reme.workspace import Workspace

        if self._with_vectors:
            self._open_embedder()
        self._index = NoteIndex(Workspace(self._root), embedder=self.embedder)

    async def build(self) -> None:
        await self.open()
        await self._index.sync()

    async def close(self) -> None:
        await self._index.close()
        if self._cache is not None:
            await self._cache.close()

    async def search(self, query: str) -> Sequence[Any]:
        return await self._index.search(query)

    async def add(self, number: int) -> None:
        """A line more in the latest note, found by the next search."""
        with latest_note(self._root).open("a", encoding="utf-8") as file:
            file.write(f"\n## {MARK}{number}\n\nThe word of {number} is {MARK}{number}.\n")
        hits = await self._index.search(f"{MARK}{number}")
        assert any(f"{MARK}{number}" in hit.chunk.text for hit in hits), "the added note was not found"

    async def embed(self, query: str) -> None:
        """A query's vector, which is then in the cache."""
        await self.embedder.embed_one(query)

    def files(self) -> list[Path]:
        """What the index takes on disk; the cache of vectors, which other indexes share, is not part of it."""
        return list((self._root / ".state").glob("index.db*"))

    async def counts(self) -> dict[str, int]:
        status = await self._index.status()
        with sqlite3.connect(self._root / ".state" / "index.db") as connection:
            (size,) = connection.execute("SELECT coalesce(sum(length(data)), 0) FROM vector").fetchone()
        vectors = size // (2 * self.embedder.dimensions) if self.embedder else 0
        return {"chunks": status.chunks, "vectors": vectors, "waiting": status.waiting}

    def _open_embedder(self) -> None:
        from agentscope_reme.embedding import BatchEmbedder, EmbeddingCache, LocalEmbedding

        side = self

        class Timed(LocalEmbedding):
            """The offline model, whose time is taken."""

            until = 0.0

            async def __call__(self, text: Sequence[Any], **kwargs: Any) -> Any:
                began = now()
                try:
                    return await super().__call__(text, **kwargs)
                finally:
                    ended = now()  # calls wait for each other: no second is counted twice
                    side.embedding += ended - max(began, self.until)
                    self.until = ended

        self._cache = EmbeddingCache(self._cache_file)
        self.embedder = BatchEmbedder(Timed(), cache=self._cache)


async def export(side: Ours, folder: Path, queries: Sequence[str]) -> None:
    """Write what the others get: the texts of our chunks, and with vectors a mean vector of each and the queries'."""
    database = folder / "workspace" / ".state" / "index.db"
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            "SELECT c.heading, c.text, f.path, v.data FROM chunk c JOIN file f ON f.id = c.file "
            "LEFT JOIN vector v ON v.chunk = c.id ORDER BY c.id"
        ).fetchall()
    chunks = [{"text": f"{heading}\n{text}".strip(), "path": path} for heading, text, path, _ in rows]
    (folder / "chunks.json").write_text(json.dumps(chunks, ensure_ascii=False), encoding="utf-8")
    if side.embedder is None:
        return
    import numpy as np

    size = side.embedder.dimensions
    means = np.zeros((len(rows), size), dtype=np.float32)
    for at, row in enumerate(rows):
        if row[3]:
            means[at] = np.frombuffer(row[3], dtype="<f2").reshape(-1, size).astype(np.float32).mean(axis=0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    np.save(folder / "chunks.npy", means)
    np.save(folder / "queries.npy", (await side.embedder.embed(queries)).vectors)
