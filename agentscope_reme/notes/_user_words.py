# -*- coding: utf-8 -*-
"""Whether the users of a conversation said what a note claims, or a tool or the agent did: decided by the words."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..text import WordTokenizer
from ._forgetting import Forgetting
from ._frame_words import CHINESE, FRAME, SECTIONS
from ._sentence_index import SentenceIndex

__all__ = ["UserWords"]

_COVERED = 0.6
"""The share of a statement's words that one sentence must hold to be its source."""
_SUPPORTED = 0.5
"""The share of a statement's words that users must have said, in a few sentences, for it to be theirs."""
_NEIGHBOURS = 3
"""Sentences of a message that are read as one: people say "my dog is called Rex. He is five"."""
_CONCERNED = 0.34
"""The share of a line's words that make a user's message speak of it."""
_KEPT_IN_NEW = 0.5
"""The share of a line's words that a new line must hold to take its place."""

_CLAUSE = re.compile(r"[;；,，、。.!！?？:：|]\s+|[；，、。！？：]|\s+(?:and|but)\s+|并且|而且|以及", re.IGNORECASE)
_CLAIM = re.compile(r"[;；,，、。.!！?？|]\s+|[；，、。！？]|\s+(?:and|but)\s+|并且|而且|以及", re.IGNORECASE)
_LABEL = re.compile(r"^([^:：]{1,40})[:：]\s*(?=\S)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_NEGATION = re.compile(
    r"\b(?:no|not|never|without|cannot|avoids?|skips?|stops?|refuses?|\w+n['’]?t)\b|不|别|没|无|勿|禁止|避免|未|莫",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?|\b\d{1,2}:\d{2}\b")


class UserWords:
    """Compares lines of a note with what users said and with what tools and the agent said.

    A line is a user's where users said at least half of the words of each of its statements, in a few neighbouring
    sentences, or where it says again what the note says. And it is not where some sentence of a tool holds most of the
    words of a clause, and more of them than any message of a user (or users said the contrary); or where some sentence
    of the agent does, and more than all users together (agents sum up what they were told). So what tools and the agent
    said does not become a user's, reworded or in another language neither; and where a user's own words are reworded
    beyond recognition, they have to be said again.

    Args:
        user_texts (`Iterable[str]`):
            What users said, a text a message.
        tool_texts (`Iterable[str]`):
            What tools returned.
        agent_texts (`Iterable[str]`):
            What the agent said.
        names (`Iterable[str]`):
            What the users are called.
    """

    def __init__(
        self,
        user_texts: Iterable[str],
        tool_texts: Iterable[str],
        agent_texts: Iterable[str],
        names: Iterable[str] = (),
    ) -> None:
        self._user_texts, self._names = list(user_texts), list(names)
        self._tool_texts, self._agent_texts = list(tool_texts), list(agent_texts)
        # Chinese by its characters and pairs of them: jieba would take seconds for a long tool result.
        self._tokenizer = WordTokenizer(list, "characters")
        self._known: dict[str, frozenset[str]] = {}

    def users_and(self, tool_texts: Iterable[str]) -> "UserWords":
        """What the same users said, beside other texts of tools."""
        return UserWords(self._user_texts, tool_texts, (), self._names)

    def learn(self) -> None:
        """Take in all that was said, about a second for each megabyte; otherwise that is done at the first question."""
        _ = self._said, self._by_users, self._by_users_each, self._by_tools, self._by_agent

    def is_foreign(self, line: str, standing: Sequence[str] = ()) -> bool:
        """Whether a line is not what users said.

        Args:
            line (`str`):
                The line.
            standing (`Sequence[str]`):
                The note's lines, which may be said again in another order or completed.
        """
        return self.takes_over(line) or not self._is_users(line, standing)

    def takes_over(self, line: str) -> bool:
        """Whether a line takes over what a tool or the agent said and no user did."""
        return any(self._is_taken_over(clause) for clause in _CLAUSE.split(line))

    def may_leave(self, line: str, after: Sequence[str], instead: Sequence[str] = ()) -> bool:
        """Whether a line may be dropped: users spoke of it or asked to forget it, or said what is put in its place, or
        another line says the same or its update.

        Args:
            line (`str`):
                A line of the note so far.
            after (`Sequence[str]`):
                The lines that the note would have then.
            instead (`Sequence[str]`):
                Those among them that are put in its very place, where that is known.
        """
        words = self._words(line)
        if not words or self._forgotten.frees(line, words) or _share(words, self._said) >= _CONCERNED:
            return True
        if any(_share(new, self._said) >= _COVERED for new in map(self._words, instead) if new):
            return True
        return _share(words, map(self._words, after)) >= _KEPT_IN_NEW

    def asked_to_forget(self, line: str) -> bool:
        """Whether users asked to forget just what a line says."""
        return self._forgotten.names(line, self._words(line))

    def is_told(self, statement: str, lines: Iterable[str]) -> bool:
        """Whether some line says what a statement says, or nearly."""
        words = self._words(statement)
        return not words or _share(words, map(self._words, lines)) >= _KEPT_IN_NEW

    def _words(self, text: str) -> frozenset[str]:
        """The words of a line, which is likely to be asked for again."""
        if text not in self._known:
            self._known[text] = self._cut(text)
        return self._known[text]

    def _cut(self, text: str) -> frozenset[str]:
        return frozenset(self._tokenizer.tokens(_DATE.sub(" ", text))) - self._frame

    @cached_property
    def _frame(self) -> frozenset[str]:
        return frozenset(token for word in FRAME for token in (word, *self._tokenizer.tokens(word)))

    @cached_property
    def _unclaimed(self) -> frozenset[str]:
        words = (*SECTIONS, *self._names)
        return self._frame.union(token for word in words for token in (word, *self._tokenizer.tokens(word)))

    def _is_taken_over(self, clause: str) -> bool:
        words = self._words(clause)
        if not words:
            return False
        by_tool, by_agent = self._by_tools.share(words), self._by_agent.share(words)
        return (by_tool >= _COVERED and (by_tool > _share(words, self._said) or self._is_contrary(clause, words))) or (
            by_agent >= _COVERED and by_agent > _share(words, [frozenset().union(*self._said)])
        )

    def _is_contrary(self, clause: str, words: frozenset[str]) -> bool:
        """Whether users said it, but with a "not" more or less."""
        negated = _denies(clause)
        same, other = self._by_users_each[negated].share(words), self._by_users_each[not negated].share(words)
        return other >= _COVERED > same

    def _is_users(self, line: str, standing: Sequence[str]) -> bool:
        if _HEADING.match(line):
            words = self._claimed(line)
            return _is_one_word(words) or self._is_supported(line, words, standing)
        return all(self._is_supported(each, self._claimed(each), standing) for each in _CLAIM.split(line))

    def _claimed(self, text: str) -> frozenset[str]:
        """The words of a statement that claim something; a label of one word does not."""
        label = _LABEL.match(text)
        words = self._bare(text[label.end() :]) if label and _is_one_word(self._bare(label[1])) else frozenset[str]()
        return words or self._bare(text)

    def _bare(self, text: str) -> frozenset[str]:
        return self._words(CHINESE.sub(" ", text)) - self._unclaimed

    def _is_supported(self, claim: str, words: frozenset[str], standing: Sequence[str]) -> bool:
        if not words or self._by_users.share(words) >= _SUPPORTED:
            return True
        negated = _denies(claim)
        for line in standing:
            rest = words - self._words(line)
            again = not rest and _denies(line) == negated
            if again or (rest and rest < words and self._by_users.share(rest) == 1.0):
                return True
        return False

    @cached_property
    def _forgotten(self) -> Forgetting:
        return Forgetting(self._user_texts, self._cut)

    @cached_property
    def _said(self) -> list[frozenset[str]]:
        return [self._cut(text) for text in self._user_texts]

    @cached_property
    def _by_users(self) -> SentenceIndex:
        return SentenceIndex(self._user_texts, self._cut, span=_NEIGHBOURS)

    @cached_property
    def _by_users_each(self) -> dict[bool, SentenceIndex]:
        """The sentences of users, apart those that deny something."""
        return {
            True: SentenceIndex(self._user_texts, self._cut, wanted=_denies),
            False: SentenceIndex(self._user_texts, self._cut, wanted=lambda sentence: not _denies(sentence)),
        }

    @cached_property
    def _by_tools(self) -> SentenceIndex:
        return SentenceIndex(self._tool_texts, self._cut)

    @cached_property
    def _by_agent(self) -> SentenceIndex:
        return SentenceIndex(self._agent_texts, self._cut)


def _denies(text: str) -> bool:
    """Whether a text says that something is not so, or not to be done."""
    return bool(_NEGATION.search(text))


def _is_one_word(words: frozenset[str]) -> bool:
    """Whether it is one word, in Chinese of two characters, which come alone and as a pair."""
    return len(words) <= (1 if all(map(str.isascii, words)) else 3)


def _share(words: frozenset[str], texts: Iterable[frozenset[str]]) -> float:
    """The largest share of the words that one text holds."""
    return max((len(words & text) / len(words) for text in texts), default=0.0)
