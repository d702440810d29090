# -*- coding: utf-8 -*-
"""Names of collections in the alphabet that every server takes."""

from __future__ import annotations

import re

from .._errors import ConfigError

__all__ = ["given_name", "physical_name"]

_PLAIN = re.compile(r"[A-Za-z0-9_-]")
_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]+[A-Za-z0-9]")
_ESCAPED = re.compile(r"\.([0-9a-f]{2})")
_HEAD, _TAIL = "n.-", ".-n"


def physical_name(name: str, longest: int) -> str:
    """A name in letters, digits, ``.``, ``_`` and ``-``, of three characters or more; a different one for each.

    A name that is of that alphabet and has no dot stays as it is. Other characters become a dot and two hex digits for
    each byte of their UTF-8. What a server would not take at either end, or would find too short, stands between
    ``n.-`` and ``.-n``, which occur nowhere else.

    Args:
        name (`str`): any text.
        longest (`int`): how many characters the server takes.

    Raises:
        `ConfigError`: the name is too long.
    """
    escaped = "".join(char if _PLAIN.fullmatch(char) else _hex(char) for char in name)
    if not _ACCEPTED.fullmatch(escaped):
        escaped = f"{_HEAD}{escaped}{_TAIL}"
    if len(escaped) > longest:
        raise ConfigError(
            f"The collection name {name!r} takes {len(escaped)} characters on the server, and there is room for "
            f"{longest}: give a shorter one.",
        )
    return escaped


def given_name(physical: str) -> str:
    """The name that `physical_name` was given."""
    if physical.startswith(_HEAD) and physical.endswith(_TAIL):
        physical = physical[len(_HEAD) : -len(_TAIL)]
    data = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), physical).encode("latin-1")
    return data.decode("utf-8", "surrogatepass")


def _hex(char: str) -> str:
    return "".join(f".{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
