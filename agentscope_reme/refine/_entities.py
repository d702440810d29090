# -*- coding: utf-8 -*-
"""What a text speaks of by name: people, places, works in quotation marks, identifiers."""

from __future__ import annotations

import re

from ._identifiers import identifiers_in
from ._names import names_in

__all__ = ["entities_of", "people_in"]

_QUOTED = re.compile(r"[“「『《〈]([^”」』》〉\n]{1,30})[”」』》〉]|(?<!\w)\"([^\"\n]{2,30})\"(?!\w)")
_SENTENCE = re.compile(r"[。！？!?；;]|[，,]\s*\S+[，,]")
_TAG = re.compile(r"(?<!\S)#([\w\u4e00-\u9fff]{2,20})")
_MOST = 12


def entities_of(text: str, limit: int = _MOST) -> tuple[str, ...]:
    """The names, quoted titles, tags and identifiers of a text, each once, the surest kinds first.

    Args:
        text (`str`): Chinese, English or both.
        limit (`int`): how many at most.
    """
    codes = [each for each, _, _ in identifiers_in(text) if len(each) <= 120]
    names = [name.text for name in names_in(text) if name.sure and name.kind != "subject"]
    found = [name for name in names if not any(name in code for code in codes)]
    for match in _QUOTED.finditer(text):
        quoted = (match[1] or match[2]).strip()
        if quoted and not _SENTENCE.search(quoted):
            found.append(quoted)
    found += [match[1] for match in _TAG.finditer(text)]
    found += codes
    distinct = {each.casefold(): each for each in reversed(found) if any(map(str.isalnum, each))}
    return tuple(reversed(distinct.values()))[:limit]


def people_in(text: str) -> tuple[str, ...]:
    """The people whom a text names for certain; in English a name may be of anything and is left out."""
    return tuple(name.text for name in names_in(text) if name.kind == "person")
