# -*- coding: utf-8 -*-
"""What a sentence is for: told by its words, in Chinese and English."""

import re

from . import _lexicon as lexicon

__all__ = [
    "asks",
    "asks_back",
    "chooses",
    "closes",
    "decides",
    "gives_orders",
    "identifiers",
    "intends",
    "is_courtesy",
    "looks_like_code",
    "names_particulars",
    "plans",
    "reports_completion",
    "reports_trouble",
    "requests",
    "states_rule",
]

_LONGEST_COURTESY = 60
_ASKS = re.compile(r"[?？]['\"”’)）」』*]*\s*$")

_CODE = re.compile(
    r"^\s*(?:```|~~~|(?:def|class|function|const|let|var|public|private|static|void|package|using|"
    r"async)\s+\w+.*[({:;=]|import\s+[\w.{*]+|from\s+\S+\s+import\b|#include|return\b.*;?$|@\w+|"
    r"(?:if|for|while|elif|else|try|except|with|switch|catch)\b.*[:{]\s*$|raise\s+\w+|assert\s+\S|print\(|>>>|\$\s|"
    r"[+-]{3}\s|@@|diff --git|File \"|at [\w.$<>]+\(|//|/\*|</?\w[^>]*>\s*$|\d+[:|]\s)"
    r"|[;{}\[\]]\s*$|^\s*[\w.\[\]'\"]+\s*(?::?=|\+=|->)\s*\S|^\s*[\w.]+\([^\u4e00-\u9fff]*\)\s*$|"
    r"^\s*[\"'][^\"']*[\"']\s*:",
)
_SYMBOL = re.compile(r"[^\w\s]|[\d_]")
_WIDE = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")

_RUN = re.compile(r"[A-Za-z0-9_./:@#~+=?&%-]+")
_RUN_END = "./:@#~+=?&%-"
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)$", re.IGNORECASE)
_TELLING = re.compile(
    r"://|@|\w_\w|[a-z][A-Z]"  # a URL, a mail address, names of code
    r"|^[~.]{0,2}/\w|^(?:src|lib|app|apps|tests?|docs?|packages|scripts|bin|config|data|build|dist)/|\w/.*\.\w|"
    r"\w\.[A-Za-z]\w*$"  # paths and files
    r"|\d{4}|\d\.\d+\.\d|\d:\d\d|\d-\d+-\d|[A-Za-z][-_#:]?\d|\d[A-Za-z]{2}",  # numbers, versions, dates, ids
)
_AMOUNT = re.compile(
    r"[$¥￥€£]\s?\d[\d,.]*|(?<![\d,.])\d[\d,.]*\s?(?:%|％|[kKmMgGtT]?i?[bB]\b|ms\b|px\b|min\b|hours?\b|days?\b|weeks?\b|years?\b|"
    r"元|万|亿|块|美元|公斤|千克|斤|克|厘米|公里|"
    r"小时|分钟|秒|天|周|个月|月|年|号|日|点|岁|次|台|度|℃|°C)",
)


def requests(sentence: str) -> bool:
    """Whether somebody asks for something to be done or answered."""
    return lexicon.REQUEST.found_in(sentence)


def states_rule(sentence: str) -> bool:
    """Whether a constraint, a standing wish or a preference is stated."""
    return lexicon.RULE.found_in(sentence) and not lexicon.NO_RULE.found_in(sentence) and not asks(sentence)


def decides(sentence: str) -> bool:
    """Whether a choice that was made or a cause that was found is named."""
    return lexicon.DECISION.found_in(sentence) and not asks(sentence)


def chooses(sentence: str) -> bool:
    """Whether a speaker who does not act settles how something shall be done."""
    return lexicon.CHOICE.found_in(sentence) and not asks(sentence)


def reports_completion(sentence: str) -> bool:
    """Whether something is said to be done, and not hoped, planned or denied."""
    return lexicon.COMPLETION.found_in(sentence) and not lexicon.NOT_COMPLETE.found_in(sentence) and not asks(sentence)


def reports_trouble(sentence: str) -> bool:
    """Whether something is said to fail or to stand in the way."""
    return lexicon.TROUBLE.found_in(sentence) and not asks(sentence)


def plans(sentence: str) -> bool:
    """Whether work that is still to be done is named."""
    return lexicon.PLAN.found_in(sentence) and not asks(sentence)


def intends(sentence: str) -> bool:
    """Whether the speaker says what comes right now."""
    return lexicon.INTENTION.found_in(sentence) and not asks(sentence)


def asks(sentence: str) -> bool:
    """Whether the sentence is a question."""
    return bool(_ASKS.search(sentence[-20:]))


def asks_back(text: str) -> bool:
    """Whether a message leaves it to the other side to tell something."""
    return lexicon.ASKING_BACK.found_in(text)


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence is a greeting, thanks or a bare yes or no."""
    return len(sentence) <= _LONGEST_COURTESY and not any(map(str.isalnum, lexicon.COURTESY.removed_from(sentence)))


def closes(text: str) -> bool:
    """Whether a message, being a courtesy, thanks or says goodbye: nothing is left to answer."""
    return lexicon.CLOSING.found_in(text)


def gives_orders(text: str) -> bool:
    """Whether a text from a tool speaks to the model as if it were the user."""
    return lexicon.ORDERS.found_in(text)


def looks_like_code(sentence: str) -> bool:
    """Whether a line is code, data or a log rather than a statement."""
    if not sentence.isascii() and len(_WIDE.findall(sentence)) >= 4:
        return False
    return bool(_CODE.search(sentence)) or len(_SYMBOL.findall(sentence)) > 0.4 * len(sentence)


def identifiers(text: str) -> list[str]:
    """Paths, URLs, ids, versions, dates and names of code, in order: words that are worth nothing unless exact."""
    runs = (run.rstrip(_RUN_END) for run in _RUN.findall(text))
    return [run for run in runs if len(run) > 3 and not (run.isalpha() and run.islower()) and _tells(run)]


def names_particulars(sentence: str) -> bool:
    """Whether an identifier or a number with its unit is named."""
    return bool(_AMOUNT.search(sentence)) or bool(identifiers(sentence))


def _tells(run: str) -> bool:
    return bool(_TELLING.search(run)) and not _ORDINAL.match(run)
