# -*- coding: utf-8 -*-
"""agentscope-reme as a side of the benchmark."""

import importlib.metadata
from pathlib import Path
from typing import Any

from agentscope.message import Msg

__all__ = ["Ours"]


class Ours:
    """One workspace."""

    @staticmethod
    def load() -> None:
        import agentscope_reme  # noqa: F401

    @staticmethod
    def version() -> str:
        try:
            return importlib.metadata.version("agentscope-reme")
        except importlib.metadata.PackageNotFoundError:
            from agentscope_reme import __version__

            return __version__

    def __init__(self, folder: Path, window: int) -> None:
        from agentscope_reme import MemoryManager

        self._window = window
        self._manager = MemoryManager(folder, model=None, max_input_length=window)
        self._folder = folder

    async def start(self) -> None:
        await self._manager.start()

    async def close(self) -> None:
        await self._manager.close()

    def memory(self) -> Any:
        return self._manager.get_in_memory_memory()

    def attached(self, system_prompt: str) -> tuple[Any, Any]:
        """A memory that an agent holds, and what runs before each of the agent's steps."""
        from agentscope.agent import ReActAgent
        from agentscope.formatter import OpenAIChatFormatter

        from agentscope_reme.testing import ScriptedChatModel

        agent = ReActAgent("agent", system_prompt, ScriptedChatModel([]), OpenAIChatFormatter())
        memory = self._manager.attach(agent)
        (registered,) = agent._instance_pre_reasoning_hooks.values()

        async def hook() -> None:
            await registered(agent, {})

        return memory, hook

    async def list_hook(self, messages: list[Msg], system_prompt: str) -> list[Msg]:
        return (await self._manager.pre_reasoning_hook(messages, system_prompt, max_input_length=self._window))[0]

    async def check(self, messages: list[Msg], threshold: int, reserve: int) -> Any:
        return await self._manager.check_context(messages, threshold, reserve)

    async def truncate(self, messages: list[Msg], limit: int) -> list[Msg]:
        return await self._manager.compact_tool_result(messages, old_max_bytes=limit)

    def files(self) -> int:
        return len(list((self._folder / "tool_result").glob("*.txt")))
