# -*- coding: utf-8 -*-
"""Running one of a fixed list of commands: no shell, a folder to stay in, a time limit and bounded output."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import anyio.abc

__all__ = ["COMMANDS", "Commands"]

_PYTHON = (sys.executable, "-E", "-s", "-S", "-B", "-X", "utf8", "-m")

COMMANDS: Mapping[str, Sequence[str]] = {
    "tests": (*_PYTHON, "unittest"),
    "settings": (*_PYTHON, "orderdesk.settings", "production"),
    "log_stats": (*_PYTHON, "scripts.log_stats"),
    "replay": (*_PYTHON, "scripts.replay"),
}
"""What may be run, by name: programs of the sample project, under this interpreter without its third-party packages."""


class Commands:
    """Runs commands by their name.

    Args:
        root (`Path`):
            The folder they run in.
        allowed (`Mapping[str, Sequence[str]]`):
            The argument vector of each.
        timeout (`float`):
            Seconds after which one is stopped.
        max_bytes (`int`):
            Bytes of output after which one is stopped.
    """

    def __init__(
        self,
        root: Path,
        allowed: Mapping[str, Sequence[str]] = COMMANDS,
        *,
        timeout: float = 20.0,
        max_bytes: int = 200_000,
    ) -> None:
        self._root = root
        self._allowed = allowed
        self._timeout = timeout
        self._max_bytes = max_bytes

    async def run(self, name: str) -> str:
        """What the command printed, and how it ended; what cannot be run is said in words."""
        argv = self._allowed.get(name)
        if argv is None:
            return f"Error: there is no command {name!r}. There are: {', '.join(self._allowed)}."
        process = await anyio.open_process(
            list(argv), cwd=self._root, env=_bare_environment(), stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        async with process:
            output, end = bytearray(), ""
            with anyio.move_on_after(self._timeout) as limit:
                end = await self._collect(process, output)
            if limit.cancelled_caught:
                end = f"stopped after {self._timeout:g} seconds"
            if process.returncode is None:
                process.kill()
        text = output.decode("utf-8", "replace").replace("\r\n", "\n")
        return f"$ {name}\n{text.rstrip()}\n[{end or f'exit code {process.returncode}'}]"

    async def _collect(self, process: anyio.abc.Process, output: bytearray) -> str:
        assert process.stdout is not None
        async for chunk in process.stdout:
            output += chunk
            if len(output) > self._max_bytes:
                del output[self._max_bytes :]
                return f"stopped after {self._max_bytes} bytes of output"
        await process.wait()
        return ""


def _bare_environment() -> dict[str, str]:
    """Nothing of the person's own environment, where keys are."""
    return {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
