# -*- coding: utf-8 -*-
"""What was recalled for a request: memories, and passages of knowledge bases, apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from ..message import delimited
from ..record import MemoryNode
from ..vector_memory import RetrievedMemory
from ._optional_steps import OptionalSteps, several

__all__ = ["Knowledge", "Passage", "Recall", "asked_of_knowledge", "within"]


class Knowledge(Protocol):
    """What can be asked for documents; the host's `KnowledgeBase` can."""

    async def retrieve(self, query: str, limit: int = 5, score_threshold: float | None = None, **kwargs: Any) -> Any:
        """Documents that have to do with a query."""


@dataclass(frozen=True)
class Passage:
    """A passage of a knowledge base.

    Args:
        text (`str`): what it says.
        score (`float | None`): how relevant it is, as its base says.
        source (`str`): the document that it is from.
    """

    text: str
    score: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Recall:
    """What was recalled.

    Args:
        memories (`tuple[RetrievedMemory, ...]`): private memories, best first.
        knowledge (`tuple[Passage, ...]`): passages, where the memories alone were weak.
        queries (`tuple[str, ...]`): what was asked.
        expanded (`bool`): whether sources were looked through.
    """

    memories: tuple[RetrievedMemory, ...] = ()
    knowledge: tuple[Passage, ...] = ()
    queries: tuple[str, ...] = ()
    expanded: bool = False

    @property
    def nodes(self) -> list[MemoryNode]:
        """The memories alone."""
        return [each.node for each in self.memories]

    @property
    def best(self) -> float:
        """The score of the best memory, 0 where there is none."""
        return max((each.score for each in self.memories), default=0.0)

    def __str__(self) -> str:
        """Ready for a prompt: two delimited sections, each only where there is something in it."""
        sections = []
        if self.memories:
            sections.append(delimited("\n".join(f"- {node}" for node in self.nodes), "memories"))
        if self.knowledge:
            passages = (f"- {each.text}" + (f" ({each.source})" if each.source else "") for each in self.knowledge)
            sections.append(delimited("\n".join(passages), "knowledge"))
        return "\n\n".join(sections)


async def asked_of_knowledge(bases: Sequence[Knowledge], query: str, limit: int, steps: OptionalSteps) -> list[Passage]:
    """The best passages of several knowledge bases, asked at the same time. One that fails keeps none from the others.

    Args:
        bases (`Sequence[Knowledge]`): the host's knowledge bases, or anything with their `retrieve`, async or not.
        query (`str`): the request.
        limit (`int`): how many passages at most.
        steps (`OptionalSteps`): asks them.
    """
    answers: list[list[Passage]] = [[] for _ in bases]

    async def ask(at: int, base: Knowledge) -> None:
        retrieve: Any = getattr(base, "retrieve", base)
        answers[at] = await steps.ask("knowledge", retrieve, _passages, (), query, limit=limit)

    async with anyio.create_task_group() as group:
        for at, base in enumerate(bases):
            group.start_soon(ask, at, base)
    found: dict[str, Passage] = {}
    for passage in (each for answer in answers for each in answer if each.text):
        found.setdefault(passage.text, passage)
    return sorted(found.values(), key=lambda each: -(each.score or 0.0))[:limit]


def _passages(answer: Any) -> list[Passage]:
    return [_passage(each) for each in several("The answer", answer, "give a list of documents")]


def _passage(document: Any) -> Passage:
    metadata = getattr(document, "metadata", None)
    content = getattr(metadata, "content", None)
    if isinstance(content, dict):
        content = content.get("text")
    text = content if isinstance(content, str) else document if isinstance(document, str) else ""
    score = getattr(document, "score", None)
    source = getattr(metadata, "doc_id", "") or ""
    return Passage(text.strip(), score if isinstance(score, (int, float)) else None, str(source))


def within(memories: Sequence[RetrievedMemory], max_tokens: int | None, count: Any) -> list[RetrievedMemory]:
    """The first of the memories that fit so many tokens together; at least one."""
    if max_tokens is None:
        return list(memories)
    kept: list[RetrievedMemory] = []
    room = max_tokens
    for each in memories:
        room -= count(str(each.node))
        if kept and room < 0:
            break
        kept.append(each)
    return kept
