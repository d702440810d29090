# -*- coding: utf-8 -*-
"""What an index was made with, checked once, and how it is opened."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path

from .._errors import ConfigError
from ..embedding import BatchEmbedder
from ..search import DIALOG_RECIPE, NOTES_RECIPE, SourceRecipe
from ..storage import Database
from ._areas import DIALOG, TOOLS, Area, Places
from ._catalog import Catalog
from ._engine import Engine
from ._reconciler import Reconciler, Words
from ._schema import MIGRATIONS
from ._shelves import Shelves
from ._vectors import Report, VectorStore, model_name

__all__ = ["IndexSettings", "all_recipes", "names_of_sources"]

_TOOLS_RECIPE = SourceRecipe(vector_weight=0.0, date=0.2)
_FEWEST_TOKENS = 16


@dataclass(frozen=True)
class IndexSettings:
    """The arguments of a `NoteIndex`, see there.

    Raises:
        `ConfigError`: one of them cannot work.
    """

    places: Places
    areas: list[Area]
    recipes: Mapping[str, SourceRecipe]
    embedder: BatchEmbedder | None
    words: Words
    timezone: dt.tzinfo | None
    candidate_multiplier: float
    keyword_search: bool
    chunk_tokens: int
    redact: Callable[[str], str] | None
    report: Report
    clock: Callable[[], dt.datetime] | None
    database: Database | None

    def __post_init__(self) -> None:
        if not (_is_number(self.candidate_multiplier) and 1 <= self.candidate_multiplier < math.inf):
            raise ConfigError(f"candidate_multiplier is {self.candidate_multiplier!r}: give a number of at least 1.")
        if not (_is_number(self.chunk_tokens) and self.chunk_tokens >= _FEWEST_TOKENS):
            raise ConfigError(f"chunk_tokens is {self.chunk_tokens!r}: give a number of at least {_FEWEST_TOKENS}.")
        if not self.keyword_search and self.embedder is None:
            raise ConfigError("keyword_search=False without an embedder leaves nothing to search by: give one of them.")

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.places.root

    def now(self) -> dt.datetime:
        """What time it is, where the notes are written."""
        return self.clock() if self.clock else dt.datetime.now(self.timezone)

    def open(self) -> Engine:
        """Everything that an index needs between its start and its end; nothing is read yet."""
        state = self.places.state_dir
        database = self.database or Database(state / "index.db", migrations=MIGRATIONS, cache=True)
        shelves = Shelves(
            database,
            self.recipes,
            lifted=self.areas[0].shown,
            timezone=self.timezone,
            model=model_name(self.embedder),
            dimensions=self.embedder.dimensions if self.embedder else 0,
            by_words=self.keyword_search,
        )
        catalog = Catalog(database)
        reconciler = Reconciler(
            catalog, shelves, self.areas, self.root, self.words, limit=self.chunk_tokens, redact=self.redact
        )
        vectors = None
        if self.embedder is not None:
            vectors = VectorStore(database, shelves, self.embedder, state / "index.embedding.lock", self.report)
        return Engine(database, catalog, shelves, reconciler, vectors, owns_database=self.database is None)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def names_of_sources(areas: Iterable[Area]) -> tuple[str, ...]:
    """The sources; what goes first among equals first."""
    return (*dict.fromkeys(area.source for area in areas if area.source != DIALOG), DIALOG)


def all_recipes(
    sources: Iterable[str], given: Mapping[str, SourceRecipe], vector_weight: float | None
) -> dict[str, SourceRecipe]:
    """By source, how it is searched.

    Raises:
        `ConfigError`: a recipe for a source that there is not.
    """
    recipes = {source: DIALOG_RECIPE if source == DIALOG else NOTES_RECIPE for source in sources}
    if vector_weight is not None:
        recipes |= {
            source: replace(recipe, vector_weight=vector_weight)
            for source, recipe in recipes.items()
            if source != DIALOG
        }
    if unknown := [source for source in given if source not in recipes]:
        raise ConfigError(f"recipes has {unknown[0]!r}: there are {', '.join(recipes)}.")
    return {**recipes, **given, TOOLS: _TOOLS_RECIPE}
