# -*- coding: utf-8 -*-
"""What a refinement run did."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._fidelity import Fault

__all__ = ["RunReport"]


@dataclass
class RunReport:
    """What a run did.

    Args:
        groups (`int`): groups with something new in them.
        refined (`int`): refined memories that were made.
        sources (`int`): memories that were archived behind them.
        left (`int`): memories that were looked at and left as they are.
        skipped (`int`): groups that were changed by somebody else meanwhile; the next run takes them up.
        tokens_before (`int`), tokens_after (`int`): of the sources, and of what took their place.
        calls (`int`): how often a model was asked.
        failures (`list[str]`): why a model's answer could not be used.
        faults (`list[Fault]`): claims of a model that were left out.
    """

    groups: int = 0
    refined: int = 0
    sources: int = 0
    left: int = 0
    skipped: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    calls: int = 0
    failures: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
