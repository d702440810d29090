# -*- coding: utf-8 -*-
"""Notes that write themselves: a journal file a day, MEMORY.md for what stays true, and the tools to search them."""

from ._changes import Guard
from ._file_tools import FileTools
from ._loose_notes import LooseNotes
from ._note_batch import NoteBatch
from ._note_queue import NoteQueue
from ._note_result import NoteResult
from ._note_writer import NoteWriter
from ._search_tool import SearchTools

__all__ = ["FileTools", "Guard", "LooseNotes", "NoteBatch", "NoteQueue", "NoteResult", "NoteWriter", "SearchTools"]
