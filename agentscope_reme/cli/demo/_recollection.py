# -*- coding: utf-8 -*-
"""The decisions of the agent in the second session, replayed: what to look up, and the answer.

As in the first session the script has no memory of its own, and here not even tools to read the project: what it
answers it reads in what the request shows of the long-term memory, or finds there with `memory_search`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...testing import Reply, call
from ._dialogue import DIALOGUES
from ._facts import Fact
from ._passages import Passage, passages_in

__all__ = ["REMEMBERED", "TICKET_FIRST", "Recollection"]

REMEMBERED: Sequence[Fact] = (
    Fact(
        ("ticket", "author", "before", "after"),
        r"(CHG-\d+)(?: by |，变更人 | \| )([\w.]+)(?:: |：| \| )paylane\.timeout_ms (\d+) -> (\d+)",
        {"en": "change of paylane.timeout_ms", "zh": "变更 paylane.timeout_ms"},
    ),
    Fact(
        ("setting",),
        r"(?:Setting|配置|paylane\.timeout_ms +\d+ +from)\s+([\w/]+\.ini:\d+)",
        {"en": "paylane.timeout_ms setting", "zh": "paylane.timeout_ms 配置"},
    ),
    Fact(
        ("extension",),
        r"(?:treasury desk,? \(?ext\. |资金部（分机 )(\d+)",
        {"en": "treasury desk", "zh": "资金部 分机"},
    ),
    Fact(
        ("rule",),
        r"\| +(\d\. [^|]*?(?:treasury desk \(ext\. \d+\) before anybody refunds\.|资金部（分机 \d+）。))",
        {"en": "runbook: whom to tell before a refund", "zh": "故障处理手册：退款之前先通知"},
    ),
)
"""What the answer of the second session needs."""

TICKET_FIRST = r"begin every answer about an incident with its ticket|一律先写工单号"
"""How the standing wish of the first session reads."""


class Recollection:
    """The script of the second session, to be given to a `ScriptedChatModel`.

    Args:
        language (`str`):
            What it speaks, `"en"` or `"zh"`.

    Attributes:
        values (`dict[str, str]`):
            What the answer was made of, by the name of the fact; without what could not be found.
    """

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._words = DIALOGUES[language]
        self._replies = self._decide()
        self._passages: list[Passage] = []
        self.values: dict[str, str] = {}

    def __call__(self, messages: list[dict[str, Any]], _tools: list[dict[str, Any]] | None) -> Reply:
        self._passages = list(passages_in(messages))
        return next(self._replies)

    def _decide(self) -> Iterator[Reply]:
        missing = [fact for fact in REMEMBERED if not self._find(fact)]
        if missing:
            searches = [call("memory_search", query=fact.search[self._language], max_results=3) for fact in missing]
            yield [self._words.checking, *searches]
        yield self._answer()

    def _answer(self) -> str:
        for fact in REMEMBERED:
            self.values.update(self._find(fact))
        names = (name for fact in REMEMBERED for name in fact.names)
        values = {**dict.fromkeys(names, self._words.unknown), **self.values}
        answer = self._words.answer.format(**values)
        wanted = any(re.search(TICKET_FIRST, each.text) for each in self._passages if each.how == "shown")
        return self._words.ticket_first.format(answer=answer, **values) if wanted else answer

    def _find(self, fact: Fact) -> dict[str, str]:
        for passage in self._passages:
            if found := re.search(fact.pattern, passage.text):
                return dict(zip(fact.names, found.groups(), strict=True))
        return {}
