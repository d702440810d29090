# -*- coding: utf-8 -*-
"""Memory for AgentScope agents: a context that never overflows, and what was said kept and found again."""

from typing import TYPE_CHECKING

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
from ._memory_manager import MemoryManager
from ._reme_light import ReMeLight
from ._version import __version__
from .record import MemoryNode, ToolCallRecord
from .text import PromptBook
from .working_memory import ReMeInMemoryMemory

if TYPE_CHECKING:  # loaded when first asked for: who attaches a manager does not pay for the vector memory
    from ._long_term_memory import ReMeLongTermMemory
    from ._reme import ReMe

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

_LATER = {"ReMe": "_reme", "ReMeLongTermMemory": "_long_term_memory"}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
