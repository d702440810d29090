# -*- coding: utf-8 -*-
"""Requests of users to forget something, and what of a note they are about."""

import re
from collections.abc import Callable, Iterable

from ..text import split_sentences
from ._frame_words import CHINESE

__all__ = ["Forgetting", "asks_to_forget"]

_FORGET = re.compile(
    r"(?:^|[.,;:!?]\s*|\b(?:please|now|just|and|you (?:can|may|should))\s+)forget\b"
    r"(?!\s+(?:about\s+)?(?:it|this|that|them|him|her)(?:\s+all)?\s*"
    r"(?:$|[^\w\s]|(?:then|now|please|for now|ok|and|but)\b))"
    r"|\b(?:delete|remove|erase|clear|drop)\b.{0,40}\b(?:memory|memories|notes?|remember)\b"
    r"|\bno longer (?:true|valid|holds?)\b"
    r"|(?<!不要)(?<!别)忘(?:掉|记(?:我|这|那|掉))|把.{1,20}忘"
    r"|(?<!不要)(?<!别)(?<!我)(?<!我都)(?<!我全)(?:全部?|全都|都|所有.{0,6}|一切.{0,6})忘"
    r"|(?:删|清)(?:掉|除|空).{0,20}(?:记忆|笔记|记录)|(?:记忆|笔记|记录).{0,4}(?:删|清)(?:掉|除|空)|不用再?记|作废|不再成立",
    re.IGNORECASE | re.MULTILINE,
)
"""Not "forget it", which asks for nothing to be forgotten."""

_EVERYTHING = re.compile(
    r"\b(?:forget|delete|remove|erase|clear|drop)(?:\s+about)?\s+(?:everything|all(?:\s+of\s+it|\s+(?:that\s+)?you\s+know"
    r"|\s+(?:of\s+)?(?:my|your|the|our)\s+(?:memory|memories|notes?))?\s*(?:$|[.,;:!?])|all\s+(?:that\s+)?you\s+know"
    r"|all\s+(?:of\s+)?(?:(?:my|your|the|our)\s+)?(?:memory|memories|notes?)\b)(?!.*\b(?:about|of|on|regarding)\s+(?!me\b|us\b))"
    r"|(?:全部|全都|所有|一切|都).{0,8}(?:忘|删|清)|(?:忘|删|清)(?:掉|除|空|了)?.{0,3}(?:全部|所有|一切)|清空.{0,8}(?:记忆|笔记|记录)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:forget|delete|remove|erase|clear|drop|memory|memories|notes?|questions?|things?|conversations?|messages?|"
    r"requests?|said|asked|previous|earlier|last|old|longer|true|valid|holds?|please|about)\b"
    r"|忘(?:掉|记|了)?|删(?:掉|除)?|清(?:空|除)?|记忆|笔记|记录|问题|事情|那件事|这件事|内容|东西|刚才|之前|作废|成立|请|把",
    re.IGNORECASE,
)
"""What such a sentence says whatever it is about."""

_RULE = re.compile(
    r"\b(?:always|never|don['’]?t|not|cannot|can['’]?t)\b|总是|永远|每次|一律|不要|不能|不准|不许|别", re.IGNORECASE
)
"""Ahead of the request, it makes a rule or a ban of it ("Always delete the notes of a test run")."""

_FILLER = re.compile(
    r"\b(?:everything|anything|all|any|that|this|what|which|told|tell|mentioned|know|knew|numbers?)\b"
    r"|所有|全部|全都|一切|什么|关于|有关|号码|说|过|我|你|您|的|了|吧|在|都|这|那|事",
    re.IGNORECASE,
)
"""Words between the request and its subject."""

