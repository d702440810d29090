# -*- coding: utf-8 -*-
"""The other sides, over the texts and the vectors of our chunks. Each imports its package when it is loaded."""

import importlib.metadata
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _texts import MARK

__all__ = ["PEERS"]

_TOP = 5


class _Peer:
    """One store; what is added says its own number."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._folder, self._place = folder, place
        self.dimensions = 0

    async def open(self) -> None:
        """Open what was built."""

    async def close(self) -> None:
        """Let go of it."""

    async def embed(self, query: str) -> None:
        """Nothing: the queries' vectors are given."""

    def files(self) -> list[Path]:
        return [self._place]

    async def counts(self) -> dict[str, int]:
        return {}

    def _texts(self) -> list[dict[str, str]]:
        return json.loads((self._folder / "chunks.json").read_text(encoding="utf-8"))

    def _vectors(self) -> Any:
        import numpy as np

        return np.load(self._folder / "chunks.npy")

    def _query_vectors(self) -> dict[str, Any]:
        import numpy as np

        texts = json.loads((self._folder / "queries.json").read_text(encoding="utf-8"))
        return dict(zip(texts, np.load(self._folder / "queries.npy"), strict=True))


class RankBM25(_Peer):
    """rank_bm25 over words split at blanks, which nothing keeps: it is made anew at each start and for each note."""

    @staticmethod
    def load() -> str:
        import rank_bm25  # noqa: F401

        return importlib.metadata.version("rank_bm25")

    async def build(self) -> None:
        self._chunks = [chunk["text"] for chunk in self._texts()]
        self._make()

    open = build

    async def search(self, query: str) -> Sequence[Any]:
        return self._index.get_top_n(query.lower().split(), self._chunks, n=_TOP)

    async def add(self, number: int) -> None:
        self._chunks.append(f"The word of {number} is {MARK}{number}")
        self._make()
        assert f"{MARK}{number}" in (await self.search(f"{MARK}{number}"))[0]

    def _make(self) -> None:
        from rank_bm25 import BM25Okapi

        self._index = BM25Okapi([text.lower().split() for text in self._chunks])


class FTS5(_Peer):
    """SQLite's own full-text index, with its stemmer."""

    @staticmethod
    def load() -> str:
        return sqlite3.sqlite_version

    async def open(self) -> None:
        self._place.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(self._place / "fts.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS chunk USING fts5(text, path UNINDEXED, tokenize='porter unicode61')"
        )

    async def build(self) -> None:
        await self.open()
        self._connection.execute("BEGIN")
        rows = [(chunk["text"], chunk["path"]) for chunk in self._texts()]
        self._connection.executemany("INSERT INTO chunk VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")

    async def close(self) -> None:
        self._connection.close()

    async def search(self, query: str) -> Sequence[Any]:
        words = "".join(sign if sign.isalnum() else " " for sign in query).split()
        match = " OR ".join(f'"{word}"' for word in words)
        statement = "SELECT text, path, bm25(chunk) FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT ?"
        return self._connection.execute(statement, (match, _TOP)).fetchall()

    async def add(self, number: int) -> None:
        text = f"The word of {number} is {MARK}{number}."
        self._connection.execute("INSERT INTO chunk VALUES (?, ?)", (text, "added.md"))
        assert (await self.search(f"{MARK}{number}"))[0][0] == text


class Chroma(_Peer):
    """chromadb on disk in this process, with our vectors given: it searches by vectors alone."""

    @staticmethod
    def load() -> str:
        import chromadb  # noqa: F401

        return importlib.metadata.version("chromadb")

    async def open(self) -> None:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(self._place), settings=settings)
        self._chunks = self._client.get_or_create_collection(
            "chunks", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )
        self._queries = self._query_vectors()

    async def build(self) -> None:
        await self.open()
        texts, vectors = [chunk["text"] for chunk in self._texts()], self._vectors()
        for start in range(0, len(texts), 1000):
            part = slice(start, min(start + 1000, len(texts)))
            ids = [f"chunk_{at}" for at in range(part.start, part.stop)]
            self._chunks.add(ids=ids, documents=texts[part], embeddings=vectors[part])

    async def search(self, query: str) -> Sequence[Any]:
        return self._chunks.query(query_embeddings=[self._queries[query]], n_results=_TOP)["ids"][0]

    async def add(self, number: int) -> None:
        import numpy as np

        size = len(next(iter(self._queries.values())))
        vector = np.random.default_rng(number).standard_normal(size).astype(np.float32)
        self._chunks.add(ids=[f"added_{number}"], documents=[f"{MARK}{number}"], embeddings=[vector])
        found = self._chunks.query(query_embeddings=[vector], n_results=_TOP)["ids"][0]
        assert found[0] == f"added_{number}"


