# -*- coding: utf-8 -*-
"""Search engines in memory, and the order they put things in. Nothing here reads a file or asks a model."""

from ._bm25_index import Bm25Index, Bm25Matches
from ._dense_index import DenseIndex
from ._dense_matches import DenseMatches
from ._hybrid_index import Allowed, Found, HybridIndex
from ._merging import merge_sources
from ._query_view import QueryView, Tokenizer
from ._ranking import Evidence, Ranked, rank
from ._recipe import DIALOG_RECIPE, MEMORIES_RECIPE, NOTES_RECIPE, CosineScale, SourceRecipe
from ._row_table import Columns, RowFacts, RowTable, as_speaker

__all__ = [
    "HybridIndex",
    "Found",
    "Allowed",
    "merge_sources",
    "QueryView",
    "Tokenizer",
    "RowFacts",
    "as_speaker",
    "SourceRecipe",
    "CosineScale",
    "NOTES_RECIPE",
    "DIALOG_RECIPE",
    "MEMORIES_RECIPE",
    "Bm25Index",
    "Bm25Matches",
    "DenseIndex",
    "DenseMatches",
    "RowTable",
    "Columns",
    "Evidence",
    "Ranked",
    "rank",
]
