# -*- coding: utf-8 -*-
"""How what a model draws is kept: by the same rules as what is captured without one."""

from __future__ import annotations

from ..record import MemoryNode
from ..vector_memory import KeepingRules
from ._config import RefinerConfig
from ._conflict import replacing
from ._enriching import enriched
from ._lexicon import Lexicon, default_lexicon
from ._schema import TagSchema

__all__ = ["keeping_rules"]


def keeping_rules(
    config: RefinerConfig, schema: TagSchema | None = None, lexicon: Lexicon | None = None
) -> KeepingRules:
    """The rules for `MemorySummarizer.summarize`.

    Args:
        config (`RefinerConfig`): thresholds, the policy for contradictions, and when memories expire.
        schema (`TagSchema | None`): the dimensions of tags and the categories, where they were declared: a model is
            asked for these.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
    """
    lexicon = lexicon or default_lexicon()

    def judged(node: MemoryNode) -> MemoryNode:
        return enriched(node, config, schema or TagSchema(), lexicon)

    def replaced(new: MemoryNode, old: MemoryNode) -> MemoryNode:
        return replacing(new, old, config, lexicon)

    return KeepingRules(
        near_copy=config.dedup_threshold,
        keeps_both=config.conflict_policy == "keep",
        replacing=replaced,
        judged=judged,
        labels=schema,
    )
