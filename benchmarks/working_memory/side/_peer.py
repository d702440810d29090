# -*- coding: utf-8 -*-
"""The installed ReMe (reme-ai 0.3.1) as a side of the benchmark."""

import importlib.metadata
from pathlib import Path
from typing import Any

from agentscope.message import Msg

__all__ = ["Peer"]


class Peer:
    """One working directory. Notes, search and models are left idle on this side as on the other."""

    @staticmethod
    def load() -> None:
        import reme.reme_light  # noqa: F401

    @staticmethod
    def version() -> str:
        return importlib.metadata.version("reme-ai")

    def __init__(self, folder: Path, window: int) -> None:
        from reme.reme_light import ReMeLight

        self._window = window
        self._folder = folder
        self._light = ReMeLight(
            working_dir=str(folder),
            llm_api_key="none",
            embedding_api_key="none",
            default_file_store_config={"backend": "local", "fts_enabled": True, "vector_enabled": False},
        )

    async def start(self) -> None:
        await self._light.start()

    async def close(self) -> None:
        await self._light.close()

    def memory(self) -> Any:
        return self._light.get_in_memory_memory()

    def attached(self, system_prompt: str) -> tuple[Any, Any]:
        """A memory that an agent holds, and what its owner has to run before each of the agent's steps."""
        memory = self.memory()

        async def hook() -> None:
            messages = await memory.get_memory(prepend_summary=False)
            await self.list_hook(messages, system_prompt)

        return memory, hook

    async def list_hook(self, messages: list[Msg], system_prompt: str) -> list[Msg]:
        return (await self._light.pre_reasoning_hook(messages, system_prompt, max_input_length=self._window))[0]

    async def check(self, messages: list[Msg], threshold: int, reserve: int) -> Any:
        return await self._light.check_context(messages, threshold, reserve)

    async def truncate(self, messages: list[Msg], limit: int) -> list[Msg]:
        return await self._light.compact_tool_result(messages, old_max_bytes=limit)

    def files(self) -> int:
        return len(list((self._folder / "tool_results").glob("*.txt")))
