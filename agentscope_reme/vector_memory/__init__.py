# -*- coding: utf-8 -*-
"""Memories of people, procedures and tools: kept, found again, and changed on record."""

from ._agent_retriever import AgentRetriever
from ._audit import AuditRow
from ._bank import Filters, MemoryBank
from ._conversations import Conversations
from ._erasing import Erased
from ._guide_keeping import GuideKeeping
from ._keeping_rules import KeepingRules, raised
from ._model_access import ModelAccess
from ._owner import Owner, owned_by, owners_of
from ._profile import ProfileBook
from ._questions import questions_of
from ._retriever import MemoryRetriever, RetrievedMemory
from ._scoring import BAND, RankWeights, Similarity
from ._summarizer import MemorySummarizer
from ._tool_records import ToolRecords
from ._tool_statistics import ToolStatistics, statistics_of
from ._utterances import own_messages
from ._vectors import Vectors
from .kinds import PERSONAL, PROCEDURAL, TOOL, MemoryKind

__all__ = [
    "MemoryBank",
    "Owner",
    "owners_of",
    "owned_by",
    "AuditRow",
    "Erased",
    "Conversations",
    "ProfileBook",
    "MemoryRetriever",
    "RetrievedMemory",
    "RankWeights",
    "BAND",
    "Similarity",
    "questions_of",
    "own_messages",
    "Filters",
    "Vectors",
    # drawn from conversations and calls by a model
    "MemorySummarizer",
    "AgentRetriever",
    "ModelAccess",
    "KeepingRules",
    "raised",
    "MemoryKind",
    "PERSONAL",
    "PROCEDURAL",
    "TOOL",
    "ToolRecords",
    "GuideKeeping",
    "ToolStatistics",
    "statistics_of",
]
