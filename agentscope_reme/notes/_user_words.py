# -*- coding: utf-8 -*-
"""Whether the users of a conversation said what a note claims, or a tool or the agent did: decided by the words."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from ..text import WordTokenizer, split_sentences

__all__ = ["UserWords"]

_COVERED = 0.6
"""The share of a statement's words that one sentence must hold to be its source."""
_CONCERNED = 0.34
"""The share of a line's words that make a user's message speak of it."""
_KEPT_IN_NEW = 0.5
"""The share of a line's words that a new line must hold to take its place."""

_CLAUSE = re.compile(r"[;；,，、。.!！?？:：|]\s+|[；，、。！？：]|\s+(?:and|but)\s+|并且|而且|以及", re.IGNORECASE)
_FORGET = re.compile(
    r"(?:^|[.,;:!?]\s*|\b(?:please|now|just|and|you (?:can|may|should))\s+)forget\b"
    r"|\b(?:delete|remove|erase|clear|drop)\b.{0,40}\b(?:memory|notes?|remember)\b|\bno longer (?:true|valid|holds?)\b"
    r"|(?<!不要)(?<!别)忘(?:掉|记(?:我|这|那|掉))|把.{1,20}忘|(?:删|清)(?:掉|除|空).{0,20}(?:记忆|笔记|记录)|不用再?记|作废|不再成立",
    re.IGNORECASE | re.MULTILINE,
)
_DATE = re.compile(r"\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?|\b\d{1,2}:\d{2}\b")
_FRAME = (
    *(
        "user",
        "users",
        "prefer",
        "preference",
        "preferences",
        "like",
        "likes",
        "want",
        "wants",
        "rule",
        "rules",
        "note",
    ),
    *(
        "notes",
        "remember",
        "remind",
        "standing",
        "said",
        "say",
        "says",
        "ask",
        "asked",
        "told",
        "name",
        "named",
        "fact",
    ),
    *("facts", "identity", "profile", "always", "never", "must", "should", "please", "memory", "use", "uses", "now"),
    *("用户", "偏好", "喜欢", "希望", "要求", "规则", "记住", "记得", "记忆", "身份", "姓名", "名字", "称呼", "总是"),
    *("始终", "永远", "一直", "以后", "今后", "每次", "必须", "应该", "应当", "需要", "不要", "请", "务必"),
)
"""Words that a note puts around a statement, and that tell nothing of where it comes from."""


class UserWords:
    """Compares lines of a note with what users said and with what tools and the agent said.

    A clause of a line is foreign where some sentence of a tool holds most of its words, and more of them than any
    message of a user; or where some sentence of the agent does, and more than all users together (agents sum up what
    they were told). This finds what was carried over, not what was freely reworded; it is a net under the prompt, which
    forbids both.

    Args:
        user_texts (`Iterable[str]`):
            What users said, a text a message.
        tool_texts (`Iterable[str]`):
            What tools returned.
        agent_texts (`Iterable[str]`):
            What the agent said.
    """

    def __init__(self, user_texts: Iterable[str], tool_texts: Iterable[str], agent_texts: Iterable[str]) -> None:
        self._user_texts = list(user_texts)
        self._tool_texts, self._agent_texts = list(tool_texts), list(agent_texts)
        # Chinese by its characters and pairs of them: jieba would take seconds for a long tool result.
        self._tokenizer = WordTokenizer(list, "characters")
        self._known: dict[str, frozenset[str]] = {}

    def users_and(self, tool_texts: Iterable[str]) -> "UserWords":
        """What the same users said, beside other texts of tools."""
        return UserWords(self._user_texts, tool_texts, ())

    def learn(self) -> None:
        """Take in all that was said, about a second for each megabyte; otherwise that is done at the first question."""
        _ = self._said, self._by_tools, self._by_agent

    def is_foreign(self, line: str) -> bool:
        """Whether a line takes over what a tool or the agent said and no user did."""
        return any(self._is_foreign(words) for words in map(self._words, _CLAUSE.split(line)) if words)

    def may_leave(self, line: str, after: Sequence[str], instead: Sequence[str] = ()) -> bool:
        """Whether a line may be dropped: users spoke of it or asked to forget, or said what is put in its place, or
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
        if not words or self._forgets or _share(words, self._said) >= _CONCERNED:
            return True
        if any(_share(new, self._said) >= _COVERED for new in map(self._words, instead) if new):
            return True
        return _share(words, map(self._words, after)) >= _KEPT_IN_NEW

    def concerns(self, statement: str, line: str) -> bool:
        """Whether a statement speaks of something that a line speaks of."""
        return bool(self._words(statement) & self._words(line))

    def _words(self, text: str) -> frozenset[str]:
        """The words of a line, which is likely to be asked for again."""
        if text not in self._known:
            self._known[text] = self._cut(text)
        return self._known[text]

    def _cut(self, text: str) -> frozenset[str]:
        return frozenset(self._tokenizer.tokens(_DATE.sub(" ", text))) - self._frame

    @cached_property
    def _frame(self) -> frozenset[str]:
        return frozenset(token for word in _FRAME for token in (word, *self._tokenizer.tokens(word)))

    def _is_foreign(self, words: frozenset[str]) -> bool:
        by_tool, by_agent = self._by_tools.share(words), self._by_agent.share(words)
        return (by_tool >= _COVERED and by_tool > _share(words, self._said)) or (
            by_agent >= _COVERED and by_agent > _share(words, [frozenset().union(*self._said)])
        )

    @cached_property
    def _forgets(self) -> bool:
        return any(_FORGET.search(text) for text in self._user_texts)

    @cached_property
    def _said(self) -> list[frozenset[str]]:
        return [self._cut(text) for text in self._user_texts]

    @cached_property
    def _by_tools(self) -> "_Sentences":
        return _Sentences(self._tool_texts, self._cut)

    @cached_property
    def _by_agent(self) -> "_Sentences":
        return _Sentences(self._agent_texts, self._cut)


class _Sentences:
    """The sentences of many texts, by the words in them."""

    def __init__(self, texts: Iterable[str], words_of: Callable[[str], frozenset[str]]) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        sentences = (sentence for text in texts for sentence in split_sentences(text))
        for number, sentence in enumerate(sentences):
            for word in words_of(sentence):
                self._places[word].append(number)

    def share(self, words: frozenset[str]) -> float:
        """The largest share of some words that one sentence holds."""
        counts = Counter(number for word in words for number in self._places.get(word, ()))
        return max(counts.values(), default=0) / len(words)


def _share(words: frozenset[str], texts: Iterable[frozenset[str]]) -> float:
    """The largest share of the words that one text holds."""
    return max((len(words & text) / len(words) for text in texts), default=0.0)
