# -*- coding: utf-8 -*-
"""Where recalled texts come from: notes with the archive, and the vector memory; asked together, each failing alone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio

from ._owners import Owners
from .record import MemoryNode, SearchHit

__all__ = [
    "Found",
    "NoteSource",
    "RecallSource",
    "Recalled",
    "Remembering",
    "Search",
    "StandingSource",
    "VectorSource",
    "distinct",
    "recalled",
    "search_all",
]

logger = logging.getLogger("agentscope_reme")

Search = Callable[[str, int, float], Awaitable[Sequence[SearchHit]]]
"""Finds the best hits for a query: at most so many, of at least this score."""

_PATIENCE = 10.0
"""Seconds after which a source that has not answered is left out: a reply does not wait for a server that is gone."""


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
    """

    text: str
    score: float
    label: str
    shown: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    text_field: str = "content"
    memory: MemoryNode | None = None


class RecallSource(Protocol):
    """Something that can be searched before a reply."""

    @property
    def name(self) -> str:
        """What the source is called where it failed."""
        ...

    async def find(self, query: str, limit: int, min_score: float) -> Sequence[Recalled]:
        """The best texts for a query: at most so many, of at least this score."""
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


@dataclass(frozen=True)
class Found:
    """What was found for a reply.

    Args:
        hits (`Sequence[Recalled]`):
            What has to do with what is asked, the best first.
        standing (`Sequence[Recalled]`):
            What is shown besides, without what is among the hits: first what has to do with it too.
    """

    hits: Sequence[Recalled] = ()
    standing: Sequence[Recalled] = ()


class Remembering(Protocol):
    """What is needed of a `ReMe`."""

    async def retrieve_memory(self, query: str = "", **options: Any) -> Sequence[MemoryNode]: ...


@dataclass(frozen=True)
class NoteSource:
    """The notes and the dialog archive of a workspace.

    Args:
        search (`Search`):
            Searches them.
    """

    search: Search
    name: str = "notes"

    async def find(self, query: str, limit: int, min_score: float) -> list[Recalled]:
        """See `RecallSource.find`."""
        return [_of_hit(hit) for hit in await self.search(query, limit, min_score)]


@dataclass(frozen=True)
class VectorSource:
    """The memories of some owners in a `ReMe`. Without an owner nothing is found: memories of others are not shown.

    Where a condensed memory is among what is found, it is recalled on two levels: what the request asks for of its
    sources is shown.

    Args:
        reme (`ReMe`):
            The memories.
        owners (`Owners`):
            Whose.
    """

    reme: Remembering
    owners: Owners
    name: str = "memories"

    async def find(self, query: str, limit: int, min_score: float) -> list[Recalled]:
        """See `RecallSource.find`."""
        if not self.owners:
            return []
        named = self.owners.lists()
        nodes = await self.reme.retrieve_memory(query=query, limit=limit, min_score=min_score, **named)
        recall = getattr(self.reme, "recall", None)
        if recall is not None and any(node.source_ids for node in nodes):
            nodes = (await recall(query, limit=limit, min_score=min_score, **named)).nodes
        return [recalled(node) for node in nodes]


async def search_all(
    sources: Sequence[RecallSource],
    queries: Sequence[tuple[str, float]],
    limit: int,
    min_score: float,
    failed: Callable[[str, Exception], None],
    *,
    standing: Sequence[StandingSource] = (),
    most: int | None = None,
) -> Found:
    """Ask all sources at the same time, and put what they found in one order.

    Args:
        sources (`Sequence[RecallSource]`):
            What is searched.
        queries (`Sequence[tuple[str, float]]`):
            Each with what a hit is worth that it finds, 0 to 1. A blank one is passed over.
        limit (`int`):
            The most texts that one query finds in one source.
        min_score (`float`):
            The least score of a hit, before it is weighed.
        failed (`Callable[[str, Exception], None]`):
            Told each source that failed or did not answer in time. The others count.
        standing (`Sequence[StandingSource]`):
            What is shown besides.
        most (`int | None`):
            The most hits; `limit` if left out.

    Returns:
        `Found`: the best first, none twice.
    """
    hits, beside = list[Recalled](), list[Recalled]()

    async def search(source: RecallSource) -> None:
        for query, weight in queries:
            if query.strip():
                found = await source.find(query, limit, min_score)
                hits.extend(replace(hit, score=hit.score * weight) for hit in found)

    async def show(source: StandingSource) -> None:
        beside.extend(await source.all())

    async def ask(name: str, asking: Awaitable[None]) -> None:
        try:
            with anyio.fail_after(_PATIENCE):
                await asking
        except Exception as error:
            logger.warning("The %s could not be searched for a reply.", name, exc_info=True)
            failed(name, error)

    async with anyio.create_task_group() as group:
        for source in sources:
            group.start_soon(ask, source.name, search(source))
        for other in standing:
            group.start_soon(ask, other.name, show(other))
    ranked = distinct(hits)
    shown = ranked[: limit if most is None else most]
    return Found(shown, _besides(beside, shown, ranked))


def _besides(standing: Sequence[Recalled], shown: Sequence[Recalled], ranked: Sequence[Recalled]) -> list[Recalled]:
    """What is shown besides the hits: what was found too, but not among the best, comes first."""
    ranks = {hit.text: rank for rank, hit in enumerate(ranked)}
    listed = {hit.text for hit in shown}
    left = list({hit.text: hit for hit in standing if hit.text not in listed}.values())
    return sorted(left, key=lambda hit: ranks.get(hit.text, len(ranks)))


def distinct(hits: Sequence[Recalled]) -> list[Recalled]:
    """The hits by their score, without those whose text stands in another one that is there.

    What was noted and what was learnt of one sentence often differ by a dash and a full stop only.
    """
    kept: list[tuple[str, Recalled]] = []
    for hit in sorted(hits, key=lambda each: -each.score):
        text = _bare(hit.text)
        if any(_stands_in(text, other) for other, _ in kept):
            continue
        inside = [at for at, (other, _) in enumerate(kept) if _stands_in(other, text)]
        if inside:  # it says more than one that scored better, and takes its place
            kept[inside[0]] = (text, replace(hit, score=kept[inside[0]][1].score))
            kept = [pair for at, pair in enumerate(kept) if at not in inside[1:]]
        else:
            kept.append((text, hit))
    return [hit for _, hit in kept]


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().strip("-*•. 。;；")


def _stands_in(part: str, whole: str) -> bool:
    at = whole.find(part)
    end = at + len(part)
    return at >= 0 and not whole[max(0, at - 1) : at].isalnum() and not whole[end : end + 1].isalnum()


def _of_hit(hit: SearchHit) -> Recalled:
    fields = hit.to_dict()
    text = fields.pop("snippet")
    return Recalled(text, hit.score, f"{hit.chunk.path}:{hit.chunk.start_line}", fields=fields, text_field="snippet")


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
