# -*- coding: utf-8 -*-
"""Memories of people, procedures and tools: kept, found again, and changed on record."""

from ._audit import AuditRow
from ._bank import MemoryBank
from ._conversations import Conversations
from ._owner import Owner, owned_by, owners_of
from ._profile import ProfileBook
from ._retriever import MemoryRetriever, Similarity

__all__ = [
    "MemoryBank",
    "Owner",
    "owners_of",
    "owned_by",
    "AuditRow",
    "Conversations",
    "ProfileBook",
    "MemoryRetriever",
    "Similarity",
]
