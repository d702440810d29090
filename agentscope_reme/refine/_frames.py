# -*- coding: utf-8 -*-
"""What a statement says of somebody, in a form that can be compared: likes, habits, and attributes with one value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ._lexicon import Lexicon, default_lexicon, lower
from ._words import plain, words_of

__all__ = ["Frame", "frames_of", "kind_of"]

FrameKind = Literal["liking", "habit", "slot", "favourite"]

_ENDS = " \t,，。.；;:：!！?？、'\"“”"
_SUBJECT = re.compile(r"\{subject\}")
_LIST = re.compile(r"[、,，/]|(?:和|与|跟|以及|还有)|\s+(?:and|or|nor)\s+")
_CLAUSE = re.compile(r"[，,。.；;：:！!？?\n（）()]")
_POSSESSIVE = re.compile(r"^(?:我们?|用户|本人|他|她|my|our|the|his|her|user's|the user's)\s*的?", re.IGNORECASE)


@dataclass(frozen=True)
class Frame:
    """One thing that is said.

    Args:
        kind (`FrameKind`): ``liking``, ``habit``; ``slot``: an attribute that has one value at a time; ``favourite``: a
            thing liked most, whose kind is told by its name.
        name (`str`): the attribute of a slot, the kind of a favourite; "" else.
        value (`str`): what is liked or done, or the attribute's value.
        words (`frozenset[str]`): the words of the value.
        about (`frozenset[str]`): whom it is said of, and when: the words before it in the clause, pronouns aside.
        positive (`bool`): whether it is so, or is not (any more).
        start (`int`), end (`int`): where it stands in the text in compatibility form.
    """

    kind: FrameKind
    name: str
    value: str
    words: frozenset[str]
    about: frozenset[str]
    positive: bool
    start: int
    end: int


def frames_of(text: str, lexicon: Lexicon | None = None) -> list[Frame]:
    """The frames of a text, in order; where two patterns read the same words, the more telling one is kept."""
    lexicon = lexicon or default_lexicon()
    text = plain(text)
    found = [*_slots(text, lexicon), *_favourites(text, lexicon)]
    found += _feelings(text, lexicon, "dislike", "liking", positive=False)
    found += _feelings(text, lexicon, "like", "liking", positive=True)
    found += _feelings(text, lexicon, "habit", "habit", positive=True)
    kept: list[Frame] = []
    for frame in found:
        spans = [(each.start, each.end) for each in kept if each.kind != frame.kind or each.name != frame.name]
        if not any(start < frame.end and frame.start < end for start, end in spans):
            kept.append(frame)
    return sorted(kept, key=lambda each: each.start)


def _feelings(text: str, lexicon: Lexicon, name: str, kind: FrameKind, *, positive: bool) -> list[Frame]:
    found: list[Frame] = []
    for match in lexicon.all(name, text):
        sign = positive if match["neg"] is None else not positive
        about = _about(text, match.start())
        for value in _values(text, match, lexicon):
            found.append(Frame(kind, "", value, words_of(value), about, sign, match.start(), match.end()))
    return found


def _values(text: str, match: re.Match[str], lexicon: Lexicon) -> list[str]:
    """What is liked or done, one by one; in "I don't hike anymore" it is the verb itself."""
    start, end = match.span("object")
    values = [_trimmed(each, lexicon) for each in _LIST.split(text[start:end])]
    if not any(map(words_of, values)) and match.groupdict().get("verb"):
        values = [text[slice(*match.span("verb"))]]
    return [each for each in values if words_of(each)]


def _slots(text: str, lexicon: Lexicon) -> list[Frame]:
    found: list[Frame] = []
    for name, pattern in _slot_patterns(lexicon):
        for match in pattern.finditer(lower(text)):
            value = text[match.start("value") : match.end("value")].strip(_ENDS)
            subject = match.groupdict().get("subject")
            label = _POSSESSIVE.sub("", subject).strip() if subject else name
            if words_of(value) or any(map(str.isalnum, value)):
                end = match.end("value")
                about = _about(text, match.start())
                found.append(Frame("slot", label, value, words_of(value), about, True, match.start(), end))
    return found


def _favourites(text: str, lexicon: Lexicon) -> list[Frame]:
    found: list[Frame] = []
    for match in lexicon.all("favourite", text):
        value = _trimmed(text[match.start("object") : match.end("object")], lexicon)
        kind = kind_of(value, lexicon)
        if kind and match["neg"] is None:
            about = _about(text, match.start())
            found.append(Frame("favourite", kind, value, words_of(value), about, True, match.start(), match.end()))
    return found


def kind_of(value: str, lexicon: Lexicon) -> str:
    """The list of one kind that a value belongs to, by its first word; "" where it is in none."""
    for line in lexicon.texts("kinds"):
        if value.casefold() in line.split():
            return line.split()[0]
    return ""


def _about(text: str, start: int) -> frozenset[str]:
    """The words between the beginning of a clause and a place in it."""
    return words_of(_CLAUSE.split(text[:start])[-1])


def _trimmed(value: str, lexicon: Lexicon) -> str:
    """A value without particles and adverbs around it."""
    spans = sorted((match.span() for match in lexicon.all("particles", value)), reverse=True)
    for start, end in spans:
        value = value[:start] + " " * (end - start) + value[end:]
    return " ".join(value.split()).strip(_ENDS)


def _slot_patterns(lexicon: Lexicon) -> list[tuple[str, re.Pattern[str]]]:
    pairs = (line.partition(" :: ") for line in lexicon.texts("slots"))
    return [(_SUBJECT.sub("", name).strip(), re.compile(pattern)) for name, _, pattern in pairs]
