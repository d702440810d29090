# -*- coding: utf-8 -*-
"""How an index is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["IndexStatus"]


@dataclass(frozen=True)
class IndexStatus:
    """What there is to know about a note index.

    Args:
        files (`int`): files that are indexed.
        chunks (`int`): chunks they were cut into.
        waiting (`int`): chunks that have no vectors yet; always 0 without an embedding model.
        vectors (`str`): "off", "on", or why the embedding model cannot be used now.
        watcher (`str`): "off", "on", or why files are looked at from time to time only.
        faults (`Mapping[str, str]`): by path, what is wrong with files that were not read as they should.
    """

    files: int
    chunks: int
    waiting: int
    vectors: str
    watcher: str
    faults: Mapping[str, str] = field(default_factory=dict)
