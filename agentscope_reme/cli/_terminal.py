# -*- coding: utf-8 -*-
"""Where output goes: a terminal, a file, or a pipe that somebody may close."""

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Terminal"]

_NARROWEST = 60


class Terminal:
    """Standard output and standard error, and what they can show.

    Args:
        out (`TextIO | None`), err (`TextIO | None`):
            The streams; the process's own unless given.
        env (`Mapping[str, str] | None`):
            The environment; the process's own unless given.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        err: TextIO | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self.env = os.environ if env is None else env
        self.broken = False
        """Whether the reader of the output went away; what is written then is dropped."""
        if hasattr(self._out, "reconfigure"):
            self._out.reconfigure(errors="replace")

    @property
    def is_live(self) -> bool:
        """Whether a picture can be drawn over and over: a person's terminal that knows how, wide enough, in UTF-8."""
        encoding = (getattr(self._out, "encoding", "") or "").lower().replace("-", "")
        return (
            self._out.isatty()
            and self.env.get("TERM", "") not in ("", "dumb")
            and encoding == "utf8"
            and self.console().width >= _NARROWEST
        )

    @property
    def language(self) -> str:
        """`"zh"` where the locale is Chinese, else `"en"`."""
        chosen = next(filter(None, (self.env.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
        return "zh" if chosen.lower().startswith("zh") else "en"

    def console(self, *, color: bool = True) -> "Console":
        """The terminal for rich."""
        from rich.console import Console

        return Console(file=self._out, no_color=None if color else True, highlight=False, markup=False, emoji=False)

    def fileno(self) -> int:
        """The descriptor of the output, for a process to write to."""
        return self._out.fileno()

    def write(self, text: str) -> None:
        """Write and flush; a closed pipe is remembered and does no harm."""
        if self.broken:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            self.give_up()

    def complain(self, text: str) -> None:
        """Write a line to standard error."""
        with contextlib.suppress(OSError):
            self._err.write(f"{text}\n")
            self._err.flush()

    def give_up(self) -> None:
        """Let nothing be written any more, not even by the interpreter as it ends."""
        self.broken = True
        with contextlib.suppress(OSError, ValueError):
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, self._out.fileno())
            os.close(sink)
