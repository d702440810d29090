# -*- coding: utf-8 -*-
"""In which order memories are listed: what every store must agree with."""

from __future__ import annotations

from collections.abc import Iterable

from .._errors import ConfigError
from ..record import FIELDS, MemoryNode, flat_fields

__all__ = ["check_sort_key", "in_order"]

_METADATA = "metadata."


def check_sort_key(sort_key: str) -> None:
    """Refuse what memories cannot be put in order by.

    Raises:
        `ConfigError`: a field that does not exist or holds several texts.
    """
    if sort_key == "key" or (sort_key.startswith(_METADATA) and sort_key != _METADATA):
        return
    if FIELDS.get(sort_key, "texts") == "texts":
        known = ", ".join(name for name, kind in FIELDS.items() if kind != "texts")
        raise ConfigError(f"sort_key is {sort_key!r}: there are key, {known}, metadata.<key>.")


def in_order(nodes: Iterable[MemoryNode], sort_key: str = "time_created", reverse: bool = True) -> list[MemoryNode]:
    """Put memories in order as `VectorStore.find` gives them; for stores that cannot do it themselves.

    Numbers and flags stand below texts, and texts are compared by code points. Memories without a value come last
    whatever `reverse` says, and equals are ordered by key, the least first.

    Args:
        nodes (`Iterable[MemoryNode]`): the memories.
        sort_key (`str`): ``"key"``, a field, or ``metadata.<key>``.
        reverse (`bool`): the greatest first.

    Raises:
        `ConfigError`: see `check_sort_key`.
    """
    check_sort_key(sort_key)
    if sort_key == "key":
        return sorted(nodes, key=lambda node: node.key, reverse=reverse)
    with_value, without = [], []
    for node in sorted(nodes, key=lambda node: node.key):
        value = flat_fields(node).get(sort_key)
        if value is None or isinstance(value, list):
            without.append(node)
        else:
            with_value.append(((isinstance(value, str), value), node))
    with_value.sort(key=lambda pair: pair[0], reverse=reverse)  # a stable sort keeps equals by key, reversed too
    return [node for _, node in with_value] + without
