# -*- coding: utf-8 -*-
"""How something is done: what works, what fails, what to check."""

from ._kind import MemoryKind

__all__ = ["PROCEDURAL"]

PROCEDURAL = MemoryKind(
    name="procedural",
    argument="task_name",
    prompts="memory_procedural",
    categories=("practice", "pitfall", "check", "sequence", "solution"),
    writes_when_to_use=True,
)
