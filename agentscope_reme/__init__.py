# -*- coding: utf-8 -*-
"""Memory for AgentScope agents: a context that never overflows, and what was said kept and found again."""

from ._agent import ReMeReActAgent
from ._config import ContextConfig, RecallConfig
from ._errors import (
    AmbiguousMemoryId,
    AttachError,
    ConfigError,
    EmbeddingError,
    MemoryNotFound,
    MessageFormatError,
    MissingModelError,
    ModelReplyError,
    NotStartedError,
    PathNotAllowedError,
    PromptError,
    ReMeError,
    SessionError,
    SessionExistsError,
    SessionInUseError,
    SessionNotFoundError,
    StorageError,
    VectorSpaceError,
    VectorStoreError,
)
from ._events import Event, EventKind
from ._long_term_memory import ReMeLongTermMemory
from ._memory_manager import MemoryManager
from ._reme import ReMe
from ._reme_light import ReMeLight
from ._version import __version__
from .record import MemoryNode, ToolCallRecord
from .text import PromptBook
from .working_memory import ReMeInMemoryMemory

__all__ = [
    "MemoryManager",
    "ReMeLight",
    "ReMe",
    "MemoryNode",
    "ToolCallRecord",
    "ReMeInMemoryMemory",
    "ReMeReActAgent",
    "ReMeLongTermMemory",
    "ContextConfig",
    "RecallConfig",
    "PromptBook",
    "Event",
    "EventKind",
    "ReMeError",
    "ConfigError",
    "MissingModelError",
    "NotStartedError",
    "AttachError",
    "SessionError",
    "SessionInUseError",
    "SessionNotFoundError",
    "SessionExistsError",
    "MessageFormatError",
    "StorageError",
    "MemoryNotFound",
    "AmbiguousMemoryId",
    "VectorStoreError",
    "VectorSpaceError",
    "PathNotAllowedError",
    "PromptError",
    "ModelReplyError",
    "EmbeddingError",
    "__version__",
]
