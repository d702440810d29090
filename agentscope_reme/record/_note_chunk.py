# -*- coding: utf-8 -*-
"""A piece of a note, or a turn of a dialog, as it is indexed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

__all__ = ["NoteChunk"]


@dataclass(frozen=True)
class NoteChunk:
    """A stretch of lines of a file in the workspace.

    Args:
        path (`str`): the file, relative to the workspace, with slashes.
        start_line (`int`): the first line, counted from 1.
        end_line (`int`): the last line, included.
        text (`str`): what stands there.
        source (`str`): the kind of file: ``"notes"``, ``"dialog"`` or the name of an extra folder.
        heading (`str`): the headings above it, outermost first, separated by `` > ``; not part of ``text``.
        time (`datetime | None`): when it was said, or the day of the journal.
        speaker (`str`): who said it; empty for notes.
        message_id (`str`): the message's id; empty for notes.
        session_id (`str`): the conversation; empty for notes.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    source: str = "notes"
    heading: str = ""
    time: datetime | None = None
    speaker: str = ""
    message_id: str = ""
    session_id: str = ""
