# -*- coding: utf-8 -*-
"""What is worth nothing unless exact: paths, addresses, codes, versions, names of code."""

from __future__ import annotations

import re

__all__ = ["Identifier", "holds_identifier", "identifiers_in"]

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
    r"(?:\d+(?:[,:/-]\d+)*(?:\.\d+)?(?:st|nd|rd|th|s|am|pm|kg|km|cm|mm|gb|mb|kb|tb|ms|px|h|m|k|g|l|min|mins|hrs?|years?|days?)?"
    r"|[\d.,]+%|\$[\d.,]+[kmb]?|(?:mr|mrs|ms|dr|st|vs|etc|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|ph\.d|no)\.?"
    r"|[A-Za-z]+(?:/[A-Za-z]+)+|covid-19|b2b|\d[A-Za-z])",
    re.IGNORECASE,
)


_V = re.compile(r"[vV]?(\d[\w.+-]*)")
_VERSION = re.compile(
    r"(?:\b(?i:version|release|ver\.?)\s+|版本号?\s*(?:是|为|到|:|：)?\s*|\b[A-Z][A-Za-z+#]*\s)"
    r"(\d+\.\d+)(?!\s?(?:[\w%％$€£]|\.\d)|,\d)"
)
"""A number of two parts is a version after a name, where nothing says what it counts: in it, 3.10 is not 3.1."""


def identifiers_in(text: str) -> list[Identifier]:
    """The identifiers in a text, in order. Plain words, numbers with units and abbreviations are none."""
    found = [(match[1], match.start(1), match.end(1)) for match in _VERSION.finditer(text)]
    for match in _RUN.finditer(text):
        run = match.group()
        if run.startswith("`"):
            found.append((run.strip("`"), match.start() + 1, match.end() - 1))
            continue
        trimmed = run.rstrip(_ENDS).lstrip(":=?&%+")
        if len(trimmed) > 1 and _TELLS.search(trimmed) and not _PLAIN.fullmatch(trimmed):
            start = match.start() + run.index(trimmed)
            found.append((trimmed, start, start + len(trimmed)))
    return sorted(found, key=lambda each: each[1:])


def holds_identifier(text: str, identifier: str) -> bool:
    """Whether a text has an identifier letter for letter, and not only as part of a longer one: 1.2 is not in 1.2.3.

    A "v" before a version may be there or not.
    """
    version = _V.fullmatch(identifier)
    own = rf"[vV]?{re.escape(version[1])}" if version else re.escape(identifier)
    before = (
        r"(?<![A-Za-z0-9_])(?<![0-9]\.)"
        if identifier[:1].isalnum()
        else r"(?<![A-Za-z0-9_])" * (identifier[0] in "~/\\")
    )
    after = r"(?![A-Za-z0-9_]|[.-][0-9])" if identifier[-1:].isalnum() else ""
    return bool(re.search(f"{before}{own}{after}", text))
