# -*- coding: utf-8 -*-
"""Requests of users to forget something, and what of a note they are about."""

import re
from collections.abc import Callable, Iterable

from ..text import split_sentences

__all__ = ["Forgetting"]

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

    def frees(self, line: str, words: frozenset[str]) -> bool:
        """Whether a line of a note, and its words, are about what was to be forgotten."""
        return self._everything or bool(self._words & words) or any(_TOPICS[at].search(line) for at in self._topics)


def _whole(words: frozenset[str]) -> frozenset[str]:
    """Without the single characters of Chinese words, which any two sentences may share."""
    longer = [word for word in words if len(word) > 1]
    return frozenset(word for word in words if len(word) > 1 or not any(word in each for each in longer))
