# -*- coding: utf-8 -*-
"""What an open index consists of."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TypeVar

from ..storage import Database
from ._catalog import Catalog
from ._reconciler import Changes, Reconciler
from ._shelves import Shelves
from ._vectors import VectorStore

__all__ = ["Engine"]

T = TypeVar("T")


@dataclass
class Engine:
    """An index between ``start`` and ``close``.

    Args:
        database (`Database`): the truth about chunks.
        catalog (`Catalog`): the files in it.
        shelves (`Shelves`): the indexes in memory.
        reconciler (`Reconciler`): reads the files.
        vectors (`VectorStore | None`): embeds the chunks.
        owns_database (`bool`): whether it is closed with the index.
    """

    database: Database
    catalog: Catalog
    shelves: Shelves
    reconciler: Reconciler
    vectors: VectorStore | None
    owns_database: bool = True

    def __post_init__(self) -> None:
        self._turn = threading.Lock()
        self._tickets = itertools.count(1)
        self._ticket = 0
        self._looked_at = 0
        self._settled_for = -1

    def synchronize(self) -> Changes:
        """Compare files and index; of several callers at the same time one does it for all. Blocking."""
        ticket = next(self._tickets)
        self._ticket = max(self._ticket, ticket)
        with self._turn:
            if self._looked_at >= ticket:  # somebody began to look after we came
                return Changes()
            newest = self._ticket
            changed = self.catalog.refresh()
            if self._settled_for != self.database.generation:
                self._settle()
                changed = self.catalog.refresh() or changed
            changes = self.reconciler.run(changed)
            self._looked_at = newest
            return changes

    def _settle(self) -> None:
        """Note how everything is made, where the database is new to us."""
        self.reconciler.settle()
        if self.vectors is not None:
            self.vectors.claim()
        self._settled_for = self.database.generation

    def close(self) -> None:
        """End a synchronization under way, and let go of the database. Blocking."""
        self.reconciler.stopping.set()
        with self._turn:
            if self.owns_database:
                self.database.close_sync()
