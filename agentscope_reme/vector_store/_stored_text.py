# -*- coding: utf-8 -*-
"""Texts for servers that take no NUL and no lone surrogates."""

from __future__ import annotations

import re

__all__ = ["comes_back", "storable"]

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_AMBIGUOUS = re.compile("[\0\ud800-\udfff\U0010f000-\U0010ffff]")
_PLANE = 0x10F000


def storable(text: str) -> str:
    """A text as servers take it: NUL and lone surrogates, which they do not take, become private characters.

    These are the last of Unicode, and sort there; a text that holds them itself would be taken for the other one.
    """
    if _UNSTORABLE.search(text) is None:
        return text
    return _UNSTORABLE.sub(lambda found: chr(_PLANE + (ord(found.group()) & 0xFFF)), text)


def comes_back(text: str) -> bool:
    """Whether `storable` gives this text as it is, and no other text becomes it."""
    return _AMBIGUOUS.search(text) is None
