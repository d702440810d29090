# -*- coding: utf-8 -*-
"""What a vector store is: memories with their vectors under their keys, one filter grammar, and search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from .._errors import ConfigError, NotStartedError
from ..record import Condition, MemoryNode
from ..search import MEMORIES_RECIPE, QueryView, SourceRecipe
from ._space import VectorSpace, check_vector

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Embed", "Progress", "StoreHit", "VectorStore", "check_changes"]

Embed = Callable[[Sequence[str]], Awaitable["Sequence[np.ndarray | None]"]]
"""Embeds texts: a vector for each, None where one could not be had."""

Progress = Callable[[int, int], object]
"""Is told how many of how many are done."""

_PAGE = 500
_FIXED = frozenset({"content", "memory_type", "memory_target", "when_to_use", "vector"})
_CHANGEABLE = frozenset(each.name for each in fields(MemoryNode)) - _FIXED


@dataclass(frozen=True)
class StoreHit:
    """A memory that a store found.

    Args:
        node (`MemoryNode`): the memory, as it is stored, without its vector.
        score (`float`): 0 to 1, comparable between queries (for `VectorStore.search` the cosine, -1 to 1).
        order (`float`): what its place was decided by; comparable within one result only.
        parts (`Mapping[str, float]`): what `order` is the sum of, sign by sign.
    """

    node: MemoryNode
    score: float
    order: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)


class VectorStore(ABC):
    """Memories of one collection. Subclass it for a database of your own and pass an instance.

    A memory is known by `MemoryNode.key`; writing one under a key that is there replaces it. Methods may be called
    from several tasks at once. Everything that can fail for a reason outside (a server, a disk) raises
    `VectorStoreError` or `StorageError` and leaves the old state.

    Args:
        collection_name (`str`): the collection.
    """

    offers_keyword_search: bool = False
    """Whether `keyword_search` works. Elsewhere the best of the search by vector are ranked again by words."""

    def __init__(self, collection_name: str = "reme") -> None:
        self.collection_name = collection_name
        self._space: VectorSpace | None = None
        self._opened = False

    # ------------------------------------------------------------------ life

    @property
    def space(self) -> VectorSpace | None:
        """The vectors that the open collection takes; None where it is used without vectors."""
        return self._space

    @abstractmethod
    async def open(self, space: VectorSpace | None) -> None:
        """Connect, and make the collection where it is missing. May be called again after `close`.

        Args:
            space (`VectorSpace | None`): the vectors to be stored; None for memories without vectors.

        Raises:
            `VectorSpaceError`: the collection holds other vectors (see `check_space`), or its `reindex` did not end.
                It can be opened with None then.
            `VectorStoreError`: the store cannot be reached.
        """

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections and files. What was written stays. May be called again."""

    async def __aenter__(self) -> Self:
        if not self._opened:
            await self.open(self._space)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @abstractmethod
    def companion(self, name: str) -> VectorStore:
        """Another collection beside this one, ``<collection_name>_<name>``, over the same server or files.

        It is opened and closed by itself; closing this one does not close it.
        """

    # ------------------------------------------------------------------ memories

    @abstractmethod
    async def write(self, insert: Sequence[MemoryNode] = (), delete: Collection[str] = ()) -> None:
        """Put memories in and take others out: both or neither where the back end can, else first in, then out.

        Args:
            insert (`Sequence[MemoryNode]`): memories, with their vectors where they have one; of equal keys the last.
            delete (`Collection[str]`): keys; one that is not there is passed over. A key that is inserted too stays.

        Raises:
            `VectorSpaceError`: a vector of another dimension; both numbers are named, nothing was written.
            `EmbeddingError`: a vector that is zero or not finite; nothing was written.
        """

    @abstractmethod
    async def get(self, keys: Sequence[str], *, with_vectors: bool = False) -> dict[str, MemoryNode]:
        """The memories of these keys that are there."""

    @abstractmethod
    async def find(
        self,
        conditions: Sequence[Condition] = (),
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        after: str | None = None,
    ) -> list[MemoryNode]:
        """Memories that meet the conditions (see `record.matches`), in order.

        Args:
            conditions (`Sequence[Condition]`): from `record.parse_filters`.
            limit (`int | None`): how many at most.
            sort_key (`str`): a field of `record.FIELDS` that holds a text, a number or a time, ``metadata.<key>``, or
                ``"key"``; memories without a value come last; equals are ordered by key (see `in_order`).
            reverse (`bool`): the greatest first.
            after (`str | None`): with ``sort_key="key"`` and ``reverse=False``: only keys above this one, for paging.
        """

    @abstractmethod
    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """How many memories meet the conditions."""

    async def owners(self, conditions: Sequence[Condition] = ()) -> list[str]:
        """The owners (`MemoryNode.owner`) of the memories that meet the conditions, in alphabetical order."""
        found: set[str] = set()
        async for page in self.pages(conditions):
            found.update(node.owner for node in page)
        return sorted(found)

    @abstractmethod
    async def search(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition] = ()) -> list[StoreHit]:
        """The memories whose vectors are nearest, by cosine, best first; nothing filtered out takes a place.

        Args:
            vector (`np.ndarray`): float32, shape (dimensions,).
            limit (`int`): how many at most.
            conditions (`Sequence[Condition]`): what they must meet.

        Raises:
            `VectorSpaceError`: the vector has another dimension, or the collection is open without vectors.
            `EmbeddingError`: the vector is zero or not finite.
        """

    async def changes_elsewhere(self) -> int | None:
        """A number that is another one after somebody else, such as another process, has written here; it may also be
        another one where they wrote something beside this collection. None where the back end cannot tell."""
        return None

    async def keyword_search(
        self, query: QueryView, limit: int, conditions: Sequence[Condition] = ()
    ) -> list[MemoryNode]:
        """The memories that hold words of the query, best first; only where `offers_keyword_search`."""
        raise NotImplementedError(f"{type(self).__name__} does not search by words.")

    async def hybrid_search(
        self,
        query: QueryView,
        limit: int,
        *,
        vector: np.ndarray | None = None,
        conditions: Sequence[Condition] = (),
        recipe: SourceRecipe = MEMORIES_RECIPE,
        min_score: float = 0.0,
        candidates: int = 200,
    ) -> list[StoreHit]:
        """The most relevant memories by words and meaning together.

        Args:
            query (`QueryView`): the query.
            limit (`int`): how many at most.
            vector (`np.ndarray | None`): its vector; None searches by words alone.
            conditions (`Sequence[Condition]`): what they must meet.
            recipe (`SourceRecipe`): how the signs are weighted.
            min_score (`float`): the least score, 0 to 1.
            candidates (`int`): how many the back end is asked for on each leg, where it cannot rank by itself.

        Raises:
            as `search`.
        """
        from ._ranking import rank_candidates

        self._refuse_closed()
        if vector is not None:
            vector = check_vector(self.collection_name, self._space, vector)
        candidates = max(candidates, limit)
        found: dict[str, MemoryNode] = {}
        if vector is not None:
            found.update((hit.node.key, hit.node) for hit in await self.search(vector, candidates, conditions))
        if self.offers_keyword_search:
            found.update((node.key, node) for node in await self.keyword_search(query, candidates, conditions))
        elif vector is None:
            found.update((node.key, node) for node in await self.find(conditions))
        with_vectors = await self.get(list(found), with_vectors=True) if vector is not None else found
        return rank_candidates(list(with_vectors.values()), query, limit, vector, recipe, min_score)

    async def patch(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change fields that neither identity nor vector depend on (``is_active``, ``importance``, ``tags``...).

        Args:
            changes (`Mapping[str, Mapping[str, Any]]`): by key, the fields and their new values.

        Returns:
            `int`: how many memories there were to change.

        Raises:
            `ConfigError`: a field that cannot be changed alone, or a value that cannot be; nothing was changed.
        """
        check_changes(changes)
        nodes = await self.get(list(changes), with_vectors=True)
        await self.write([replace(node, **changes[key]) for key, node in nodes.items()])
        return len(nodes)

    # ------------------------------------------------------------------ collections

    @abstractmethod
    async def collections(self) -> list[str]:
        """The names of all collections of this server or file, in alphabetical order."""

    @abstractmethod
    async def drop(self) -> None:
        """Remove this collection with all that is in it. `open` makes it anew."""

    @abstractmethod
    async def reindex(self, space: VectorSpace, embed: Embed, progress: Progress | None = None) -> int:
        """Give every memory a vector of a model. Can be called again where it was broken off, and goes on there.

        Memories that have a vector of this space already are passed over, so with the space in force it embeds those
        that were written without one. Search by words works meanwhile. The collection is open with the new space
        afterwards. Where a text cannot be embedded, its memory stays without a vector and is found by words.

        Returns:
            `int`: how many memories were embedded.
        """

    async def compact(self) -> bool:
        """Leave no byte of what was deleted in the files, where the back end can.

        Returns:
            `bool`: whether none is left. False where another process was reading all the while, and it has to be done
            again; and where files are the back end's own affair, as on a server.
        """
        return False

    async def pages(self, conditions: Sequence[Condition] = (), size: int = _PAGE) -> AsyncIterator[list[MemoryNode]]:
        """All memories, by key, a page at a time: bounded memory however many there are."""
        after: str | None = None
        while page := await self.find(conditions, limit=size, sort_key="key", reverse=False, after=after):
            yield page
            after = page[-1].key

    def _refuse_closed(self) -> None:
        if not self._opened:
            raise NotStartedError(f"Collection {self.collection_name!r} is not open: await open() first.")


def check_changes(changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a patch of what is no field, or of what identity or vector depend on.

    Raises:
        `ConfigError`: such a field; it is named with the cure.
    """
    for names in changes.values():
        for name in names:
            if name not in _CHANGEABLE:
                cure = "delete the memory and write the changed one" if name in _FIXED else f"there are {_known()}"
                raise ConfigError(f"{name!r} cannot be patched: {cure}.")


def _known() -> str:
    return ", ".join(sorted(_CHANGEABLE))
