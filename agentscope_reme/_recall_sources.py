# -*- coding: utf-8 -*-
"""Where recalled texts come from: notes with the archive, and the vector memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from agentscope.message import Msg

from ._owners import Owners
from .record import MemoryNode, SearchHit

if TYPE_CHECKING:  # imported where a `ReMe` is made: who has none does not pay for it
    from .refine import Passage, Recall

__all__ = [
    "NoteSource",
    "Question",
    "RecallSource",
    "Recalled",
    "Remembering",
    "Search",
    "StandingSource",
    "VectorSource",
    "recalled",
]

Search = Callable[[str, int, float], Awaitable[Sequence[SearchHit]]]
"""Finds the best hits for a query: at most so many, of at least this score."""

_CONTEXT_WEIGHT = 0.8
"""What a note is worth that only the question with what was said before it finds."""

_CONTEXT_CHARS = 300


@dataclass(frozen=True)
class Question:
    """What is looked for.

    Args:
        text (`str`):
            The request.
        before (`Sequence[Msg]`):
            The last requests before it and what was answered, oldest first.
    """

    text: str
    before: Sequence[Msg] = ()

    @property
    def context(self) -> str:
        """The last request and its answer, briefly: "any cheaper ones?" means nothing without."""
        texts: dict[str, str] = {}
        for msg in reversed(self.before):
            texts.setdefault(msg.role, (msg.get_text_content() or "").strip()[:_CONTEXT_CHARS])
        return "\n".join(filter(None, (texts.get("user"), texts.get("assistant"))))


@dataclass(frozen=True)
class Recalled:
    """One text that a source found.

    Args:
        text (`str`):
            What it says.
        score (`float`):
            How relevant it is, 0 to 1, comparable between the sources.
        label (`str`):
            Where it stands: a file with a line, or whose memory it is.
        shown (`str`):
            How it stands in a list; the text itself where empty.
        fields (`Mapping[str, Any]`):
            What the JSON form says of it besides the text.
        text_field (`str`):
            What the text is called there.
        memory (`MemoryNode | None`):
            The memory, if it is one.
        is_knowledge (`bool`):
            Whether it is a passage of a knowledge base, which is shown apart from what is remembered.
    """

    text: str
    score: float
    label: str
    shown: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    text_field: str = "content"
    memory: MemoryNode | None = None
    is_knowledge: bool = False


class RecallSource(Protocol):
    """Something that can be searched before a reply."""

    @property
    def name(self) -> str:
        """What the source is called where it failed."""
        ...

    async def find(self, asked: Question, limit: int, min_score: float) -> Sequence[Recalled]:
        """The best texts for a question: at most so many of each kind, of at least this score."""
        ...


class StandingSource(Protocol):
    """Something whose texts are shown whatever is asked."""

    @property
    def name(self) -> str:
        """What the source is called where it failed."""
        ...

    async def all(self) -> Sequence[Recalled]:
        """The texts, those that matter most first."""
        ...


class Remembering(Protocol):
    """What is needed of a `ReMe`."""

    async def recall(self, query: str, **options: Any) -> Recall: ...


@dataclass(frozen=True)
class NoteSource:
    """The notes and the dialog archive of a workspace.

    Args:
        search (`Search`):
            Searches them.
    """

    search: Search
    name: str = "notes"

    async def find(self, asked: Question, limit: int, min_score: float) -> list[Recalled]:
        """See `RecallSource.find`."""
        found = [_of_hit(hit) for hit in await self.search(asked.text, limit, min_score)]
        if context := asked.context:
            more = await self.search(f"{context}\n{asked.text}", limit, min_score)
            found += [replace(_of_hit(hit), score=_CONTEXT_WEIGHT * hit.score) for hit in more]
        return found


@dataclass(frozen=True)
class VectorSource:
    """The memories of some owners in a `ReMe`. Without an owner nothing is found: memories of others are not shown.

    They are recalled as `ReMe.recall` does it: on two levels, in the order that it gives them, and where they are weak
    with passages of its knowledge bases.

    Args:
        reme (`ReMe`):
            The memories.
        owners (`Owners`):
            Whose.
    """

    reme: Remembering
    owners: Owners
    name: str = "memories"

    async def find(self, asked: Question, limit: int, min_score: float) -> list[Recalled]:
        """See `RecallSource.find`."""
        if not self.owners:
            return []
        found = await self.reme.recall(
            asked.text, messages=list(asked.before), limit=limit, min_score=min_score, **self.owners.lists()
        )
        hits, best = list[Recalled](), 0.0
        for each in reversed(found.memories):
            best = max(best, each.score)  # what stands above another one counts as much, whatever put it there
            hits.append(replace(recalled(each.node), score=best))
        return [*reversed(hits), *map(_of_passage, found.knowledge)]


def _of_hit(hit: SearchHit) -> Recalled:
    fields = hit.to_dict()
    text = fields.pop("snippet")
    return Recalled(text, hit.score, f"{hit.chunk.path}:{hit.chunk.start_line}", fields=fields, text_field="snippet")


def _of_passage(passage: Passage) -> Recalled:
    fields = {"source": passage.source, "score": passage.score}
    score = passage.score or 0.0
    return Recalled(passage.text, score, passage.source or "knowledge", fields=fields, is_knowledge=True)


def recalled(node: MemoryNode) -> Recalled:
    """A memory as a recalled text."""
    fields: dict[str, Any] = {
        "memory_id": node.memory_id,
        "memory_type": node.memory_type,
        "memory_target": node.memory_target,
        "score": round(node.score, 4),
        "time": node.message_time.isoformat(timespec="seconds") if node.message_time else None,
    }
    if node.when_to_use.strip():
        fields["when_to_use"] = node.when_to_use
    return Recalled(node.content, node.score, node.owner, str(node), fields, memory=node)
