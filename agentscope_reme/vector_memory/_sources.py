# -*- coding: utf-8 -*-
"""Whether people said what a memory claims, or the agent or a tool did: by the messages it names, and by its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..text import WordTokenizer, split_sentences
from ._utterances import Utterance

__all__ = ["Sources"]

_COVERED = 0.6
"""The share of a statement's words that one sentence must hold to be where it comes from."""
_UNSPOKEN = 0.3
"""The share of its words that no person has used, from which on that sentence is its source."""
_FRAME = (
    "user users asked said says told mentioned wants wanted prefers prefer likes like uses use used knows solved "
    "implemented wrote 用户 要求 表示 提到 说过 喜欢 希望 使用 实现 采用 认为 需要"
)
"""Words that are put around a statement and tell nothing of where it comes from."""
_QUESTION = re.compile(r"[?？]\s*$|[吗呢么]\s*[?？。]?\s*$")
_REQUEST = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|then|also|and|thanks)\W+)*(?:please|can you|could you|would you|how|what|why|who|where|"
    r"which|write|implement|explain|show|tell|give|help|find|search|look|read|summari[sz]e|translate|fix|make|create|build|check)\b"
    r"|^\W*(?:请|帮|麻烦|怎么|怎样|如何|为什么|什么是|给我|写|查|搜|找|看看|读|解释|讲讲|介绍|实现|翻译|总结|推荐)|(?:想看看|想知道|想了解|想问)",
    re.IGNORECASE,
)
_WORDS = WordTokenizer(list, "characters")  # jieba would take seconds for the long result of a tool

_NAME_KEY = re.compile(
    r"(?:(?:user|full|first|last|real|nick|given|preferred|chinese|english)[ _-]?)?name|surname|"
    r"用户名|(?:用户|真实|中文|英文|常用)?(?:姓名|名字|名称|昵称|称呼|真名|全名|全称|中文名|英文名)",
    re.IGNORECASE,
)
_OWN_NAME = (
    r"(?:\bmy (?:\w+ )?name(?:'s| is)?|\bcall me|\bi am|\bi'm|\bthis is"
    r"|我的?(?:中文|英文)?(?:姓名|名字|名|姓)|我(?:叫做|叫|是)|叫我|称呼我|本人(?:叫|是)?|(?:姓名|名字)[:：是]?)"
    r"\W{0,3}(?:(?:called|named|just|mr|ms|dr)\b\.? ?|叫|是|为)?\W{0,3}"
)
_NOT_OF_ANOTHER = r"(?!\w|\s*的|'s)"
"""After a name: "I'm Ann's manager" does not give Ann as one's own."""
_NOT_OF_ANOTHER_HAN = r"(?!\s*的)"


class Sources:
    """The messages of a conversation as sources of statements about one of the people in it.

    Args:
        said (`Sequence[Utterance]`):
            What was said.
        target (`str`):
            The person.
    """

    def __init__(self, said: Sequence[Utterance], target: str) -> None:
        self._said, self._target = said, target
        self._by_number = {each.number: each for each in said}

    def cited(self, numbers: Iterable[int]) -> list[Utterance]:
        """The messages with these numbers that there are, in the order of the conversation."""
        return [self._by_number[number] for number in sorted(set(numbers)) if number in self._by_number]

    def people_said(self, statement: str, cited: Sequence[Utterance]) -> bool:
        """Whether a statement goes back to what people said.

        It does not where it names sources and none is a person's message, nor where one sentence of the agent or of a
        tool holds most of its words, among them many that no person used. The agent's words count all the same if the
        statement names, as its source, what a person answered to them, or only messages in which people state
        something: then the agent has put into other words what it was told.
        """
        if cited and all(each.role != "user" for each in cited):
            return False
        words = self._words(statement)
        if self._is_from(self._of_tools, words):
            return False
        if not self._is_from(self._of_agent, words):
            return True
        only_people = bool(cited) and all(each.role == "user" for each in cited)
        return any(self._agrees(each) for each in cited) or (only_people and any(map(_states, cited)))

    def is_theirs(self, statement: str, cited: Sequence[Utterance]) -> bool:
        """Whether a statement goes back to the person in question, or to words about them, and not to what another
        person said of themselves. Where nobody is named, nobody is told apart."""
        people = [each for each in cited if each.role == "user"]
        if not people or not any(self._is_target(each) for each in self._said if each.role == "user"):
            return True
        named = self._target.lower()
        return any(self._is_target(each) or named in each.words.lower() for each in people)

    def may_be_profile(self, key: str, value: str) -> bool:
        """Whether a value may stand in the profile: people said it, and a name was given as one's own."""
        if _NAME_KEY.fullmatch(key.strip()):
            return self._is_own_name(value)
        return self.people_said(value, ())

    def _is_own_name(self, name: str) -> bool:
        wanted = name.strip().lower()
        people = [each for each in self._said if each.role == "user"]
        own = [each for each in people if self._is_target(each)] or people
        if wanted in {self._target.lower(), *(each.speaker.lower() for each in own)}:
            return True
        end = _NOT_OF_ANOTHER if wanted[-1:].isascii() else _NOT_OF_ANOTHER_HAN
        introduced = re.compile(_OWN_NAME + re.escape(wanted) + end)
        return any(introduced.search(each.words.lower().replace("\u2019", "'")) for each in own)

    def _is_target(self, said: Utterance) -> bool:
        return said.speaker.lower() == self._target.lower()

    def _agrees(self, said: Utterance) -> bool:
        """Whether a message of a person answers the agent, and not with a question."""
        before = self._by_number.get(said.number - 1)
        answers = said.role == "user" and before is not None and before.role == "agent"
        return answers and not _QUESTION.search(said.words.strip())

    @cached_property
    def _spoken(self) -> frozenset[str]:
        return frozenset().union(*(self._words(each.words) for each in self._said if each.role == "user"))

    def _is_from(self, sentences: Iterable[frozenset[str]], words: frozenset[str]) -> bool:
        """Whether one of the sentences is where some words come from, and not what people said."""
        return any(
            len(words & sentence) >= _COVERED * len(words)
            and len((words & sentence) - self._spoken) >= _UNSPOKEN * len(words)
            for sentence in sentences
            if words
        )

    @cached_property
    def _of_agent(self) -> list[frozenset[str]]:
        return self._sentences(each.words for each in self._said if each.role == "agent")

    @cached_property
    def _of_tools(self) -> list[frozenset[str]]:
        return self._sentences(each.text for each in self._said if each.role == "tool")

    def _sentences(self, texts: Iterable[str]) -> list[frozenset[str]]:
        return [words for text in texts for each in split_sentences(text) if (words := self._words(each))]

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(_WORDS.tokens(text)) - self._frame

    @cached_property
    def _frame(self) -> frozenset[str]:
        return frozenset(_WORDS.tokens(f"{_FRAME} {self._target}"))


def _states(said: Utterance) -> bool:
    """Whether a message holds a sentence that neither asks nor requests."""
    return any(not _QUESTION.search(each) and not _REQUEST.search(each) for each in split_sentences(said.words))
