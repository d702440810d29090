# -*- coding: utf-8 -*-
"""What the work on one conversation is done with, and what it is done on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from agentscope.message import Msg

from .._events import EventBus
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._memory_writer import MemoryWriter
from ._model_access import ModelAccess
from ._prompts import Assignment
from ._proposal import Extraction
from ._shown import Shown
from ._tool_guide import ToolGuides
from ._tool_records import ToolRecords
from .kinds import MemoryKind

__all__ = ["Talk", "Workshop"]


class Draws(Protocol):
    """What draws memories: in a reply, or by an agent."""

    async def extract(self, assignment: Assignment) -> tuple[Extraction, Shown]: ...


@dataclass(frozen=True)
class Workshop:
    """What the rounds of one summarizer share.

    Args:
        access (`ModelAccess`): the model and the prompts.
        events (`EventBus`): told what comes of it.
        kinds (`dict[str, MemoryKind]`): the kinds of memory by their names.
        drawing (`Draws`): draws memories.
        writer (`MemoryWriter`): stores them.
        guides (`ToolGuides`): the guides to tools.
        records (`ToolRecords`): the calls that these are from.
        phrases (`re.Pattern[str]`): from `small_talk`.
        delegating (`bool`): of several targets, a model chooses those that are concerned.
    """

    access: ModelAccess
    events: EventBus
    kinds: dict[str, MemoryKind]
    drawing: Draws
    writer: MemoryWriter
    guides: ToolGuides
    records: ToolRecords
    phrases: re.Pattern[str]
    delegating: bool


@dataclass(frozen=True)
class Talk:
    """A conversation, and how memories are to be drawn from it.

    Args:
        messages (`tuple[Msg, ...]`): as `own_messages` leaves them.
        language (`str | None`): of the prompts; `None` where there is no conversation to tell it from.
        forced (`bool`): memories are written in that language.
        description (`str`): what the application says about the conversation.
        person (`str`): who spoke where a message of a user names nobody.
        by_model (`bool`): a model may write guides.
        rules (`KeepingRules`): how what is drawn is kept.
    """

    messages: tuple[Msg, ...] = ()
    language: str | None = None
    forced: bool = False
    description: str = ""
    person: str = ""
    by_model: bool = True
    rules: KeepingRules = AS_DRAWN
