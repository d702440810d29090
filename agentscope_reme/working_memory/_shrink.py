# -*- coding: utf-8 -*-
"""What to do when what must be kept does not fit: the longest texts go into files, head and tail stay."""

from collections.abc import Callable, Sequence

from agentscope.message import Msg

from ..message import MessageTokens, is_user_request, tool_results
from ._entries import text_bytes
from ._tool_results import ToolResultCompactor

__all__ = ["fair_cap", "shrink"]

_FLOOR = 160
"""Tokens below which a text is not cut further: a head, a tail and the notice."""


def fair_cap(sizes: Sequence[int], available: int) -> int:
    """The largest cap under which the sizes, each cut to it, add up to what is available: the long ones pay, the short
    ones are whole (max-min fairness)."""
    rest, left = available, len(sizes)
    for size in sorted(sizes):
        if size * left > rest:
            return max(0, rest // left)
        rest -= size
        left -= 1
    return max(sizes, default=0)


def shrink(
    messages: Sequence[Msg],
    excess: int,
    *,
    tokens: MessageTokens,
    results: ToolResultCompactor,
    language: str,
) -> dict[int, Msg]:
    """Messages cut so that together they give up `excess` tokens, or as much of it as can be given up.

    Tool results and requests go first, then the other texts, then the arguments of tool calls.

    Args:
        messages (`Sequence[Msg]`):
            What may be cut.
        excess (`int`):
            Tokens to save.

    Returns:
        `dict[int, Msg]`: the new message by the index of the one it replaces.

    Raises:
        `StorageError`: a text could not be put into a file.
    """
    changed: dict[int, Msg] = {}
    cuts: list[tuple[Callable[[Msg], bool], Callable[[Msg, int], Msg | None]]] = [
        (lambda msg: bool(tool_results(msg)), lambda msg, limit: results.compact_message(msg, limit, language)),
        (is_user_request, lambda msg, limit: results.compact_text_blocks(msg, limit, language)),
        (lambda msg: not tool_results(msg), lambda msg, limit: results.compact_text_blocks(msg, limit, language)),
        (lambda msg: True, lambda msg, limit: results.compact_call_inputs(msg, limit, language)),
    ]
    for group in (cuts[:2], cuts[2:3], cuts[3:]):
        for _ in range(3):  # bytes stand in for tokens, so that one round may save too little
            now = {at: changed.get(at, msg) for at, msg in enumerate(messages)}
            able = [at for at, msg in now.items() if any(applies(msg) for applies, _ in group)]
            sizes = {at: tokens.message(now[at]) for at in able}
            missing = excess - sum(tokens.message(messages[at]) - tokens.message(msg) for at, msg in changed.items())
            if missing <= 0:
                return changed
            cap = max(_FLOOR, fair_cap(list(sizes.values()), sum(sizes.values()) - missing))
            before = len(changed)
            saved = False
            for at in (each for each in able if sizes[each] > cap):
                cut = next(cut for applies, cut in group if applies(now[at]))
                smaller = cut(now[at], max(1, int(text_bytes(now[at]) * cap / sizes[at] * 0.9)))
                if smaller is not None and tokens.message(smaller) < sizes[at]:
                    changed[at] = smaller
                    saved = True
            if not saved and len(changed) == before:
                break
    return changed
