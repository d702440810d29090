# -*- coding: utf-8 -*-
"""Tags in dimensions, with the values that a user allows for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from .._errors import ConfigError
from ..record import MemoryNode
from ._category import CATEGORIES
from ._config import is_list_of_texts
from ._entities import people_in
from ._words import words_of

__all__ = ["TagSchema", "TagValues"]

TagValues = Mapping[str, str | Iterable[str]]
"""For dimensions, a value or several."""

_CATEGORY_NAMES = ("type", "category", "类型")
_PEOPLE = ("people", "person", "人物")
_NAME = re.compile(r"[^\W\d][\w-]*")
_OWN = """
useful base_importance times current speaker session_id refined refined_into considered archived_at source_keys keywords
started ended ratio label goal parts forgotten forgotten_at forgotten_from superseded_by supersedes
"""
_EXAMPLE = "{'type': ['fact', 'plan'], 'topic': []}"
_RESERVED = frozenset(_OWN.split())


@dataclass(frozen=True)
class TagSchema:
    """Which dimensions there are, and which values each may have.

    A value of a dimension is on the memory as the tag ``dimension:value`` and, for filters, under the dimension's name
    in its metadata. Tags of another form are free and left alone.

    Args:
        dimensions (`Mapping[str, Sequence[str]]`): the values that each dimension allows; none for any value.
        categories (`Sequence[str]`): the categories that memories may have.

    Raises:
        `ConfigError`: a dimension that is no name, or is one that memories need themselves; or no list of values.
    """

    dimensions: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"people": (), "topic": ()})
    categories: Sequence[str] = CATEGORIES

    def __post_init__(self) -> None:
        if not isinstance(self.dimensions, Mapping):
            raise ConfigError(f"dimensions is {self.dimensions!r}: give lists of values by name, such as {_EXAMPLE}.")
        checked: dict[str, tuple[str, ...]] = {}
        for name, allowed in self.dimensions.items():
            if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
                raise ConfigError(f"The dimension {name!r} cannot be: give a word that memories do not use themselves.")
            if not is_list_of_texts(allowed):
                raise ConfigError(f"The values of {name!r} are {allowed!r}: give a list of texts, [] for any.")
            checked[name] = tuple(dict.fromkeys(each.strip() for each in allowed))
        if not is_list_of_texts(self.categories):
            raise ConfigError(f"categories is {self.categories!r}: give a list of names, such as ['fact', 'plan'].")
        object.__setattr__(self, "dimensions", MappingProxyType(checked))
        object.__setattr__(self, "categories", tuple(self.categories))

    @classmethod
    def of(cls, declared: Mapping[str, Sequence[str]]) -> TagSchema:
        """A schema as users of ReMe declare it: one mapping, in which ``type`` lists the categories.

        Raises:
            `ConfigError`: it is no mapping, or holds what no schema can.
        """
        if not isinstance(declared, Mapping):
            raise ConfigError(f"The schema is {declared!r}: give lists of values by name, such as {_EXAMPLE}.")
        categories = next((declared[name] for name in _CATEGORY_NAMES if declared.get(name)), CATEGORIES)
        return cls({name: values for name, values in declared.items() if name not in _CATEGORY_NAMES}, categories)

    def checked(self, values: TagValues) -> dict[str, tuple[str, ...]]:
        """Values as lists.

        Raises:
            `ConfigError`: a dimension or a value that the schema does not have; what there is, is named.
        """
        valid, faults = self.cleaned(values)
        if faults:
            raise ConfigError(" ".join(faults))
        return valid

    def cleaned(self, values: TagValues) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """The values that the schema allows, and what is wrong with the others: for what a model filled in."""
        valid: dict[str, tuple[str, ...]] = {}
        faults: list[str] = []
        for name, given in values.items():
            if name not in self.dimensions:
                faults.append(f"There is no dimension {name!r}: there are {_listed(self.dimensions)}.")
                continue
            for value in _as_list(given):
                known = self._known(name, value)
                if known is None:
                    faults.append(f"{name!r} cannot be {value!r}: it is one of {_listed(self.dimensions[name])}.")
                elif known not in valid.get(name, ()):
                    valid[name] = (*valid.get(name, ()), known)
        return valid, faults

    def tagged(self, node: MemoryNode, values: TagValues) -> MemoryNode:
        """The memory with these values in place of those it has of the same dimensions.

        Raises:
            `ConfigError`: see `checked`.
        """
        valid = self.checked(values)
        cleared = {name for name in values if name in self.dimensions}
        free = [tag for tag in node.tags if tag.partition(":")[0] not in cleared or ":" not in tag]
        tags = (*free, *_as_tags(valid))
        kept = {key: value for key, value in node.metadata.items() if key not in cleared}
        metadata = {**kept, **{name: list(listed) for name, listed in valid.items()}}
        return replace(node, tags=tags, metadata=metadata)

    def fitted(
        self, fields: Mapping[str, Any], before: MemoryNode | None = None, categories: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Fields of a memory that is added or changed by hand, checked: what they give in a dimension, as tags or under
        its name in the metadata, is in both afterwards.

        Args:
            fields (`Mapping[str, Any]`): those that are given; the metadata as a whole.
            before (`MemoryNode | None`): the memory that is changed.
            categories (`Sequence[str]`): what the category may be.

        Raises:
            `ConfigError`: a category or a value that there is not; what there is, is named.
        """
        fitted, was = dict(fields), {} if before is None else before.metadata
        if category := fields.get("category"):
            fitted["category"] = next((each for each in categories if _same(each, category)), None)
            if fitted["category"] is None:
                raise ConfigError(f"category cannot be {category!r}: it is one of {_listed(categories)}.")
        metadata = fields.get("metadata", was)
        named = {name: metadata[name] for name in self.dimensions if name in metadata}
        named = {name: value for name, value in named.items() if name not in was or value != was[name]}
        if not named and "tags" not in fields:
            return fitted
        tags = tuple(fields.get("tags", before.tags if before else ()))
        valid = self.checked({**self._values_in(tags), **named})
        free = [tag for tag in tags if tag.partition(":")[0] not in self.dimensions or ":" not in tag]
        others = {key: value for key, value in metadata.items() if key not in self.dimensions}
        fitted["tags"] = (*free, *_as_tags(valid))
        fitted["metadata"] = {**others, **{name: list(listed) for name, listed in valid.items()}}
        return fitted

    def values_of(self, node: MemoryNode) -> dict[str, tuple[str, ...]]:
        """What a memory has in each dimension of the schema."""
        return self._values_in(node.tags)

    def _values_in(self, tags: Iterable[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for tag in tags:
            name, colon, value = tag.partition(":")
            if colon and name in self.dimensions:
                found[name] = (*found.get(name, ()), value)
        return found

    def merged(self, nodes: Sequence[MemoryNode]) -> dict[str, tuple[str, ...]]:
        """What several memories have together, in the order of the memories."""
        found: dict[str, tuple[str, ...]] = {}
        for node in nodes:
            for name, values in self.values_of(node).items():
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), *values)))
        return found

    def filters(self, values: TagValues) -> dict[str, Any]:
        """A filter, as `parse_filters` reads it, for memories that have one of the values in each dimension.

        Raises:
            `ConfigError`: see `checked`.
        """
        return {f"metadata.{name}": {"any_of": list(listed)} for name, listed in self.checked(values).items()}

    def guessed(self, text: str) -> dict[str, tuple[str, ...]]:
        """The values that a text itself names: allowed ones by their words, people by their names."""
        words, lowered = words_of(text), text.casefold()
        found: dict[str, tuple[str, ...]] = {}
        for name, allowed in self.dimensions.items():
            if allowed:
                found[name] = tuple(value for value in allowed if _named(value, words, lowered))
            elif name in _PEOPLE:
                found[name] = people_in(text)
        return {name: values for name, values in found.items() if values}

    def category(self, name: str) -> str:
        """The category of this name, "" where the schema has none of it."""
        return next((each for each in self.categories if _same(each, name)), "")

    def _known(self, name: str, value: Any) -> str | None:
        """The value as the schema writes it; None where it is not allowed."""
        if not isinstance(value, str) or not value.strip():
            return None
        allowed = self.dimensions[name]
        wanted = value.strip()
        if not allowed:
            return wanted
        return next((each for each in allowed if _same(each, wanted)), None)


def _named(value: str, words: frozenset[str], lowered: str) -> bool:
    spoken = re.sub(r"[_-]+", " ", value).casefold()
    if not spoken.isascii():
        return spoken in lowered
    own = words_of(spoken)
    return bool(own) and own <= words


def _as_list(given: Any) -> Iterable[Any]:
    if given is None:
        return ()
    return given if isinstance(given, (list, tuple, set, frozenset)) else [given]


def _same(one: str, other: Any) -> bool:
    """Whether two names differ in nothing but case."""
    return isinstance(other, str) and one.casefold() == other.strip().casefold()


def _as_tags(values: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return tuple(f"{name}:{value}" for name, listed in values.items() for value in listed)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
