# -*- coding: utf-8 -*-
"""What is done to a message on its way into a memory, at once and without asking anybody."""

import logging
from typing import TYPE_CHECKING

from agentscope.message import Msg

from .._errors import StorageError
from .._events import EventKind
from ..message import is_user_request, tool_results
from ._services import MemoryServices
from ._shrink import fitting_limit

if TYPE_CHECKING:
    from ._memory import ReMeInMemoryMemory

__all__ = ["bounded"]

logger = logging.getLogger("agentscope_reme")

_SMALLEST = 256
"""Tokens that a message keeps however full the context is."""


def bounded(msg: Msg, memory: "ReMeInMemoryMemory") -> Msg:
    """The message, with its long texts put into files where it would not fit.

    A tool result takes at most the limit for recent results and a quarter of the window; any other message at most the
    room that is left, for memory is also read where no hook runs before it.

    Args:
        msg (`Msg`):
            The message; it is not changed.
        memory (`ReMeInMemoryMemory`):
            Where it goes.

    Returns:
        `Msg`: the same message, or another in its place. Where a file cannot be written it is the same, and that is
        told.
    """
    services = memory.services
    size = services.tokens.message(msg)
    if size <= _SMALLEST:
        return msg
    window = services.context.max_input_length
    room, quarter = int(window * 0.95) - memory.overhead - memory.total_tokens(), window // 4
    is_result = bool(tool_results(msg))
    allowed = max(_SMALLEST, min(quarter, room)) if is_result else max(_SMALLEST, room)
    limit = services.policy.recent_max_bytes if is_result else None
    try:
        for _ in range(3):
            if size > allowed:
                fitting = fitting_limit(msg, size, allowed)
                limit = fitting if limit is None else min(limit, fitting)
            if limit is None:
                return msg
            smaller = _cut(msg, services, limit, memory.language)
            if smaller is None:
                return msg
            msg, size, limit = smaller, services.tokens.message(smaller), None
    except StorageError as error:
        logger.error("Message %s stays whole, for its text could not be put into a file: %s", msg.id, error)
        services.events.emit(EventKind.TRUNCATED, error=error, message_id=msg.id)
    return msg


def _cut(msg: Msg, services: MemoryServices, limit: int, language: str) -> Msg | None:
    if tool_results(msg):
        return services.results.compact_message(msg, limit, language)
    return services.results.compact_text_blocks(msg, limit, language) if is_user_request(msg) else None
