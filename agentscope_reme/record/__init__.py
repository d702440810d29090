# -*- coding: utf-8 -*-
"""The things that are kept and found, as plain values."""

from ._conditions import FIELDS, Condition, Scalar, flat_fields, matches, meets
from ._filters import parse_filters
from ._memory_node import NEUTRAL_IMPORTANCE, MemoryNode, memory_id_of, node_key, owner_of
from ._note_chunk import NoteChunk
from ._search_hit import SearchHit
from ._tool_call_record import ToolCallRecord

__all__ = [
    "NoteChunk",
    "SearchHit",
    "MemoryNode",
    "NEUTRAL_IMPORTANCE",
    "memory_id_of",
    "node_key",
    "owner_of",
    "ToolCallRecord",
    "Condition",
    "FIELDS",
    "Scalar",
    "flat_fields",
    "matches",
    "meets",
    "parse_filters",
]
