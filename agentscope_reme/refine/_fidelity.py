# -*- coding: utf-8 -*-
"""Whether a refined text says only what its sources say: checked claim by claim, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..record import MemoryNode
from ..text import DateSpan, date_mentions, split_sentences
from ._config import RefinerConfig
from ._grounds import Grounds
from ._identifiers import identifiers_in
from ._lexicon import Lexicon, default_lexicon
from ._names import names_in
from ._numbers import clock_mentions, number_mentions
from ._polarity import Clause
from ._words import plain

__all__ = ["CHECKED_CLASSES", "Fault", "check_fidelity", "missing_statements", "must_keep", "repaired"]

CHECKED_CLASSES = ("number", "time", "date", "name", "identifier", "negation")
"""The classes of claims that are checked.

- ``number``: in digits or words, Chinese or English; 1,200 and 1200 and 一千二百 are one.
- ``time``: a time of day; 下午3点 and 15:00 and 3 pm are one, 3:00 is another, and may be meant by 3点.
- ``date``: a day, week, month, season or year; "yesterday" in a source counts from that source's own time, and a span
  holds where a source names days inside it.
- ``name``: capitalized names, and Chinese names of people, places and institutions as far as they can be told.
- ``identifier``: paths, addresses, codes, versions, names of code, letter for letter.
- ``negation``: what is denied is denied in a source, what is asserted is not only denied there, and what is seldom so
  is neither. Of the pairs of opposites in the prompt files (accept and refuse, 照常 and 取消) one denies the other.

