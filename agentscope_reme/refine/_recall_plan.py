# -*- coding: utf-8 -*-
"""What memory is asked for a request: several queries, filters that give way, a second search where one is weak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ..record import MemoryNode
from ..text import date_mentions
from ._entities import entities_of
from ._identifiers import identifiers_in
from ._lexicon import Lexicon, default_lexicon, lower
from ._numbers import number_mentions
from ._schema import TagSchema
from ._words import plain, words_of

__all__ = ["RecallPlan", "WeightedQuery", "chained_queries", "is_specific", "plan_recall", "with_queries"]

WeightedQuery = tuple[str, float]
"""A query, and how much what it finds counts beside what the request itself finds."""

WEAK = 0.45
"""Below this score the best hit is weak."""

_ALONE = 3
"""Content words (pairs of characters in Chinese) below which a request means little by itself."""
_CONTEXT = 300
_LONGEST = 2_000
_EXPANDED = 0.6
_MOST = 5
_CHAINED = 3


@dataclass(frozen=True)
class RecallPlan:
    """What memory is asked.

    Args:
        queries (`tuple[WeightedQuery, ...]`): the request first, then the request with what it leans on, then what else
            is of use for such a request.
        filters (`tuple[Mapping[str, Any], ...]`): filters to try in turn until something is found; the last is empty.
        span (`tuple[datetime, datetime] | None`): the time in which it was said, where the request asks for that.
        specific (`bool`): whether the request asks for particulars, which stand in sources rather than in condensed
            memories.
    """

    queries: tuple[WeightedQuery, ...]
    filters: tuple[Mapping[str, Any], ...] = ({},)
    span: tuple[datetime, datetime] | None = None
    specific: bool = False
    names: frozenset[str] = field(default=frozenset(), compare=False)


def plan_recall(
    request: str,
    recent: Sequence[str] = (),
    *,
    now: datetime,
    schema: TagSchema | None = None,
    lexicon: Lexicon | None = None,
) -> RecallPlan:
    """Plan the search for a request, by rules.

    Args:
        request (`str`): what the user says or asks.
        recent (`Sequence[str]`): what was said before, oldest first.
        now (`datetime`): when it is asked, in the asker's time zone.
        schema (`TagSchema | None`): whose values are looked for in the request.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.

    Returns:
        `RecallPlan`: without queries for a blank request.
    """
    lexicon = lexicon or default_lexicon()
    request = request.strip()[-_LONGEST:]
    if not any(map(str.isalnum, request)):
        return RecallPlan(())
    queries: list[WeightedQuery] = [(request, 1.0)]
    before = [each.strip() for each in recent if each.strip()]
    if before and (len(words_of(request)) < _ALONE or lexicon.found_in("anaphora", request)):
        queries.append((f"{before[-1][-_CONTEXT:]}\n{request}", 1.0))
    queries += [(each, _EXPANDED) for each in _expansions(request, lexicon)]
    return RecallPlan(
        tuple(dict(reversed(queries)).items())[::-1][:_MOST],
        _ladder(_hints(request, lexicon), schema.guessed(request) if schema else {}, schema),
        _span(request, now, lexicon),
        is_specific(request, now, lexicon),
        frozenset(each.casefold() for each in entities_of(request)),
    )


def with_queries(plan: RecallPlan, queries: Sequence[str]) -> RecallPlan:
    """A plan with queries that a model wrote, in place of those that rules have added beside the request."""
    more = [(" ".join(each.split()), _EXPANDED) for each in queries if any(map(str.isalnum, each))]
    if not more:
        return plan
    kept = [each for each in plan.queries if each[1] == 1.0]
    return replace(plan, queries=tuple(dict(reversed([*kept, *more])).items())[::-1][:_MOST])


def is_specific(request: str, now: datetime, lexicon: Lexicon | None = None) -> bool:
    """Whether a request asks for particulars: when, how many, who, the exact words, or by a date, number or code."""
    lexicon = lexicon or default_lexicon()
    if lexicon.found_in("specific", request):
        return True
    text = plain(request)
    return bool(
        identifiers_in(text) or date_mentions(text, now) or [each for each in number_mentions(text) if each.sure]
    )


def chained_queries(plan: RecallPlan, found: Iterable[MemoryNode], best: float) -> list[WeightedQuery]:
    """Queries for a second search by what the first one's hits name, where that was weak.

    "How is that project going?" finds that a project was begun, and its name finds what came after.

    Args:
        plan (`RecallPlan`): the plan of the first search.
        found (`Iterable[MemoryNode]`): its hits, best first.
        best (`float`): the best score among them.
    """
    if best >= WEAK or not plan.queries:
        return []
    request = plan.queries[0][0]
    names: dict[str, str] = {}
    for node in list(found)[:_CHAINED]:
        for name in node.entities or entities_of(node.content):
            if name.casefold() not in plan.names and lower(name) not in lower(request):
                names.setdefault(name.casefold(), name)
    return [(f"{name} {request}", _EXPANDED) for name in list(names.values())[:_CHAINED]]


def _expansions(request: str, lexicon: Lexicon) -> list[str]:
    return [each.strip() for then in _matching("expansions", request, lexicon) for each in then.split("|")]


def _hints(request: str, lexicon: Lexicon) -> dict[str, str]:
    found: dict[str, str] = {}
    for then in _matching("hints", request, lexicon):
        name, _, value = then.partition("=")
        found.setdefault(name.strip(), value.strip())
    return found


def _matching(name: str, request: str, lexicon: Lexicon) -> list[str]:
    """The consequences of those entries "condition => consequence" of a list whose condition holds."""
    pairs = (line.rpartition(" => ") for line in lexicon.texts(name))
    return [then for condition, _, then in pairs if lexicon.holds(condition, request)]


def _ladder(
    hints: Mapping[str, str], values: Mapping[str, Sequence[str]], schema: TagSchema | None
) -> tuple[Mapping[str, Any], ...]:
    """Filters from the narrowest to none."""
    tags = schema.filters(values) if schema and values else {}
    both = {**hints, **tags}
    steps: list[Mapping[str, Any]] = [both, tags, {}] if hints and tags else [both, {}]
    return tuple(each for at, each in enumerate(steps) if each or at == len(steps) - 1)


def _span(request: str, now: datetime, lexicon: Lexicon) -> tuple[datetime, datetime] | None:
    """The days, from their first to their last moment, in which something was said that the request asks for."""
    if not lexicon.found_in("said_on", request):
        return None
    spans = [each for each in date_mentions(request, now) if each.start <= now.date()]
    if len(spans) != 1:
        return None
    zone = now.tzinfo
    start = datetime.combine(spans[0].start, datetime.min.time(), zone)
    return start, datetime.combine(spans[0].end, datetime.min.time(), zone) + timedelta(days=1, microseconds=-1)
