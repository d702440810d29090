# -*- coding: utf-8 -*-
"""A summary of the conversation's own sentences, without a model: for users without a key, and as the last resort."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from agentscope.message import Msg

from ..text import Language
from ._carry import carried, goals, without_finished, without_repeats
from ._cues import identifiers, is_courtesy
from ._fit import fitted
from ._labels import FAILED, PRINTED, labelled
from ._one_line import as_data, clipped
from ._reading import Reading, read_messages
from ._sections import Checkpoint, parse_checkpoint
from ._statements import Statement
from ._tool_digest import ToolCall, folded
from ._tool_output import excerpts, failure_in, offloaded_to

__all__ = ["extractive_summary"]

_NEW, _NEWEST = 0.3, 0.5  # what being new, and being the newest, adds to a statement's weight
_RESULTS_READ = 60
_LAST_RESULTS = 5
_FALLBACK_WIDTH = 240
_TITLE_WIDTH = 90
_EXCERPT_WIDTH = 140


def extractive_summary(
    messages: list[Msg],
    previous: str,
    *,
    count: Callable[[str], int],
    budget: int,
    language: Language,
    split_turn: bool = False,
) -> str:
    """A checkpoint in six sections, drawn from the messages by rules; the same input always gives the same text.

    Goal and Constraints take statements of users only. What tools printed is quoted as data. The lines of the previous
    summary are carried over, in front, and are cut like the others where the budget is too small.

    Args:
        messages (`list[Msg]`):
            The messages to stand for, in order.
        previous (`str`):
            The summary so far, written by this function or by a model; `""` if there is none.
        count (`Callable[[str], int]`):
            The number of tokens of a text.
        budget (`int`):
            The number of tokens that the result may have; from about 120 on it is kept.
        language (`Language`):
            The language of headings and labels.
        split_turn (`bool`):
            Whether the turn that the messages end in goes on after them.

    Returns:
        The summary; `previous` itself if there is nothing to add to it and it fits.
    """
    reading = read_messages(messages)
    if not (reading.statements or reading.calls or reading.first_text) and count(previous) <= budget:
        return previous
    earlier = parse_checkpoint(previous)
    failures, successes = _outcomes(reading.calls)
    statements = [
        *goals(earlier, reading),
        *carried(earlier, mended={call.title for call in successes}, replanned=_has_plans(reading)),
        *_said(reading, split_turn or reading.is_open),
        *_done(earlier, successes),
        *_failed(failures, successes),
        *_printed(successes, reading.names),
    ]
    kept = without_finished(without_repeats(statements)) or _anything(reading)
    for each in kept:
        if each.order >= 0 and each.field != "constraints":
            each.weight += _NEW + _NEWEST * each.order / reading.size
        each.text = labelled(each.text, each.kind, language)
    return fitted(kept, count=count, budget=budget, language=language)


def _said(reading: Reading, is_open: bool) -> Iterator[Statement]:
    """What was said, but for the goals, and for intentions and questions that what followed has overtaken."""
    for each in reading.statements:
        if each.kind == "intent":
            if is_open and each.order == reading.last_speech:
                yield replace(each, kind="last")
        elif each.kind == "question":
            if each.order == reading.last_reply > reading.last_request:
                yield each
        elif each.field != "goal":
            yield each
    if is_open and reading.calls and reading.calls[-1].order > reading.last_speech:
        yield Statement("progress_doing", reading.calls[-1].title, 0.5, reading.calls[-1].order, "last")


def _has_plans(reading: Reading) -> bool:
    return any(each.field == "next_steps" and each.kind != "question" for each in reading.statements)


def _outcomes(calls: list[ToolCall]) -> tuple[list[tuple[ToolCall, str]], list[ToolCall]]:
    """The calls that failed, each with the line that says so, and those that went well; others have no result yet."""
    judged = [(call, failure_in(call.output)) for call in calls if call.output is not None]
    return [(call, failure) for call, failure in judged if failure], [call for call, failure in judged if not failure]


def _done(earlier: Checkpoint, successes: list[ToolCall]) -> Iterator[Statement]:
    for text, order in folded(earlier.progress_done, successes):
        yield Statement("progress_done", text, 1.2, order)


def _failed(failures: list[tuple[ToolCall, str]], successes: list[ToolCall]) -> Iterator[Statement]:
    """A line for each failure that the same call has not made good; it counts less if the tool has worked since."""
    works_since = {name: call.order for call in successes for name in (call.name, call.title)}
    for (name, failure), call in {(call.name, failure): call for call, failure in failures}.items():
        if works_since.get(call.title, -1) < call.order:
            weight = 0.4 if works_since.get(name, -1) > call.order else 1.2
            yield Statement("progress_blocked", f"{call.title}{FAILED}{failure}", weight, call.order)


def _printed(successes: list[ToolCall], names: set[str]) -> Iterator[Statement]:
    """What tools printed last, and what they printed that was used."""
    calls = list({call.title: call for call in successes if call.output}.values())[-_RESULTS_READ:]
    told = excerpts([call.output or "" for call in calls], names, limit=_EXCERPT_WIDTH)
    for at, (call, text) in enumerate(zip(calls, told, strict=True)):
        is_used = any(name in names for name in identifiers(text))
        is_last = at >= len(calls) - _LAST_RESULTS
        if (is_used or is_last) and not is_courtesy(text):
            title = clipped(call.title, _TITLE_WIDTH)
            file = offloaded_to(call.output or "")
            quoted = f"{title}{PRINTED}{text}”" + (f" ({file})" if file else "")
            yield Statement("context", quoted, 0.3 + 0.5 * is_used + 0.5 * is_last, call.order)


def _anything(reading: Reading) -> list[Statement]:
    """A line where no rule has found one: what was written first, as data."""
    return [Statement("context", clipped(as_data(reading.first_text[:2000]), _FALLBACK_WIDTH), 1.0, 0)]
