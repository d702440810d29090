# -*- coding: utf-8 -*-
"""What a request shows of the long-term memory, and where each of it stands on the disk."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._errors import ReMeError
from ...workspace import Workspace
from ._facts import plain

__all__ = ["Passage", "holds", "line_of", "passages_in"]

_BLOCK = re.compile(r"<memories(?P<attributes>[^>]*)>\n(?P<text>.*)\n</memories>", re.DOTALL)
_HIT = re.compile(r"^- \[(?P<path>[^\]\n]+):(?P<line>\d+)\] (?P<text>.*)$", re.MULTILINE)
_EXCERPT = re.compile(r'^<memory path="([^"\n]+)" lines="(\d+)-\d+"[^>]*>\n(.*)\n</memory>', re.DOTALL)


@dataclass(frozen=True)
class Passage:
    """A piece of a memory file that a model was shown.

    Args:
        how (`"shown" | "recalled" | "searched"`):
            MEMORY.md as it is always shown; found by the search before the reply; found by the agent's own search.
        path (`str`), line (`int`):
            The file, as seen from the workspace, and the first line.
        text (`str`):
            What was shown.
    """

    how: Literal["shown", "recalled", "searched"]
    path: str
    line: int
    text: str


def passages_in(messages: Sequence[dict[str, Any]]) -> Iterator[Passage]:
    """The passages in formatted messages, in their order. The person's own words are none."""
    for message in messages:
        text = plain(message.get("content"))
        if message["role"] == "tool":
            yield from _found(text)
        elif message["role"] == "user" and (block := _BLOCK.search(text)):
            if "MEMORY.md" in block["attributes"]:
                yield Passage("shown", "MEMORY.md", 1, block["text"])
                continue
            for hit in _HIT.finditer(block["text"]):
                yield Passage("recalled", hit["path"], int(hit["line"]), hit["text"])


def _found(text: str) -> Iterator[Passage]:
    """What `memory_search` or `memory_get` answered."""
    if excerpt := _EXCERPT.match(text):
        yield Passage("searched", excerpt[1], int(excerpt[2]), excerpt[3])
        return
    try:
        hits, _ = json.JSONDecoder().raw_decode(text)
        for hit in hits:
            yield Passage("searched", hit["path"], hit["start_line"], hit["snippet"])
    except (ValueError, TypeError, KeyError):  # the answer of another tool
        return


def holds(text: str, value: str) -> bool:
    """Whether a value stands in a text by itself, not as a part of a longer word or number."""
    return re.search(rf"(?<![A-Za-z0-9_.]){re.escape(value)}(?![A-Za-z0-9_])", text) is not None


def line_of(workspace: Workspace, passage: Passage, value: str) -> int | None:
    """The line of the passage's file, from the passage on, that holds a value; `None` where the file has it not."""
    try:
        lines = workspace.read_text(passage.path).splitlines()
    except (ReMeError, OSError):
        return None
    for number, line in enumerate(lines[passage.line - 1 :], passage.line):
        if holds(_spoken(line) if passage.path.endswith(".jsonl") else line, value):
            return number
    return None


def _spoken(line: str) -> str:
    try:
        return json.dumps(json.loads(line), ensure_ascii=False)
    except ValueError:
        return ""
