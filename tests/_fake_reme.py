# -*- coding: utf-8 -*-
"""A vector memory that can be looked into, made to fail and made to wait: what agents ask of a `ReMe`."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agentscope.message import Msg

from agentscope_reme._events import EventBus, Listener
from agentscope_reme.record import MemoryNode, ToolCallRecord
from agentscope_reme.refine import Recall
from agentscope_reme.vector_memory import RetrievedMemory

__all__ = ["FakeReMe", "TYPES"]

TYPES = {"user_name": "personal", "task_name": "procedural", "tool_name": "tool"}


class FakeReMe:
    """Finds memories by the words they share with the query; `fault` is raised, if set."""

    def __init__(self, *nodes: MemoryNode) -> None:
        self.nodes = list(nodes)
        self.asked: list[dict[str, Any]] = []
        self.listed: list[dict[str, Any]] = []
        self.events = EventBus()
        self.summarized: list[list[Msg]] = []
        self.summarized_for: list[dict[str, Any]] = []
        self.records: list[ToolCallRecord] = []
        self.batches: list[int] = []
        self.fault: Exception | None = None
        self.fault_for = ""
        """Whose conversations cannot be summarized."""
        self.delay = 0.0

    async def recall(self, query: str, limit: int = 20, **options: Any) -> Recall:
        self.asked.append({"query": query, "limit": limit, **options})
        await self._checked()
        owners = {f"{TYPES[kind]}/{name}" for kind in TYPES for name in options.get(kind, ())}
        words = set(query.lower().replace("?", " ").split())
        found = [node for node in self.nodes if node.owner in owners and words & set(node.content.lower().split())]
        good = [node for node in found if node.score >= (options.get("min_score") or 0)][:limit]
        return Recall(tuple(RetrievedMemory(node, node.score, 0.0, 0.0, 0.5, 1.0) for node in good))

    async def list_memory(self, limit: int = 50, **options: Any) -> list[MemoryNode]:
        self.listed.append(options)
        await self._checked()
        owners = {f"{TYPES[kind]}/{name}" for kind in TYPES for name in options.get(kind, ())}
        return [node for node in self.nodes if node.owner in owners][:limit]

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        return self.events.subscribe(callback)

    async def summarize_memory(self, messages: Sequence[Msg], **options: Any) -> list[MemoryNode]:
        await self._checked()
        if self.fault_for in options.values():
            raise ConnectionError(f"not for {self.fault_for}")
        self.summarized.append(list(messages))
        self.summarized_for.append(options)
        return []

    async def add_memory(self, memory_content: str, **options: Any) -> MemoryNode:
        await self._checked()
        kind = next(kind for kind in TYPES if options.get(kind))
        known = {"author", "message_time"}
        fields = {key: value for key, value in options.items() if key in known}
        rest = {key: value for key, value in options.items() if key not in known | set(TYPES)}
        node = MemoryNode(memory_content, TYPES[kind], options[kind], score=0.9, metadata=rest, **fields)
        self.nodes.append(node)
        return node

    async def record_tool_calls(self, records: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
        await self._checked()
        self.records += records
        self.batches.append(len(records))
        return list(records)

    async def _checked(self) -> None:
        await asyncio.sleep(self.delay)
        if self.fault is not None:
            raise self.fault
