# -*- coding: utf-8 -*-
"""Which tool result answers which call, by position; and the ranges of messages that nothing may split."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentscope.message import Msg

from ._blocks import raw_blocks

__all__ = ["CallRef", "Pairing", "ResultRef", "Unit", "pair_calls", "units"]

CallRef = tuple[int, int]
"""Where a call stands: the index of its message, and its index in `msg.content`."""

ResultRef = tuple[int, int]
"""Where a result stands, in the same way."""


@dataclass
class Pairing:
    """What `pair_calls` found.

    Args:
        result_of (`dict[CallRef, ResultRef]`):
            The result of each call that has one.
        dangling (`list[CallRef]`):
            The calls without a result, in order.
        orphans (`list[ResultRef]`):
            The results without a call, in order.
    """

    result_of: dict[CallRef, ResultRef] = field(default_factory=dict)
    dangling: list[CallRef] = field(default_factory=list)
    orphans: list[ResultRef] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        """Whether every call has a result and every result a call."""
        return not self.dangling and not self.orphans


@dataclass(frozen=True)
class Unit:
    """Messages that stay together: `messages[start:stop]`.

    Args:
        start (`int`):
            The index of the first message.
        stop (`int`):
            The index after the last one.
        has_calls (`bool`):
            Whether there is a tool call in it.
    """

    start: int
    stop: int
    has_calls: bool


def pair_calls(messages: Sequence[Msg]) -> Pairing:
    """Pair each tool result with its call by position, since ids may repeat (`call_0` in every round).

    A result answers the nearest message before it that has an open call of its id; within one message the calls are
    answered in order. A call is given up when its id is called again in a later message and a result, or a message
    without calls, stands between the two. So ids that are unique pair whatever stands between.

    Args:
        messages (`Sequence[Msg]`):
            The messages, in order.

    Returns:
        `Pairing`: blocks without a string id are never paired.
    """
    pairing = Pairing()
    open_calls: dict[str, deque[_OpenCalls]] = {}
    separator = -1
    for index, msg in enumerate(messages):
        called = answered = False
        for position, block in enumerate(raw_blocks(msg)):
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                called = True
                _open(open_calls, pairing, block.get("id"), (index, position), separator)
            elif kind == "tool_result":
                answered = True
                _answer(open_calls, pairing, block.get("id"), (index, position))
        if answered or not called:
            separator = index
    return _finished(open_calls, pairing)


def units(messages: Sequence[Msg], pairing: Pairing | None = None) -> list[Unit]:
    """Divide messages into the smallest contiguous ranges that hold each call together with its result.

    Args:
        messages (`Sequence[Msg]`):
            The messages, in order.
        pairing (`Pairing | None`):
            What `pair_calls` gave for them, where it is known already.

    Returns:
        `list[Unit]`: covers all messages in order; a message that no pair holds to others is a unit alone.
    """
    pairing = pair_calls(messages) if pairing is None else pairing
    reach = list(range(len(messages)))
    for (call_message, _), (result_message, _) in pairing.result_of.items():
        reach[call_message] = max(reach[call_message], result_message)
    calling = {call[0] for call in pairing.result_of} | {call[0] for call in pairing.dangling}
    found: list[Unit] = []
    start = end = 0
    has_calls = False
    for index, furthest in enumerate(reach):
        end = max(end, furthest)
        has_calls = has_calls or index in calling
        if index == end:
            found.append(Unit(start, index + 1, has_calls))
            start = end = index + 1
            has_calls = False
    return found


class _OpenCalls:
    """The unanswered calls of one id in one message."""

    __slots__ = ("message", "refs")

    def __init__(self, ref: CallRef) -> None:
        self.message = ref[0]
        self.refs = deque([ref])


def _open(
    open_calls: dict[str, deque[_OpenCalls]], pairing: Pairing, call_id: Any, ref: CallRef, separator: int
) -> None:
    if not isinstance(call_id, str):
        pairing.dangling.append(ref)
        return
    stack = open_calls.setdefault(call_id, deque())
    while stack and stack[0].message < separator:
        pairing.dangling.extend(stack.popleft().refs)
    if stack and stack[-1].message == ref[0]:
        stack[-1].refs.append(ref)
    else:
        stack.append(_OpenCalls(ref))


def _answer(open_calls: dict[str, deque[_OpenCalls]], pairing: Pairing, call_id: Any, ref: ResultRef) -> None:
    stack = open_calls.get(call_id) if isinstance(call_id, str) else None
    if not stack:
        pairing.orphans.append(ref)
        return
    entry = stack[-1]
    pairing.result_of[entry.refs.popleft()] = ref
    if not entry.refs:
        stack.pop()


def _finished(open_calls: dict[str, deque[_OpenCalls]], pairing: Pairing) -> Pairing:
    for stack in open_calls.values():
        pairing.dangling.extend(call for entry in stack for call in entry.refs)
    pairing.dangling.sort()
    return pairing
