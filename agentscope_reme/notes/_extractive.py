# -*- coding: utf-8 -*-
"""Notes made of the messages' own sentences, without a model: for users without a key, and as the last resort."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentscope.message import Msg

from ..message import MEDIA_TYPES, blocks_of, is_user_request, tool_uses
from ._forgetting import asks_to_forget
from ._lines import clean_text
from ._reading import agent_texts, clock, user_texts
from ._repeats import squashed
from ._standing import is_courtesy, is_standing, prose

__all__ = ["Entry", "entries", "is_known", "most_telling"]

_USER_CHARS = 280
_AGENT_CHARS = 200
_DISTINCT = 12
"""Letters and digits from which on a text is not found in another by chance."""
_CLAUSE_END = re.compile(r"\s*[,;，；]\s*")
_BLANKS = re.compile(r"\s+")
_MARKS = re.compile(r"^(?:[#>*+-]+\s+)+")


@dataclass(frozen=True)
class Entry:
    """One line for a note.

    Args:
        time (`str`): When it was said, `HH:MM`, or "".
        name (`str`): Who said it; "" for the user where he has no name.
        text (`str`): What was said, on one line.
        is_agent (`bool`): Whether the agent said it.
        is_standing (`bool`): Whether it is a user's statement that holds beyond the conversation.
        is_request (`bool`): Whether a user asks in it to forget something.
    """

    time: str
    name: str
    text: str
    is_agent: bool = False
    is_standing: bool = False
    is_request: bool = False

    @property
    def weight(self) -> int:
        return 2 * (self.is_standing or self.is_request) - self.is_agent


def entries(messages: Iterable[Msg]) -> list[Entry]:
    """What users told and asked for, and what the agent answered, in order; courtesies and tool calls are left out."""
    return [entry for msg in messages for entry in _of(msg)]


def most_telling(found: Sequence[Entry], most: int) -> list[Entry]:
    """At most so many of them, in their order: statements that last first, then what users said, then the newest."""
    ranked = sorted(range(len(found)), key=lambda at: (found[at].weight, at), reverse=True)
    return [found[at] for at in sorted(ranked[:most])]


def is_known(text: str, standing: str, name: str | None = None) -> bool:
    """Whether a text stands in a note, whoever put it there.

    Args:
        text (`str`):
            The text.
        standing (`str`):
            The note, `squashed`.
        name (`str | None`):
            Who said it, as the note names him, where short texts are to be known beside the name only.
    """
    bare = squashed(text)
    return (bare if name is None or len(bare) >= _DISTINCT else squashed(name) + bare) in standing


def _of(msg: Msg) -> Iterator[Entry]:
    time, name = clock(msg), _one_line(msg.name or "")
    if is_user_request(msg):
        yield from _told(time, "" if name == msg.role else name, "".join(user_texts([msg])), msg)
    elif msg.role == "assistant" and not tool_uses(msg):
        said = [each for text in agent_texts([msg]) for each in prose(text) if not is_courtesy(each)]
        if said:
            yield Entry(time, name, _clipped(" ".join(said[:2]), _AGENT_CHARS), is_agent=True)


def _told(time: str, name: str, text: str, msg: Msg) -> Iterator[Entry]:
    said = [part for sentence in prose(text) for part in _parts(sentence)]
    asked = [each for each in said if asks_to_forget(each)]
    lasting = [each for each in said if each not in asked and is_standing(each)]
    rest = [each for each in said if each not in asked and each not in lasting]
    if rest and not is_courtesy(" ".join(rest)):
        yield Entry(time, name, _clipped(" ".join(rest), _USER_CHARS))
    for each in said:
        if each in asked or each in lasting:
            is_request = each in asked
            yield Entry(time, name, _clipped(each, _USER_CHARS), is_standing=not is_request, is_request=is_request)
    media = [f"[{block['type']}]" for block in blocks_of(msg) if block["type"] in MEDIA_TYPES]
    if media and not said:
        yield Entry(time, name, " ".join(media))


def _parts(sentence: str) -> list[str]:
    """A sentence; of one that asks to forget something in one clause and states something in another, the clauses."""
    if not asks_to_forget(sentence):
        return [sentence]
    clauses = [each for each in _CLAUSE_END.split(sentence) if each]
    others = [each for each in clauses if not asks_to_forget(each)]
    return clauses if len(others) < len(clauses) and any(map(is_standing, others)) else [sentence]


def _clipped(text: str, most: int) -> str:
    line = _one_line(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _one_line(text: str) -> str:
    return _MARKS.sub("", _BLANKS.sub(" ", clean_text(text)).strip())
