# -*- coding: utf-8 -*-
"""The last resort before a request: what a model is shown of messages that do not fit its window.

The hook makes room before each step. A memory is read without it too (the host's last answer at `max_iters`, the
rewrite of a query), or where it could make none, for the archive refused. Then the view is cut, and the memory keeps it
all.
"""

import logging
from collections.abc import Callable, Sequence

from agentscope.message import Msg

from .._errors import StorageError
from ..message import MessageTokens, is_system_prompt, is_user_request, units
from ._shrink import shrink
from ._split import plan_split
from ._tool_results import ToolResultCompactor

__all__ = ["VIEW_SHARE", "within_window"]

logger = logging.getLogger("agentscope_reme")

VIEW_SHARE = 0.85
"""How much of the window the view may take by our count; the rest is for what the count misses, and for a hint."""


def within_window(
    messages: Sequence[Msg],
    room: int,
    *,
    stays: Callable[[Msg], bool],
    tokens: MessageTokens,
    results: ToolResultCompactor,
    language: str,
) -> list[Msg]:
    """What must be kept of the messages and as many of the latest whole units as fit; where that is too much, with its
    long texts cut.

    Args:
        messages (`Sequence[Msg]`):
            What a model would see, in order; none is changed.
        room (`int`):
            Tokens that they may take.
        stays (`Callable[[Msg], bool]`):
            Whether a message is always kept, as a pinned one or a hint is.
        tokens (`MessageTokens`), results (`ToolResultCompactor`), language (`str`):
            Count, cut, and the language of the notices.

    Returns:
        `list[Msg]`: the messages to show.
    """
    plan = plan_split(
        [tokens.message(msg) for msg in messages],
        units(messages),
        [at for at, msg in enumerate(messages) if is_user_request(msg)],
        budget=room,
        always={at for at, msg in enumerate(messages) if stays(msg) or (at == 0 and is_system_prompt(msg))},
    )
    kept = [messages[at] for at in plan.keep]
    if plan.kept_tokens <= room:
        return kept
    try:
        cut = shrink(kept, plan.kept_tokens - room, tokens=tokens, results=results, language=language)
    except StorageError as error:
        logger.error("Texts that do not fit stay whole, for they could not be put into files: %s", error)
        return kept
    return [cut.get(at, msg) for at, msg in enumerate(kept)]
