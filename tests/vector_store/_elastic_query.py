# -*- coding: utf-8 -*-
"""The queries of Elasticsearch that the store uses, over documents in memory; anything else is refused."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["ApiError", "Docs", "check_keys", "field_type", "nearest", "predicate", "refuse", "scores_of", "values_of"]

Docs = Mapping[str, Mapping[str, Any]]
Predicate = Callable[[str, Mapping[str, Any]], bool]

_MOST_TERMS = 65_536
_MOST = 10_000


class ApiError(Exception):
    """What the server answers with an error.

    Args:
        status (`int`): of the response.
        kind (`str`): the error's type.
        reason (`str`): in words.
    """

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.kind, self.reason = status, kind, reason


def refuse(reason: str, kind: str = "parsing_exception") -> ApiError:
    return ApiError(400, kind, reason)


def check_keys(what: str, given: Mapping[str, Any], allowed: set[str], needed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Refuse what the API does not know, as it does."""
    if not isinstance(given, Mapping):
        raise refuse(f"[{what}] is {given!r} and no object")
    if extra := set(given) - allowed - needed:
        raise refuse(f"[{what}] unknown field {sorted(extra)}")
    if missing := needed - set(given):
        raise refuse(f"[{what}] lacks {sorted(missing)}")


def field_type(mappings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """How a field is mapped; a dot leads into an object."""
    at: Mapping[str, Any] = mappings
    for part in name.split("."):
        at = at.get("properties", {}).get(part, {})
    return at


def values_of(document: Mapping[str, Any], name: str) -> list[Any]:
    """The values of a field: none, one or several."""
    at: Any = document
    for part in name.split("."):
        at = at.get(part) if isinstance(at, Mapping) else None
    return [each for each in (at if isinstance(at, list) else [at]) if each is not None]


def predicate(query: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    """What a query says of a document."""
    if not isinstance(query, Mapping) or len(query) != 1:
        raise refuse(f"[query] malformed, one name expected: {query!r}")
    ((name, body),) = query.items()
    if name not in _QUERIES:
        raise refuse(f"unknown query [{name}]")
    return _QUERIES[name](body, mappings)


def _bool(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    check_keys("bool", body, {"must", "filter", "should", "must_not", "minimum_should_match"})

    def part(name: str) -> list[Predicate]:
        given = body.get(name, [])
        return [predicate(each, mappings) for each in (given if isinstance(given, list) else [given])]

    must, should, must_not = part("must") + part("filter"), part("should"), part("must_not")
    least = body.get("minimum_should_match", 1 if should and not must else 0)
    return lambda key, doc: (
        all(each(key, doc) for each in must)
        and not any(each(key, doc) for each in must_not)
        and sum(each(key, doc) for each in should) >= least
    )


def _indexed(mappings: Mapping[str, Any], name: str, kinds: set[str]) -> None:
    mapped = field_type(mappings, name)
    if mapped.get("type") not in kinds:
        raise refuse(f"field [{name}] of type [{mapped.get('type')}] has no such query", "query_shard_exception")
    if not mapped.get("index", True):
        raise refuse(f"Cannot search on field [{name}] since it is not indexed.", "query_shard_exception")


def _one_field(name: str, body: Mapping[str, Any], mappings: Mapping[str, Any], kinds: set[str]) -> tuple[str, Any]:
    if len(body) != 1:
        raise refuse(f"[{name}] query doesn't support multiple fields: {sorted(body)}")
    ((field, value),) = body.items()
    _indexed(mappings, field, kinds)
    return field, value


def _term(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    field, value = _one_field("term", body, mappings, {"keyword"})
    value = value["value"] if isinstance(value, Mapping) else value
    return lambda _, doc: value in values_of(doc, field)


def _terms(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    field, given = _one_field("terms", body, mappings, {"keyword"})
    if not isinstance(given, list) or len(given) > _MOST_TERMS:
        raise refuse("[terms] query requires a list of at most 65536 terms")
    wanted = set(given)
    return lambda _, doc: not wanted.isdisjoint(values_of(doc, field))


def _range(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    field, ends = _one_field("range", body, mappings, {"keyword"})
    check_keys("range", ends, {"gt", "gte", "lt", "lte"})
    held = {name: str(end).encode() for name, end in ends.items()}  # terms are compared by their bytes

    def inside(value: str) -> bool:
        at = value.encode()
        return (
            ("gt" not in held or at > held["gt"])
            and ("gte" not in held or at >= held["gte"])
            and ("lt" not in held or at < held["lt"])
            and ("lte" not in held or at <= held["lte"])
        )

    return lambda _, doc: any(inside(each) for each in values_of(doc, field))


def _wildcard(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    field, given = _one_field("wildcard", body, mappings, {"keyword", "wildcard"})
    check_keys("wildcard", given, {"case_insensitive", "boost", "rewrite"}, {"value"})
    pieces = re.findall(r"\\.|[*?]|[^\\*?]+", given["value"], re.DOTALL)
    signs = {"*": ".*", "?": "."}
    pattern = re.compile("".join(signs.get(p) or re.escape(p[1] if p[0] == "\\" else p) for p in pieces), re.DOTALL)
    return lambda _, doc: any(pattern.fullmatch(each) for each in values_of(doc, field))


def _exists(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    check_keys("exists", body, set(), {"field"})
    return lambda _, doc: bool(values_of(doc, body["field"]))


def _ids(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    check_keys("ids", body, set(), {"values"})
    return lambda key, _: key in body["values"]


def _match(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    field, given = _one_field("match", body, mappings, {"text"})
    check_keys("match", given, {"operator", "analyzer"}, {"query"})
    if field_type(mappings, field).get("analyzer") != "whitespace":
        raise refuse("this stub knows the whitespace analyzer only")
    wanted = set(given["query"].split())
    return lambda _, doc: not wanted.isdisjoint(" ".join(values_of(doc, field)).split())


def _match_all(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    check_keys("match_all", body, set())
    return lambda _, __: True


def _match_none(body: Mapping[str, Any], mappings: Mapping[str, Any]) -> Predicate:
    check_keys("match_none", body, set())
    return lambda _, __: False


_QUERIES: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Predicate]] = {
    "bool": _bool,
    "term": _term,
    "terms": _terms,
    "range": _range,
    "wildcard": _wildcard,
    "exists": _exists,
    "ids": _ids,
    "match": _match,
    "match_all": _match_all,
    "match_none": _match_none,
}


def scores_of(query: Mapping[str, Any], docs: Docs, found: Sequence[str], k1: float, b: float) -> dict[str, float]:
    """BM25 of the match clauses of a query; 1 where there are none."""
    clauses = [query] if "match" in query else query.get("bool", {}).get("must", [])
    scores = dict.fromkeys(found, 0.0 if clauses else 1.0)
    for clause in clauses:
        ((field, given),) = clause["match"].items()
        texts = {key: " ".join(values_of(doc, field)).split() for key, doc in docs.items()}
        texts = {key: words for key, words in texts.items() if words}
        average = sum(map(len, texts.values())) / max(len(texts), 1)
        for word in given["query"].split():
            holding = sum(word in words for words in texts.values())
            idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            for key in found:
                count = Counter(texts[key])[word]
                scores[key] += idf * count / (count + k1 * (1 - b + b * len(texts[key]) / average))
    return scores


def nearest(knn: Mapping[str, Any], docs: Docs, mappings: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The nearest documents that the filter lets through, with their scores."""
    check_keys("knn", knn, {"filter", "similarity", "boost"}, {"field", "query_vector", "k", "num_candidates"})
    mapped = field_type(mappings, knn["field"])
    if mapped.get("type") != "dense_vector":
        raise refuse(f"[knn] field [{knn['field']}] is no dense_vector", "query_shard_exception")
    query = np.array(knn["query_vector"], dtype=np.float32)
    if query.shape != (mapped["dims"],):
        raise refuse(
            f"the query vector has a different dimension [{len(query)}] than the index vectors [{mapped['dims']}]"
        )
    if not 1 <= knn["k"] <= knn["num_candidates"] <= _MOST:
        raise refuse(f"[k] {knn['k']}, [num_candidates] {knn['num_candidates']}: 1 <= k <= num_candidates <= {_MOST}")
    if not np.linalg.norm(query):
        raise refuse("the [cosine] similarity does not support vectors with zero magnitude")
    given = knn.get("filter", [])
    filters = [predicate(each, mappings) for each in (given if isinstance(given, list) else [given])]
    scores = []
    for key, doc in docs.items():
        vector = doc.get(knn["field"])
        if vector is not None and all(each(key, doc) for each in filters):
            other = np.array(vector, dtype=np.float32)
            cosine = float(query @ other / np.linalg.norm(query) / np.linalg.norm(other))
            scores.append((key, (1 + cosine) / 2))
    return sorted(scores, key=lambda pair: -pair[1])[: knn["k"]]
