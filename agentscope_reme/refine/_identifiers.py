# -*- coding: utf-8 -*-
"""What is worth nothing unless exact: paths, addresses, codes, versions, names of code."""

from __future__ import annotations

import re

__all__ = ["Identifier", "identifiers_in"]

Identifier = tuple[str, int, int]
"""The text of an identifier, and where it begins and ends."""

_RUN = re.compile(r"`[^`\n]{1,200}`|[A-Za-z0-9_~./\\:@#+=?&%$-]+")
_ENDS = "./\\:@#+=?&%$-"
_TELLS = re.compile(
    r"://|\w@\w+\.\w|\w_\w|[a-z][A-Z]"  # an address, a name of code
    r"|^[~.]{0,2}[/\\]\w|\w[/\\]\w.*[./\\]|[/\\]\w+\.[A-Za-z]\w*$|\w\.(?:[a-z][a-z0-9]{0,5}|[A-Z]{2,5})$"  # paths
    r"|[A-Za-z]-?\d|\d[A-Za-z]{2}|\d\.\d+\.\d|[A-Z]{2,}-\d|:\d{2,5}$",  # codes, versions, ports
)
_PLAIN = re.compile(
    r"(?:\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|s|am|pm|kg|km|cm|mm|gb|mb|kb|tb|ms|px|h|m|k|g|l|min|mins|hrs?|years?|days?)?"
    r"|[\d.,]+%|\$[\d.,]+[kmb]?|(?:mr|mrs|ms|dr|st|vs|etc|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|ph\.d|no)\.?"
    r"|[A-Za-z]+(?:/[A-Za-z]+)+|covid-19|b2b|\d[A-Za-z])",
    re.IGNORECASE,
)


def identifiers_in(text: str) -> list[Identifier]:
    """The identifiers in a text, in order. Plain words, numbers with units and abbreviations are none."""
    found = []
    for match in _RUN.finditer(text):
        run = match.group()
        if run.startswith("`"):
            found.append((run.strip("`"), match.start() + 1, match.end() - 1))
            continue
        trimmed = run.rstrip(_ENDS).lstrip(":=?&%+")
        if len(trimmed) > 1 and _TELLS.search(trimmed) and not _PLAIN.fullmatch(trimmed):
            start = match.start() + run.index(trimmed)
            found.append((trimmed, start, start + len(trimmed)))
    return found
