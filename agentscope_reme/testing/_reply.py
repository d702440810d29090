# -*- coding: utf-8 -*-
"""What a script may answer, and how an answer becomes the blocks that a chat model returns."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope.message import TextBlock, ToolUseBlock
from agentscope.model import ChatResponse

from .._errors import ConfigError

__all__ = ["Reply", "ToolCall", "call", "blocks_of", "growing"]

_ids = itertools.count(1)


@dataclass(frozen=True)
class ToolCall:
    """A call that the scripted model makes.

    Args:
        name (`str`):
            The tool's name.
        arguments (`Mapping[str, Any]`):
            Its arguments, as JSON values.
        id (`str`):
            The call's id; a fresh one unless given. Give one id twice to imitate the APIs that repeat `call_0`.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: f"call_scripted_{next(_ids)}")

    def block(self) -> ToolUseBlock:
        """The call as AgentScope's `tool_use` block."""
        raw = json.dumps(dict(self.arguments), ensure_ascii=False)
        return ToolUseBlock(type="tool_use", id=self.id, name=self.name, input=json.loads(raw), raw_input=raw)


Part = str | ToolCall | Mapping[str, Any]
Reply = Part | Sequence[Part | BaseException] | ChatResponse | BaseException
"""A text, a call, a block, several of these, a finished response, or an exception to raise."""


def call(tool_name: str, /, **arguments: Any) -> ToolCall:
    """A tool call with a fresh id: ``call("read_file", path="a.py")``.

    Args:
        tool_name (`str`):
            The tool's name.
        **arguments (`Any`):
            Its arguments, as JSON values. For an argument called like a field of `ToolCall`, or a fixed id,
            build the `ToolCall` itself.

    Returns:
        `ToolCall`:
            The call, to be put into a script.
    """
    return ToolCall(tool_name, arguments)


def blocks_of(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """The content blocks of a reply's parts, in their order."""
    return [_block(part) for part in parts]


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return dict(TextBlock(type="text", text=part))
    if isinstance(part, ToolCall):
        return dict(part.block())
    if isinstance(part, Mapping) and "type" in part:
        return dict(part)
    raise ConfigError(f"a scripted reply holds {part!r}; use a str, a call(...) or a block with a `type`")


def growing(blocks: Sequence[Mapping[str, Any]], piece: int) -> Iterator[list[dict[str, Any]]]:
    """The contents of successive chunks: each holds all that came before, as AgentScope's models stream.

    Args:
        blocks (`Sequence[Mapping[str, Any]]`):
            The finished blocks.
        piece (`int`):
            Characters of text, or of a call's arguments, that a chunk adds.

    Returns:
        `Iterator[list[dict[str, Any]]]`:
            New lists of new blocks; the last one equals `blocks`.
    """
    for index, block in enumerate(blocks):
        for partial in _partials(block, piece):
            yield [*(dict(done) for done in blocks[:index]), partial]


def _partials(block: Mapping[str, Any], piece: int) -> Iterator[dict[str, Any]]:
    """One block as it grows."""
    kind = block["type"]
    if kind in ("text", "thinking"):
        for end in _ends(block[kind], piece):
            yield {**block, kind: block[kind][:end]}
    elif kind == "tool_use":
        raw = block.get("raw_input") or json.dumps(block["input"], ensure_ascii=False)
        for end in [0, *_ends(raw, piece)][:-1]:
            yield {**block, "input": {}, "raw_input": raw[:end]}
        yield dict(block)
    else:
        yield dict(block)


def _ends(text: str, piece: int) -> list[int]:
    return [*range(piece, len(text), piece), len(text)]
