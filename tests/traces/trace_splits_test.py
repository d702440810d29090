# -*- coding: utf-8 -*-
"""`check_context` on every prefix of real runs: no orphan, no hole, no empty context, and the reserve well used."""

import asyncio
import copy

import pytest
from _trace_formats import Trace
from agentscope.message import Msg

from agentscope_reme import ReMeLight
from agentscope_reme.message import MessageTokens

SIZES = ((8_000, 4_000), (2_000, 1_000), (600, 150))
"""Threshold and reserve, in tokens; the smallest is below many single messages."""


def count(text: str) -> int:
    """Four characters a token: plain, so that the test can count the same."""
    return (len(text) + 3) // 4


TOKENS = MessageTokens(count)


@pytest.mark.parametrize(("threshold", "reserve"), SIZES)
def test_every_split_is_sound(traces, source, size, threshold, reserve, tmp_path, report):
    states = splits = measured = used = 0

    async def main():
        nonlocal states, splits, measured, used
        reme = ReMeLight(tmp_path, token_counter=count)
        for trace in traces:
            for stop in range(1, len(trace.messages) + 1):
                states += 1
                messages, sendable = trace.messages[:stop], without_open_call(trace, stop)
                fold, keep, is_valid = await reme.check_context(messages, threshold, reserve)
                assert is_valid == (not open_call(trace, stop)), trace.name
                kept = positions(messages, sendable, fold, keep)
                counted = [*sendable, *messages[len(sendable) :]]  # an open call counts until it is folded
                too_much = sum(map(TOKENS.message, counted)) > threshold
                splits += too_much
                spent = check_split(trace.name, sendable, kept, reserve if too_much else None)
                if spent is not None:
                    measured += 1
                    used += spent / reserve
        await reme.close()

    asyncio.run(main())
    assert splits > 0 or threshold > 2_000
    report(
        f"{source} ({size}), threshold {threshold}, reserve {reserve}: {states} states, {splits} splits, orphans 0, "
        f"holes 0, empty 0, reserve used {used / max(1, measured):.3f} (over the {measured} that need not be above it)"
    )


def open_call(trace: Trace, stop: int) -> bool:
    """Whether the prefix ends with a call that has no result yet; in these runs the next message answers."""
    content = trace.messages[stop - 1].content
    return isinstance(content, list) and any(block["type"] == "tool_use" for block in content)


def without_open_call(trace: Trace, stop: int) -> list[Msg]:
    """The prefix as it can be sent: without an open call, and without its message where that says nothing else."""
    *before, last = trace.messages[:stop]
    if not open_call(trace, stop):
        return [*before, last]
    rest = [block for block in last.content if block["type"] != "tool_use"]
    if not any(block.get("text", "").strip() for block in rest):
        return before
    last = copy.copy(last)
    last.content = rest
    return [*before, last]


def positions(messages: list[Msg], sendable: list[Msg], fold: list[Msg], keep: list[Msg]) -> list[int]:
    """Where the kept messages stand; both lists together are the input, each in its order."""
    place = {msg.id: at for at, msg in enumerate(messages)}
    both = [[place[msg.id] for msg in part] for part in (fold, keep)]
    assert both == [sorted(both[0]), sorted(both[1])]
    assert sorted(both[0] + both[1]) == list(range(len(messages)))
    assert all(messages[place[msg.id]] is msg for msg in fold)
    assert [msg.to_dict() for msg in keep] == [sendable[at].to_dict() for at in both[1]]
    return both[1]


def check_split(where: str, messages: list[Msg], kept: list[int], reserve: int | None) -> float | None:
    """Check one split of messages that can all be sent. Without a reserve all of them fit.

    Returns:
        `float | None`: the tokens that were kept; `None` where the reserve does not say how many those may be.
    """
    where = f"{where}, state {len(messages)}"
    groups = grouped(messages)
    whole = [group for group in groups if group[0] in kept]
    assert kept, f"{where}: an empty context"
    assert [at for group in whole for at in group] == kept, f"{where}: an orphan"
    assert groups[-1] == whole[-1], f"{where}: the last group is gone"
    request = max(at for at, msg in enumerate(messages) if msg.role == "user")
    assert request in kept, f"{where}: the request is gone"
    first = next(number for number in range(len(groups)) if all(group in whole for group in groups[number:]))
    suffix = {at for group in groups[first:] for at in group}
    assert suffix | {request} == set(kept), f"{where}: a hole"
    must, sizes = {request, *groups[-1]}, list(map(TOKENS.message, messages))
    spent = sum(sizes[at] for at in kept)
    if reserve is None:
        assert first == 0, f"{where}: all of it fits"
        return None
    if sum(sizes[at] for at in must) > reserve:
        assert set(kept) == must, f"{where}: more than must be kept"
        return None
    assert spent <= reserve, f"{where}: {spent} tokens kept"
    left_out = [at for at in groups[first - 1] if at not in kept] if first else []
    assert not left_out or spent + sum(sizes[at] for at in left_out) > reserve, f"{where}: there was room for more"
    return spent


def grouped(messages: list[Msg]) -> list[list[int]]:
    """A message, or a call with its result, which in these runs is the next message."""
    groups: list[list[int]] = []
    for at, msg in enumerate(messages):
        if isinstance(msg.content, list) and msg.content[0]["type"] == "tool_result":
            groups[-1].append(at)
        else:
            groups.append([at])
    return groups
