# -*- coding: utf-8 -*-
"""A chunk before it has a number: what is stored of it, and what makes two of them the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

__all__ = ["Draft", "Kind"]

Kind = Literal["note", "turn", "tool"]
"""A stretch of a note; what was said in one turn of a dialog; a call of a tool or its result."""


@dataclass(frozen=True)
class Draft:
    """A chunk as it was read from a file.

    Args:
        kind (`Kind`): what it is.
        start_line (`int`): the first line, counted from 1.
        end_line (`int`): the last line, included.
        text (`str`): what stands there.
        heading (`str`): the headings above it.
        offset (`int`): where in the first line the text begins, in characters.
        time (`str`): when, ISO 8601: a day, or a moment with its offset from UTC; "" where that is not known.
        speaker (`str`): who said it.
        message_id (`str`): the message's id.
        session_id (`str`): the conversation.
        episode (`int`): which stretch without a long pause it is of this conversation in this file.
        position (`float`): its place in the episode.
    """

    kind: Kind
    start_line: int
    end_line: int
    text: str
    heading: str = ""
    offset: int = 0
    time: str = ""
    speaker: str = ""
    message_id: str = ""
    session_id: str = ""
    episode: int = 0
    position: float = 0.0

    @cached_property
    def digest(self) -> bytes:
        """Equal for drafts that differ in nothing but where they stand."""
        told = (self.time, self.speaker, self.message_id, self.session_id, self.episode, self.position)
        return _hash(f"{self.twin}", *map(str, told))

    @cached_property
    def twin(self) -> int:
        """Equal for drafts with the same words and vectors; never 0."""
        return int.from_bytes(_hash(self.kind, self.heading, self.text)[:8], "little", signed=True) or 1

    @property
    def searched(self) -> str:
        """The text that is searched by words."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


def _hash(*parts: str) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
