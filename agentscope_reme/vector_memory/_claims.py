# -*- coding: utf-8 -*-
"""What two statements have in common: subject, numbers, and whether one says no where the other says yes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from ..text import WordTokenizer

__all__ = ["Claim", "contradicts", "likeness", "plain", "wording"]

_SAME_SUBJECT = 0.75
"""The share of words that a statement and its contradiction have in common, names, feelings and negations aside."""

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*|[二三四五六七八九十百千万两]+")
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|"
    r"first|second|third|once|twice|half|double)\b",
)
_NEGATION = re.compile(
    r"\b(?:not(?! only)|no|never|none|neither|nor|nobody|nothing|cannot|without|stop(?:s|ped)?|quit|gave up|given up|"
    r"dislikes?|disliked|hates?|hated|avoids?|avoided|refuses?|refused|cancel+ed)\b|n't\b"
    r"|不(?!得不|仅|但|过(?!敏)|同|错|断|管|久|少|如|论|妨|禁|料)|没(?!错|准)|无(?!论|线|锡|人机|糖|数据)|(?<![特区分级类性个识鉴告离差辨派国])别(?!人|墅|名)|未(?!来|必)"
    r"|讨厌|厌恶|拒绝|避免|戒(?!指|备|律)|停止|取消|放弃|改掉",
)
_PSEUDO_NEGATION = re.compile(
    r"差不多|要不|对不起|了不起|能不能|是不是|有没有|要不要|好不好|会不会|可不可以|不得不|没问题|\bno problem\b"
)
_FEELING = re.compile(
    r"\b(?:(?:dis)?lik(?:es?|ed|ing)|lov(?:es?|ed|ing)|enjoy(?:s|ed|ing)?|prefer(?:s|red|ence|ences)?|hat(?:es?|ed)|"
    r"wants?|wanted|favou?rites?|fond|now|currently|any ?more|any ?longer|no longer|still|really|very|always|"
    r"started|stopped|stops?|quit)\b"
    r"|喜欢|爱(?!人|情|好者|心|国|丁|迪|尔)|偏好|偏爱|讨厌|厌恶|想要|愿意|现在|目前|如今|已经?|再也?|仍然?|一直|还是|非常|特别|比较|"
    r"开始|停止|戒掉?|改掉|(?<=.)[了过着]",
)
_CONDITION = re.compile(
    r"\b(?:before|after|until|unless|except|if|when(?:ever)?|while|only|during|on|at|in|with|without|from|to|once|formerly|previously)\b"
    r"|[前后时曾]|只|仅|除|如果|要是|假如|直到|在",
)
_MARKS = re.compile(r"[\s,;:!?、。…\"'“”‘’「」]|(?<!\d)\.|\.(?!\d)")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:[+#]+)?")
_WORDS = WordTokenizer(list, "characters")


@dataclass(frozen=True)
class Claim:
    """A statement as it is compared with others.

    Args:
        text (`str`): the statement.
        about (`str`): whom or what it is about: the words of that name do not count.
    """

    text: str
    about: str = ""

    @cached_property
    def subject(self) -> frozenset[str]:
        """Its words without names of whom it is about, feelings, negations and stop words; Chinese by characters."""
        bare = _NEGATION.sub(" ", _FEELING.sub(" ", _folded(self.text)))
        return frozenset(_WORDS.tokens(bare)) - frozenset(_WORDS.tokens(_folded(self.about)))

    @cached_property
    def numbers(self) -> Counter[str]:
        """The numbers in it, each as it is written."""
        folded = _folded(self.text)
        return Counter([*_NUMBER.findall(folded), *_NUMBER_WORD.findall(folded)])

    @cached_property
    def is_negative(self) -> bool:
        """Whether something in it is denied, refused or over."""
        return bool(_NEGATION.search(_PSEUDO_NEGATION.sub(" ", _folded(self.text))))

    @cached_property
    def conditions(self) -> Counter[str]:
        """The words in it that say when, where or under which condition."""
        return Counter(_CONDITION.findall(_NEGATION.sub(" ", _FEELING.sub(" ", _folded(self.text)))))

    def agrees_with(self, other: Claim) -> bool:
        """Whether both affirm or both deny, with equal numbers."""
        return self.is_negative == other.is_negative and self.numbers == other.numbers


def likeness(one: Claim, other: Claim) -> float:
    """The share of their words that two statements have in common, 0 to 1; of equal ones without words 1."""
    if not one.subject or not other.subject:
        return float(plain(one.text) == plain(other.text))
    return len(one.subject & other.subject) / len(one.subject | other.subject)


def wording(one: str, other: str) -> float:
    """The share of all their words, Chinese by characters, that two texts have in common, 0 to 1."""
    first, second = set(_WORD.findall(_folded(one))), set(_WORD.findall(_folded(other)))
    return len(first & second) / len(first | second) if first or second else float(one == other)


def contradicts(one: Claim, other: Claim) -> bool:
    """Whether one denies what the other affirms: about the same, with the same numbers and conditions."""
    return (
        one.is_negative != other.is_negative
        and one.numbers == other.numbers
        and one.conditions == other.conditions
        and bool(one.subject)
        and likeness(one, other) >= _SAME_SUBJECT
    )


def plain(text: str) -> str:
    """A text without case, blanks and the marks of sentences: what is equal then is the same statement."""
    return _MARKS.sub("", _folded(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
