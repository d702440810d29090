# -*- coding: utf-8 -*-
"""Whose memories are meant, or of what: people, tasks and tools by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import ConfigError

__all__ = ["Names", "Owners"]

Names = str | Sequence[str]
"""One name or several; an empty text or list names nobody."""


@dataclass(frozen=True)
class Owners:
    """Whose memories are meant, or about what.

    Args:
        user_name (`str | Sequence[str]`), task_name (`str | Sequence[str]`), tool_name (`str | Sequence[str]`):
            One name or several of each; all of them together.

    Raises:
        `ConfigError`: something that is no name.
    """

    user_name: Names = ()
    task_name: Names = ()
    tool_name: Names = ()

    def __post_init__(self) -> None:
        for kind, names in self.named().items():
            object.__setattr__(self, kind, _name_list(kind, names))

    def named(self) -> dict[str, Names]:
        """As the arguments of a `ReMe`'s methods."""
        return {"user_name": self.user_name, "task_name": self.task_name, "tool_name": self.tool_name}

    def lists(self) -> dict[str, list[str]]:
        """The arguments that name somebody, each as a list."""
        return {kind: list(names) for kind, names in self.named().items() if names}

    def each(self) -> list[tuple[str, str]]:
        """Every argument with one name."""
        return [(kind, name) for kind, names in self.lists().items() for name in names]

    def __bool__(self) -> bool:
        return any(self.named().values())


def _name_list(kind: str, names: Any) -> tuple[str, ...]:
    given = [names] if isinstance(names, str) else names
    if given is None or isinstance(given, Mapping) or not hasattr(given, "__iter__"):
        given = [] if given is None else [given]
    listed = list(given)
    if not all(isinstance(name, str) for name in listed):
        raise ConfigError(f"{kind} is {names!r}: give a name or a list of names.")
    return tuple(dict.fromkeys(name for name in listed if name.strip()))
