# -*- coding: utf-8 -*-
"""What is done to a message on its way into a memory, at once and without asking anybody."""

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from agentscope.message import Msg

from .._errors import StorageError
from .._events import EventKind
from ..message import copied, is_user_request, redacted, tool_results
from ._services import MemoryServices
from ._shrink import fitting_limit, tell_truncated
from ._slots import is_block, with_content
from ._tool_results import ToolResultCompactor
from ._window_view import VIEW_SHARE

if TYPE_CHECKING:
    from ._contents import SessionContents

__all__ = ["bounded", "clean_in_place", "cleaned", "cleaned_text"]

logger = logging.getLogger("agentscope_reme")

_SMALLEST = 256
"""Tokens that a message keeps however full the context is."""


def cleaned(msg: Msg, services: MemoryServices) -> Msg:
    """The message without what must not be stored: another one where the workspace redacts, else the same."""
    return msg if services.redact is None else redacted(msg, services.redact)


def clean_in_place(msg: Msg, services: MemoryServices) -> bool:
    """Take what must not be stored out of a message of ours, and say whether that changed it."""
    clean = cleaned(msg, services)
    if clean is msg or (clean.content, clean.metadata) == (msg.content, msg.metadata):
        return False
    msg.content, msg.metadata = clean.content, clean.metadata
    return True


def cleaned_text(text: str, services: MemoryServices) -> str:
    """A text, such as a summary, without what must not be stored."""
    if services.redact is None or not isinstance(text, str) or not text:
        return text
    return str(cleaned(Msg("user", text, "user"), services).content)


def bounded(msg: Msg, memory: "SessionContents") -> Msg:
    """The message, with its long texts put into files where it would not fit.

    A tool result takes at most the limit for recent results and a quarter of the window, for memory is also read where
    no hook runs before it; any other message at most what the window has beside the system prompt, the tools and the
    summary.

    Args:
        msg (`Msg`):
            The message; it is not changed.
        memory (`SessionContents`):
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
        services.events.emit(EventKind.TRUNCATE_FAILED, session_id=memory.session_id, message_id=msg.id, error=error)
        return msg
    if smaller is not msg:
        tell_truncated(services, memory.session_id, msg, smaller)
    return smaller


def _fitted(msg: Msg, size: int, memory: "SessionContents") -> Msg:
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
    results = services.results
    if tool_results(msg):
        return results.compact_message(msg, limit, language)
    if is_user_request(msg):
        return results.compact_text_blocks(msg, limit, language)
    cuts = (results.compact_text_blocks, results.compact_call_inputs, partial(_cut_thinking, results))
    smaller = msg
    for cut in cuts:
        smaller = cut(smaller, limit, language) or smaller
    return None if smaller is msg else smaller


def _cut_thinking(results: ToolResultCompactor, msg: Msg, limit: int, language: str) -> Msg | None:
    """Cut what a model thought. Its signature goes, for it was given for the whole."""
    if not isinstance(msg.content, list):
        return None
    blocks: list[Any] = []
    for block in msg.content:
        thought = block.get("thinking") if is_block(block, "thinking") else None
        shorter = isinstance(thought, str) and results.compact_text_blocks(Msg("x", thought, "user"), limit, language)
        blocks.append({"type": "thinking", "thinking": shorter.content} if shorter else block)
    return None if blocks == msg.content else with_content(msg, copied(blocks))
