# -*- coding: utf-8 -*-
"""Hiding the middle of a text that may be spread over several blocks, and the record of what was hidden."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._utf8 import encode_text

__all__ = ["Fact", "Part", "exceeds", "hide", "joined", "shown_digest"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Part:
    """One piece of a text: the text of a block, or the placeholder of one that is not to be touched.

    Attributes:
        text (`str`): what it adds to the joined text.
        fixed (`bool`): whether it stays in any case.
        index (`int`): its place in the list that it comes from.
    """

    text: str
    fixed: bool = False
    index: int = 0


@dataclass(frozen=True)
class Fact:
    """The record that a text was shortened; it stands beside the text, which says nothing about itself.

    Attributes:
        file (`str`): the name of the file that holds the first full copy.
        sha256 (`str`): of the full text, as 64 hex digits.
        bytes (`int`): the full text's length in UTF-8.
        lines (`int`): its number of lines.
        limit (`int`): the bytes that it was last cut to.
        shown (`str`): a digest of what is shown in its place, by which an edit since is noticed.
    """

    file: str
    sha256: str
    bytes: int
    lines: int
    limit: int
    shown: str

    @classmethod
    def read(cls, value: Any) -> "Fact | None":
        """Read the record back from what a message carries; ``None`` where it is none of ours."""
        fields = cls.__dataclass_fields__
        if not isinstance(value, dict) or not set(fields) <= set(value):
            return None
        numbers = [value["bytes"], value["lines"], value["limit"]]
        texts = [value["file"], value["sha256"], value["shown"]]
        if not all(type(number) is int for number in numbers) or not all(isinstance(text, str) for text in texts):
            return None
        return cls(**{name: value[name] for name in fields}) if _SHA256.fullmatch(value["sha256"]) else None

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON data."""
        return dict(vars(self))


def joined(parts: Sequence[Part]) -> str:
    """The parts as one text, a newline between each two."""
    return "\n".join(part.text for part in parts)


def exceeds(parts: Sequence[Part], max_bytes: int) -> bool:
    """Whether the parts that may be shortened take more than this many bytes of UTF-8 together."""
    texts = [part.text for part in parts if not part.fixed]
    chars = sum(map(len, texts))
    if chars > max_bytes or chars * 4 <= max_bytes:
        return chars > max_bytes
    return sum(len(text) if text.isascii() else len(encode_text(text)) for text in texts) > max_bytes


def shown_digest(text: str) -> str:
    """A short digest of a text as it is shown."""
    return hashlib.sha256(encode_text(text)).hexdigest()[:16]


def hide(parts: Sequence[Part], head: int, tail: int, notice: str) -> list[str | None]:
    """Hide the middle of the joined text, and put a notice where it began.

    Args:
        parts (`Sequence[Part]`):
            The parts of the text.
        head (`int`):
            Characters of the joined text that stay at its beginning.
        tail (`int`):
            Characters that stay at its end.
        notice (`str`):
            What stands for the rest, with its line ends; one that would begin or end a block is left out.

    Returns:
        `list[str | None]`: each part's new text, ``None`` for one of which nothing is left.
    """
    stop = len(joined(parts)) - tail
    begin, placed = 0, False
    texts: list[str | None] = []
    for part in parts:
        text, end = part.text, begin + len(part.text)
        if part.fixed or end <= head or begin >= stop:
            texts.append(text)
        else:
            left, right = text[: max(0, head - begin)], text[max(0, stop - begin) :] if stop < end else ""
            texts.append((right or None) if placed else _between(left, notice, right))
            placed = True
        begin = end + 1
    return texts


def _between(left: str, notice: str, right: str) -> str:
    notice = notice if left else notice.removeprefix("\n")
    return left + (notice if right else notice.removesuffix("\n")) + right
