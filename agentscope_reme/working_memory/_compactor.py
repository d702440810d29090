# -*- coding: utf-8 -*-
"""The compactor: messages and the summary so far become one summary that passed its check."""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import anyio
from agentscope.message import Msg

from .._errors import ConfigError, ModelReplyError
from ..chat import ask
from ..flow import step
from ..message import is_recalled, is_summary
from ..text import PromptBook, detect_language, normalize_language
from ._extractive import extractive_summary
from ._portion import Part, Portion, says_something, spoken_text
from ._split_turn import join_split_turn
from ._summary_check import SHORT_SUMMARY, check_summary, summary_body

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["Compactor", "Summary"]

logger = logging.getLogger("agentscope_reme")

_ATTEMPTS = 2
_HISTORY_SHARE = 0.7
_LEAST_BUDGET = 256
"""Six headings and a few items; two summaries that are larger together than allowed are cut when they are joined."""

_T = TypeVar("_T")


class Tokens(Protocol):
    """What the compactor asks of a counter of tokens."""

    def text(self, text: str, /) -> int:
        """Tokens in a text."""

    def message(self, msg: Msg, /) -> int:
        """Tokens of a message."""


@dataclass(frozen=True)
class Summary:
    """A summary and how it came about.

    Args:
        text (`str`): The summary; "" where there was nothing to summarize and none before.
        source (`str`): "model", "extractive", or "unchanged" where there was nothing to summarize.
        attempts (`int`): How often the model was asked.
        error (`str | None`): What was wrong with each attempt that failed, also where a later one succeeded.
        duration (`float`): Seconds.
        tokens_before (`int`): Tokens of the messages and of the previous summary.
        tokens_after (`int`): Tokens of the text.
    """

    text: str
    source: Literal["model", "extractive", "unchanged"]
    attempts: int = 0
    error: str | None = None
    duration: float = 0.0
    tokens_before: int = 0
    tokens_after: int = 0


