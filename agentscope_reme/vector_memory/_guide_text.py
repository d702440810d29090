# -*- coding: utf-8 -*-
"""A usage guide as text: what a model or nobody wrote, and below it the figures."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..message import delimited
from ..record import ToolCallRecord
from ..text import PromptBook
from ._data_tags import escaped
from ._tool_statistics import ArgumentUse, ToolStatistics

__all__ = ["GuideText"]

_MOST_ARGUMENTS = 8
_CALL_CHARS = 600


class GuideText:
    """Writes in one language about one tool.

    Args:
        book (`PromptBook`): the texts.
        language (`str`): the language.
        prompts (`str`): the file that the texts are in.
        tool_name (`str`): the tool.
    """

    def __init__(self, book: PromptBook, language: str, prompts: str, tool_name: str) -> None:
        self._book, self.language, self._prompts = book, language, prompts
        self._target = " ".join(tool_name.split())[:200]

    def text(self, name: str, /, **values: object) -> str:
        """A text of the kind's file."""
        return self._book.get(self.language, f"{self._prompts}.{name}").fill(**values)

    def about(self, name: str) -> str:
        """A text that names the tool."""
        prompt = self._book.get(self.language, f"{self._prompts}.{name}")
        return prompt.fill(**({"target": self._target} if prompt.placeholders else {}))

    def figures(self, statistics: ToolStatistics) -> str:
        """The statistics as list items, with the commonest errors and repetitions."""
        text, calls = self.text, statistics.calls
        lines = [
            text("statistics_heading", calls=calls),
            text(
                "success_line",
                successes=statistics.successes,
                calls=calls,
                percent=round(100 * statistics.success_rate),
            ),
        ]
        if statistics.longest_time:
            mean, longest = f"{statistics.mean_time:.2g}", f"{statistics.longest_time:.2g}"
            lines.append(text("time_line", mean=mean, longest=longest))
        if statistics.mean_tokens:
            lines.append(text("tokens_line", mean=round(statistics.mean_tokens)))
        if statistics.mean_score is not None:
            lines.append(text("score_line", mean=f"{statistics.mean_score:.2f}"))
        lines += [self._argument(each, calls) for each in statistics.arguments[:_MOST_ARGUMENTS]]
        for heading, counted in (("errors_heading", statistics.errors), ("repeated_heading", statistics.repeated)):
            if counted:
                lines += [text(heading), *(text("counted_line", text=each, count=count) for each, count in counted)]
        return "\n".join(lines)

    def request(
        self, records: Sequence[ToolCallRecord], judged: frozenset[int], statistics: ToolStatistics, prose: str
    ) -> str:
        """What a model is asked: the calls, the figures, and the guide as it stands."""
        calls = "\n".join(_call(number, each, number in judged) for number, each in enumerate(records, 1))
        return self.text(
            "request",
            calls=f"<calls>\n{calls}\n</calls>",
            statistics=delimited(escaped(self.figures(statistics)), "statistics"),
            guide=delimited(escaped(prose), "guide") if prose else self.text("no_guide"),
        )

    def _argument(self, use: ArgumentUse, calls: int) -> str:
        line = self.text("argument_line", name=use.name, given=use.given, calls=calls)
        if use.common:
            line += self.text("common_values", values=_listed(use.common))
        if use.failing:
            line += self.text("failing_values", values=_listed(use.failing))
        return line


def _listed(values: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{value} ({count})" for value, count in values)


def _call(number: int, record: ToolCallRecord, judged: bool) -> str:
    given = record.input if isinstance(record.input, str) else json.dumps(dict(record.input), ensure_ascii=False)
    inside = f"{_cut(given)}\n=> {_cut(record.output)}"
    return delimited(
        escaped(inside),
        "call",
        number=number,
        worked="yes" if record.success else "no",
        seconds=f"{record.time_cost:.2g}",
        tokens=record.token_cost,
        judged="yes" if judged else None,
    )


def _cut(text: str) -> str:
    half = _CALL_CHARS // 2
    return text if len(text) <= _CALL_CHARS else f"{text[:half]} [...] {text[-half:]}"
