# -*- coding: utf-8 -*-
"""Calls without results and results without calls, and the messages without them."""

import copy
from collections import defaultdict
from collections.abc import Sequence

from agentscope.message import Msg

from ._blocks import MEDIA_TYPES, raw_blocks
from ._pairs import Pairing, pair_calls

__all__ = ["without_halves"]


def without_halves(messages: Sequence[Msg]) -> tuple[list[Msg], set[int], Pairing]:
    """The messages without the halves of pairs, which no model API accepts.

    Args:
        messages (`Sequence[Msg]`):
            The messages; they are not changed.

    Returns:
        `tuple[list[Msg], set[int], Pairing]`: the messages, in the place of each that holds a half beside other content
        a copy without the half; the indices of those that hold nothing else, which are as they were; and the pairing
        of the messages given.
    """
    pairing = pair_calls(messages)
    made, nothing_else = list(messages), set[int]()
    halves: dict[int, set[int]] = defaultdict(set)
    for at, block in (*pairing.dangling, *pairing.orphans):
        halves[at].add(block)
    for at, gone in halves.items():
        rest = [block for number, block in enumerate(raw_blocks(messages[at])) if number not in gone]
        if any(map(_says_something, rest)):
            made[at] = copy.copy(messages[at])
            made[at].content = rest
        else:
            nothing_else.add(at)
    return made, nothing_else, pairing


def _says_something(block: object) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "text":
        return isinstance(block.get("text"), str) and bool(block["text"].strip())
    return block.get("type") in ("tool_use", "tool_result", *MEDIA_TYPES)