_TOPICS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:address|live[sd]?|living|home|hometown|moved?)\b|地址|住",
        r"\b(?:name[ds]?|nickname|call(?:s|ed)?)\b|名字|姓名|昵称|称呼|叫",
        r"\b(?:job|work(?:s|ed|ing)?|employer|company|profession|occupation)\b|工作|职业|公司|单位",
        r"\b(?:birthday|birth|born|age|years old)\b|生日|出生|年龄|岁",
        r"\b(?:phone|mobile|telephone)\b|电话|手机",
        r"\be-?mails?\b|邮箱|邮件",
        r"\b(?:diet|dietary|eats?|eating|foods?|drinks?|allerg\w+|vegan|vegetarian)\b|饮食|吃|喝|忌口|过敏|口味",
        r"\b(?:family|wife|husband|partner|son|daughter|child(?:ren)?|kids?|mother|father|sister|brother)\b"
        r"|家人|妻|夫|儿子|女儿|孩子|爸|妈|父|母",
        r"\b(?:pets?|dogs?|cats?)\b|宠物|狗|猫",
        r"\b(?:health|illness|disease|medication)\b|健康|病|药",
    )
]
"""What is spoken of in other words than those in which it is noted, also in the other language."""

_SAFETY = re.compile(
    r"\b(?:allerg\w*|anaphyla\w*|intoleran\w*|diabet\w*|asthma\w*|epilep\w*|pregnan\w*|health|illness|diseases?|"
    r"medicines?|medications?|insulin|doctor|blood|emergency|suicid\w*)\b"
    r"|过敏|不耐受|糖尿病|哮喘|癫痫|怀孕|孕|健康|疾病|病|药|医生|血压|血型|急救|紧急|自杀",
    re.IGNORECASE,
)


def asks_to_forget(sentence: str) -> bool:
    """Whether a sentence of a user asks to forget something; a rule of what is to be deleted does not."""
    found = _FORGET.search(sentence)
    return found is not None and not _RULE.search(sentence, 0, found.end())


class Forgetting:
    """What users asked to forget.

    Args:
        texts (`Iterable[str]`):
            What they said.
        words_of (`Callable[[str], frozenset[str]]`):
            The words of a text.
    """

    def __init__(self, texts: Iterable[str], words_of: Callable[[str], frozenset[str]]) -> None:
        sentences = [each for text in texts if _FORGET.search(text) for each in split_sentences(text)]
        asked = [each for each in sentences if _FORGET.search(each)]
        self._everything = any(map(_EVERYTHING.search, asked))
        self._words = frozenset[str]().union(*(_whole(words_of(_REQUEST.sub(" ", each))) for each in asked))
        self._topics = {at for at, topic in enumerate(_TOPICS) if any(map(topic.search, asked))}
        self._subjects = [_Subject(each, words_of) for each in asked if asks_to_forget(each)]

    def frees(self, line: str, words: frozenset[str]) -> bool:
        """Whether a line of a note, and its words, are about what was to be forgotten."""
        return self._everything or bool(self._words & words) or any(_TOPICS[at].search(line) for at in self._topics)

    def names(self, line: str, words: frozenset[str]) -> bool:
        """Whether a request is about just what a line of a note, and its words, say, so that the line goes unasked: it
        holds all that the request names. What is of health or safety stays unless the request is of that too."""
        return any(subject.is_of(line, words) for subject in self._subjects)


class _Subject:
    """What one sentence asks to forget: some words, or a topic where it says no more ("forget my address")."""

    def __init__(self, asked: str, words_of: Callable[[str], frozenset[str]]) -> None:
        rest = CHINESE.sub(" ", _FILLER.sub(" ", _REQUEST.sub(" ", asked)))
        self._topics = [topic for topic in _TOPICS if topic.search(asked)]
        for topic in _TOPICS:
            rest = topic.sub(" ", rest)
        self._words = _whole(words_of(rest))
        self._is_of_safety = bool(_SAFETY.search(asked))

    def is_of(self, line: str, words: frozenset[str]) -> bool:
        if _SAFETY.search(line) and not self._is_of_safety:
            return False
        if self._words:
            return self._words <= words
        return bool(self._topics) and all(topic.search(line) for topic in self._topics)


def _whole(words: frozenset[str]) -> frozenset[str]:
    """Without the single characters of Chinese words, which any two sentences may share."""
    longer = [word for word in words if len(word) > 1]
    return frozenset(word for word in words if len(word) > 1 or not any(word in each for each in longer))
