# -*- coding: utf-8 -*-
"""What the data sets have in common: texts to remember, and questions with the texts that answer them."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

from agentscope_reme.message import estimate_tokens

__all__ = ["Conversation", "DataSet", "Memory", "Question"]


@dataclass(frozen=True)
class Memory:
    """One text that a question may ask for.

    Args:
        id (`str`): its id in the data set.
        said (`tuple[tuple[str, str, str], ...]`): role, name and text of what was said; a turn has one, an exchange
            of a request and its answer two.
        time (`datetime`): when.
        session (`str`): the conversation that it is part of.
    """

    id: str
    said: tuple[tuple[str, str, str], ...]
    time: datetime
    session: str

    @property
    def text(self) -> str:
        """All of it as one text, for systems that store texts."""
        return "\n".join(text for _, _, text in self.said)


@dataclass(frozen=True)
class Question:
    """A question.

    Args:
        text (`str`): what is asked.
        gold (`frozenset[str]`): the ids of the memories that answer it.
        category (`str`): its kind; "" where the set has none.
    """

    text: str
    gold: frozenset[str]
    category: str = ""


@dataclass(frozen=True)
class Conversation:
    """What one person's workspace holds, and what is asked of it."""

    name: str
    memories: list[Memory]
    questions: list[Question]
    asked_at: datetime

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The tokens of each memory, by estimate."""
        return {memory.id: estimate_tokens(memory.text) for memory in self.memories}


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Args:
        name (`str`): its name.
        kind (`Literal["dialog", "notes"]`): whether its memories are archived as a dialog or written as notes.
        conversations (`list[Conversation]`): its workspaces.
        unlabelled (`int`): questions that are left out because no memory answers them.
    """

    name: str
    kind: Literal["dialog", "notes"]
    conversations: list[Conversation]
    unlabelled: int = field(default=0)
