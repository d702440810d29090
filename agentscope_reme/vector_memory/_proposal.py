# -*- coding: utf-8 -*-
"""What a model proposes to remember, and what of it was refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ..record import NEUTRAL_IMPORTANCE, MemoryNode
from ._owner import Owner

__all__ = ["Action", "Extraction", "Proposal", "Refusal"]

Action = Literal["add", "update", "supersede"]


@dataclass(frozen=True)
class Proposal:
    """One memory to be stored.

    Args:
        content (`str`): what is known.
        action (`"add" | "update" | "supersede"`): what becomes of `target`.
        target (`str`): the id, as the model was shown it, of the memory to complete or to replace.
        when_to_use (`str`): the situation in which it is of use.
        category (`str`): one of its kind's, or "".
        message_time (`datetime | None`): when it was said.
        author (`str`): who said it.
        entities (`tuple[str, ...]`): names in it.
        importance (`float | None`): 0 to 1; `None` where nobody judged.
        outdated (`str`): the words of `target` that do not hold any more.
        labels (`Mapping[str, tuple[str, ...]]`): values by the dimensions of tags.
    """

    content: str
    action: Action = "add"
    target: str = ""
    when_to_use: str = ""
    category: str = ""
    message_time: datetime | None = None
    author: str = ""
    entities: tuple[str, ...] = ()
    importance: float | None = None
    outdated: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def node(self, owner: Owner, ref_memory_id: str = "") -> MemoryNode:
        """The memory that it becomes."""
        return MemoryNode(
            self.content,
            owner.memory_type,
            owner.target,
            when_to_use=self.when_to_use,
            category=self.category,
            message_time=self.message_time,
            ref_memory_id=ref_memory_id,
            author=self.author,
            entities=self.entities,
            tags=tuple(f"{name}:{value}" for name, values in self.labels.items() for value in values),
            metadata={name: list(values) for name, values in self.labels.items()},
            importance=NEUTRAL_IMPORTANCE if self.importance is None else self.importance,
        )


@dataclass(frozen=True)
class Refusal:
    """Why something is not stored.

    Args:
        reason (`str`): ``no_content``, ``too_long``, ``action``, ``id``, ``target``, ``source``, ``other_person``,
            ``prompt``, ``older``, ``repeated`` or ``taken_back``; the prompts ``memory_agent.refused_...`` say it.
        value (`str`): what was refused.
    """

    reason: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.value}"


@dataclass
class Extraction:
    """What was drawn from a conversation for one owner.

    Args:
        proposals (`list[Proposal]`): the memories, in the order of the conversation.
        profile (`dict[str, str]`): keys with new values.
        refusals (`list[Refusal]`): what was turned away.
        calls (`int`): how often a model was asked; 0 where an agent did the asking.
        failures (`dict[str, str]`): what went wrong in a phase that the rest does not depend on, by its name.
    """

    proposals: list[Proposal] = field(default_factory=list)
    profile: dict[str, str] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    calls: int = 0
    failures: dict[str, str] = field(default_factory=dict)
