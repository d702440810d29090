# -*- coding: utf-8 -*-
"""How a tool is best called."""

from ._kind import MemoryKind

__all__ = ["TOOL"]

TOOL = MemoryKind(
    name="tool",
    argument="tool_name",
    prompts="memory_tool",
    categories=("guide",),
    writes_when_to_use=True,
    from_records=True,
)
