# -*- coding: utf-8 -*-
"""A memory: what is known, of whom or what, and when it is of use."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .._errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["NEUTRAL_IMPORTANCE", "MemoryNode", "memory_id_of", "node_key", "owner_of"]

NEUTRAL_IMPORTANCE = 0.5
"""The importance of a memory that nobody has judged."""

_TIMES = ("message_time", "time_created", "time_modified", "last_accessed", "expires_at")
_LISTS = ("tags", "entities", "source_ids")
_TEXTS = ("memory_target", "when_to_use", "category", "ref_memory_id", "author")
_OPTIONAL = ("message_time", "last_accessed", "expires_at")


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True, repr=False, eq=False)
class MemoryNode:
    """One memory. It is a value: `dataclasses.replace` makes a changed one.

    Two memories are the same if type, target and content are; `key` says so in one string, and equality goes by it.

    Args:
        content (`str`): what is known; what a search returns.
        memory_type (`str`): ``"personal"``, ``"procedural"``, ``"tool"``, ``"history"``, or a kind of your own.
        memory_target (`str`): whose or about what: the user's, task's or tool's name, as it was given.
        when_to_use (`str`): the situation in which it is of use; where given, it is what the vector is made of.
        category (`str`): ``fact``, ``preference``, ``plan``, ``event``, or what your schema declares; may be empty.
        message_time (`datetime | None`): when it was said or happened.
        ref_memory_id (`str`): the id of the stored conversation it comes from.
        time_created (`datetime`), time_modified (`datetime`): of the memory itself.
        author (`str`): who said it, or which model or person wrote it.
        score (`float`): how relevant it is to the query that found it, 0 to 1; in a store, what was given with it.
        vector (`np.ndarray | None`): float32 of shape (dimensions,), where it was asked for.
        importance (`float`): 0 to 1; 0.5 where nobody has judged it.
        last_accessed (`datetime | None`): when it was last found.
        access_count (`int`): how often.
        tags (`tuple[str, ...]`), entities (`tuple[str, ...]`): labels, and names in it.
        is_active (`bool`): False for what was superseded or forgotten; it is kept and not found.
        source_ids (`tuple[str, ...]`): the memories it was refined from.
        expires_at (`datetime | None`): when it stops being of use.
        metadata (`Mapping[str, Any]`): anything else, as JSON values.

    Raises:
        `ConfigError`: an empty content, a type that cannot be, an importance outside 0 to 1, a value of another kind
            than its field holds.
    """

    content: str
    memory_type: str = "personal"
    memory_target: str = ""
    when_to_use: str = ""
    category: str = ""
    message_time: datetime | None = None
    ref_memory_id: str = ""
    time_created: datetime = field(default_factory=_now)
    time_modified: datetime = field(default_factory=_now)
    author: str = ""
    score: float = 0.0
    vector: np.ndarray | None = None
    importance: float = NEUTRAL_IMPORTANCE
    last_accessed: datetime | None = None
    access_count: int = 0
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    is_active: bool = True
    source_ids: tuple[str, ...] = ()
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) or not self.content.strip():
            raise ConfigError(f"A memory's content is {self.content!r}: give a text that is not blank.")
        if not isinstance(self.memory_type, str) or not self.memory_type or "/" in self.memory_type:
            raise ConfigError(f"memory_type is {self.memory_type!r}: give a name without a slash, such as 'personal'.")
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: give a text, which may be empty.")
        if not _is_number(self.importance) or not 0 <= self.importance <= 1:
            raise ConfigError(f"importance is {self.importance!r}: give a number from 0 to 1.")
        for name in ("score", "access_count"):
            if not _is_number(getattr(self, name)):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: give a number.")
        for name in _LISTS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for name in _TIMES:
            object.__setattr__(self, name, _aware(name, getattr(self, name)))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "metadata": dict(self.metadata)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, metadata=MappingProxyType(state["metadata"]))

    @property
    def memory_content(self) -> str:
        """The content, under the name that users of ReMe know."""
        return self.content

    @cached_property
    def memory_id(self) -> str:
        """The first 16 hex digits of the SHA-256 of the content."""
        return memory_id_of(self.content)

    @property
    def owner(self) -> str:
        """Type and target in one string: what a memory belongs to."""
        return owner_of(self.memory_type, self.memory_target)

    @cached_property
    def key(self) -> str:
        """Its identity among all memories: 32 hex digits from type, target and content."""
        return node_key(self.memory_type, self.memory_target, self.content)

    @property
    def embedded_text(self) -> str:
        """What its vector is made of: `when_to_use` where there is one, else the content."""
        return self.when_to_use.strip() or self.content

    @property
    def searched_text(self) -> str:
        """What its words are taken from: `when_to_use` and the content."""
        return f"{self.when_to_use}\n{self.content}" if self.when_to_use.strip() else self.content

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, MemoryNode) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        """Ready for a prompt: when, in which situation, and what."""
        when = f"[{self.message_time.astimezone():%Y-%m-%d %H:%M}] " if self.message_time else ""
        use = f"({self.when_to_use.strip()}) " if self.when_to_use.strip() else ""
        return f"{when}{use}{self.content}"

    def __repr__(self) -> str:
        shown = self.content if len(self.content) <= 80 else f"{self.content[:77]}..."
        score = f", score={self.score:.3f}" if self.score else ""
        return f"MemoryNode({self.memory_id}, {self.owner!r}, {shown!r}{score})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without the vector; times in ISO 8601 with an offset."""
        values: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in _TIMES:
                value = value.isoformat() if value else None
            elif each.name in _LISTS:
                value = list(value)
            elif each.name == "metadata":
                value = dict(value)
            if each.name != "vector":
                values[each.name] = value
        return {"memory_id": self.memory_id, **values}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], vector: np.ndarray | None = None) -> MemoryNode:
        """Read what `to_dict` gave; fields that this version does not know are passed over."""
        known = {each.name for each in fields(cls)}
        taken = {name: value for name, value in values.items() if name in known}
        for name in _TIMES:
            if isinstance(taken.get(name), str):
                taken[name] = datetime.fromisoformat(taken[name])
        return cls(**{**taken, "vector": vector})


def memory_id_of(content: str) -> str:
    """The id of a content: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def owner_of(memory_type: str, memory_target: str) -> str:
    """The one string for a type and a target; different pairs give different strings, for types hold no slash."""
    return f"{memory_type}/{memory_target}"


def node_key(memory_type: str, memory_target: str, content: str) -> str:
    """The key of the memory with this type, target and content."""
    text = f"{owner_of(memory_type, memory_target)}\0{content}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _texts(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """Distinct texts in their order."""
    texts = None if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{name} is {values!r}: give a list of texts.")
    return tuple(dict.fromkeys(texts))


def _aware(name: str, time: datetime | None) -> datetime | None:
    if not isinstance(time, datetime) and (time is not None or name not in _OPTIONAL):
        raise ConfigError(f"{name} is {time!r}: give a datetime.")
    if time is None or time.tzinfo:
        return time
    try:
        return time.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise ConfigError(f"{name} is {time!r}, which this machine's calendar does not hold.") from error


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
