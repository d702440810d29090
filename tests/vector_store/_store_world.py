# -*- coding: utf-8 -*-
"""The stores that the contract is tested with, and what the tests of all of them share.

To put a store under the contract, add a file ``_place_<name>.py`` beside this one with a dictionary ``CASES`` of
`StoreCase` by name; it is found by itself, and every test of ``store_*_test`` and ``filters_test`` runs with it. A case
opens a *place*, where collections lie (a folder, a server), and gives back what makes stores there::

    @asynccontextmanager
    async def place(folder: Path) -> AsyncIterator[Callable[[str], VectorStore]]:
        yield lambda collection: MyStore(url(), collection)  # not opened; the tests do that

    CASES = {"mine": StoreCase(place, missing=lambda: "" if importable("mine") else "mine is not installed")}

A server is better started once (``functools.lru_cache``) than in each place: a place is opened for each test, and
every test uses collections of its own, whose names `fresh_name` gives.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _plain_store import PlainStore

from agentscope_reme.record import MemoryNode
from agentscope_reme.search import CosineScale, QueryView, SourceRecipe
from agentscope_reme.text import WordTokenizer
from agentscope_reme.vector_store import LocalVectorStore, VectorSpace, VectorStore

Make = Callable[[str], VectorStore]
"""Makes a store over a collection of the place, not opened; several of one name are over one collection."""

SPACE = VectorSpace("test-model", 4)
CUT = WordTokenizer()
NOW = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)
FLOOR = 0.5
PLAIN = SourceRecipe(date=0.0, cosine=CosineScale(FLOOR, 0.9))
"""Words and meaning and nothing besides."""


@dataclass(frozen=True)
class StoreCase:
    """A store under the contract.

    Args:
        place (`Callable[[Path], AbstractAsyncContextManager[Make]]`): opens a place in an empty folder.
        missing (`Callable[[], str]`): why it cannot be tested here; empty where it can.
        several (`bool`): whether several stores may be open over one collection at once, and see each other's writes.
        examples (`int | None`): how many examples of a law are tried; None for as many as the profile says.
        slow (`bool`): whether its tests are run with the slow ones alone.
    """

    place: Callable[[Path], AbstractAsyncContextManager[Make]]
    missing: Callable[[], str] = lambda: ""
    several: bool = True
    examples: int | None = None
    slow: bool = False


@asynccontextmanager
async def _local(folder: Path) -> AsyncIterator[Make]:
    yield lambda collection: LocalVectorStore(folder / "用户 记忆" / "memories.db", collection)


@asynccontextmanager
async def _plain(_folder: Path) -> AsyncIterator[Make]:
    held: dict[str, Any] = {}
    yield lambda collection: PlainStore(held, collection)


CASES = {"local": StoreCase(_local), "plain": StoreCase(_plain)}
for _path in sorted(Path(__file__).parent.glob("_place_*.py")):
    CASES.update(importlib.import_module(_path.stem).CASES)

every_store = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if case.slow else []) for name, case in CASES.items()]
)

_numbers = itertools.count()


def fresh_name(name: str = "memories") -> str:
    """The name of a collection that no other test uses."""
    return f"{name}_{next(_numbers)}"


def run(name: str, folder: Path, body: Callable[[Make], Awaitable[None]]) -> None:
    """Run a test in a new place of a store; skip it where the store is missing."""
    case = CASES[name]
    if reason := case.missing():
        pytest.skip(reason)

    async def inside() -> None:
        async with case.place(folder) as make:
            await body(make)

    asyncio.run(inside())


async def opened(make: Make, collection: str | None = None, space: VectorSpace | None = SPACE) -> VectorStore:
    """An open store, over a collection of its own where none is named."""
    store = make(collection or fresh_name())
    await store.open(space)
    return store


def note(content: str, vector: Sequence[float] | None = None, target: str = "alice", **fields: Any) -> MemoryNode:
    """A memory with a short way to give a vector."""
    array = None if vector is None else np.array(vector, dtype=np.float32)
    return MemoryNode(content, memory_target=target, vector=array, **fields)


def ask(text: str) -> QueryView:
    """A query."""
    return QueryView.of(text, CUT, NOW)


def texts(found: Sequence[Any]) -> list[str]:
    """The contents of memories or hits."""
    return [getattr(each, "node", each).content for each in found]


def same(one: MemoryNode, other: MemoryNode) -> bool:
    """Every field but the vector."""
    names = [each.name for each in fields(one) if each.name != "vector"]
    return all(getattr(one, name) == getattr(other, name) for name in names)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """In double precision."""
    a, b = one.astype(float), other.astype(float)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
