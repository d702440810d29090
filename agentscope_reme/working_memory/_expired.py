# -*- coding: utf-8 -*-
"""What is left of an offloaded text whose retention is over: when it expired, its hash, its head and its tail."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timezone

from ._utf8 import decode_text

__all__ = ["Expired", "read_expired", "remains_of"]

_HEADER = re.compile(
    rb"\[agentscope-reme\] expired (\S{1,40}) sha256=([0-9a-f]{64}) bytes=(\d+) lines=(\d+) head=(\d+) tail=(\d+)\n",
)
_GAP = b"\n[...]\n"


@dataclass(frozen=True)
class Expired:
    """What is left of a text whose retention is over.

    Attributes:
        when (`str`): when it expired, in ISO 8601 with a zone.
        sha256 (`str`): of the whole text.
        n_bytes (`int`): the whole text's length in bytes of UTF-8.
        n_lines (`int`): its number of lines.
        head (`str`): its beginning.
        tail (`str`): its end.
    """

    when: str
    sha256: str
    n_bytes: int
    n_lines: int
    head: str
    tail: str


def read_expired(name: str, data: bytes) -> Expired | None:
    """Read what is left in the place of a text.

    Args:
        name (`str`):
            The file's name. Only what bears this name's own hash counts, so that a stored text which quotes the
            remains of another is still a text.
        data (`bytes`):
            The file's content.

    Returns:
        `Expired | None`: ``None`` where the file holds a text.
    """
    header = _HEADER.match(data)
    if header is None or not header[2].decode().startswith(name.partition(".")[0]):
        return None
    when, sha256 = header[1].decode(), header[2].decode()
    n_bytes, n_lines, head, tail = (int(header[group]) for group in range(3, 7))
    body = data[header.end() :]
    return Expired(when, sha256, n_bytes, n_lines, decode_text(body[:head]), decode_text(body[len(body) - tail :]))


def remains_of(data: bytes, now: float, keep: int) -> bytes:
    """Make what is to stand in the place of a text.

    Args:
        data (`bytes`):
            The text in UTF-8, longer than ``keep``.
        now (`float`):
            When it expires, in seconds since the epoch.
        keep (`int`):
            Bytes of head and tail together.
    """
    head = data[: _border(data, keep // 2, -1)]
    tail = data[_border(data, len(data) - (keep - keep // 2), 1) :]
    when = datetime.fromtimestamp(now, timezone.utc).isoformat(timespec="seconds")
    sha256, lines = hashlib.sha256(data).hexdigest(), data.count(b"\n") + (not data.endswith(b"\n"))
    header = f"[agentscope-reme] expired {when} sha256={sha256} bytes={len(data)} lines={lines}"
    return f"{header} head={len(head)} tail={len(tail)}\n".encode() + head + _GAP + tail


def _border(data: bytes, index: int, step: int) -> int:
    """The next place in a direction that lies between two characters."""
    while 0 < index < len(data) and data[index] & 0xC0 == 0x80:
        index += step
    return index
