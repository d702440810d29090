# -*- coding: utf-8 -*-
"""Markdown notes and the dialog archive, cut into chunks, indexed and searched."""

from ._excerpt import Excerpt
from ._note_index import NoteIndex
from ._status import IndexStatus

__all__ = ["NoteIndex", "IndexStatus", "Excerpt"]
