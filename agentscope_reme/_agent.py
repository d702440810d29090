# -*- coding: utf-8 -*-
"""The host's ReAct agent with a memory manager wired in, for those who subclass."""

from pathlib import Path
from typing import Any

from agentscope.agent import ReActAgent

from ._errors import ConfigError
from ._memory_manager import MemoryManager
from ._owners import Names

__all__ = ["ReMeReActAgent"]


class ReMeReActAgent(ReActAgent):
    """A `ReActAgent` that is attached from the start.

    Args:
        *args, **kwargs:
            As for `ReActAgent`.
        manager (`MemoryManager | None`):
            The manager to attach to; one of its own over `working_dir` if left out.
        working_dir (`str | Path | None`):
            The folder of a manager of its own; `.reme` if left out.
        session_id (`str | None`):
            The id of the new session.
        user_name (`str | Sequence[str]`), task_name (`str | Sequence[str]`), tool_name (`str | Sequence[str]`):
            Whose memories a manager with `recall_from=` recalls; see `MemoryManager.attach`.

    Raises:
        `ConfigError`: both a manager and a folder were given.
        `AttachError`: see `MemoryManager.attach`.
    """

    def __init__(
        self,
        *args: Any,
        manager: MemoryManager | None = None,
        working_dir: str | Path | None = None,
        session_id: str | None = None,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        **kwargs: Any,
    ) -> None:
        if manager is not None and working_dir is not None:
            raise ConfigError(
                f"Both manager= and working_dir={str(working_dir)!r} were given: the manager has a folder."
            )
        super().__init__(*args, **kwargs)
        self.manager = manager or MemoryManager(".reme" if working_dir is None else working_dir)
        self.manager.attach(self, session_id, user_name=user_name, task_name=task_name, tool_name=tool_name)

    async def command(self, text: str) -> str | None:
        """Carry out a memory command such as `/compact`; `None` where the text is none. See `MemoryManager.command`."""
        return await self.manager.command(text, self)
