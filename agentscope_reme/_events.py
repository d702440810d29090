# -*- coding: utf-8 -*-
"""What happened, and to whom it is told."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ._errors import ConfigError

__all__ = ["Event", "EventKind", "EventBus", "Listener"]

logger = logging.getLogger("agentscope_reme")


class EventKind(str, Enum):
    """The kinds of events. The details that each carries are named behind it."""

    STARTED = "started"  #: working_dir, model
    CLOSED = "closed"
    ATTACHED = "attached"  #: agent, moved
    DETACHED = "detached"  #: agent, messages
    RESUMED = "resumed"  #: messages
    MODEL_MISSING = "model_missing"  #: reason
    CHECKED = "checked"  #: parts
    USAGE_WARNING = "usage_warning"  #: ratio
    TRUNCATED = "truncated"  #: message_id, tool, files
    TRUNCATE_FAILED = "truncate_failed"  #: message_id
    EXPIRED = "expired"  #: files
    FOLD_STARTED = "fold_started"  #: messages, split_turn
    FOLDED = "folded"  #: messages, kept, source, attempts, split_turn, summary
    FOLD_FAILED = "fold_failed"  #: stage: archive (the disk refused), changed (what it was based on is not so any more)
    SUMMARY_FALLBACK = "summary_fallback"  #: attempts
    OVER_BUDGET = "over_budget"  #: parts, or left_out where a model was shown less than there is
    CLEARED = "cleared"  #: messages
    PURGED = "purged"  #: counts of what was removed for good; session_id where it was one
    JOURNAL_DAMAGED = "journal_damaged"  #: copy, faults
    JOURNAL_DEGRADED = "journal_degraded"
    JOURNAL_RECOVERED = "journal_recovered"
    HOOK_FAILED = "hook_failed"  #: agent
    NOTE_STARTED = "note_started"  #: number, messages
    NOTED = "noted"  #: number, source, files, memory_md, foreign
    NOTE_FAILED = "note_failed"  #: number, attempt, kept
    NOTES_CLOSED = "notes_closed"  #: finished, kept: noted at the next start, but for the `lost` numbers
    INDEXED = "indexed"  #: files, removed, seconds
    SEARCH_DEGRADED = "search_degraded"
    SEARCH_RECOVERED = "search_recovered"
    RECALLED = "recalled"  #: hits, passages (of knowledge bases)
    RECALL_FAILED = "recall_failed"  #: source: what could not be searched or asked; recall went on without
    RECORDED = "recorded"  #: owner, messages, memories
    RECORD_FAILED = "record_failed"  #: owner, messages, which are tried again when they are handed over again
    TOOL_CALLS_RECORDED = "tool_calls_recorded"  #: calls
    TOOL_CALLS_FAILED = "tool_calls_failed"  #: calls, which are kept for the next try
    MEMORY_CHANGED = "memory_changed"  #: action (created, updated, superseded, deleted...), owner ("": all), ids
    PROFILE_CHANGED = "profile_changed"  #: user, keys, dropped (keys that went because the profile was full)
    MEMORIES_SUMMARIZED = "memories_summarized"  #: owner, added, updated, superseded, known, calls
    MEMORY_SUMMARY_FAILED = "memory_summary_failed"  #: owner, stage
    MEMORY_REFUSED = "memory_refused"  #: owner, reasons (what a model proposed and was not stored)
    MEMORY_UPKEEP_FAILED = "memory_upkeep_failed"  #: stage (capture, refine, sweep), owner where it was one
    FORGET_ASKED = "forget_asked"  #: owners, forgotten, profile, waiting, each beside *withheld; everything
    MEMORIES_SWEPT = "memories_swept"  #: owner ("": everybody), looked_at, archived, expired, cold
    TOOL_GUIDE_UPDATED = "tool_guide_updated"  #: tool, calls, source
    RETRIEVAL_FALLBACK = "retrieval_fallback"  #: owners

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Args:
        kind (`EventKind`):
            What it was.
        session_id (`str | None`):
            The session it concerns, if one.
        tokens_before, tokens_after (`int | None`):
            The size of the context around it, in tokens, where it changed.
        duration (`float | None`):
            Seconds it took.
        error (`str | None`):
            What went wrong, if something did.
        details (`Mapping[str, Any]`):
            What the kind names besides.
        time (`float`):
            Seconds since the epoch.
    """

    kind: EventKind
    session_id: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    duration: float | None = None
    error: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    time: float = field(default_factory=time.time)


Listener = Callable[[Event], None]


class EventBus:
    """Tells each listener each event, in order, at once. A listener that fails is logged and the others go on."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the function that comes back removes it.

        Raises:
            `ConfigError`: the listener cannot be called, or is a coroutine function.
        """
        call = getattr(listener, "__call__", None)  # noqa: B004 - an object with an async __call__ is meant
        if not callable(listener) or inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(call):
            raise ConfigError(
                f"{listener!r} cannot listen: give a plain function of one Event; to go on asynchronously, let it put "
                "the event in a queue.",
            )
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, kind: EventKind, *, error: BaseException | str | None = None, **fields: Any) -> Event:
        """Make an event and tell it. Keywords that `Event` does not name go to its details."""
        known = {k: fields.pop(k) for k in ("session_id", "tokens_before", "tokens_after", "duration") if k in fields}
        text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
        event = Event(kind=kind, error=text, details=fields, **known)
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                logger.exception("A listener failed on the event %s.", kind)
        return event
