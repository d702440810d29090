# -*- coding: utf-8 -*-
"""The two tools by which an agent gets back what left its context."""

import logging
from collections.abc import Callable

import anyio.to_thread
from agentscope.message import TextBlock
from agentscope.tool import ToolResponse

from .._errors import ReMeError
from ..text import PromptBook
from ..workspace import Workspace
from ._archive_files import ArchiveFiles
from ._archive_pages import ArchivePages
from ._archive_search import ArchiveSearch
from ._tool_arguments import some_text, whole_number

__all__ = ["ReloadTools"]

logger = logging.getLogger("agentscope_reme")

_MAX_MATCHES = 500
_MAX_LINES = 5_000


class ReloadTools:
    """Search and reading, confined to the archived messages and the offloaded texts of one workspace.

    Register the two bound methods with a toolkit. They never raise: what went wrong is told to the model as text, with
    what to do instead. Arguments are taken for what they mean, since a toolkit passes on what the model wrote.

    Args:
        workspace (`Workspace`):
            Where the files lie.
        book (`PromptBook | None`, optional):
            Has the text that stands for an expired file; the package's own where left out.
        language (`str`, defaults to `"en"`):
            The language of that text.
        max_bytes (`int`, defaults to `16000`):
            The most bytes of UTF-8 of text in one answer, at least 1,000; a line that tells how to go on comes on top.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        book: PromptBook | None = None,
        language: str = "en",
        max_bytes: int = 16_000,
    ) -> None:
        files, max_bytes = ArchiveFiles(workspace), max(1_000, max_bytes)
        tools = (self.grep_working_memory.__name__, self.read_working_memory.__name__)
        self._search = ArchiveSearch(files, max_bytes=max_bytes, without_tools=tools)
        self._pages = ArchivePages(files, book=book or PromptBook(), language=language, max_bytes=max_bytes)

    async def grep_working_memory(self, pattern: str, file_path: str = "", limit: int = 50) -> ToolResponse:
        """Find a word or phrase in what is no longer in your context: the earlier messages of the conversation and the full text of long tool results.

        The text is matched literally (no regular expressions), upper and lower case alike. Each match is shown with its
        file and line, the newest files first. Read on around a match with read_working_memory.

        Args:
            pattern (`str`):
                The exact text to find, e.g. a name, a path, an error code or a number. Short and distinctive finds
                most.
            file_path (`str`, optional):
                Search only this file, e.g. "tool_result/0a1b2c.txt", or only this folder: "dialog" (messages) or
                "tool_result" (full tool results). Everything where left out.
            limit (`int`, optional):
                The most matches to show, 50 where left out.
        """  # noqa: E501 - the first line is what the model reads
        return await _answer(
            lambda: self._search.find(
                some_text("pattern", pattern),
                some_text("file_path", file_path, ""),
                min(_MAX_MATCHES, max(1, whole_number("limit", limit, 50))),
            ),
        )

    async def read_working_memory(
        self,
        file_path: str,
        start_line: int = 1,
        limit: int = 200,
        start_byte: int = -1,
    ) -> ToolResponse:
        """Read the full text of a long tool result that was cut in your context, or the original messages of an earlier part of the conversation.

        A notice in a cut text names the file and where to go on. Long texts come in pieces; each piece ends with how to
        read the next one.

        Args:
            file_path (`str`):
                The file, as a notice or grep_working_memory names it: "tool_result/<name>.txt" for the full text of a
                tool result, "dialog/<YYYY-MM-DD>.jsonl" for the messages of a day.
            start_line (`int`, optional):
                The line to begin with, counted from 1. In a dialog file a line is a message.
            limit (`int`, optional):
                The most lines (in a dialog file: messages) to read, 200 where left out.
            start_byte (`int`, optional):
                The byte to begin with, counted from 0, for going on inside a very long line; it goes before start_line.
                In a dialog file it counts inside the message at start_line. Leave it out otherwise.
        """  # noqa: E501 - the first line is what the model reads
        return await _answer(
            lambda: self._pages.read(
                some_text("file_path", file_path),
                start_line=max(1, whole_number("start_line", start_line, 1)),
                limit=min(_MAX_LINES, max(1, whole_number("limit", limit, 200))),
                start_byte=whole_number("start_byte", start_byte, -1),
            ),
        )


async def _answer(work: Callable[[], list[str]]) -> ToolResponse:
    """Do the work in a thread; nothing it can raise reaches the agent but as text."""
    try:
        texts = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except ReMeError as error:
        texts = [f"Error: {getattr(error, 'strerror', None) or error}."]
    except Exception as error:
        logger.exception("A reload tool failed.")
        texts = [f"Error: {type(error).__name__}: {error}. Try another file or a shorter pattern."]
    return ToolResponse(content=[TextBlock(type="text", text=text) for text in texts])