What is not checked: adjectives, other verbs, causes, and who did what to whom. Sources stay linked for those.
"""

_SHARED = 0.3
_SURE = 0.6
_ITEM = re.compile(r"^\s*(?:[-*+•·]\s+)?(?:\d{1,3}[.)、．]\s+)?")
_DAY_LINE = re.compile(r"^\s*(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?\s*[:：]?")
_RELATIVE = re.compile(
    r"[昨今明]|[前后]天|[上下](?!旬)|[这本]|去年|大?前年|[前后]$|最近|近|过去|ago|last|next|this|yesterday|today|tonight|tomorrow|coming|past|"
    r"from\s+now|^in\s|later|before|earlier|back",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s?(?:[元块个人次只本米斤克吨度台件张条辆家名页步位字岁%％]|美元|公里|千米|厘米|毫米|公斤|千克|小时|分钟|秒)|"
    r"\s(?:dollars|euros|pounds|yuan|people|persons|times|steps|words|tokens|miles|meters|metres|km|kg|lbs|items|users|"
    r"files|lines|pages|points|votes|calories|kcal)\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Fault:
    """A claim that no source bears out.

    Args:
        kind (`str`): its class, one of `CHECKED_CLASSES`.
        text (`str`): the claim as it is written.
        line (`str`): the line that it is in.
    """

    kind: str
    text: str
    line: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text!r} is in no source: {self.line!r}"


def check_fidelity(text: str, grounds: Grounds, time: datetime | None = None) -> list[Fault]:
    """The claims of a refined text that its sources do not bear out.

    Args:
        text (`str`): the refined text. A line that begins with a day (2024-05-06) sets what "yesterday" counts from,
            for itself and those below.
        grounds (`Grounds`): the sources.
        time (`datetime | None`): what "yesterday" counts from elsewhere: the time of the refined memory.
    """
    faults: list[Fault] = []
    said = time
    for line in text.splitlines():
        day = _DAY_LINE.match(line)
        if day:
            said = _moment(day[1], said)
        faults.extend(_faults_of(line, grounds, said))
    return faults


def must_keep(node: MemoryNode, config: RefinerConfig, lexicon: Lexicon | None = None) -> list[str]:
    """The statements of a memory that a refinement has to keep word for word.

    All of it where its importance protects it; else the sentences on health and safety and the wishes that must hold.
    """
    if node.importance >= config.protect_from:
        return [node.content.strip()]
    lexicon = lexicon or default_lexicon()
    return [
        sentence
        for sentence in split_sentences(node.content)
        if lexicon.found_in("safety", sentence) or lexicon.found_in("wishes", sentence)
    ]


def missing_statements(text: str, statements: Iterable[str]) -> list[str]:
    """Those of the statements that a text does not hold word for word; white space does not count."""
    squeezed = _SPACE.sub(" ", text)
    return [each for each in statements if _SPACE.sub(" ", each).strip() not in squeezed]


def repaired(
    lines: Sequence[str],
    grounds: Grounds,
    time: datetime | None = None,
    statements: Iterable[str] = (),
) -> tuple[list[str], list[Fault]]:
    """The lines that their sources bear out, then what must be kept and is missing.

    Args:
        lines (`Sequence[str]`): a refined text, line by line.
        grounds (`Grounds`): the sources.
        time (`datetime | None`): what "yesterday" counts from.
        statements (`Iterable[str]`): what must be there word for word.

    Returns:
        `tuple[list[str], list[Fault]]`: the lines that may stay, and what was wrong with the others.
    """
    kept: list[str] = []
    faults: list[Fault] = []
    for line in lines:
        wrong = check_fidelity(line, grounds, time)
        faults += wrong
        if not wrong and line.strip():
            kept.append(line)
    return [*kept, *missing_statements("\n".join(kept), dict.fromkeys(statements))], faults


def _faults_of(line: str, grounds: Grounds, said: datetime | None) -> Iterator[Fault]:
    text = plain(_ITEM.sub("", line))
    taken: list[tuple[int, int]] = []
    for span in date_mentions(text, said or datetime.now().astimezone()):
        if _is_amount(span, text):
            continue
        taken.append((span.position, span.position + len(span.text)))
        if not _is_dated(span, grounds, said):
            yield Fault("date", span.text, line)
    codes = identifiers_in(text)
    for identifier, start, end in codes:
        if _free(taken, start, end):
            taken.append((start, end))
            if not grounds.has_identifier(identifier):
                yield Fault("identifier", identifier, line)
    for mention in clock_mentions(text):
        if mention.sure:
            if _free(taken, mention.start, mention.end) and not grounds.has_clock(mention):
                yield Fault("time", mention.text, line)
            taken.append((mention.start, mention.end))
    for mention in number_mentions(text):
        if mention.sure and _free(taken, mention.start, mention.end) and not mention.readings & grounds.numbers:
            yield Fault("number", mention.text, line)
    for name in names_in(text):
        in_code = any(name.text in code for code, _, _ in codes)
        if name.sure and not in_code and not grounds.has_name(name.text):
            yield Fault("name", name.text, line)
    for clause in grounds.clauses_in(text):
        if not _is_borne_out(clause, grounds):
            yield Fault("negation", clause.text, line)


def _is_amount(span: DateSpan, text: str) -> bool:
    """Whether what looks like a year is so many of something: 2014 yuan."""
    if not span.text.isdigit():
        return False
    before, after = text[: span.position], text[span.position + len(span.text) :]
    return before.rstrip()[-1:] in tuple("$¥￥€£") or bool(_UNIT.match(after))


def _is_dated(span: DateSpan, grounds: Grounds, said: datetime | None) -> bool:
    """A date holds where a source names it; a date in full also where it is copied, for it means the same anywhere."""
    if said is not None and grounds.has_days(span.start, span.end):
        return True
    if _RELATIVE.search(span.text.strip()):
        return False
    return span.text in grounds.text or (said is None and grounds.has_days(span.start, span.end))


def _is_borne_out(clause: Clause, grounds: Grounds) -> bool:
    """Whether a clause denies or asserts as some source does that speaks of the same."""
    about = grounds.clauses_about(clause.words)
    best = max((share for share, _ in about), default=0.0)
    if clause.polarity == "yes" and best < _SURE:
        return True
    least = max(_SHARED, best / 2)
    return any(source.polarity == clause.polarity and share >= least for share, source in about)


def _free(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return not any(start < last and first < end for first, last in taken)


def _moment(day: str, said: datetime | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(f"{day}T12:00:00")
    except ValueError:
        return said
    return moment.replace(tzinfo=said.tzinfo if said else None).astimezone(said.tzinfo if said else None)
