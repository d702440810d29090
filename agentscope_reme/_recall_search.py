# -*- coding: utf-8 -*-
"""What is found for a reply: all sources asked together, each failing alone, and their hits in one order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import anyio

from ._recall_sources import Question, Recalled, RecallSource, StandingSource

__all__ = ["Found", "distinct", "search_all"]

logger = logging.getLogger("agentscope_reme")

_PATIENCE = 10.0
"""Seconds after which a source that has not answered is left out: a reply does not wait for a server that is gone."""


@dataclass(frozen=True)
class Found:
    """What was found for a reply.

    Args:
        hits (`Sequence[Recalled]`):
            What has to do with what is asked, the best first.
        standing (`Sequence[Recalled]`):
            What is shown besides, without what is among the hits: first what has to do with it too.
        knowledge (`Sequence[Recalled]`):
            Passages of knowledge bases, the best first.
    """

    hits: Sequence[Recalled] = ()
    standing: Sequence[Recalled] = ()
    knowledge: Sequence[Recalled] = ()


async def search_all(
    sources: Sequence[RecallSource],
    questions: Sequence[Question],
    limit: int,
    min_score: float,
    failed: Callable[[str, Exception], None],
    *,
    standing: Sequence[StandingSource] = (),
    most: int | None = None,
) -> Found:
    """Ask all sources all questions at the same time, and put what they found in one order.

    Args:
        sources (`Sequence[RecallSource]`):
            What is searched.
        questions (`Sequence[Question]`):
            What is looked for. A blank one is passed over.
        limit (`int`):
            The most texts that one question finds in one source.
        min_score (`float`):
            The least score of a hit, before it is weighed.
        failed (`Callable[[str, Exception], None]`):
            Told each source that failed or did not answer in time, once. What the others found counts.
        standing (`Sequence[StandingSource]`):
            What is shown besides.
        most (`int | None`):
            The most hits; `limit` if left out.

    Returns:
        `Found`: the best first, none twice.
    """
    asked = [(source, question) for source in sources for question in questions if question.text.strip()]
    answers: list[Sequence[Recalled]] = [()] * (len(asked) + len(standing))
    told: set[str] = set()

    async def ask(at: int, name: str, asking: Awaitable[Sequence[Recalled]]) -> None:
        try:
            with anyio.fail_after(_PATIENCE):
                answers[at] = await asking
        except Exception as error:
            logger.warning("The %s could not be searched for a reply.", name, exc_info=True)
            if name not in told:
                told.add(name)
                failed(name, error)

    async with anyio.create_task_group() as group:
        for at, (source, question) in enumerate(asked):
            group.start_soon(ask, at, source.name, source.find(question, limit, min_score))
        for at, other in enumerate(standing, len(asked)):
            group.start_soon(ask, at, other.name, other.all())
    found = [hit for answer in answers[: len(asked)] for hit in answer]
    beside = [hit for answer in answers[len(asked) :] for hit in answer]
    ranked = distinct([hit for hit in found if not hit.is_knowledge])
    passages = distinct([hit for hit in found if hit.is_knowledge])
    count = limit if most is None else most
    return Found(ranked[:count], _besides(beside, ranked[:count], ranked), passages[:count])


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
