# -*- coding: utf-8 -*-
"""What the latest calls of a tool say about it: how often it works, what it costs, and how it is called."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..record import ToolCallRecord

__all__ = ["LATEST", "ArgumentUse", "ToolStatistics", "statistics_of"]

LATEST = 20
"""Calls that statistics are over."""

_COMMON = 3
_VALUE_CHARS = 60
_ERROR_CHARS = 160
_VARIABLE = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27,}|\d+|\"[^\"]*\"|'[^']*'|(?:[\w.~-]*[/\\])+[\w.-]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ArgumentUse:
    """How an argument is given.

    Args:
        name (`str`): the argument.
        given (`int`): in how many calls.
        common (`tuple[tuple[str, int], ...]`): values that calls which worked had more than once, with how often.
        failing (`tuple[tuple[str, int], ...]`): values that only calls which failed had, with how often.
    """

    name: str
    given: int
    common: tuple[tuple[str, int], ...] = ()
    failing: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class ToolStatistics:
    """Figures over the latest calls of a tool.

    Args:
        tool_name (`str`): the tool.
        calls (`int`): how many calls they are over.
        successes (`int`): how many of them worked.
        mean_time (`float`), longest_time (`float`): seconds.
        mean_tokens (`float`): of a call and its answer.
        mean_score (`float | None`): of the verdicts, 0 to 1; `None` where nobody judged.
        arguments (`tuple[ArgumentUse, ...]`): the arguments, those given most often first.
        errors (`tuple[tuple[str, int], ...]`): the commonest errors, with how often; the wording is the latest one's.
        repeated (`tuple[tuple[str, int], ...]`): arguments of calls that failed and were made again just so, with how
            often they were made.
    """

    tool_name: str
    calls: int
    successes: int
    mean_time: float = 0.0
    longest_time: float = 0.0
    mean_tokens: float = 0.0
    mean_score: float | None = None
    arguments: tuple[ArgumentUse, ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    repeated: tuple[tuple[str, int], ...] = ()

    @property
    def success_rate(self) -> float:
        """The share of calls that worked, 0 to 1; 0 where there are none."""
        return self.successes / self.calls if self.calls else 0.0


def statistics_of(tool_name: str, records: Iterable[ToolCallRecord], latest: int = LATEST) -> ToolStatistics:
    """Figures over the latest calls.

    Args:
        tool_name (`str`): the tool; calls of others are passed over.
        records (`Iterable[ToolCallRecord]`): calls in any order.
        latest (`int`): how many of them count.
    """
    of_tool = (record for record in records if record.tool_name == tool_name)
    calls = sorted(of_tool, key=lambda record: record.create_time, reverse=True)[:latest]
    if not calls:
        return ToolStatistics(tool_name, 0, 0)
    scores = [record.score for record in calls if record.score is not None]
    return ToolStatistics(
        tool_name,
        calls=len(calls),
        successes=sum(record.success for record in calls),
        mean_time=_mean([record.time_cost for record in calls]),
        longest_time=max(record.time_cost for record in calls),
        mean_tokens=_mean([record.token_cost for record in calls]),
        mean_score=_mean(scores) if scores else None,
        arguments=_arguments(calls),
        errors=_errors(calls),
        repeated=_repeated(calls),
    )


def _arguments(calls: Sequence[ToolCallRecord]) -> tuple[ArgumentUse, ...]:
    given: Counter[str] = Counter()
    worked: dict[str, Counter[str]] = {}
    failed: dict[str, Counter[str]] = {}
    for record in calls:
        values = record.input if isinstance(record.input, Mapping) else {}
        for name, value in values.items():
            given[name] += 1
            (worked if record.success else failed).setdefault(name, Counter())[_shown(value)] += 1
    uses: list[ArgumentUse] = []
    for name, count in sorted(given.items(), key=lambda pair: (-pair[1], pair[0])):
        good, bad = worked.get(name, Counter()), failed.get(name, Counter())
        only_bad = Counter({value: times for value, times in bad.items() if value not in good})
        uses.append(ArgumentUse(name, count, _most_common(good, at_least=2), _most_common(only_bad)))
    return tuple(uses)


def _errors(calls: Sequence[ToolCallRecord]) -> tuple[tuple[str, int], ...]:
    """The commonest errors; those that differ in numbers, paths and quotations only are one."""
    counts: Counter[str] = Counter()
    wording: dict[str, str] = {}
    for record in calls:
        if not record.success:
            line = _first_line(record.output)
            shape = _VARIABLE.sub("_", line).lower()
            counts[shape] += 1
            wording.setdefault(shape, line)
    return tuple((wording[shape], count) for shape, count in counts.most_common(_COMMON) if wording[shape])


def _repeated(calls: Sequence[ToolCallRecord]) -> tuple[tuple[str, int], ...]:
    made = Counter(record.call_hash for record in calls)
    failing = {record.call_hash: record for record in calls if not record.success}
    again = [(record, made[code]) for code, record in failing.items() if made[code] > 1]
    again.sort(key=lambda pair: -pair[1])
    return tuple((_shown(record.input, 2 * _VALUE_CHARS), count) for record, count in again[:_COMMON])


def _most_common(counts: Counter[str], at_least: int = 1) -> tuple[tuple[str, int], ...]:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple((value, count) for value, count in ranked if count >= at_least)[:_COMMON]


def _shown(value: Any, most: int = _VALUE_CHARS) -> str:
    if isinstance(value, Mapping):
        value = dict(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _first_line(text: str) -> str:
    """The line that says what went wrong: the last one of a traceback, else the first that is not blank."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[-1] if any(each.startswith("Traceback") for each in lines) else lines[0]
    return line if len(line) <= _ERROR_CHARS else f"{line[: _ERROR_CHARS - 3]}..."


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
