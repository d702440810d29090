# -*- coding: utf-8 -*-
"""What to do when what must be kept does not fit: the longest texts go into files, head and tail stay."""

from collections.abc import Callable, Sequence

from agentscope.message import Msg

from .._events import EventKind
from ..message import MessageTokens, is_user_request, tool_results, tool_uses
from ._entries import text_bytes
from ._services import MemoryServices
from ._tool_results import ToolResultCompactor

__all__ = ["fair_cap", "fitting_limit", "shrink", "tell_truncated"]

_FLOOR = 160
"""Tokens below which a message is not cut further: a head, a tail and the notice."""

Cutter = Callable[[Msg, int], "Msg | None"]


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


def fitting_limit(msg: Msg, size: int, allowed: int) -> int:
    """The most bytes that each of a message's texts may keep for it to come down from `size` to `allowed` tokens."""
    lengths = text_bytes(msg)
    return max(1, fair_cap(lengths, int(sum(lengths) * allowed / size * 0.9)))


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
    now = list(messages)
    for applies, cut in _in_order(results, language):
        for _ in range(3):  # bytes stand in for tokens, so that one round may save too little
            able = [at for at, msg in enumerate(now) if applies(msg)]
            sizes = {at: tokens.message(now[at]) for at in able}
            missing = excess - sum(map(tokens.message, messages)) + sum(map(tokens.message, now))
            if missing <= 0 or not able:
                break
            cap = max(_FLOOR, fair_cap(list(sizes.values()), sum(sizes.values()) - missing))
            smaller = {at: cut(now[at], fitting_limit(now[at], sizes[at], cap)) for at in able if sizes[at] > cap}
            saving = {at: msg for at, msg in smaller.items() if msg is not None and tokens.message(msg) < sizes[at]}
            if not saving:
                break
            for at, msg in saving.items():
                now[at] = msg
    return {at: msg for at, msg in enumerate(now) if msg is not messages[at]}


def tell_truncated(services: MemoryServices, session_id: str | None, msg: Msg, smaller: Msg) -> None:
    """Emit that a message's long texts were put into files."""
    results = tool_results(msg)
    services.events.emit(
        EventKind.TRUNCATED,
        session_id=session_id,
        tokens_before=services.tokens.message(msg),
        tokens_after=services.tokens.message(smaller),
        message_id=msg.id,
        tool=results[0].get("name") if results else None,
        files=sorted(services.results.references(smaller)),
    )


def _in_order(results: ToolResultCompactor, language: str) -> list[tuple[Callable[[Msg], bool], Cutter]]:
    def cut_result_or_request(msg: Msg, limit: int) -> Msg | None:
        return (results.compact_message if tool_results(msg) else results.compact_text_blocks)(msg, limit, language)

    return [
        (lambda msg: bool(tool_results(msg)) or is_user_request(msg), cut_result_or_request),
        (lambda msg: not tool_results(msg), lambda msg, limit: results.compact_text_blocks(msg, limit, language)),
        (lambda msg: bool(tool_uses(msg)), lambda msg, limit: results.compact_call_inputs(msg, limit, language)),
    ]
