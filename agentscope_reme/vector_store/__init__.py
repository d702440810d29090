# -*- coding: utf-8 -*-
"""Where memories with vectors are kept. Each store is one file; a store of your own is an instance that you pass."""

from ._base import Embed, Progress, StoreHit, VectorStore
from ._ranking import facts_of, rank_candidates
from ._space import VectorSpace, check_space

__all__ = ["VectorStore", "StoreHit", "VectorSpace", "check_space", "Embed", "Progress", "facts_of", "rank_candidates"]
