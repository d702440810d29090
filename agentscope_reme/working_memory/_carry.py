# -*- coding: utf-8 -*-
"""An earlier summary carried into the next one: what stays, what is out of date, what is now done or said twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from ._labels import FAILED, PRINTED, unlabelled
from ._one_line import as_statement, same_key
from ._reading import Reading
from ._sections import Checkpoint
from ._statements import Statement
from ._tool_digest import is_folded

__all__ = ["carried", "goals", "without_finished", "without_repeats"]

_OPEN_FIELDS = ("progress_doing", "progress_blocked", "next_steps")
_PASSING_KINDS = ("last", "question")
_RULES_ONLY = 0.3  # the weight of a request that holds nothing but rules
_CARRIED_WEIGHTS = {"reply": 0.4, "user": 1.2}
_RECENCY = 0.2
_MOST_PRINTED = 4
_MOST_OLD_PLANS = 2
_MOST_DONE = 60

_STATE_WORDS = re.compile(
    r"进行中|正在|接下来|下一步|待办|需要|准备|计划|已经?|完成|成功|了|"
    r"\b(?:in progress|working on|next|todo|done|finished|completed?|success(?:ful(?:ly)?)?|will|need to|now|i|we|i've|"
    r"let me|i'll|the|a|an|is|are|was|were|has|have|been|be|to|and|of)\b",
)
_WORDS = re.compile(r"[a-z0-9][a-z0-9_./-]*|[\u3400-\u9fff]+")


def carried(earlier: Checkpoint, mended: set[str], replanned: bool) -> Iterator[Statement]:
    """The items of the previous summary, but for goals, lines of tool calls, and what was true for a moment only.

    Args:
        earlier (`Checkpoint`):
            The previous summary.
        mended (`set[str]`):
            Titles of calls that work now; they may have failed before.
        replanned (`bool`):
            Whether next steps have been named since, before which older ones fade.
    """
    lists = {field.name: getattr(earlier, field.name) for field in fields(earlier) if field.name != "goal"}
    worn = set([each for each in lists["context"] if PRINTED in each][:-_MOST_PRINTED])
    worn.update(lists["next_steps"][:-_MOST_OLD_PLANS] if replanned else ())
    items = [
        (name, *unlabelled(item))
        for name, each in lists.items()
        for item in map(as_statement, each)
        if item not in worn
    ]
    for at, (name, text, kind) in enumerate(items):
        is_call = name == "progress_done" and is_folded(text)
        is_mended = name == "progress_blocked" and text.partition(FAILED)[0] in mended
        if not (is_call or is_mended or kind in _PASSING_KINDS):
            weight = _CARRIED_WEIGHTS.get(kind, 0.5 if PRINTED in text else 1.0)
            recency = 0.0 if name == "constraints" else _RECENCY * at / len(items)
            yield Statement(name, text, weight + recency, at - len(items), kind)


def goals(earlier: Checkpoint, reading: Reading) -> list[Statement]:
    """The user's requests in order. The last is named for what has become of it; the first is the last to go."""
    size = len(earlier.goal)
    old = [
        Statement("goal", text, 1.0 + _RECENCY * at / size, at - size, kind)
        for at, (text, kind) in enumerate(map(unlabelled, map(as_statement, earlier.goal)))
    ]
    heard = [each for each in reading.statements if each.field == "goal"]
    unanswered = reading.last_request > reading.last_reply
    least = _RULES_ONLY if unanswered else 0.5
    new = [each for each in heard if each.weight >= (least if each is heard[-1] else 0.5)]
    requests = old + (new or ([] if old else heard[:1]))
    if not requests:
        return []
    last = _last_kind(requests[-1], reading.last_request >= 0, unanswered, reading.last_reply >= 0)
    named: dict[str, Statement] = {}
    for at, each in enumerate(requests):
        named.setdefault(same_key(each.text), replace(each, kind="" if at else "first"))
    named[same_key(requests[-1].text)].kind = last
    return list(named.values())


def _last_kind(last: Statement, was_asked: bool, unanswered: bool, was_answered: bool) -> str:
    """Whether the last request is the current one, or was answered, in these messages or before."""
    if was_asked:
        return "current" if unanswered else "latest"
    return "latest" if last.kind == "current" and was_answered else last.kind


def without_repeats(statements: Iterable[Statement]) -> list[Statement]:
    """The statements, each once in its section, and neither in the context nor as a lesser goal if elsewhere too."""
    statements = list(statements)
    elsewhere = {same_key(each.text) for each in statements if each.field not in ("context", "goal")}
    kept: dict[tuple[str, str], Statement] = {}
    for each in statements:
        key = same_key(each.text)
        is_minor = each.field == "context" or (each.field == "goal" and not each.kind)
        if not (is_minor and key in elsewhere):
            kept.setdefault((each.field, key), each)
    return list(kept.values())


def without_finished(statements: list[Statement]) -> list[Statement]:
    """The statements without open ones that a later one, of the last few, reports as done."""
    reports = [each for each in statements if each.field == "progress_done" and each.kind != "reply"][-_MOST_DONE:]
    done = [(each.order, _core(each.text)) for each in reports]
    return [each for each in statements if each.field not in _OPEN_FIELDS or not _is_finished(each, done)]


def _is_finished(statement: Statement, done: list[tuple[int, list[str]]]) -> bool:
    core = _core(statement.text)
    return any(order > statement.order and _same_work(report, core) for order, report in done)


def _same_work(report: list[str], open_: list[str]) -> bool:
    """Whether both speak of the same thing: nearly the same words, or in Chinese the short name of it."""
    done, to_do = set(report), set(open_)
    if done.isdisjoint(to_do):
        return False
    smaller, larger = sorted((len(done), len(to_do)))
    is_short_name = report[0] > "\u3400" and open_[: len(report)] == report
    return is_short_name or (len(done & to_do) >= 0.8 * smaller and smaller >= 0.5 * larger)


def _core(text: str) -> list[str]:
    """The words of a statement but those that tell its state: English by first letters, Chinese in pairs."""
    core = []
    for word in _WORDS.findall(_STATE_WORDS.sub(" ", text.lower())):
        core += [word[:5]] if word.isascii() else [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return core
