# -*- coding: utf-8 -*-
"""What tools were called with: the main argument of a call, and all calls of a tool folded into one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ._one_line import as_data, clipped, width

__all__ = ["ToolCall", "folded", "is_folded", "main_argument"]

_MAIN_KEYS = tuple(
    key
    for keys in (
        "path file_path filepath file_name filename file",
        "pattern query q keyword keywords search_term regex",
        "command cmd script url uri expression code sql",
        "dir directory folder",
    )
    for key in keys.split()
)
_REASONING_TOOLS = frozenset(["think", "thinking", "sequential_thinking", "sequentialthinking"])
_ARGUMENT_WIDTH = 90
_SECOND_ARGUMENT_WIDTH = 60
_ALL_ARGUMENTS_WIDTH = 135
_VALUE_WIDTH = 40
_LINE_WIDTH = 220
_FIRST_LINE_CHARS = 1000
_FOLDED = re.compile(r"`(?P<name>[^`]+)`(?: ×(?P<times>\d+))?(?:: (?P<arguments>.+))?$")


@dataclass
class ToolCall:
    """One call of a tool and what came of it; `output` is `None` as long as there is no result."""

    name: str
    argument: str
    order: int
    output: str | None = None

    @property
    def title(self) -> str:
        """The call in a few words."""
        return f"`{self.name}` {self.argument}".rstrip()

    @property
    def is_reasoning(self) -> bool:
        """Whether the tool only gives the model room to think."""
        return self.name.lower() in _REASONING_TOOLS


def main_argument(arguments: dict[str, Any]) -> str:
    """What a call was about, on one line: its path, command or query if it has one, else all of its small arguments."""
    main = [arguments[key] for key in _MAIN_KEYS if isinstance(arguments.get(key), str) and arguments[key].strip()]
    if main:
        shown = main[:1] + [each for each in main[1:2] if width(each) <= _SECOND_ARGUMENT_WIDTH]
        return clipped(" ".join(map(_first_line, shown)), _ARGUMENT_WIDTH)
    parts = (f"{key}={_short(value)}" for key, value in arguments.items() if value not in (None, "", [], {}))
    return clipped(as_data(", ".join(parts)), _ALL_ARGUMENTS_WIDTH)


def folded(earlier: Iterable[str], calls: Iterable[ToolCall]) -> list[tuple[str, int]]:
    """Calls as one line a tool, joined with the lines of earlier folds.

    Args:
        earlier (`Iterable[str]`):
            Items of a previous summary; those that this function did not write are left out.
        calls (`Iterable[ToolCall]`):
            What was called since, in order.

    Returns:
        The lines, each with the order of its last call (-1 where that lies before these messages).
    """
    tools: dict[str, tuple[int, dict[str, None], int]] = {}
    for name, times, arguments, order in [
        *_read(earlier),
        *((call.name, 1, [call.argument], call.order) for call in calls),
    ]:
        before, known, _ = tools.get(name, (0, {}, -1))
        for argument in filter(None, arguments):
            known.pop(argument, None)  # the last use counts
            known[argument] = None
        tools[name] = (before + times, known, order)
    return [(_line(name, times, list(known)), order) for name, (times, known, order) in tools.items()]


def is_folded(item: str) -> bool:
    """Whether `folded` wrote this item."""
    return bool(_FOLDED.match(item))


def _read(items: Iterable[str]) -> Iterator[tuple[str, int, list[str], int]]:
    for match in filter(None, map(_FOLDED.match, items)):
        arguments = [part for part in (match["arguments"] or "").split("; ") if part != "…"]
        yield match["name"], int(match["times"] or 1), arguments, -1


def _line(name: str, times: int, arguments: list[str]) -> str:
    """The tool, how often, and as many of the last arguments as there is room for."""
    shown: list[str] = []
    room = _LINE_WIDTH - width(name)
    for argument in reversed(arguments):
        room -= width(argument) + 2
        if room < 0 and shown:
            shown.append("…")
            break
        shown.append(argument)
    head = f"`{name}`" + (f" ×{times}" if times > 1 else "")
    return f"{head}: {'; '.join(reversed(shown))}" if shown else head


def _first_line(value: str) -> str:
    first, _, more = value.strip().partition("\n")
    return as_data(first[:_FIRST_LINE_CHARS]).replace("; ", " ; ") + ("…" if more else "")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return clipped(_first_line(text), _VALUE_WIDTH)
