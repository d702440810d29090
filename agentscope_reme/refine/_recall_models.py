# -*- coding: utf-8 -*-
"""Models that recall may use, all of them off by default: one that orders hits, one that writes queries."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from .._errors import ModelReplyError
from ..chat import ask
from ..message import delimited, estimate_tokens
from ..record import MemoryNode
from ..text import PromptBook
from ._draft import parse_numbers, parse_queries
from ._models import Model, access_of

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase

__all__ = ["Rerank", "WriteQueries", "query_writer", "reranker"]

logger = logging.getLogger("agentscope_reme")

Rerank = Callable[[str, Sequence[MemoryNode]], Awaitable[Sequence[int]] | Sequence[int]]
"""Puts memories in another order for a request: returns their numbers, counted from 0, best first. One that is not
async runs on a thread."""

WriteQueries = Callable[[str, Sequence[str]], Awaitable[Sequence[str]] | Sequence[str]]
"""Writes queries for a request and what was said before it, oldest first; async or not."""

_MOST_QUERIES = 4
_TURN_CHARS = 400
_TURNS = 6


def reranker(
    model: Model,
    formatter: FormatterBase | None = None,
    *,
    book: PromptBook | None = None,
    timeout: float | None = 20,
) -> Rerank:
    """A rerank step by a model. Where it fails, the order stays.

    Args:
        model (`ChatModelBase | Mapping`): the model, or a dictionary as `chat.build_model` takes it.
        formatter (`FormatterBase | None`): goes with a ready model.
        book (`PromptBook | None`): other prompts.
        timeout (`float | None`): seconds for the reply.
    """
    access = access_of(model, formatter, book or PromptBook(), estimate_tokens, timeout)

    async def rerank(request: str, nodes: Sequence[MemoryNode]) -> Sequence[int]:
        language = access.language(None, [request])
        memories = "\n".join(delimited(str(node), "memory", number=at) for at, node in enumerate(nodes, 1))
        question = access.book.text(
            language, "refine.rerank_request", request=delimited(request, "request"), memories=memories
        )
        system = access.book.text(language, "refine.rerank_system")
        try:
            reply = await ask(
                *access.pair("Ordering memories"), system, question, timeout=timeout, temperature=access.temperature
            )
            return [number - 1 for number in parse_numbers(reply.text, len(nodes))]
        except ModelReplyError as error:
            logger.warning("The order of memories stays: %s", error)
            return range(len(nodes))

    return rerank


def query_writer(
    model: Model,
    formatter: FormatterBase | None = None,
    *,
    book: PromptBook | None = None,
    most: int = _MOST_QUERIES,
    timeout: float | None = 20,
) -> WriteQueries:
    """Queries by a model, from the request and the end of what was said before. Where it fails, rules alone plan.

    Args:
        model (`ChatModelBase | Mapping`): the model, or a dictionary as `chat.build_model` takes it.
        formatter (`FormatterBase | None`): goes with a ready model.
        book (`PromptBook | None`): other prompts.
        most (`int`): how many queries at most.
        timeout (`float | None`): seconds for the reply.
    """
    access = access_of(model, formatter, book or PromptBook(), estimate_tokens, timeout)

    async def write(request: str, recent: Sequence[str]) -> Sequence[str]:
        language = access.language(None, [request])
        said = "\n".join(each[-_TURN_CHARS:] for each in recent[-_TURNS:])
        question = access.book.text(
            language, "refine.queries_request", before=delimited(said, "before"), request=delimited(request, "request")
        )
        system = access.book.text(language, "refine.queries_system", count=most)
        try:
            reply = await ask(
                *access.pair("Writing queries"), system, question, timeout=timeout, temperature=access.temperature
            )
            return parse_queries(reply.text, most)
        except ModelReplyError as error:
            logger.warning("No queries were written: %s", error)
            return ()

    return write
