# -*- coding: utf-8 -*-
"""Which of the two prompt languages a conversation is held in."""

import re
from collections.abc import Iterable
from typing import Literal

__all__ = ["Language", "detect_language"]

Language = Literal["zh", "en"]

_CHINESE_SHARE = 0.25
_UNITS_PER_HAN = 0.6  # a Chinese word is written with 1.6 characters on average
_KANA_SHARE = 0.2
_EDGE_CHARS = 4000
_PASTED_LINES = 8
_LONG_TEXT_UNITS = 40.0
_REQUEST_UNITS = 2.0

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
_KANA_HANGUL = re.compile(r"[\u3041-\u30fa\uac00-\ud7af\u1100-\u11ff]")
_WORD = re.compile(r"(?<![\w./\\@#$-])[A-Za-z]+(?:['’-][A-Za-z]+)*(?![\w/\\@$(=\[]|\.\w)")

_NOT_PROSE = re.compile(
    r"(?P<fence>^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z))"
    r"|(?P<inline>`[^`\n]+`)"
    r"|(?P<url>[a-z][a-z0-9+.-]*://[^\s\u3000-\u9fff\uff00-\uffef]+)"
    r"|(?P<data>data:[\w/+.-]+;base64,\S+|[A-Za-z0-9+/=_-]{40,})"
    r"|(?P<tag></?[A-Za-z][^<>\n]{0,200}>)",
    re.MULTILINE | re.DOTALL,
)
_JSON = re.compile(r"^\s*[\[{]\s*(?:[\"'\[{\]}\d-].*)?[\]}]?,?\s*$|^\s*[\"'][^\"'\n]*[\"']\s*:|^\s*[\]}]+[,;]?\s*$")
_CODE_LINE = re.compile(
    r"^\s*(?:def|class|import|from\s+\S+\s+import|return|elif|else:|try:|except|finally:|with\s.+:|for\s.+:|while\s.+:|if\s.+:|"
    r"raise|assert|lambda|async\s+def|await|const|let\s+\w+\s*=|var|function|public|private|static|void|#include|package|using|"
    r"SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s.+\sSET|CREATE\s+TABLE|Traceback|File\s+\"|at\s+[\w.$<>]+\(|//|/\*|\*\s|>>>|\$\s|"
    r"[+-]{3}\s|@@|diff\s--git)"
    r"|[;{}]\s*(?://.*)?$"
    r"|^\s*[\w.\[\]'\"]+\s*(?:=|\+=|:=|->)\s*\S"
    r"|^\s*[\w.]+\([^\u4e00-\u9fff]*\)\s*:?\s*$"
    r"|^\s*\w*(?:Error|Exception)\b\s*:",
)
_SPOKEN = re.compile(f"{_HAN.pattern}|{_KANA_HANGUL.pattern}|{_WORD.pattern}")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』")


def detect_language(texts: Iterable[str] | str) -> Language:
    """The language of a conversation, told by the share of Chinese in what people wrote in it.

    Code, URLs, JSON, base64 and quoted words say nothing about who speaks and are left out, so a short Chinese request
    in front of a page of English code is Chinese. Japanese and Korean, without prompts of their own, count as English.

    Args:
        texts (`Iterable[str] | str`):
            What was said, a text a message. Tool output is not speech: the caller leaves it out.

    Returns:
        `"zh"` or `"en"`; `"en"` where there is nothing to tell by.
    """
    han = other = 0.0
    for text in [texts] if isinstance(texts, str) else texts:
        chinese, rest = _speech(text)
        han += chinese
        other += rest
    return "zh" if _is_chinese(han, other) else "en"


def _speech(text: str) -> tuple[float, float]:
    """How much of a text is Chinese and how much is not, both in words."""
    lines = [_line_units(line) for line in _prose_lines(text)]
    if len(lines) > _PASTED_LINES:
        lines = [_request_beside_paste(lines)]
    lines += lines[:1]  # the first line speaks twice
    return sum(chinese for chinese, _ in lines), sum(rest for _, rest in lines)


def _request_beside_paste(lines: list[tuple[float, float]]) -> tuple[float, float]:
    """What speaks for a long text: its first or last line where that differs from the rest, else all of it, capped."""
    chinese, rest = sum(c for c, _ in lines), sum(r for _, r in lines)
    odd = [
        line
        for line in (lines[0], lines[-1])
        if sum(line) >= _REQUEST_UNITS and _is_chinese(*line) != _is_chinese(chinese, rest)
    ]
    if odd:
        return _LONG_TEXT_UNITS * _is_chinese(*odd[0]), _LONG_TEXT_UNITS * (not _is_chinese(*odd[0]))
    scale = min(1.0, _LONG_TEXT_UNITS / (chinese + rest or 1.0))
    return chinese * scale, rest * scale


def _is_chinese(chinese: float, rest: float) -> bool:
    return chinese > 0 and chinese >= _CHINESE_SHARE * (chinese + rest)


def _prose_lines(text: str) -> list[str]:
    if len(text) > 2 * _EDGE_CHARS:
        text = text[:_EDGE_CHARS] + "\n" + text[-_EDGE_CHARS:]
    lines = [line for line in _NOT_PROSE.sub(" ", text).splitlines() if _SPOKEN.search(line) and not _is_code(line)]
    return [line for line in lines if not _HEADING.match(line)] or lines


def _is_code(line: str) -> bool:
    """Whether a line is code or data."""
    return bool(_JSON.search(line)) or (bool(_CODE_LINE.search(line)) and len(_HAN.findall(line)) < 4)


def _line_units(line: str) -> tuple[float, float]:
    bare = _QUOTED.sub(" ", line)
    chinese, rest = _count(bare)
    return (chinese, rest) if chinese + rest >= 1 else _count(line)


def _count(line: str) -> tuple[float, float]:
    han = len(_HAN.findall(line))
    kana = len(_KANA_HANGUL.findall(line))
    words = float(len(_WORD.findall(line)))
    if kana > _KANA_SHARE * (han + kana):
        return 0.0, words + _UNITS_PER_HAN * (han + kana)
    return _UNITS_PER_HAN * han, words
