# -*- coding: utf-8 -*-
"""Memories and filters at random, for the laws that hold over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
from hypothesis import strategies as st

from agentscope_reme.record import FIELDS, MemoryNode

START = datetime(2026, 2, 27, 22, tzinfo=timezone.utc)
"""The first of the moments."""

WORDS = (
    "likes",
    "tea",
    "Ada's",
    "INV-2093",
    "张三",
    "喜欢",
    "喝茶",
    "会议",
    "running",
    "v2.1",
    "ß",
    "İ",
    "😀",
    "%_\\'\"",
)
NAMES = ("alice", "Alice", "alice/b", "张三", "bob ", "")
SCORES = (0.0, 0.25, 0.5, 1.0)

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
names = st.sampled_from(NAMES)
moments = st.builds(
    lambda hours, zone: (START + timedelta(hours=hours)).astimezone(timezone(timedelta(hours=zone))),
    st.integers(0, 80),
    st.sampled_from([0, 8, -5]),
)
tag_lists = st.lists(st.sampled_from(["a", "A", "计划", "a,b", "x%"]), max_size=3)
numbers = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -0.25, 2.0]))
values = st.one_of(st.sampled_from(["zh", "en", "Zh", "2026-03-01", "10", ""]), numbers, st.booleans(), st.none())
metadata = st.dictionaries(
    st.sampled_from(["lang", "n", "地点", "list", "owner", "a.b"]),
    st.one_of(values, tag_lists, st.just({"deep": [1]}), st.just([1, "a"])),
    max_size=3,
)


def memories(dimensions: int = 0) -> st.SearchStrategy[MemoryNode]:
    """Memories of a few owners with a few contents, so that equal ones come up; some with a vector."""
    return st.builds(
        MemoryNode,
        content=contents,
        memory_type=st.sampled_from(["personal", "procedural", "version"]),
        memory_target=names,
        when_to_use=st.sampled_from(["", "", "when tea is made", "开会以前"]),
        category=st.sampled_from(["", "fact", "plan"]),
        message_time=st.none() | moments,
        ref_memory_id=st.sampled_from(["", "", "talk-1", "talk-2"]),
        time_created=moments,
        time_modified=moments,
        author=st.sampled_from(["", "alice", "user", "张三"]),
        score=st.sampled_from(SCORES),
        vector=vectors(dimensions) if dimensions else st.none(),
        importance=st.sampled_from(SCORES),
        last_accessed=st.none() | moments,
        access_count=st.integers(0, 3),
        tags=tag_lists,
        entities=tag_lists,
        is_active=st.booleans(),
        source_ids=st.lists(st.sampled_from(["0123", "4567"]), max_size=2),
        expires_at=st.none() | moments,
        metadata=metadata,
    )


def vectors(dimensions: int) -> st.SearchStrategy[np.ndarray | None]:
    """Vectors of small whole numbers, none of them zero; now and then none at all."""
    whole = st.lists(st.integers(-3, 3), min_size=dimensions, max_size=dimensions).filter(any)
    return st.none() | whole.map(lambda each: np.array(each, dtype=np.float32))


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Any]:
    """A filter as callers write it, over the whole grammar; most of its values are those of `memories`."""
    fields = [*FIELDS, "metadata.lang", "metadata.n", "metadata.地点", "metadata.list", "metadata.a.b", "metadata.x"]
    chosen = draw(st.lists(st.sampled_from(fields), max_size=3, unique=True))
    return {field: draw(_spec(field)) for field in chosen}


def _spec(field: str) -> st.SearchStrategy[Any]:
    kind = FIELDS.get(field)
    value = _of_kind(field, kind)
    many = st.lists(value, max_size=3).map(lambda each: {"any_of": each})
    specs = [value, value.map(lambda each: {"equal": each}), many, st.none()]
    if kind in ("number", "time"):
        specs += [_ends(value), _ends(value).map(lambda each: {"range": each})]
    elif kind is None:
        specs += [_ends(numbers), _ends(st.sampled_from(["a", "en", "zh", "2026-03-01"])), contents_part()]
    elif kind in ("text", "texts"):
        specs += [contents_part(), value.map(lambda each: {"contains": each})]
    if kind == "time":
        day = st.sampled_from([date(2026, 2, 28), "2026-03-01", "2026/03/02"])
        specs += [day, _ends(day | moments)]
    return st.one_of(specs)


def _ends(value: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | value, min_size=2, max_size=2)


def contents_part() -> st.SearchStrategy[dict[str, str]]:
    """A part of a text, in any case."""
    return st.sampled_from(["TEA", "喝", "a", "ALICE", "talk", "", "ss", "i", "%", "_", "😀", "zz"]).map(
        lambda part: {"contains": part},
    )


def _of_kind(field: str, kind: str | None) -> st.SearchStrategy[Any]:
    if kind is None:
        return st.one_of(st.sampled_from(["zh", "en", "a", "x%", "10"]), numbers, st.booleans())
    if kind == "time":
        return moments
    if kind == "number":
        return st.sampled_from([0, 1, 2, 0.25, 0.5])
    if kind == "flag":
        return st.booleans()
    return st.sampled_from(_TEXTS.get(field, ("a", "计划", "A")))


_TEXTS: dict[str, Sequence[str]] = {
    "memory_id": (MemoryNode("tea").memory_id, MemoryNode("张三 喜欢 喝茶").memory_id),
    "owner": ("personal/alice", "personal/alice/b", "procedural/张三", "version/"),
    "memory_type": ("personal", "version", "tool"),
    "memory_target": NAMES,
    "category": ("fact", "plan", ""),
    "ref_memory_id": ("talk-1", "talk-2", ""),
    "author": ("alice", "user", ""),
    "content": ("tea", "张三 喜欢 喝茶"),
    "when_to_use": ("when tea is made", ""),
    "source_ids": ("0123", "89"),
}