class _GivenVectors:
    """An embedding model of ReMe's shape that knows the vectors already, so that no model's time is in the figures."""

    def __init__(self, queries: dict[str, Any]) -> None:
        self._queries = {text: vector.tolist() for text, vector in queries.items()}
        self.dimensions = len(next(iter(self._queries.values())))

    async def get_embedding(self, query: str, **_: Any) -> list[float]:
        return self._queries.get(query) or self._of_added(query)

    async def get_chunk_embeddings(self, chunks: list[Any], **_: Any) -> list[Any]:
        for chunk in chunks:
            chunk.embedding = chunk.embedding or await self.get_embedding(chunk.text)
        return chunks

    def _of_added(self, text: str) -> list[float]:
        """A vector of its own for each added word, and the same for the text that has the word."""
        import numpy as np

        digits = text.partition(MARK)[2].partition(".")[0]
        return np.random.default_rng(int(digits)).standard_normal(self.dimensions).tolist()


class ReMeWords(_Peer):
    """The local file store of ReMe, which is its default, by keywords; without its watcher and its chunker."""

    vectors = False

    @staticmethod
    def load() -> str:
        from loguru import logger
        from reme.core.file_store import LocalFileStore  # noqa: F401

        logger.disable("reme")  # it writes each hit of each search to its log

        return importlib.metadata.version("reme-ai")

    async def open(self) -> None:
        from reme.core.file_store import LocalFileStore

        model = _GivenVectors(self._query_vectors()) if self.vectors else None
        self._store = LocalFileStore(
            store_name="bench", db_path=self._place, embedding_model=model, vector_enabled=self.vectors
        )
        await self._store.start()

    async def build(self) -> None:
        await self.open()
        vectors = self._vectors() if self.vectors else None
        by_path: dict[str, list[Any]] = {}
        for at, chunk in enumerate(self._texts()):
            vector = None if vectors is None else vectors[at].tolist()
            by_path.setdefault(chunk["path"], []).append(
                _reme_chunk(f"chunk_{at}", chunk["path"], chunk["text"], vector)
            )
        for path, chunks in by_path.items():
            await self._upsert(path, chunks)

    async def close(self) -> None:
        await self._store.close()

    async def search(self, query: str) -> Sequence[Any]:
        if self.vectors:
            return await self._store.hybrid_search(query, _TOP)
        return await self._store.keyword_search(query, _TOP)

    async def add(self, number: int) -> None:
        word = f"{MARK}{number:03d}"  # it finds parts of words, and none of these is a part of another
        await self._upsert(f"memory/{word}.md", [_reme_chunk(word, f"memory/{word}.md", f"The word is {word}.", None)])
        assert word in (await self.search(word))[0].snippet, "the added note was not found first"

    async def _upsert(self, path: str, chunks: list[Any]) -> None:
        from reme.core.enumeration import MemorySource
        from reme.core.schema import FileMetadata

        meta = FileMetadata(hash=path, mtime_ms=0.0, size=1, path=path)
        await self._store.upsert_file(meta, MemorySource.MEMORY, chunks)


class ReMeHybrid(ReMeWords):
    """The same with our vectors given."""

    vectors = True


def _reme_chunk(key: str, path: str, text: str, vector: list[float] | None) -> Any:
    from reme.core.enumeration import MemorySource
    from reme.core.schema import MemoryChunk

    return MemoryChunk(
        id=key, path=path, source=MemorySource.MEMORY, start_line=1, end_line=1, text=text, hash=key, embedding=vector
    )


PEERS = {"rank_bm25": RankBM25, "fts5": FTS5, "chroma": Chroma, "reme_words": ReMeWords, "reme_hybrid": ReMeHybrid}
