# -*- coding: utf-8 -*-
"""A kind of memory as data: what it is about, what is asked of a model, and what is checked in the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..._errors import ConfigError
from .._owner import Owner

__all__ = ["MemoryKind", "kinds_by_name"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_STORED_BESIDE = frozenset({"history", "version", "tool_call", "profile", "audit"})


@dataclass(frozen=True)
class MemoryKind:
    """A kind of memory. One of your own is one file that declares it, and one YAML file of prompts per language.

    The prompts are ``<prompts>.role`` (who the model is), ``<prompts>.keep`` and ``<prompts>.drop`` (the rules of what
    is a memory of this kind and what is none); each may use ``{{target}}``. With `writes_when_to_use` there is
    ``<prompts>.situation`` as well, with `keeps_profile` ``<prompts>.profile``, and with `from_records` what
    ``memory_tool.yaml`` has.

    Args:
        name (`str`): the ``memory_type`` of its memories: lower case letters, digits and ``_``.
        argument (`str`): how callers name its targets, such as ``user_name``.
        prompts (`str`): the file of its prompts, without ``.yaml``.
        categories (`tuple[str, ...]`): the categories that its memories may have.
        writes_when_to_use (`bool`): each memory says in which situation it is of use, and is found by that.
        people_only (`bool`): only what people said is a source; what the agent or a tool said is not.
        keeps_profile (`bool`): it keeps pairs of key and value about its target besides.
        from_records (`bool`): it learns from records of tool calls instead of what was said.

    Raises:
        `ConfigError`: a name that cannot be.
    """

    name: str
    argument: str
    prompts: str
    categories: tuple[str, ...] = ()
    writes_when_to_use: bool = False
    people_only: bool = False
    keeps_profile: bool = False
    from_records: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in _STORED_BESIDE:
            taken = ", ".join(sorted(_STORED_BESIDE))
            raise ConfigError(
                f"A kind of memory is called {self.name!r}: give lower case letters, digits and '_', and none of "
                f"{taken}, which the ledger uses.",
            )
        if not self.argument.isidentifier() or not self.prompts.strip():
            raise ConfigError(
                f"The kind {self.name!r} has argument={self.argument!r} and prompts={self.prompts!r}: give the name "
                "of a keyword, such as 'user_name', and of a file of prompts.",
            )

    def owner(self, target: str) -> Owner:
        """What memories of this kind about a target belong to."""
        return Owner(self.name, target)


def kinds_by_name(kinds: Iterable[MemoryKind]) -> dict[str, MemoryKind]:
    """The kinds by their names.

    Raises:
        `ConfigError`: something that is no kind, or two that have one name, or one argument.
    """
    found: dict[str, MemoryKind] = {}
    arguments: set[str] = set()
    for kind in kinds:
        if not isinstance(kind, MemoryKind):
            raise ConfigError(f"kinds has {kind!r}: give MemoryKind objects, such as PERSONAL.")
        if kind.name in found or kind.argument in arguments:
            raise ConfigError(f"Two kinds of memory share the name {kind.name!r} or the argument {kind.argument!r}.")
        found[kind.name] = kind
        arguments.add(kind.argument)
    return found
