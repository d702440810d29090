# -*- coding: utf-8 -*-
"""Whose memories, or about what: a type with a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._errors import ConfigError
from ..record import Condition, owner_of

__all__ = ["Owner", "owned_by", "owners_of"]


class Owner(NamedTuple):
    """What a memory belongs to.

    Args:
        memory_type (`str`): ``"personal"``, ``"procedural"``, ``"tool"``, or a kind of your own; no slash in it.
        target (`str`): the user's, task's or tool's name, as it was given.
    """

    memory_type: str
    target: str

    @property
    def key(self) -> str:
        """Both in one string, as in `MemoryNode.owner`: ``personal/alice``."""
        return owner_of(self.memory_type, self.target)

    @classmethod
    def of_key(cls, key: str) -> Owner:
        """The owner with this key; a target may hold slashes, a type none."""
        memory_type, _, target = key.partition("/")
        return cls(memory_type, target)


def owners_of(
    memory_type: str, names: str | Owner | Sequence[str | Owner], argument: str = "name"
) -> tuple[Owner, ...]:
    """The owners that a caller names.

    Args:
        memory_type (`str`): their type.
        names (`str | Owner | Sequence[str | Owner]`): one name or several; ``""`` and an empty list name nobody. An
            owner is meant as it is, whatever its type.
        argument (`str`): how the argument is called, for the message of the error.

    Returns:
        `tuple[Owner, ...]`: each once, in their order.

    Raises:
        `ConfigError`: a name that is no text or is blank.
    """
    if isinstance(names, (str, Owner)):  # an owner is a tuple, and no list of names
        names = [names] if names else []
    if not isinstance(names, (list, tuple, set, frozenset)):
        raise ConfigError(f"{argument} is {names!r}: give a name or a list of names.")
    for name in names:
        text = name.target if isinstance(name, Owner) else name
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"{argument} has {name!r}, which names nobody: give names that are not blank.")
    named = (name if isinstance(name, Owner) else Owner(memory_type, name) for name in names)
    return tuple(dict.fromkeys(named))


def owned_by(owners: Sequence[Owner] | None, field: str = "owner") -> tuple[Condition, ...]:
    """The condition that a memory belongs to one of these owners; none for None.

    Args:
        owners (`Sequence[Owner] | None`): the owners. An empty sequence is met by no memory.
        field (`str`): ``"owner"`` for memories; ``"memory_target"`` for rows of the ledger.
    """
    if owners is None:
        return ()
    keys = tuple(owner.key for owner in owners)
    return (Condition(field, "equal", keys) if len(keys) == 1 else Condition(field, "any_of", keys),)
