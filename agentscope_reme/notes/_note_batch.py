# -*- coding: utf-8 -*-
"""Messages on their way to the note writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentscope.message import Msg

from ._note_result import NoteResult

__all__ = ["NoteBatch"]


@dataclass(eq=False)
class NoteBatch:
    """Messages that left a memory together.

    Args:
        session_id (`str | None`):
            The session that they left. The batches of a session are done in their order; those of no session are
            independent.
        number (`int`):
            The number of the record that let them go.
        load (`Callable[[], list[Msg]]`):
            Reads the messages in their original form; called in a thread, again at each try.
        done (`Callable[[NoteResult], None]`):
            Called once, in the loop, when everything is written. Until then the batch counts as not noted.
        language (`str | None`):
            The language of the notes; the writer's own if left out.
    """

    session_id: str | None
    number: int
    load: Callable[[], list[Msg]]
    done: Callable[[NoteResult], None]
    language: str | None = None
    progress: set[Any] = field(default_factory=set, repr=False)
    """What of it was written before an attempt failed."""
