# -*- coding: utf-8 -*-
"""The kinds of memory, as data. One of your own is one file like these, one YAML per language, and `kinds=`."""

from ._kind import MemoryKind, kinds_by_name
from ._personal import PERSONAL
from ._procedural import PROCEDURAL
from ._tool import TOOL

__all__ = ["MemoryKind", "PERSONAL", "PROCEDURAL", "TOOL", "kinds_by_name"]
