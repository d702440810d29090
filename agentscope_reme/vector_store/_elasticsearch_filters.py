# -*- coding: utf-8 -*-
"""Conditions as queries of Elasticsearch; they agree with `record.matches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..record import FIELDS, Condition
from ._elasticsearch_terms import ELEMENT, TEXT, no_number, presence, range_of, term, wildcard_of

__all__ = ["FACTS", "PARTS", "query_of"]

FACTS, PARTS = "facts", "parts"
"""The fields of a document that hold terms, and texts in lower case."""

Query = dict[str, Any]

_NEVER: Query = {"match_none": {}}


def query_of(conditions: Sequence[Condition]) -> list[Query]:
    """Queries that a document must all match."""
    return [_query(each) for each in conditions]


def _query(condition: Condition) -> Query:
    field, first = condition.field, condition.values[0] if condition.values else None
    if condition.operator == "contains":
        return _contains(field, first) if isinstance(first, str) else _NEVER
    if condition.operator == "range":
        return _range(field, *condition.values)
    return _one_of(field, condition.values)


def _one_of(field: str, values: Sequence[Any]) -> Query:
    terms = [
        term(field, value, kind)
        for value in values
        if value is not None and value == value  # not a number equals nothing
        for kind in ((TEXT, ELEMENT) if isinstance(value, str) else (TEXT,))
    ]
    options: list[Query] = [{"terms": {FACTS: terms}}] if terms else []
    if None in values:
        options.append({"bool": {"must_not": [{"term": {FACTS: presence(field)}}]}})
    return _any(options)


def _contains(field: str, part: str) -> Query:
    kind = FIELDS.get(field)
    options: list[Query] = []
    if kind in (None, "text"):
        options.append({"wildcard": {PARTS: {"value": wildcard_of(field, part)}}})
    if kind in (None, "texts"):
        options.append({"term": {FACTS: term(field, part, ELEMENT)}})
    return _any(options)


def _range(field: str, low: Any, high: Any) -> Query:
    ends = [end for end in (low, high) if end is not None]
    if any(end != end for end in ends):
        return _NEVER
    texts = {isinstance(end, str) for end in ends}
    options: list[Query] = []
    for of_texts in (False, True):
        if not texts - {of_texts}:
            options.append({"range": {FACTS: range_of(field, low, high, of_texts=of_texts)}})
    if not ends:
        options.append({"term": {FACTS: no_number(field)}})
    return _any(options)


def _any(options: Sequence[Query]) -> Query:
    if len(options) == 1:
        return options[0]
    return {"bool": {"should": list(options), "minimum_should_match": 1}} if options else _NEVER
