# -*- coding: utf-8 -*-
"""When something is to be remembered: rules as text or callables, and what a message makes due."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from .._errors import ConfigError
from ..text import split_sentences
from ._lexicon import Lexicon, default_lexicon
from ._requests import asked_in, asks_to_remember, concerns_memory

__all__ = ["DEFAULT_TRIGGERS", "CaptureState", "Trigger", "TriggerRule", "due", "parse_triggers", "to_store_at_once"]

DEFAULT_TRIGGERS = ("explicit", "round_count:10", "session_end")
"""What a user asks for outright is stored at once; the rest is looked through every ten rounds and at the end."""

_LONGEST = 4_000
_FORMS = (
    "explicit",
    "user_contains:TEXT",
    "user_matches:REGEX",
    "round_count:N",
    "token_count:N",
    "idle:SECONDS",
    "session_end",
)


@dataclass(frozen=True)
class CaptureState:
    """What has come of one user since the cursor.

    Args:
        rounds (`int`): requests of the user.
        tokens (`int`): tokens of all messages.
        idle (`float`): seconds since the last message; 0 while one is being handled.
        ended (`bool`): whether the session is over.
        user_text (`str`): what the user wrote last.
    """

    rounds: int = 0
    tokens: int = 0
    idle: float = 0.0
    ended: bool = False
    user_text: str = ""


TriggerRule = str | Callable[[CaptureState], bool]
"""A rule as text (see `parse_triggers`), or a function that says whether an extraction is due."""


@dataclass(frozen=True)
class Trigger:
    """A rule that was read.

    Args:
        name (`str`): the rule as it was given, or the function's name; it stands in the audit as the cause.
        kind (`Literal["at_once", "extract"]`): whether sentences of a message are stored as they are, or all that is
            new is given to extraction.
        is_due (`Callable[[CaptureState], bool]`): for ``extract``: whether it is time.
        chosen (`Callable[[str], bool] | None`): for ``at_once``: which sentences are meant; None for those that the
            user asks for outright.
    """

    name: str
    kind: Literal["at_once", "extract"]
    is_due: Callable[[CaptureState], bool] = field(default=lambda _: False, repr=False)
    chosen: Callable[[str], bool] | None = field(default=None, repr=False)


def parse_triggers(rules: Sequence[TriggerRule]) -> tuple[Trigger, ...]:
    """Read rules.

    Args:
        rules (`Sequence[str | Callable]`):
            ``explicit``: what the user asks to remember, in Chinese or English. ``user_contains:TEXT`` and
            ``user_matches:REGEX`` (any case): sentences of the user with this text are stored at once; where TEXT
            itself is a word that asks to remember, what it asks for. ``round_count:N``, ``token_count:N``: extraction
            after so many rounds or tokens. ``idle:SECONDS``, ``session_end``: extraction then, if anything is new. A
            function takes a `CaptureState` and says whether extraction is due.

    Returns:
        `tuple[Trigger, ...]`: in the same order.

    Raises:
        `ConfigError`: a rule that is none; all forms are named.
    """
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ConfigError(f"trigger_rules is {rules!r}: give a list of rules, such as {list(DEFAULT_TRIGGERS)!r}.")
    return tuple(_parsed(rule) for rule in rules)


def due(triggers: Sequence[Trigger], state: CaptureState) -> Trigger | None:
    """The first rule by which extraction is due; None where none is, or nothing is new."""
    if not state.rounds and not state.tokens:
        return None
    return next((each for each in triggers if each.kind == "extract" and each.is_due(state)), None)


def to_store_at_once(
    triggers: Sequence[Trigger],
    text: str,
    lexicon: Lexicon | None = None,
    *,
    previous: str = "",
) -> dict[str, str]:
    """What of a user's message is to be stored at once.

    Args:
        triggers (`Sequence[Trigger]`): the rules.
        text (`str`): the message.
        lexicon (`Lexicon | None`): the words that ask to remember; those of the package by default.
        previous (`str`): the user's message before it.

    Returns:
        `dict[str, str]`: each content, with the name of the rule that it is stored by.
    """
    lexicon = lexicon or default_lexicon()
    found: dict[str, str] = {}
    for trigger in triggers:
        if trigger.kind == "at_once":
            for content in _contents(trigger, text, lexicon, previous):
                found.setdefault(content, trigger.name)
    return found


def _contents(trigger: Trigger, text: str, lexicon: Lexicon, previous: str) -> Iterator[str]:
    if trigger.chosen is None:
        yield from asks_to_remember(text, lexicon, previous=previous)
        return
    sentences = split_sentences(text[:_LONGEST])
    for at, sentence in enumerate(sentences):
        if trigger.chosen(sentence) and not concerns_memory(sentence, lexicon):
            asked = asked_in(sentences, at, lexicon, previous=previous)
            yield from [sentence.strip()] if asked is None else asked


def _parsed(rule: TriggerRule) -> Trigger:
    if callable(rule):
        return Trigger(getattr(rule, "__name__", type(rule).__name__), "extract", rule)
    if not isinstance(rule, str):
        raise ConfigError(f"A trigger rule is {rule!r}: give a text or a function of a CaptureState.")
    kind, colon, value = rule.strip().partition(":")
    kind, value = kind.strip().lower(), value.strip()
    if kind in ("explicit", "session_end") and not colon:
        return Trigger(rule, "at_once") if kind == "explicit" else Trigger(rule, "extract", lambda state: state.ended)
    if kind == "user_contains" and value:
        return Trigger(rule, "at_once", chosen=partial(_contains, value.casefold()))
    if kind == "user_matches" and value:
        return Trigger(rule, "at_once", chosen=_pattern(rule, value))
    if kind == "round_count":
        return Trigger(rule, "extract", partial(_reached, "rounds", _number(rule, value, whole=True)))
    if kind == "token_count":
        return Trigger(rule, "extract", partial(_reached, "tokens", _number(rule, value, whole=True)))
    if kind == "idle":
        return Trigger(rule, "extract", partial(_reached, "idle", _number(rule, value)))
    raise ConfigError(f"The trigger rule {rule!r} is unknown: there are {', '.join(_FORMS)}, and functions.")


def _reached(name: str, least: float, state: CaptureState) -> bool:
    return getattr(state, name) >= least


def _contains(part: str, sentence: str) -> bool:
    return part in sentence.casefold()


def _pattern(rule: str, value: str) -> Callable[[str], bool]:
    try:
        pattern = re.compile(value, re.IGNORECASE)
    except re.error as error:
        raise ConfigError(f"The trigger rule {rule!r} has no regular expression: {error}.") from error
    return lambda sentence: bool(pattern.search(sentence))


def _number(rule: str, value: str, *, whole: bool = False) -> float:
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ConfigError(f"The trigger rule {rule!r} needs a number above 0 behind the colon.")
    return number
