# -*- coding: utf-8 -*-
"""What a server's own collections can do; a store of memories is built on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..record import Condition, MemoryNode
from ._base import StoreHit
from ._space import VectorSpace

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FoundTables", "Table", "Tables"]


class Table(ABC):
    """One collection as the server knows it: memories under their keys, with vectors of one space or none.

    What goes in was checked before. Every method raises `VectorStoreError` where the server refuses or is away.

    Args:
        space (`VectorSpace | None`): whose vectors it takes.
    """

    def __init__(self, space: VectorSpace | None) -> None:
        self.space = space

    @abstractmethod
    async def put(self, nodes: Sequence[MemoryNode], vectors: Mapping[str, np.ndarray | None]) -> None:
        """Put memories in, each key once, in the place of what was under it.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories.
            vectors (`Mapping[str, np.ndarray | None]`): the vector of each key.
        """

    @abstractmethod
    async def rewrite(self, nodes: Sequence[MemoryNode]) -> None:
        """Put memories in the place of those under their keys, which keep their vectors."""

    @abstractmethod
    async def remove(self, keys: Collection[str]) -> None:
        """Take memories out; a key that is not there is passed over."""

    @abstractmethod
    async def get(self, keys: Sequence[str], with_vectors: bool = False) -> dict[str, MemoryNode]:
        """The memories of these keys that are there."""

    @abstractmethod
    def scan(
        self, conditions: Sequence[Condition] = (), *, after: str | None = None, size: int = 500
    ) -> AsyncGenerator[list[MemoryNode], None]:
        """Memories that meet the conditions, without vectors, by key, at most `size` at once, none of it empty.

        Args:
            conditions (`Sequence[Condition]`): what they must meet.
            after (`str | None`): only keys above this one.
            size (`int`): how many at once.
        """

    @abstractmethod
    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """How many memories meet the conditions."""

    @abstractmethod
    async def without_vectors(self) -> list[str]:
        """The keys of the memories that have no vector."""

    @abstractmethod
    async def nearest(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition]) -> list[StoreHit]:
        """The memories whose vectors are nearest, by cosine, best first; as many as there are, up to `limit`."""

    @abstractmethod
    async def with_words(self, words: Sequence[str], limit: int, conditions: Sequence[Condition]) -> list[MemoryNode]:
        """The memories that hold any of these words (see `WordTokenizer`), those with many or rare ones first."""


@dataclass(frozen=True)
class FoundTables:
    """What there is under a name.

    Args:
        current (`Table | None`): what is used.
        begun (`Table | None`): what is to take its place and is not yet complete.
    """

    current: Table | None
    begun: Table | None


class Tables(ABC):
    """The collections of a server, under the names that callers give them."""

    @abstractmethod
    async def acquire(self) -> None:
        """Connect, where it is not; each call has its `release`."""

    @abstractmethod
    async def release(self) -> None:
        """Let go of the connection where nobody else holds it."""

    @abstractmethod
    async def look(self, name: str) -> FoundTables:
        """What there is; a replacement that was broken off half-way is completed first."""

    @abstractmethod
    async def create(self, name: str, space: VectorSpace | None) -> Table:
        """Make a table, or take the one that somebody else has made meanwhile."""

    @abstractmethod
    async def begin(self, name: str, space: VectorSpace) -> Table:
        """Make the table that is to take the place of the current one; one that was begun before is removed."""

    @abstractmethod
    async def replace(self, name: str, begun: Table) -> Table:
        """Put what was begun in the place of the current one, which is removed."""

    @abstractmethod
    async def discard(self, name: str) -> None:
        """Remove what was begun, if anything was."""

    @abstractmethod
    async def drop(self, name: str) -> None:
        """Remove everything under a name."""

    @abstractmethod
    async def names(self) -> list[str]:
        """The names of all collections that were made here."""
