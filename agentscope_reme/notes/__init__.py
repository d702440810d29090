# -*- coding: utf-8 -*-
"""Notes that write themselves: a journal file a day, and MEMORY.md for what stays true."""

from ._changes import Guard
from ._file_tools import FileTools
from ._note_queue import NoteBatch, NoteQueue
from ._note_result import NoteResult
from ._note_writer import NoteWriter

__all__ = ["FileTools", "Guard", "NoteBatch", "NoteQueue", "NoteResult", "NoteWriter"]
