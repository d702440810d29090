# -*- coding: utf-8 -*-
"""Memories of people, procedures and tools: kept, found again, and changed on record."""

from ._audit import AuditRow
from ._bank import Filters, MemoryBank
from ._conversations import Conversations
from ._owner import Owner, owned_by, owners_of
from ._profile import ProfileBook
from ._retriever import MemoryRetriever, RetrievedMemory
from ._scoring import BAND, RankWeights, Similarity
from ._vectors import Vectors

__all__ = [
    "MemoryBank",
    "Owner",
    "owners_of",
    "owned_by",
    "AuditRow",
    "Conversations",
    "ProfileBook",
    "MemoryRetriever",
    "RetrievedMemory",
    "RankWeights",
    "BAND",
    "Similarity",
    "Filters",
    "Vectors",
]
