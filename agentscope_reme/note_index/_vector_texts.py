# -*- coding: utf-8 -*-
"""What of a chunk is embedded: its sentences, without what journals put around them."""

from __future__ import annotations

import re

from ..embedding import split_for_vectors
from ..message import estimate_tokens

__all__ = ["SPLITTER", "vector_texts"]

SPLITTER = "sentences/2"
"""Which way of dividing chunks into texts this is; vectors made another way are made again."""

_LONG_TURN = 100  # tokens; on BFCL's long turns one vector a sentence takes the recall of five from .954 to .973
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")

_MOMENT = r"(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?)"
_WHEN = re.compile(rf"(?:[\[(（【]?\s*{_MOMENT}(?:[\sT,，]+{_MOMENT})*\s*[\])）】]?[\s,，、:：|·–—-]*)+")
_LABEL = re.compile(
    r"(?P<name>[^\s:：,，。.!?！？()（）\[\]]{1,20}(?: [^\s:：,，。.!?！？()（）\[\]]{1,20}){0,2})"
    rf"\s?(?:[(（\[][^()（）\[\]]{{0,30}}[)）\]])?\s*(?:{_MOMENT})?\s*(?::(?=\s)|：)\s*",
)
_ASIDE = re.compile(r"\s*[(（\[](?P<aside>[^()（）\[\]]{1,40})[)）\]]\s*[.。]?$")
_HAS_MOMENT = re.compile(_MOMENT)
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEW = 3.0  # words; what is left of a sentence has to say more than that


def vector_texts(kind: str, text: str) -> list[str]:
    """Divide a chunk into the texts that get a vector each.

    A turn of a dialog is one text, a long one and a note one a sentence. A multilingual encoder places a sentence by
    everything in it: "10:30 Anna: " before it takes the recall of five, for questions in other words, from .83 to .33,
    and "(Anna, 10:30)" after it or "10:30" as its heading to .5. So times are taken off, and a sentence with a label,
    an aside at its end or a heading above it is embedded with and without that.

    Args:
        kind (`str`): "note" or "turn".
        text (`str`): The chunk.

    Returns:
        `list[str]`: The texts, none of them blank, none of them twice; empty for a chunk that says nothing.
    """
    if kind == "turn":
        return split_for_vectors(text, "dialog" if estimate_tokens(text) <= _LONG_TURN else "note")
    bare = "\n".join(line for line in text.split("\n") if not _HEADING.match(line))
    sentences = dict.fromkeys([*split_for_vectors(bare, "note"), *split_for_vectors(text, "note")])
    return list(dict.fromkeys(each for sentence in sentences for each in _said(sentence)))


def _said(sentence: str) -> list[str]:
    """A sentence without the time that it begins or ends with, and without its label or aside where it has one."""
    timeless = _without_moments(sentence)
    bare = _without_aside(_without_label(timeless))
    return list(dict.fromkeys([timeless, bare]))


def _without_moments(sentence: str) -> str:
    when = _WHEN.match(sentence)
    text = _kept(sentence, sentence[when.end() :]) if when else sentence
    aside = _ASIDE.search(text)
    return _kept(text, text[: aside.start()]) if aside and _HAS_MOMENT.search(aside["aside"]) else text


def _without_label(sentence: str) -> str:
    label = _LABEL.match(sentence)
    if label is None or len(_WIDE.findall(label["name"])) > 8:
        return sentence
    return _kept(sentence, sentence[label.end() :])


def _without_aside(sentence: str) -> str:
    aside = _ASIDE.search(sentence)
    return _kept(sentence, sentence[: aside.start()]) if aside else sentence


def _kept(whole: str, rest: str) -> str:
    """The rest, if it says something by itself."""
    rest = rest.strip()
    wide = len(_WIDE.findall(rest))
    words = len(re.findall(r"[^\W_]+", _WIDE.sub(" ", rest))) + wide / 1.6
    return rest if words > _FEW else whole
