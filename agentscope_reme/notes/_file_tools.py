# -*- coding: utf-8 -*-
"""Tools with which a model reads and writes the notes, and nothing else."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
from agentscope.message import TextBlock
from agentscope.tool import Toolkit, ToolResponse

from .._errors import ConfigError
from ..text import PromptBook, normalize_language
from ..workspace import Workspace
from ._changes import Guard
from ._note_desk import Answer, NoteDesk
from ._note_store import Note

__all__ = ["FileTools"]

logger = logging.getLogger("agentscope_reme")


class FileTools:
    """The tools `read`, `write`, `edit` and `append` over a few files of a workspace.

    A path that leads elsewhere is refused, whatever way it goes. Files are replaced in one step, missing folders are
    made, line ends and bytes that are no UTF-8 stay as they are where nothing is changed.

    Two rules keep what others wrote. *Versions*: `write` needs the whole file to have been read, and `write` and `edit`
    are refused where the file has changed since these tools read it last, so that of two writers none loses a line.
    *Hand-written lines*: a line that no tools of this kind wrote was written by a person, and stays as it is, in its
    order, whatever the model asks for. Where `write` leaves such lines out, they are kept in their places and the rest
    is written; an `edit` that would change one is refused. `append` adds what does not stand in the file yet.

    One set is meant for one agent: it knows what that agent has seen. Any number of sets may share a workspace.

    Args:
        workspace (`Workspace`):
            Where the files lie.
        writable (`Sequence[str]`):
            The files, and the folders (with a slash at the end), that may be written.
        readable (`Sequence[str] | None`):
            Those that may be read; the writable ones if left out.
        max_read_bytes (`int`):
            The most bytes of a file that one `read` shows.
        max_failures (`int`):
            How often in a row `write` and `edit` may fail on a file. After that they answer at once that `append` has
            to be used, until an `append` worked.
        book (`PromptBook | None`), language (`str`):
            The texts that the tools answer with.
        guard (`Guard | None`):
            Keeps one of the files to statements of a certain origin.

    Raises:
        `ConfigError`: a number or an area that cannot work.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        writable: Sequence[str] = ("MEMORY.md", "memory/"),
        readable: Sequence[str] | None = None,
        max_read_bytes: int = 32_768,
        max_failures: int = 3,
        book: PromptBook | None = None,
        language: str = "en",
        guard: Guard | None = None,
    ) -> None:
        for name, number in (("max_read_bytes", max_read_bytes), ("max_failures", max_failures)):
            if not isinstance(number, int) or number < 1:
                raise ConfigError(f"{name} is {number!r}: give a whole number of at least 1.")
        if isinstance(writable, str) or isinstance(readable, str):
            raise ConfigError("writable and readable are lists of files and of folders that end in '/'.")
        self._desk = NoteDesk(
            workspace,
            writable=writable,
            readable=writable if readable is None else readable,
            max_read_bytes=max_read_bytes,
            max_failures=max_failures,
            book=book or PromptBook(),
            language=normalize_language(language),
            guard=guard,
        )
        self._mutex = threading.Lock()
        self._retired = False

    @property
    def changed(self) -> Mapping[str, Note]:
        """The files that were changed, by their paths in the workspace, each as the last change left it."""
        return self._desk.changed

    @property
    def foreign(self) -> Sequence[str]:
        """The lines that the guard turned away."""
        return self._desk.foreign

    @property
    def calls(self) -> int:
        """How often something was to be changed."""
        return self._desk.calls

    @property
    def failures(self) -> int:
        """How often that failed."""
        return self._desk.failures

    # ------------------------------------------------------------------ the tools

    async def read(self, file_path: str, start_line: int = 1, limit: int = 400) -> ToolResponse:
        """Read a note file. Read a file before you write to it or edit it.

        Args:
            file_path (`str`):
                The file, such as "MEMORY.md" or "memory/2025-01-31.md".
            start_line (`int`, optional):
                The first line to show, counted from 1.
            limit (`int`, optional):
                How many lines to show.
        """
        return await self._answer(self._desk.read, file_path, start_line, limit)

    async def write(self, file_path: str, content: str) -> ToolResponse:
        """Create a note file, or replace the whole content of one that you have read completely. To add something to a
        file use append, to change a part of it use edit. Lines that a person wrote stay in the file in any case.

        Args:
            file_path (`str`):
                The file, such as "memory/2025-01-31.md".
            content (`str`):
                The whole new content, with everything that is to stay.
        """
        return await self._answer(self._desk.write, file_path, content)

    async def edit(self, file_path: str, old_text: str, new_text: str) -> ToolResponse:
        """Replace one piece of text in a note file. Lines that a person wrote cannot be changed.

        Args:
            file_path (`str`):
                The file, such as "MEMORY.md".
            old_text (`str`):
                The text to replace, exactly as it stands in the file. It must occur there exactly once.
            new_text (`str`):
                The text to put in its place; "" to remove it.
        """
        return await self._answer(self._desk.edit, file_path, old_text, new_text)

    async def append(self, file_path: str, content: str) -> ToolResponse:
        """Add lines at the end of a note file, which is created if it does not exist. Lines that stand in the file
        already are not added again.

        Args:
            file_path (`str`):
                The file, such as "memory/2025-01-31.md".
            content (`str`):
                The lines to add.
        """
        return await self._answer(self._desk.append, file_path, content)

    def functions(self) -> list[Callable[..., Any]]:
        """The tools, to be registered in a toolkit."""
        return [self.read, self.append, self.edit, self.write]

    def toolkit(self) -> Toolkit:
        """A new toolkit with the tools in it."""
        toolkit = Toolkit()
        for function in self.functions():
            toolkit.register_tool_function(function)
        return toolkit

    def retire(self) -> None:
        """Change nothing from now on, once what is under way is done. An agent that goes on nevertheless is interrupted
        at its next call."""
        with self._mutex:
            self._retired = True

    # ------------------------------------------------------------------ answers

    async def _answer(self, work: Callable[..., Answer], *arguments: Any) -> ToolResponse:
        """Do the work in a thread; whatever goes wrong becomes an answer."""
        try:
            text, ok = await anyio.to_thread.run_sync(partial(self._alone, work, *arguments))
        except Exception as error:
            logger.exception("A file tool failed.")
            text, ok = self._desk.say("failed", reason=f"{type(error).__name__}: {error}"), False
        return ToolResponse(content=[TextBlock(type="text", text=text)], metadata={"ok": ok})

    def _alone(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        with self._mutex:
            if self._retired:
                raise asyncio.CancelledError
            return work(*arguments)
