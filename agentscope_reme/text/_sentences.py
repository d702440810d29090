# -*- coding: utf-8 -*-
"""Text to sentences, lines of code and list items, in Chinese, English and Japanese."""

import re
from collections.abc import Iterator

__all__ = ["split_sentences"]

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_LIST_ITEM = re.compile(
    r"^\s*(?:[-*+•·▪◦‣–]\s|\d{1,3}[.)、．]\s?(?!\d)|[（(]\d{1,3}[)）]|[①-⑳]|[a-zA-Z][.)]\s|\[[ xX]\]\s|[>|#])"
)
_INDENTED = re.compile(r"^(?: {4,}|\t)\s*\S")
_CODE_MARK = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|import|from|return|if|for|while|try|except|else|elif|with)\b.*:?\s*$|[=(\[]"
)

_WHOLE = re.compile(r"`[^`\n]+`|[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\u3000-\u9fff\uff00-\uffef]+")
_MARK = re.compile(r"[.!?。！？｡]")
_END = re.compile(
    r"(?P<full>[。！？｡]+)(?P<close1>[”’」』）)】》〉\"']*)"
    r"|(?<!\s)(?P<half>[!?]+)(?P<close2>[”’」』）)】》\"'*_]*)(?=\s|$|[\u3040-\u30ff\u3400-\u9fff])"
    r"|(?P<stop>(?<![.\s])\.)(?P<close3>[”’」』）)】》\"'*_]*)(?=\s|$)"
    r"|(?P<cjkstop>(?<=[\u3400-\u9fff\u3040-\u30ff])\.(?!\.))(?P<close4>[”’」』）)】》\"']*)(?=[\u3400-\u9fff])",
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(（\"'“])(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|ca|no|nos|fig|eq|sec|ch|vol|pp|ed|eds|mr|mrs|ms|dr|prof|sr|jr|st|"
    r"inc|ltd|co|corp|dept|est|min|max|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a\.m|p\.m|u\.s|u\.k|ph\.d|[A-Z]|(?:[A-Z]\.)+[A-Z])$",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"(?:^|[：:;；,，、。！？(（\u3400-\u9fff])\s*\d{1,2}$")  # "…: 1. this 2. that"
_SENTENCE_MAY_FOLLOW = frozenset(
    ["etc", "a.m", "p.m", "u.s", "u.k", "inc", "ltd", "co", "corp", "jr", "sr", "no", "max", "min", "ed"]
)


def split_sentences(text: str) -> list[str]:
    """Cut a text into its sentences; lines always end one.

    A list item, a heading, a quoted line and a line of code stay whole. Abbreviations, decimals, versions, file names,
    URLs, inline code and ellipses are no ends. Nothing is lost but the white space around a sentence.

    Args:
        text (`str`):
            Text in Chinese, English, Japanese or a mixture.

    Returns:
        The sentences in order, none of them empty.
    """
    return [sentence for line, whole in _lines(text) for sentence in ([line.strip()] if whole else _sentences(line))]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines with something on them, and whether each is one unit."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            yield line, True
        elif line.strip():
            yield line, bool(fence) or _is_unit(line)


def _is_unit(line: str) -> bool:
    return bool(_LIST_ITEM.match(line)) or bool(_INDENTED.match(line) and _CODE_MARK.search(line))


def _sentences(line: str) -> Iterator[str]:
    whole = [match.span() for match in _WHOLE.finditer(line)] if "`" in line or "://" in line else []
    start = passed = 0
    for mark in _MARK.finditer(line):
        match = _END.match(line, mark.start()) if mark.start() >= passed else None
        if not match:
            continue
        passed = match.end()
        while whole and whole[0][1] <= match.start():
            whole.pop(0)
        inside = whole and whole[0][0] <= match.start() and match.end() < whole[0][1]
        if inside or (match["stop"] and not _ends_sentence(line, start, match)):
            continue
        if sentence := line[start : match.end()].strip():
            yield sentence
        start = match.end()
    if rest := line[start:].strip():
        yield rest


def _ends_sentence(line: str, start: int, match: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence, or belongs to an abbreviation."""
    if _NUMBERING.search(line, max(start, match.start() - 8), match.start()):
        return False
    before = _ABBREVIATION.search(line, max(start, match.start() - 12), match.start())
    if not before:
        return True
    follows = line[match.end() :].lstrip()[:1]
    word = before[0].strip(" \t(（\"'“").lower()
    return word in _SENTENCE_MAY_FOLLOW and (follows.isupper() or not follows.isascii())
