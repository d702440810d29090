# -*- coding: utf-8 -*-
"""Statements as single lines: how wide they are, where they may be cut, and how foreign text is made harmless."""

import re
from collections.abc import Iterable

__all__ = ["as_data", "as_statement", "clipped", "joined", "same_key", "width"]

_ELLIPSIS = "…"
_FIRST_WIDE = "\u2e80"  # Han, kana, hangul and full-width forms lie above
_LONGEST_IDENTIFIER = 200

_TAG = re.compile(r"<(?=[/!?]?[A-Za-z])")
_DELIMITER_TAG = re.compile(
    r"<(?=/?[\w-]*(?:summary|system|conversation|message|context|memory|instruction|user|assistant|tool|human)[\w-]*[\s>/])",
    re.IGNORECASE,
)
_MARKS = re.compile(r"^(?:[#>*•·|=~`+-]+(?=\s|$)|#+|\[[ xX]\]\s|\d{1,2}[.)、．]\s+|\s)+")
_INVISIBLE = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)

_SENTENCE_END = re.compile(r"[。！？；…][”’」』）)\"']*|[.!?;](?=\s)")
_CLAUSE_END = re.compile(r"[，、：,:](?=\s|[^\x00-\x7f])|[，、：]|\s[-–—](?=\s)")
_TOKEN = re.compile(r"[A-Za-z0-9./:\\_@#?=&%+~$*-]")
_NOT_WORD = re.compile(r"[\W_]+")


def width(text: str) -> int:
    """How much room a text takes: a Chinese character as much as two letters."""
    return len(text) if text.isascii() else len(text) + sum(char >= _FIRST_WIDE for char in text)


def as_statement(text: str) -> str:
    """Something that a person or the agent said, on one line, without marks of layout or tags that delimit prompts."""
    line = _MARKS.sub("", _flat(text)).replace("**", "")
    return _DELIMITER_TAG.sub("‹", line) if "<" in line else line


def as_data(text: str) -> str:
    """Something that a tool printed, on one line, with nothing in it that reads as a heading or a tag."""
    return _TAG.sub("‹", _MARKS.sub("", _flat(text)))


def clipped(text: str, limit: int) -> str:
    """The text cut to a width, at the end of a sentence or clause if one is near, never inside a path or an identifier.

    Args:
        text (`str`):
            One line.
        limit (`int`):
            The width that the result, with its ellipsis, may have.

    Returns:
        The text itself where it fits; the empty string where nothing can be kept without breaking an identifier.
    """
    if width(text[: limit + 1]) <= limit:
        return text
    end = _fitting(text, limit - 1)
    for border in (_SENTENCE_END, _CLAUSE_END):
        ends = [match.end() for match in border.finditer(text, 0, end)]
        if ends and ends[-1] >= 0.6 * end:
            return text[: ends[-1]].rstrip(" ,，、：:;；-–—…") + _ELLIPSIS
    return _cut_between_words(text, end)


def joined(sentences: Iterable[str]) -> str:
    """Sentences one after the other, with a space between them where the script has spaces."""
    text = ""
    for each in sentences:
        text += ("" if not text or text[-1] > _FIRST_WIDE or each[:1] > _FIRST_WIDE else " ") + each
    return text


def same_key(text: str) -> str:
    """What two statements share that differ only in case, spaces and punctuation."""
    return _NOT_WORD.sub("", text.casefold()) or text


def _flat(text: str) -> str:
    return " ".join((text if text.isprintable() else _INVISIBLE.sub(" ", text)).split())


def _fitting(text: str, limit: int) -> int:
    """How many characters fit a width."""
    used = 0
    for index, char in enumerate(text):
        used += 1 + (char >= _FIRST_WIDE)
        if used > limit:
            return index
    return len(text)


def _cut_between_words(text: str, end: int) -> str:
    cut = end
    while cut and _TOKEN.match(text[cut - 1]) and _TOKEN.match(text[cut : cut + 1]):
        cut -= 1
    if end - cut > _LONGEST_IDENTIFIER:  # no identifier: data without a single break
        cut = end
    kept = text[:cut].rstrip(" ,，、：:;；-–—…")
    return kept + _ELLIPSIS if kept else ""
