# -*- coding: utf-8 -*-
"""Whether a clause says that something is so, that it is not, or that it seldom is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ._lexicon import Lexicon, default_lexicon, lower
from ._words import words_of

__all__ = ["Clause", "Polarity", "clauses_of", "polarity_of"]

Polarity = Literal["yes", "no", "seldom"]
Span = tuple[int, int]

_BORDER = re.compile(
    r"\n+|[，,。.；;！!？?：:（）()]+(?=\s|$|[^\d])|"
    r"\s+(?:but|however|while|although|though|because|so that|whereas)\s+|"
    r"但是?|不过(?!敏)|可是|然而|而且|然后|因为|所以|虽然",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s+and\s+(?:(?:i|he|she|we|they|it|then|also)\s+)?|并且?|[也又]", re.IGNORECASE)
_SOON = 2
"""How many signs after an "and" a denial begins that is of what follows alone."""
_NEAR_WORDS, _NEAR_SIGNS = 2, 3
"""How far before a word a negation of it stands: in words, and in signs of a script without spaces."""


@dataclass(frozen=True)
class Clause:
    """A stretch of a sentence that one negation reaches.

    Args:
        text (`str`): as it is written.
        words (`frozenset[str]`): its content words; both words of a pair of opposites are one.
        polarity (`Polarity`): whether it says that something is so.
        reach (`frozenset[str]`): the words for what it says is kept from: who gave up coffee does not drink it.
    """

    text: str
    words: frozenset[str]
    polarity: Polarity
    reach: frozenset[str] = frozenset()


def clauses_of(text: str, lexicon: Lexicon | None = None) -> list[Clause]:
    """The clauses of a text with content words in them."""
    lexicon = lexicon or default_lexicon()
    found = []
    for part in _parts(text, lexicon):
        polarity, words = _read(part, lexicon)
        if words:
            reach = _uses(lexicon) if polarity == "no" and lexicon.found_in("abstaining", part) else frozenset()
            found.append(Clause(part.strip(), words, polarity, reach))
    return found


def _uses(lexicon: Lexicon) -> frozenset[str]:
    return frozenset(word for each in lexicon.texts("uses") for word in words_of(each))


def _parts(text: str, lexicon: Lexicon) -> Iterator[str]:
    """A text cut where a clause ends, and before an "and" that brings a denial of its own."""
    for part in filter(None, _BORDER.split(text)):
        at = 0
        for joint in _JOINT.finditer(part):
            begins = lexicon.first("negation", part[joint.end() :]), *_refusals(part[joint.end() :], lexicon)
            if any(match and match.start() <= _SOON for match in begins):
                yield part[at : joint.start()]
                at = joint.end()
        yield part[at:]


def _refusals(text: str, lexicon: Lexicon) -> list[re.Match[str]]:
    return [match for _, _, fails in lexicon.pairs("opposites", text) for match in fails]


def polarity_of(clause: str, lexicon: Lexicon | None = None) -> Polarity:
    """What a clause says of what it is about: "不吃", "no longer" and "quit" are "no", "hardly ever" is "seldom".

    "不错", "not only" and 会不会 deny nothing, and what denies a denial asserts: "did not refuse".
    """
    return _read(clause, lexicon or default_lexicon())[0]


def _read(clause: str, lexicon: Lexicon) -> tuple[Polarity, frozenset[str]]:
    harmless = [match.span() for match in lexicon.all("no_negation", clause)]
    plain = _blanked(lower(clause), harmless)
    seldom = [match.span() for match in lexicon.all("seldom", plain)]
    denials = [match.span() for match in lexicon.all("negation", _blanked(plain, seldom))]
    refusals: list[Span] = []
    paired: list[Span] = []
    tokens = set()
    for number, holds, fails in lexicon.pairs("opposites", plain):
        refusals += [match.span() for match in fails]
        paired += [match.span() for match in (*holds, *fails)]
        tokens.add(f"={number}")
    denials = [each for each in denials if not _within(each, refusals)]
    refusals = [each for each in dict.fromkeys(refusals) if not _cancelled(each, denials, plain)]
    seldom = [each for each in seldom if not _cancelled(each, denials, plain)]
    measures = [match.span() for name in ("seldom", "often") for match in lexicon.all(name, plain)]
    words = words_of(_blanked(clause, [*paired, *measures])) or words_of(_blanked(clause, paired))
    words |= tokens
    return "no" if denials or refusals else "seldom" if seldom else "yes", words


def _cancelled(word: Span, denials: list[Span], text: str) -> bool:
    """Whether a denial stands right before a word that denies; the two make an assertion, and neither counts."""
    for denial in denials:
        between = text[denial[1] : word[0]]
        near = len(between.split()) <= _NEAR_WORDS if between.isascii() else len(between) <= _NEAR_SIGNS
        if near and denial[1] <= word[0]:
            denials.remove(denial)
            return True
    return False


def _within(span: Span, others: Iterable[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in others)


def _blanked(text: str, spans: Iterable[Span]) -> str:
    left = list(text)
    for start, end in spans:
        left[start:end] = " " * (end - start)
    return "".join(left)
