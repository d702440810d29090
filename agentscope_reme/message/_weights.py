# -*- coding: utf-8 -*-
"""What each class of characters, and each border between two classes, costs in tokens.

A non-negative least-squares fit of the tokenizers' own counts over some 2,000 samples of 80 kinds of text (prose in 20
languages, code, JSON, logs, tables, keys, digits, emoji), raised by 4 %, so that the estimate errs on the high side.
"""

from dataclasses import dataclass

__all__ = ["Pattern", "Script", "Weights", "BORDERS", "LINES", "CAPITALS", "QWEN", "O200K", "CL100K"]

Pattern = tuple[bytes, float]
"""Classes that follow each other, and what one such place costs."""

# Classes: a letter, 0 digit, space, \n line end or tab, . any other mark; in CAPITALS: A capital, a small letter.
BORDERS: tuple[Pattern, ...] = (
    (b" a", 0.463),  # a word and the space it swallows
    (b"  a", 0.937),  # a run of spaces that a word ends
    (b"  .", 0.522),
    (b" .", 1.712),
    (b"a.", 0.6),
    (b".", 0.051),
    (b"..a", 0.947),
    (b".a.", 0.744),
)
LINES: tuple[Pattern, ...] = ((b"a\n", 0.964), (b" \n", 3.1), (b"\na", 0.681))
CAPITALS: tuple[Pattern, ...] = ((b"A", 0.255), (b"aA", 0.762), (b"AaA", 1.68), (b"a" * 16, 6.18))

# One letter a script, by the first byte of its characters in UTF-8: what a character costs, and more after a space.
_SCRIPTS: dict[str, tuple[float, float]] = {
    "P": (1.35, 0.0),  # Latin-1 marks, the no-break space
    "L": (1.4, 0.0),  # Latin letters with accents
    "M": (1.04, 0.0),  # phonetic letters, combining accents
    "G": (1.04, 0.2),  # Greek
    "Y": (0.26, 1.2),  # Cyrillic
    "N": (0.94, 0.0),  # Armenian
    "H": (0.5, 0.31),  # Hebrew
    "R": (0.27, 1.35),  # Arabic and its kin
    "I": (1.2, 0.2),  # the scripts of India
    "X": (1.18, 0.0),  # Georgian, Khmer
    "S": (1.1, 0.0),  # quotes, dashes, arrows
    "J": (0.65, 0.0),  # kana
    "Z": (0.61, 1.53),  # Han
    "K": (0.91, 0.0),  # Hangul, lone surrogates
    "F": (1.04, 0.0),  # full-width letters, private use
    "E": (1.04, 0.0),  # emoji, rare Han
}
# Characters that cost something else than the rest of their script: name, script, first bytes in UTF-8, cost.
_PARTS: tuple[tuple[str, str, tuple[bytes, ...], float], ...] = (
    ("thai", "I", (b"\xe0\xb8", b"\xe0\xb9"), 0.59),
    ("vietnamese", "X", (b"\xe1\xba", b"\xe1\xbb"), 0.25),
    ("boxes", "S", (b"\xe2\x94", b"\xe2\x95", b"\xe2\x96"), 0.34),
    ("cjk marks", "J", (b"\xe3\x80",), 0.78),
    ("full-width marks", "F", (b"\xef\xbc",), 0.89),
    ("emoji selector", "F", (b"\xef\xb8\x8f",), 1.24),
)
_TRADITIONAL = 0.73  # further, for a character that only traditional Chinese has


@dataclass(frozen=True)
class Script:
    """What the characters of one script cost."""

    letter: bytes
    each: float
    after_space: float
    """Further, for a character that follows a space."""
    parts: tuple[tuple[tuple[bytes, ...], float], ...]
    """Characters with these first bytes, and what one of them costs instead."""


@dataclass(frozen=True)
class Weights:
    """The weights of one family of tokenizers; what is not here, the families share."""

    digits: tuple[Pattern, ...]
    scripts: tuple[Script, ...]
    traditional: float


def _family(digits: tuple[Pattern, ...], factors: dict[str, float]) -> Weights:
    """A family by its digits, and by how much dearer than for Qwen a script or part is."""

    def cost(name: str, base: float) -> float:
        return base * factors.get(name, 1.0)

    scripts = []
    for letter, (each, gap) in _SCRIPTS.items():
        parts = tuple((prefixes, cost(name, base)) for name, script, prefixes, base in _PARTS if script == letter)
        scripts.append(Script(letter.encode(), cost(letter, each), cost(letter, gap), parts))
    return Weights(digits, tuple(scripts), cost("traditional", _TRADITIONAL))


QWEN = _family(  # each digit is a token of its own
    ((b"0", 0.956), (b" 0", 1.47), (b"  0", 1.85), (b".0", 1.362), (b"a0", 0.803), (b"0aa", 1.247)),
    {},
)
O200K = _family(  # three digits are a token
    ((b"0", 0.29), (b" 0", 1.67), (b"  0", 2.264), (b".0", 1.761), (b"a0", 1.026), (b"0a", 0.242), (b"0aa", 1.045)),
    {
        "L": 0.7,
        "G": 0.41,
        "Y": 0.75,
        "R": 0.68,
        "I": 0.35,
        "X": 0.35,
        "S": 1.8,
        "Z": 1.1,
        "K": 0.87,
        "F": 1.27,
        "E": 1.2,
    }
    | {"thai": 0.75, "vietnamese": 0.9, "boxes": 1.1, "cjk marks": 1.3, "full-width marks": 1.5, "traditional": 1.24},
)
CL100K = _family(
    ((b"0", 0.298), (b" 0", 1.674), (b"  0", 2.179), (b".0", 1.613), (b"a0", 1.153), (b"0aa", 1.397)),
    {
        "L": 1.52,
        "Y": 1.21,
        "H": 2.12,
        "R": 1.46,
        "I": 1.2,
        "X": 1.8,
        "S": 1.9,
        "J": 1.42,
        "Z": 1.75,
        "K": 1.26,
        "F": 1.37,
    }
    | {"E": 2.14, "thai": 1.63, "vietnamese": 1.2, "boxes": 1.2, "cjk marks": 1.3, "full-width marks": 1.8}
    | {"emoji selector": 1.2, "traditional": 1.35},
)