class Compactor:
    """Condenses messages into a checkpoint of six sections, with a model where there is one.

    Long input is folded part by part, each part updating the summary of those before it. Every reply of the model is
    checked; after one retry what is left is summarized extractively. Nothing but cancellation and a configuration that
    cannot work is raised.

    Args:
        model (`ChatModelBase | Callable[[], ChatModelBase | None] | None`):
            The model, a function that returns it and is asked at each use, or `None` for extractive summaries.
        formatter (`FormatterBase | Callable[[], FormatterBase | None] | None`):
            The formatter that goes with the model, likewise.
        tokens (`MessageTokens`):
            Counts.
        book (`PromptBook`):
            The prompts.
        budget (`int`):
            The most tokens of a summary.
        max_input_tokens (`int`):
            Tokens that a request to the model and its reply may have together.
        timeout (`float | None`):
            Seconds for one reply of the model.

    Raises:
        `ConfigError`: a number that cannot work, or a model without a formatter.
    """

    def __init__(
        self,
        *,
        model: ChatModelBase | Callable[[], ChatModelBase | None] | None = None,
        formatter: FormatterBase | Callable[[], FormatterBase | None] | None = None,
        tokens: Tokens,
        book: PromptBook,
        budget: int,
        max_input_tokens: int,
        timeout: float | None = 120,
    ) -> None:
        for name, value in (("budget", budget), ("max_input_tokens", max_input_tokens)):
            if not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} is {value!r}: give a positive number of tokens.")
        if model is not None and formatter is None:
            raise ConfigError("A model for summaries needs the formatter that goes with it: give formatter too.")
        self._model, self._formatter = model, formatter
        self._tokens, self._book, self._timeout = tokens, book, timeout
        self.budget, self.max_input_tokens = budget, max_input_tokens

    async def summarize(
        self,
        messages: Sequence[Msg],
        previous: str = "",
        *,
        language: str | None = None,
        instruction: str = "",
        think: bool = True,
        split: int | None = None,
        current_request: str = "",
    ) -> Summary:
        """Summarize messages on top of the summary so far.

        Args:
            messages (`Sequence[Msg]`):
                The messages, oldest first. Summaries, recalled memories and empty messages among them are passed over.
            previous (`str`):
                The summary of what came before them.
            language (`str | None`):
                The language of the summary; `None` is the conversation's, "" is English.
            instruction (`str`):
                What the user wants of the summary.
            think (`bool`):
                Whether the model writes down its reasoning first; the reasoning is not stored.
            split (`int | None`):
                The index of the message in which a turn begins whose end stays with the agent. What comes before it
                and what comes after it are summarized at the same time, then joined.
            current_request (`str`):
                What the user is waiting for now.

        Returns:
            `Summary`: the summary; the previous one where there is nothing to summarize.

        Raises:
            `PromptError`: there are no prompts in the language that was asked for.
        """
        started = time.monotonic()
        messages, split = _worth_it(messages, split)
        whole = Portion(
            messages=messages,
            previous=previous,
            book=self._book,
            language=self._language(language, messages, previous, current_request),
            budget=self.budget,
            instruction=instruction.strip(),
            request=current_request.strip(),
            think=think,
        )
        if not messages:
            size = self._tokens.text(previous)
            return Summary(previous, "unchanged", tokens_before=size, tokens_after=size)
        if _now(self._model) is None:
            summary = await _in_thread(self._extracted, replace(whole, turn=split is not None))
        elif split:
            summary = await self._split(whole, split)
        else:
            summary = await self._folded(whole)
        if summary.error:
            logger.warning("Summary by %s after %d attempts: %s", summary.source, summary.attempts, summary.error)
        return await _in_thread(self._measured, summary, whole, started)

    def extractive(
        self,
        messages: Sequence[Msg],
        previous: str = "",
        language: str | None = None,
        split: int | None = None,
    ) -> Summary:
        """The summary that needs no model; arguments as in `summarize`. Without messages, a `previous` of whatever form
        that is over the budget is brought within it. Blocking."""
        started = time.monotonic()
        messages, split = _worth_it(messages, split)
        language = self._language(language, messages, previous, "")
        whole = Portion(messages, previous, self._book, language, self.budget, turn=split is not None)
        fits = not messages and self._tokens.text(previous) <= self.budget
        return self._measured(Summary(previous, "unchanged") if fits else self._extracted(whole), whole, started)

    async def _split(self, whole: Portion, split: int) -> Summary:
        """The history and the beginning of the turn, summarized at the same time and joined."""
        least = min(self.budget, _LEAST_BUDGET)
        history_budget = max(least, int(self.budget * _HISTORY_SHARE))
        turn_budget = max(least, int(self.budget * (1 - _HISTORY_SHARE)))
        history = replace(whole, messages=whole.messages[:split], budget=history_budget)
        turn = replace(
            whole, messages=whole.messages[split:], previous="", budget=turn_budget, turn=True, trusted=whole.user_text
        )

        async def before(_: Any) -> Summary:
            return await self._folded(history)

        async def within(_: Any) -> Summary:
            return await self._folded(turn)

        one, other = await (step(before) | step(within))(None)
        errors = [f"{name}: {each.error}" for name, each in (("history", one), ("turn", other)) if each.error]
        return Summary(
            text=join_split_turn(
                one.text, other.text, budget=self.budget, count=self._tokens.text, language=whole.language
            ),
            source="model" if one.source == other.source == "model" else "extractive",
            attempts=one.attempts + other.attempts,
            error="; ".join(errors) or None,
        )

    async def _folded(self, portion: Portion) -> Summary:
        """A portion folded part by part; from the first part that fails twice on, extractively."""
        parts = await _in_thread(portion.parts, self.max_input_tokens, self._tokens.text)
        if not parts:
            error = f"a window of {self.max_input_tokens} tokens has no room for messages beside the prompt"
            return replace(await _in_thread(self._extracted, portion), error=error)
        text, attempts, errors = portion.previous, 0, []
        for number, part in enumerate(parts, start=1):
            written, failures = await self._written(portion, part, text, number, len(parts))
            attempts += len(failures) + (written is not None)
            errors += [f"part {number} of {len(parts)}, {each}" if len(parts) > 1 else each for each in failures]
            if written is None:
                rest = replace(portion, messages=portion.messages[part.first :], previous=text)
                summary = await _in_thread(self._extracted, rest)
                return replace(summary, attempts=attempts, error="; ".join(errors))
            text = written
        return Summary(text, "model", attempts, "; ".join(errors) or None)

    async def _written(
        self, portion: Portion, part: Part, previous: str, number: int, total: int
    ) -> tuple[str | None, list[str]]:
        """What the model wrote about a part, `None` where it failed twice, and what was wrong each time."""
        count = self._tokens.text
        system = portion.system(part.text, count)
        failures: list[str] = []
        problems: tuple[str, ...] = ()
        for attempt in range(1, _ATTEMPTS + 1):
            question = portion.question(part.text, previous, number, total, problems)
            try:
                reply = await ask(_now(self._model), _now(self._formatter), system, question, timeout=self._timeout)
            except (ModelReplyError, ConfigError) as error:
                failures.append(f"attempt {attempt}: {error}")
                continue
            problems = await _in_thread(self._problems, reply.text, portion, part, previous)
            if not problems:
                return summary_body(reply.text), failures
            failures.append(f"attempt {attempt}: {', '.join(problems)}")
        return None, failures

    def _problems(self, text: str, portion: Portion, part: Part, previous: str) -> tuple[str, ...]:
        return check_summary(
            text,
            replaced_tokens=self._tokens.text(part.text) + self._tokens.text(previous),
            budget=portion.budget,
            count=self._tokens.text,
            book=self._book,
            language=portion.language,
            user_text=f"{portion.user_text}\n{previous}",
            other_text=part.other_text,
            agent_text=part.agent_text,
        )

    def _extracted(self, portion: Portion) -> Summary:
        replaced = sum(map(self._tokens.message, portion.messages)) + self._tokens.text(portion.previous)
        text = extractive_summary(
            list(portion.messages),
            portion.previous,
            count=self._tokens.text,
            budget=min(portion.budget, max(SHORT_SUMMARY, replaced)),
            language="zh" if portion.language == "zh" else "en",
            split_turn=portion.turn,
        )
        return Summary(text or portion.previous, "extractive")

    def _language(self, wanted: str | None, messages: Sequence[Msg], previous: str, request: str) -> str:
        if wanted is not None:
            language = normalize_language(wanted)
            self._book.names(language)
            return language
        spoken = [*spoken_text(messages), request]
        language = detect_language(spoken if any(spoken) else previous)
        return language if language in self._book.languages() else "en"

    def _measured(self, summary: Summary, whole: Portion, started: float) -> Summary:
        before = sum(map(self._tokens.message, whole.messages)) + self._tokens.text(whole.previous)
        return replace(
            summary,
            duration=time.monotonic() - started,
            tokens_before=before,
            tokens_after=self._tokens.text(summary.text),
        )


def _worth_it(messages: Sequence[Msg], split: int | None) -> tuple[tuple[Msg, ...], int | None]:
    """The messages that say something, and where among them the turn begins; `None` where nothing is split."""
    kept = [at for at, msg in enumerate(messages) if says_something(msg) and not (is_summary(msg) or is_recalled(msg))]
    if split is None:
        return tuple(messages[at] for at in kept), None
    before = sum(1 for at in kept if at < split)
    return tuple(messages[at] for at in kept), before if before < len(kept) else None


def _now(given: Any) -> Any:
    """What was given, or what a function that was given returns. A model is no function, though it can be called."""
    if inspect.isfunction(given) or inspect.ismethod(given) or isinstance(given, functools.partial):
        return given()
    return given


async def _in_thread(call: Callable[..., _T], *arguments: Any) -> _T:
    """Work that grows with the input, off the event loop; a cancelled caller does not wait for it."""
    return await anyio.to_thread.run_sync(functools.partial(call, *arguments), abandon_on_cancel=True)
