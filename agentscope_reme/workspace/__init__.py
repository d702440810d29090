# -*- coding: utf-8 -*-
"""Where the files of one person lie, and what keeps every path inside."""

from ._names import escape_name
from ._workspace import Workspace

__all__ = ["Workspace", "escape_name"]
