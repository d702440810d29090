# -*- coding: utf-8 -*-
"""What a model is shown of a memory where no hook has made room."""

from typing import TYPE_CHECKING

from agentscope.message import Msg

from .._events import EventKind
from ._entries import HINT
from ._window_view import VIEW_SHARE, within_window

if TYPE_CHECKING:
    from ._contents import SessionContents

__all__ = ["model_view"]


def model_view(messages: list[Msg], memory: "SessionContents") -> list[Msg]:
    """The messages, or the latest part of them where all would be more than the window holds, which is told."""
    services = memory.services
    room = int(services.context.max_input_length * VIEW_SHARE) - memory.overhead
    if memory.total_tokens() <= room:
        return messages
    stay = memory.pins | {msg.id for msg, marks in memory.content if HINT in marks}
    kept = within_window(
        messages,
        max(0, room),
        stays=lambda msg: msg.id in stay,
        tokens=services.tokens,
        results=services.results,
        language=memory.language,
    )
    services.events.emit(
        EventKind.OVER_BUDGET,
        session_id=memory.session_id,
        tokens_before=memory.overhead + memory.total_tokens(),
        left_out=len(messages) - len(kept),
        error="The context does not fit the window before the next hook: the model sees the latest part of it.",
    )
    return kept
