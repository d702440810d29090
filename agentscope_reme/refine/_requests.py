# -*- coding: utf-8 -*-
"""What a user asks outright to be remembered or forgotten, told by the words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text import split_sentences
from ._lexicon import Lexicon, default_lexicon
from ._naming import names_something, points_back

__all__ = ["asked_in", "asks_to_forget", "asks_to_forget_all", "asks_to_remember", "concerns_memory"]

_ITEM = re.compile(r"^\s*(?:[-*+•·]\s*|\d{1,3}[.)、．]\s*|[（(]\d{1,3}[)）]\s*|[①-⑳]\s*)")
_LEADS_IN = re.compile(r"[:：]\s*$")
_EDGES = " \t\n,，;；:：、-–—"
_CLAUSE = re.compile(r"[^\s,，;；。！!、.~～](?:[^,，;；。！!、.~～]|[,.](?=\S))*")
_LONGEST = 4_000
"""Characters of a message that are read: what is longer was pasted, and nobody asks outright so late."""


def asks_to_remember(text: str, lexicon: Lexicon | None = None, *, previous: str = "") -> list[str]:
    """What a message asks to be remembered, in its own words, each thing once.

    "记住，我对花生过敏", "I'm allergic to peanuts, remember that", "Remember the following:" with a list. A question
    ("你还记得吗", "do you remember ...?") and a recollection ("I remember ...") ask for nothing.

    Args:
        text (`str`):
            What the user wrote.
        lexicon (`Lexicon | None`):
            The words that ask; those of the package by default.
        previous (`str`):
            The user's message before it, which "记住这个" may mean.

    Returns:
        `list[str]`: the contents, without the request around them; none where nothing is asked.
    """
    lexicon = lexicon or default_lexicon()
    sentences = split_sentences(text[:_LONGEST])
    found = [each for at in range(len(sentences)) for each in asked_in(sentences, at, lexicon, previous=previous) or ()]
    return list(dict.fromkeys(found))


def asked_in(sentences: list[str], at: int, lexicon: Lexicon, *, previous: str = "") -> list[str] | None:
    """What one sentence of a message asks to be remembered, which may be what others say; None where it asks nothing.

    Args:
        sentences (`list[str]`): the message.
        at (`int`): which sentence.
        lexicon (`Lexicon`): the words that ask.
        previous (`str`): the user's message before it.
    """
    what = _asked(sentences[at], lexicon)
    if what is None:
        return None
    items = _items_after(sentences, at) if _LEADS_IN.search(sentences[at]) else []
    if not items:
        is_pointing = not what or lexicon.found_in("back_reference", what)
        items = _meant(sentences[:at], previous, lexicon) if is_pointing else [what]
    return [each for each in items if any(map(str.isalnum, each))]


def asks_to_forget(text: str, lexicon: Lexicon | None = None) -> list[str]:
    """What a message asks to be forgotten: subjects to search the memories for, in the user's words.

    "忘掉我之前说的关于减肥的事" gives "减肥". "别忘了…" and "I forgot ..." ask for nothing of the kind.
    What only points ("那句话", "that") is given as it is: no memory names it.
    """
    lexicon = lexicon or default_lexicon()
    found = []
    for request in _to_forget(text, lexicon):
        match = None if lexicon.found_in("forget_all", request) else lexicon.first("forget", request)
        if match:
            found.append(_bare(request[match.start("what") : match.end("what")]))
    return list(dict.fromkeys(each for each in found if any(map(str.isalnum, each))))


def asks_to_forget_all(text: str, lexicon: Lexicon | None = None) -> bool:
    """Whether a message asks that everything be forgotten ("忘掉一切", "forget everything I told you"), or asks to
    forget something that names nothing in particular ("忘掉所有关于我的事")."""
    lexicon = lexicon or default_lexicon()
    if any(lexicon.found_in("forget_all", request) for request in _to_forget(text, lexicon)):
        return True
    return not all(names_something(each) or points_back(each, lexicon) for each in asks_to_forget(text, lexicon))


def concerns_memory(sentence: str, lexicon: Lexicon | None = None) -> bool:
    """Whether a sentence asks about or tells of remembering, so that no rule may take it for a request."""
    return (lexicon or default_lexicon()).found_in("no_request", sentence)


def _to_forget(text: str, lexicon: Lexicon) -> Iterator[str]:
    """The sentences that may ask to forget, without what makes a request kind ("could you ...?")."""
    for sentence in split_sentences(text[:_LONGEST]):
        kind = lexicon.first("forget_kindly", sentence)
        request = sentence[kind.start("what") : kind.end("what")] if kind else sentence
        if not lexicon.found_in("no_forget", request):
            yield request


def _asked(sentence: str, lexicon: Lexicon) -> str | None:
    """What a sentence asks to be remembered; "" where it only points, None where it asks nothing."""
    if lexicon.found_in("no_request", sentence):
        return None
    sentence = _plainly(sentence, lexicon)
    match = lexicon.first("remember_after", sentence) or lexicon.first("remember", sentence)
    if match is None:
        return "" if _LEADS_IN.search(sentence) and lexicon.found_in("remember", f"{sentence} …") else None
    what = _told(_taken(sentence, match), lexicon)
    return what if any(map(str.isalnum, lexicon.removed("courtesy", what))) else ""


def _told(what: str, lexicon: Lexicon) -> str:
    """What is left when all of a request is gone, for one is made twice: "记住…，别忘了"."""
    while True:
        what = _plainly(what, lexicon)
        match = lexicon.first("remember_after", what)
        if match is None:
            match = lexicon.first("remember", what)
            before = what[: match.start()].strip(_EDGES) if match else ""
            opens = not before or lexicon.found_in("polite", before)
            if match is None or not opens or not match.start("what"):
                return what
        what = _taken(what, match)


def _taken(sentence: str, match: re.Match[str]) -> str:
    return _bare(sentence[match.start("what") : match.end("what")] + _rest(sentence, match))


def _plainly(sentence: str, lexicon: Lexicon) -> str:
    """Without the polite clauses at its ends: "哈，…", "..., thanks"."""
    clauses = list(_CLAUSE.finditer(sentence))
    polite = [lexicon.found_in("polite", each.group().strip()) for each in clauses]
    said = [each for each, is_polite in zip(clauses, polite, strict=True) if not is_polite]
    if not said or not any(polite):
        return sentence
    last = said[-1].end() if polite[-1] else len(sentence)
    return sentence[said[0].start() if polite[0] else 0 : last]


def _rest(sentence: str, match: re.Match[str]) -> str:
    """What follows the request in the sentence: "把我的生日记下来，是5月5日" goes on after it."""
    return sentence[match.end() :] if match.end("what") < match.end() < len(sentence) else ""


def _bare(text: str) -> str:
    """Without the punctuation around it; the full stop of an abbreviation stays."""
    text = text.strip(_EDGES).rstrip("。！!～~ ")
    return text[:-1] if text.endswith(".") and "." not in text[-4:-1] else text


def _items_after(sentences: list[str], at: int) -> list[str]:
    """The items of the list that follows a sentence; else the next sentence, if there is one."""
    items = []
    for sentence in sentences[at + 1 :]:
        if not _ITEM.match(sentence):
            break
        items.append(_bare(_ITEM.sub("", sentence)))
    return items or [_bare(each) for each in sentences[at + 1 : at + 2]]


def _meant(before: list[str], previous: str, lexicon: Lexicon) -> list[str]:
    """What "this" means: the sentences before it in the message, but for those that ask themselves; else the message
    before."""
    told = [each for each in before if not each.rstrip().endswith(("?", "？"))]
    if told:
        return [_joined([each for each in told if _asked(each, lexicon) is None])]
    return [_joined([_asked(each, lexicon) or each for each in split_sentences(previous)])]


def _joined(sentences: list[str]) -> str:
    return _bare((" " if all(map(str.isascii, sentences)) else "").join(sentences))
