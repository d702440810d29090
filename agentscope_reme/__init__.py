# -*- coding: utf-8 -*-
"""Memory for AgentScope agents: a context that never overflows, and what was said kept and found again."""

from ._agent import ReMeReActAgent
from ._config import ContextConfig, RecallConfig
from ._errors import (
    AttachError,
    ConfigError,
    EmbeddingError,
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
)
from ._events import Event, EventKind
from ._long_term_memory import ReMeLongTermMemory
from ._memory_manager import MemoryManager
from ._reme_light import ReMeLight
from ._version import __version__
from .text import PromptBook
from .working_memory import ReMeInMemoryMemory

__all__ = [
    "MemoryManager",
    "ReMeLight",
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
    "PathNotAllowedError",
    "PromptError",
    "ModelReplyError",
    "EmbeddingError",
    "__version__",
]
