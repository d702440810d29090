# -*- coding: utf-8 -*-
"""What a memory uses of the workspace it lives in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._config import ContextConfig
from .._events import EventBus
from ..dialog import DialogArchive
from ..message import MessageTokens, as_counter
from ..text import PromptBook
from ._tool_results import ToolResultCompactor, ToolResultPolicy

if TYPE_CHECKING:
    from ..workspace import Workspace

__all__ = ["MemoryServices"]


@dataclass(frozen=True, eq=False)
class MemoryServices:
    """One set for all the memories of a workspace.

    Args:
        workspace (`Workspace`):
            The folders.
        archive (`DialogArchive`):
            Where messages go that leave a memory.
        results (`ToolResultCompactor`):
            Puts long texts into files.
        book (`PromptBook`):
            The texts that a model reads.
        context (`ContextConfig`):
            The window, the threshold and the reserve.
        policy (`ToolResultPolicy`):
            How much of a tool result stays.
        tokens (`MessageTokens`):
            Counts.
        events (`EventBus`):
            Who is told what happened.
        language (`str | None`):
            The language of the texts; `None` is the conversation's.
        redact (`Callable[[str], str] | None`):
            Applied to every text before it is stored anywhere.
        consumers (`tuple[str, ...]`):
            Who reads the fold records of the journals that are noted.
    """

    workspace: "Workspace"
    archive: DialogArchive
    results: ToolResultCompactor
    book: PromptBook
    context: ContextConfig = field(default_factory=ContextConfig)
    policy: ToolResultPolicy = field(default_factory=ToolResultPolicy)
    tokens: MessageTokens = field(default_factory=lambda: MessageTokens(as_counter(None)))
    events: EventBus = field(default_factory=EventBus)
    language: str | None = None
    redact: Callable[[str], str] | None = None
    consumers: tuple[str, ...] = ()
