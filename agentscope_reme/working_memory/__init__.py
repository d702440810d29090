# -*- coding: utf-8 -*-
"""The memory of one session: what is kept in the context, what is condensed, what can be reloaded."""

from ._compactor import Compactor, Summary
from ._extractive import extractive_summary
from ._keeper import ContextKeeper, Turn
from ._memory import ReMeInMemoryMemory
from ._offload import OffloadStore
from ._reload_tools import ReloadTools
from ._services import MemoryServices
from ._sessions import (
    check_unused,
    create_memory,
    delete_session,
    referenced_files,
    resume_memory,
    session_ids,
    standalone_memory,
    unread_sessions,
)
from ._shrink import fair_cap
from ._split import SplitPlan, plan_split
from ._summary_check import check_summary
from ._tool_results import ToolResultCompactor, ToolResultPolicy

__all__ = [
    "ReMeInMemoryMemory",
    "create_memory",
    "delete_session",
    "check_unused",
    "resume_memory",
    "standalone_memory",
    "unread_sessions",
    "session_ids",
    "referenced_files",
    "ContextKeeper",
    "Turn",
    "MemoryServices",
    "SplitPlan",
    "plan_split",
    "fair_cap",
    "Compactor",
    "Summary",
    "check_summary",
    "extractive_summary",
    "ToolResultCompactor",
    "ToolResultPolicy",
    "OffloadStore",
    "ReloadTools",
]
