# -*- coding: utf-8 -*-
"""The index over notes and dialog archive of one workspace."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from .._errors import ConfigError, NotStartedError
from ..embedding import BatchEmbedder
from ..record import SearchHit
from ..search import QueryView, SourceRecipe
from ..storage import Database
from ..text import WordTokenizer
from ._areas import DIALOG, TOOLS, Places, areas_of, shown_path
from ._asked import Day, Limits, names_of
from ._engine import Engine
from ._excerpt import Excerpt, read_excerpt
from ._reconciler import Words
from ._schema import MIGRATIONS
from ._search import Question, answer
from ._settings import IndexSettings, all_recipes, names_of_sources
from ._shelves import Shelves
from ._status import IndexStatus
from ._vector_texts import vector_texts
from ._vectors import Report
from ._watcher import FolderWatcher

__all__ = ["NoteIndex"]

T = TypeVar("T")

_SYNC_PATIENCE = 5.0  # seconds that a search waits for changed files
_VECTOR_PATIENCE = 2.0  # and for vectors, theirs and the query's
_QUERY_END = 2_000  # characters
logger = logging.getLogger("agentscope_reme")


class NoteIndex:
    """Search over MEMORY.md, memory/**/*.md, further folders and the dialog archive of a workspace.

    SQLite (``.state/index.db``) holds chunks, words and vectors; what is searched lies in memory and is filled from
    it. A search compares the files with the index first, so that it finds what was written a moment ago, whether or
    not the watcher saw it. Nothing blocks the event loop; several processes may index the same workspace.

    Without an embedder, or while it fails, notes are searched by words alone.

    Args:
        workspace (`Places`):
            The workspace: its folders.
        embedder (`BatchEmbedder | None`):
            Makes the vectors; its owner closes its cache.
        tokenizer (`Words | None`):
            Cuts words; `WordTokenizer` if left out.
        recipes (`Mapping[str, SourceRecipe] | None`):
            How sources are searched, by source: "notes", "dialog", the names of extra folders.
        extra_folders (`Iterable[str | Path] | Mapping[str, str | Path]`):
            More folders of Markdown or text, relative to the workspace or anywhere; a folder's name is its source
            unless a mapping gives it another.
        timezone (`tzinfo | None`):
            Whose days and clock count; `None` is this machine's zone.
        vector_weight (`float | None`):
            The share of meaning against words in the order of notes, 0 to 1; 0.7 unless a recipe says otherwise.
        candidate_multiplier (`float`):
            How many candidates of each source are compared for each result.
        keyword_search (`bool`):
            Whether words are searched; without it an embedder is needed.
        chunk_tokens (`int`):
            Tokens of a chunk.
        redact (`Callable[[str], str] | None`):
            Applied to every text before it is stored.
        report (`Callable[[str, dict], None] | None`):
            Told "indexed" (files, removed, seconds), "degraded" (reason) and "recovered".
        clock (`Callable[[], datetime] | None`):
            What time it is, for "last week" in a query.
        db (`Database | None`):
            A database to use in the place of ``.state/index.db``, made with `NoteIndex.MIGRATIONS` and ``cache=True``;
            its owner closes it.

    Raises:
        `ConfigError`: an argument cannot work.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self,
        workspace: Places,
        *,
        embedder: BatchEmbedder | None = None,
        tokenizer: Words | None = None,
        recipes: Mapping[str, SourceRecipe] | None = None,
        extra_folders: Iterable[str | Path] | Mapping[str, str | Path] = (),
        timezone: dt.tzinfo | None = None,
        vector_weight: float | None = None,
        candidate_multiplier: float = 3.0,
        keyword_search: bool = True,
        chunk_tokens: int = 400,
        redact: Callable[[str], str] | None = None,
        report: Report | None = None,
        clock: Callable[[], dt.datetime] | None = None,
        db: Database | None = None,
    ) -> None:
        areas = areas_of(workspace, extra_folders)
        self._sources = names_of_sources(areas)
        self._settings = IndexSettings(
            workspace,
            areas,
            all_recipes(self._sources, recipes or {}, vector_weight),
            embedder,
            tokenizer or WordTokenizer(),
            timezone,
            candidate_multiplier,
            keyword_search,
            chunk_tokens,
            redact,
            report or (lambda _kind, _details: None),
            clock,
            db,
        )
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        self._closed = False
        self._watcher: FolderWatcher | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    # ------------------------------------------------------------------ life

    async def start(self, *, watch: bool = True) -> None:
        """Begin to index in the background. Searches start what they need by themselves; this is for being early.

        Args:
            watch (`bool`): Whether to watch the folders, so that changes are indexed before they are searched for.
        """
        self._closed = False
        self._open()
        loop = asyncio.get_running_loop()
        if any(task.get_loop() is loop for task in self._tasks):
            return
        self._tasks = {loop.create_task(self._begin())}
        if watch:
            single, *others = (area.place for area in self._settings.areas)
            self._watcher = FolderWatcher(others, [single], self._in_background)
            self._tasks.add(loop.create_task(self._watcher.run()))

    async def close(self) -> None:
        """Stop watching and indexing, and let go of the files. What was indexed stays. `start` opens it again."""
        self._closed = True
        if self._watcher is not None:
            self._watcher.stop()
        tasks, self._tasks, self._watcher = self._tasks, set(), None
        here = [task for task in tasks if task.get_loop() is asyncio.get_running_loop()]
        for task in here:
            task.cancel()
        await asyncio.gather(*here, return_exceptions=True)
        engine, self._engine = self._engine, None
        if engine is not None:
            if engine.vectors is not None:
                await engine.vectors.stop()
            await anyio.to_thread.run_sync(engine.close)

    async def __aenter__(self) -> NoteIndex:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources; what goes first among equals first."""
        return self._sources

    async def sync(self) -> None:
        """Make the index hold what the files hold now, with all vectors that can be had.

        Raises:
            `NotStartedError`: the index was closed.
            `StorageError`: the index cannot be read or written.
        """
        engine = self._open()
        await self._synchronize(engine)
        if engine.vectors is not None:
            await engine.vectors.fill()

    async def status(self) -> IndexStatus:
        """How many files and chunks there are, and what does not work."""
        engine = self._open()
        files, chunks, waiting = await engine.database.read(_counts)
        vectors = "off" if engine.vectors is None else engine.vectors.state
        watcher = self._watcher.state if self._watcher else "off"
        return IndexStatus(
            files, chunks, waiting if engine.vectors else 0, vectors, watcher, dict(engine.reconciler.faults)
        )

    # ------------------------------------------------------------------ search

    async def search(
        self,
        query: str,
        max_results: int = 5,
        min_score: float = 0.1,
        *,
        sources: str | Iterable[str] | None = None,
        paths: str | Iterable[str] | None = None,
        since: Day = None,
        until: Day = None,
    ) -> list[SearchHit]:
        """Find what the notes and the archive say about something.

        Args:
            query (`str`):
                A question or a few words, in any language; dates in it ("last May", "上周三") and names of speakers
                count.
            max_results (`int`):
                The most hits.
            min_score (`float`):
                The least score, 0 to 1. A hit by words scores at least 0.2.
            sources (`str | Iterable[str] | None`):
                "notes", "dialog", names of extra folders; all if left out.
            paths (`str | Iterable[str] | None`):
                Files, and folders with all that is in them, relative to the workspace or absolute.
            since (`date | datetime | str | None`), until (`date | datetime | str | None`):
                The first and the last day; what has no time is then not found.

        Returns:
            `list[SearchHit]`: the best first; empty where nothing is relevant.

        Raises:
            `ConfigError`: a source that is not known, no day, or a last day before the first.
            `NotStartedError`: the index was closed.
        """
        engine = self._open()
        wanted = self._wanted(sources)
        places = [shown_path(self._settings.areas, self._settings.root, path) for path in names_of(paths)]
        limits = Limits.of(places, since, until, self._settings.timezone)
        if max_results < 1:
            return []
        candidates = math.ceil(max_results * self._settings.candidate_multiplier)

        def find(vectors: Mapping[str, Any]) -> list[SearchHit]:
            view = self._view(query)
            question = Question(view, vectors, wanted, limits, max_results, min_score, candidates)
            return answer(question, engine.shelves, engine.database)

        if engine.vectors is None:
            return await self._after_sync(engine, lambda: find({}))
        texts = await self._after_sync(engine, lambda: self._texts(query, engine.shelves))
        vectors = await engine.vectors.of_queries(list(texts.values()), _VECTOR_PATIENCE)
        found = {source: vector for source, vector in zip(texts, vectors, strict=True) if vector is not None}
        return await anyio.to_thread.run_sync(find, found)

    async def read(self, path: str, start_line: int = 1, limit: int = 40, *, max_chars: int = 8_000) -> Excerpt:
        """Read lines of an indexed file, such as those around a hit.

        Args:
            path (`str`): As in a hit.
            start_line (`int`): The first line, counted from 1.
            limit (`int`): How many lines.
            max_chars (`int`): The most characters; the excerpt ends before that.

        Raises:
            `PathNotAllowedError`: it is none of the indexed files.
            `StorageError`: it cannot be read.
        """
        areas, root = self._settings.areas, self._settings.root
        return await anyio.to_thread.run_sync(read_excerpt, areas, root, path, start_line, limit, max_chars)

    # ------------------------------------------------------------------ for good

    async def texts_of(self, session_id: str) -> list[str]:
        """The texts whose vectors the turns of a session are found by."""
        engine = self._open()
        await self._synchronize(engine)
        rows = await engine.database.read(_turns_of, session_id)
        return list(dict.fromkeys(text for kind, turn in rows for text in vector_texts(kind, turn)))

    async def forget(self, texts: Iterable[str]) -> bool:
        """Follow the files, delete cached vectors of texts, and leave no byte of what the index does not hold any more.

        Returns:
            `bool`: False where another process was reading all the while, and it has to be done again.
        """
        engine = self._open()
        await self._synchronize(engine)
        if self._settings.embedder is not None:
            await self._settings.embedder.forget(list(texts))
        return await engine.database.compact()

    # ------------------------------------------------------------------ inside

    def _open(self) -> Engine:
        if self._closed:
            raise NotStartedError("The note index was closed: call start() to use it again.")
        with self._opening:
            if self._engine is None:
                self._engine = self._settings.open()
            return self._engine

    async def _begin(self) -> None:
        try:
            await self._in_background()
        except Exception:
            logger.exception("The notes could not be indexed; the first search tries again.")

    async def _in_background(self) -> None:
        engine = self._open()
        await self._synchronize(engine)
        if engine.vectors is not None:
            await engine.vectors.fill(patience=0.0)

    async def _synchronize(self, engine: Engine) -> None:
        await anyio.to_thread.run_sync(self._synchronizer(engine), abandon_on_cancel=True)

    async def _after_sync(self, engine: Engine, then: Callable[[], T]) -> T:
        """Index what has changed and go on in the same thread; without waiting for the end of what takes long."""
        synchronize = self._synchronizer(engine)

        def both() -> T:
            synchronize()
            return then()

        with anyio.move_on_after(_SYNC_PATIENCE):
            return await anyio.to_thread.run_sync(both, abandon_on_cancel=True)
        logger.info("The notes are still being indexed; this search sees those that are.")
        return await anyio.to_thread.run_sync(then)

    def _synchronizer(self, engine: Engine) -> Callable[[], None]:
        """What synchronizes in a thread and reports in the loop."""
        loop = asyncio.get_running_loop()

        def synchronize() -> None:
            started = time.monotonic()
            changes = engine.synchronize()
            if changes and not loop.is_closed():
                details = {"files": changes.read, "removed": changes.removed, "seconds": time.monotonic() - started}
                loop.call_soon_threadsafe(self._settings.report, "indexed", details)

        return synchronize

    def _wanted(self, sources: str | Iterable[str] | None) -> list[str]:
        asked = names_of(sources)
        if unknown := [name for name in asked if name not in self._sources]:
            raise ConfigError(f"sources has {unknown[0]!r}: there are {', '.join(self._sources)}.")
        wanted = [name for name in self._sources if name in asked or not asked]
        return [*wanted, TOOLS] if DIALOG in wanted else wanted

    def _view(self, query: str) -> QueryView:
        return QueryView.of(_bounded(query), self._settings.words, self._settings.now())

    def _texts(self, query: str, shelves: Shelves) -> dict[str, str]:
        """By source, the query as it is embedded; none where it asks for nothing."""
        view = self._view(query)
        texts = dict.fromkeys(self._sources, view.text) if view.tokens else {}
        if texts and (dialog := shelves.index(DIALOG)):
            texts[DIALOG] = view.without(dialog.speakers)
        return texts


def _bounded(query: str) -> str:
    """Beginning and end of what is too long for a question."""
    return query if len(query) <= 2 * _QUERY_END else f"{query[:_QUERY_END]}\n{query[-_QUERY_END:]}"


def _turns_of(connection: sqlite3.Connection, session_id: str) -> list[tuple[str, str]]:
    return connection.execute("SELECT kind, text FROM chunk WHERE session_id = ?", (session_id,)).fetchall()


def _counts(connection: sqlite3.Connection) -> tuple[int, int, int]:
    queries = ("SELECT count(*) FROM file", "SELECT count(*) FROM chunk", "SELECT count(*) FROM chunk WHERE waiting")
    files, chunks, waiting = (connection.execute(query).fetchone()[0] for query in queries)
    return files, chunks, waiting
