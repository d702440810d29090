# -*- coding: utf-8 -*-
"""What is done to a message on its way into a memory, at once and without asking anybody."""

import logging
from typing import TYPE_CHECKING

from agentscope.message import Msg

from .._errors import StorageError
from .._events import EventKind
from ..message import is_user_request, tool_results
from ._services import MemoryServices
from ._shrink import fitting_limit, tell_truncated
from ._window_view import VIEW_SHARE

if TYPE_CHECKING:
    from ._memory import ReMeInMemoryMemory

__all__ = ["bounded"]

logger = logging.getLogger("agentscope_reme")

_SMALLEST = 256
"""Tokens that a message keeps however full the context is."""


def bounded(msg: Msg, memory: "ReMeInMemoryMemory") -> Msg:
    """The message, with its long texts put into files where it would not fit.

    A tool result takes at most the limit for recent results and a quarter of the window, for memory is also read where
    no hook runs before it; any other message at most what the window has beside the system prompt, the tools and the
    summary.

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
    try:
        smaller = _fitted(msg, size, memory)
    except StorageError as error:
        logger.error("Message %s stays whole, for its text could not be put into a file: %s", msg.id, error)
        services.events.emit(EventKind.TRUNCATED, session_id=memory.session_id, message_id=msg.id, error=error)
        return msg
    if smaller is not msg:
        tell_truncated(services, memory.session_id, msg, smaller)
    return smaller


def _fitted(msg: Msg, size: int, memory: "ReMeInMemoryMemory") -> Msg:
    services, is_result = memory.services, bool(tool_results(msg))
    window = services.context.max_input_length
    room = int(window * VIEW_SHARE) - memory.overhead
    allowed = max(_SMALLEST, min(window // 4, room) if is_result else room)
    limit = services.policy.recent_max_bytes if is_result else None
    for _ in range(3):  # bytes stand in for tokens, so that one cut may save too little
        if size > allowed:
            fitting = fitting_limit(msg, size, allowed)
            limit = fitting if limit is None else min(limit, fitting)
        smaller = None if limit is None else _cut(msg, services, limit, memory.language)
        if smaller is None:
            break
        msg, size, limit = smaller, services.tokens.message(smaller), None
    return msg


def _cut(msg: Msg, services: MemoryServices, limit: int, language: str) -> Msg | None:
    if tool_results(msg):
        return services.results.compact_message(msg, limit, language)
    return services.results.compact_text_blocks(msg, limit, language) if is_user_request(msg) else None
