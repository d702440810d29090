# -*- coding: utf-8 -*-
"""Refinement: what to capture, keep, merge, correct, strengthen and let go, always traceable and reversible."""

from ._lexicon import Lexicon
from ._requests import asks_to_forget, asks_to_remember
from ._triggers import DEFAULT_TRIGGERS, CaptureState, Trigger, TriggerRule, due, parse_triggers, to_store_at_once

__all__ = [
    "Lexicon",
    "asks_to_forget",
    "asks_to_remember",
    "DEFAULT_TRIGGERS",
    "CaptureState",
    "Trigger",
    "TriggerRule",
    "due",
    "parse_triggers",
    "to_store_at_once",
]
