# -*- coding: utf-8 -*-
"""How many vectors a text deserves: one a sentence in notes, one a turn in dialog."""

import re
from typing import Literal

from .._errors import ConfigError
from ..text import split_sentences
from ._plain_text import clean

__all__ = ["split_for_vectors"]

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|\|)+|\|\s*$|\*\*|__(?=\S)|`")
_RULE = re.compile(r"^[\s|:=*_-]*$")
_SHORT = 6.0  # words; fewer say too little to be found by
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def split_for_vectors(text: str, kind: Literal["note", "dialog"]) -> list[str]:
    """Divide a chunk into the texts that get a vector each; the best of them stands for the chunk.

    Sentences find notes that their average does not: one vector for eight sentences found 35 of 100 paraphrases first,
    the best of eight vectors 68. A turn of a dialog is short and about one thing, so it stays whole.

    Args:
        text (`str`):
            A chunk of Markdown, or what was said in one turn.
        kind (`Literal["note", "dialog"]`):
            Which of the two.

    Returns:
        `list[str]`: Sentences without Markdown's marks, very short ones joined to their neighbours; for a dialog the
        turn. Empty for a blank text.
    """
    if kind == "dialog":
        turn = clean(text)
        return [turn] if turn else []
    if kind != "note":
        raise ConfigError(f"kind is {kind!r}: it is 'note' or 'dialog'.")
    lines = [line for line in text.splitlines() if not _FENCE.match(line)]
    plain = (clean(_MARK.sub("", sentence)) for sentence in split_sentences("\n".join(lines)))
    return _joined([sentence for sentence in plain if sentence and not _RULE.match(sentence)])


def _joined(sentences: list[str]) -> list[str]:
    """Join a short sentence to the one after it, the last one to the one before."""
    joined: list[str] = []
    for sentence in sentences:
        if joined and _words(joined[-1]) < _SHORT:
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    if len(joined) > 1 and _words(joined[-1]) < _SHORT:
        joined[-2:] = [f"{joined[-2]} {joined[-1]}"]
    return joined


def _words(sentence: str) -> float:
    return len(_WORD.findall(sentence)) + len(_WIDE.findall(sentence)) / 1.6
