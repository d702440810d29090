# -*- coding: utf-8 -*-
"""The things that are kept and found, as plain values."""

from ._note_chunk import NoteChunk
from ._search_hit import SearchHit

__all__ = ["NoteChunk", "SearchHit"]
