# -*- coding: utf-8 -*-
"""Whether a clause says that something is so, or that it is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ._lexicon import Lexicon, default_lexicon, lower
from ._words import words_of

__all__ = ["Clause", "clauses_of", "is_negated"]

_BORDER = re.compile(
    r"[，,。.；;！!？?\n：:（）()]+(?=\s|$|[^\d])|\s+(?:but|however|while|although|though|because|so that|whereas)\s+|"
    r"但是?|不过(?!敏)|可是|然而|而且|然后|因为|所以|虽然",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Clause:
    """A stretch of a sentence that one negation reaches.

    Args:
        text (`str`): as it is written.
        words (`frozenset[str]`): its content words.
        negated (`bool`): whether it says that something is not so.
    """

    text: str
    words: frozenset[str]
    negated: bool


def clauses_of(text: str, lexicon: Lexicon | None = None) -> list[Clause]:
    """The clauses of a text with content words in them."""
    lexicon = lexicon or default_lexicon()
    found = []
    for part in _BORDER.split(text):
        if part and (words := words_of(part)):
            found.append(Clause(part.strip(), words, is_negated(part, lexicon)))
    return found


def is_negated(clause: str, lexicon: Lexicon | None = None) -> bool:
    """Whether a clause holds a negation: "不吃", "no longer", "quit"; "不错", "not only" and 会不会 are none."""
    lexicon = lexicon or default_lexicon()
    left = list(lower(clause))
    for match in lexicon.all("no_negation", clause):
        left[match.start() : match.end()] = " " * (match.end() - match.start())
    return lexicon.found_in("negation", "".join(left))
