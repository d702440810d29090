# -*- coding: utf-8 -*-
"""What a search over notes and dialog returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._note_chunk import NoteChunk

__all__ = ["SearchHit"]


@dataclass(frozen=True)
class SearchHit:
    """A chunk that was found.

    Args:
        chunk (`NoteChunk`): where it stands and what it says.
        score (`float`): 0 to 1, comparable between queries and sources.
        snippet (`str`): the part of the text to show.
        parts (`Mapping[str, float]`): what its place was decided by, sign by sign.
    """

    chunk: NoteChunk
    score: float
    snippet: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What a model sees: path, start_line, end_line, score, snippet, source and time; of a turn, id and name."""
        chunk = self.chunk
        shown: dict[str, Any] = {
            "path": chunk.path,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "score": round(self.score, 4),
            "snippet": self.snippet or chunk.text,
            "source": chunk.source,
            "time": chunk.time.isoformat(timespec="seconds") if chunk.time else None,
        }
        if chunk.message_id:
            shown |= {"id": chunk.message_id, "name": chunk.speaker}
        return shown
