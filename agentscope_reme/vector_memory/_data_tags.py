# -*- coding: utf-8 -*-
"""The tags that prompts put data into, none of which data can open or close."""

from __future__ import annotations

from ..message import escape_data

__all__ = ["escaped"]

_TAGS = (
    *("conversation", "message", "known_memories", "memory", "profile", "request"),
    *("calls", "call", "statistics", "guide"),
)


def escaped(text: str) -> str:
    """Data in which none of these tags is left."""
    for tag in _TAGS if "<" in text else ():
        text = escape_data(text, tag)
    return text
