# -*- coding: utf-8 -*-
"""The tools of the demo's agent, confined to its copy of the sample project."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentscope.message import TextBlock
from agentscope.tool import ToolResponse

from ..._errors import ReMeError
from ...workspace import Workspace
from ._commands import Commands

__all__ = ["ProjectTools"]

_MOST_LINES = 2_000


class ProjectTools:
    """Listing, reading and searching files, and running a command of a fixed list. Nothing is ever written.

    Args:
        root (`str | Path`):
            The folder that no tool leads out of, symbolic links included.
    """

    def __init__(self, root: str | Path) -> None:
        self._folder = Workspace(root)
        self._commands = Commands(self._folder.root)

    def functions(self) -> list[Callable[..., Any]]:
        """The tools, for a toolkit."""
        return [self.list_files, self.read_file, self.search_files, self.run_command]

    async def list_files(self, path: str = ".") -> ToolResponse:
        """List the files of the project with their sizes.

        Args:
            path (`str`, optional):
                A folder of the project, "." for all of it.
        """
        return _answer(lambda: "\n".join(f"{size:>8}  {name}" for name, size in self._sizes(path)))

    async def read_file(self, path: str, start_line: int = 1, lines: int = 400) -> ToolResponse:
        """Read a text file of the project, with line numbers.

        Args:
            path (`str`):
                The file, as list_files names it.
            start_line (`int`, optional):
                The line to begin with, from 1.
            lines (`int`, optional):
                How many lines to read, 400 where left out.
        """
        return _answer(lambda: self._page(path, _whole(start_line, 1), min(_MOST_LINES, _whole(lines, 400))))

    async def search_files(self, pattern: str, path: str = ".") -> ToolResponse:
        """Find a text in the files of the project, literally, upper and lower case alike.

        Args:
            pattern (`str`):
                The text to find.
            path (`str`, optional):
                A file or folder to search, "." for all.
        """
        return _answer(lambda: self._matches(str(pattern), path))

    async def run_command(self, command: str) -> ToolResponse:
        """Run one of the project's commands and return what it prints.

        Args:
            command (`str`):
                "tests" (the unit tests), "settings" (what is in force in production, and from where), "log_stats"
                (checkouts, timeouts and failures by the minute) or "replay" (the timeouts of the log, fed to the real
                code).
        """
        text = await self._commands.run(str(command).strip())
        return ToolResponse(content=[TextBlock(type="text", text=text)])

    def _files(self, path: str) -> Iterator[Path]:
        """The files of a folder, or the one file that is named."""
        start = self._folder.resolve(path)
        yield from (each for each in sorted(start.rglob("*")) if each.is_file()) if start.is_dir() else [start]

    def _sizes(self, path: str) -> Iterator[tuple[str, int]]:
        for file in self._files(path):
            yield self._folder.relative(file), file.stat().st_size

    def _page(self, path: str, start: int, count: int) -> str:
        every = self._folder.read_text(path).splitlines()
        shown = every[start - 1 : start - 1 + count]
        if not shown:
            return f"Error: {path} has {len(every)} lines."
        body = "\n".join(f"{number:>5} | {line}" for number, line in enumerate(shown, start))
        return f"{path}, lines {start} to {start + len(shown) - 1} of {len(every)}\n{body}"

    def _matches(self, pattern: str, path: str) -> str:
        found = [
            f"{self._folder.relative(file)}:{number}: {line.strip()}"
            for file in self._files(path)
            for number, line in enumerate(self._folder.read_text(file).splitlines(), 1)
            if pattern.lower() in line.lower()
        ]
        return "\n".join([f"{len(found)} lines with {pattern!r} in {path}", *found])


def _answer(work: Callable[[], str]) -> ToolResponse:
    """What the tool found; what is wrong with the arguments is told to the model."""
    try:
        text = work()
    except (ReMeError, OSError) as error:
        text = f"Error: {error}"
    return ToolResponse(content=[TextBlock(type="text", text=text)])


def _whole(value: Any, default: int) -> int:
    """A positive whole number of what a model wrote."""
    try:
        return max(1, int(value))
    except (TypeError, ValueError):
        return default
