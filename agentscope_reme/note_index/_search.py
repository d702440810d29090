# -*- coding: utf-8 -*-
"""A question put to the indexes, and what they find as hits. Blocking: it runs in a thread."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..record import NoteChunk, SearchHit
from ..search import Found, QueryView, merge_sources
from ..storage import Database
from ._areas import DIALOG, TOOLS
from ._asked import Limits
from ._shelves import Shelves
from ._snippets import snippet

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Question", "answer"]

_TOOL_PLACE = 0.8
"""What the result of a tool counts beside what people wrote and said, where both match alike."""


@dataclass(frozen=True)
class Question:
    """What is searched for.

    Args:
        view (`QueryView`): the query.
        vectors (`Mapping[str, np.ndarray]`): by source, its vector; sources that are left out are searched by words.
        sources (`Sequence[str]`): where to search, what goes first among equals first.
        limits (`Limits`): paths and days.
        max_results (`int`): the most hits.
        min_score (`float`): the least score.
        candidates (`int`): how many of each source are compared.
    """

    view: QueryView
    vectors: Mapping[str, np.ndarray]
    sources: Sequence[str]
    limits: Limits
    max_results: int
    min_score: float
    candidates: int


def answer(question: Question, shelves: Shelves, database: Database) -> list[SearchHit]:
    """Search each source, bring what they find into one order, and show where it matches."""
    allowed = question.limits.allowed(database, shelves.local_time)
    results: dict[str, list[Found]] = {}
    for source in question.sources:
        index = shelves.index(source)
        if index is not None:
            results[source] = index.search(
                question.view,
                question.candidates,
                vector=question.vectors.get(source),
                min_score=question.min_score,
                allowed=allowed,
            )
    merged = _merged(results, question)
    chunks = database.read_sync(_chunks, [found.key for found in merged])
    hits = [_hit(found, chunks[found.key], question, shelves) for found in merged if found.key in chunks]
    return _once(hits)[: question.max_results]


def _merged(results: Mapping[str, Sequence[Found]], question: Question) -> list[Found]:
    places = {
        source: [_placed(found, _TOOL_PLACE) for found in founds] if source == TOOLS else founds
        for source, founds in results.items()
    }
    by_key = {found.key: found for founds in results.values() for found in founds}
    count = math.ceil(1.5 * question.max_results) + 10  # some may be duplicates, or gone by now
    return [by_key[found.key] for _, found in merge_sources(places, count, question.sources)]


def _placed(found: Found, share: float) -> Found:
    return Found(found.key, found.score * share, found.order, found.parts)


def _chunks(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple]:
    query = (
        "SELECT c.id, f.path, f.source, c.kind, c.start_line, c.end_line, c.text, c.heading, c.time, c.speaker, "
        "c.message_id, c.session_id FROM chunk c JOIN file f ON f.id = c.file WHERE c.id = ?"
    )
    found = (connection.execute(query, (chunk,)).fetchone() for chunk in ids)
    return {row[0]: row for row in found if row is not None}


def _hit(found: Found, row: Sequence, question: Question, shelves: Shelves) -> SearchHit:
    _, path, source, _, start, end, text, heading, time, speaker, message_id, session_id = row
    chunk = NoteChunk(
        path, start, end, text, source, heading, shelves.local_time(time), speaker, message_id, session_id
    )
    return SearchHit(chunk, found.score, snippet(text, question.view.tokens), found.parts)


def _once(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """Without notes that say the same as one before; turns of a dialog are different events."""
    seen: set[str] = set()
    kept = []
    for hit in hits:
        said = "" if hit.chunk.source == DIALOG else " ".join(hit.chunk.text.split())
        if said not in seen or not said:
            kept.append(hit)
        if said:
            seen.add(said)
    return kept
