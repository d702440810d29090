# -*- coding: utf-8 -*-
"""When something is to be remembered: rules as text or callables, and what a message makes due."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

from .._errors import ConfigError
from ..text import split_sentences
from ._lexicon import Lexicon, default_lexicon
from ._requests import asked_in, asks_to_remember, concerns_memory

__all__ = ["DEFAULT_TRIGGERS", "CaptureState", "Trigger", "TriggerRule", "due", "parse_triggers", "to_store_at_once"]

logger = logging.getLogger("agentscope_reme")

DEFAULT_TRIGGERS = ("explicit", "round_count:10", "session_end")
"""What a user asks for outright is stored at once; the rest is looked through every ten rounds and at the end."""

_LONGEST = 4_000
_COLON = re.compile("[:：]")
_FORMS = (
    "explicit",
    "user_contains:TEXT",
    "user_matches:REGEX",
    "round_count:N",
    "token_count:N",
    "idle:SECONDS",
    "session_end",
)


Kind = Literal["at_once", "extract"]


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


@dataclass(frozen=True)
class Trigger:
    """A rule that was read, or one of your own: ``Trigger("deadline", "at_once", chosen=lambda text: "截止" in text)``.

    A function that raises is told in the log, and its rule counts as one that does not apply.

    Args:
        name (`str`): the rule as it was given, or the function's name; it stands in the audit as the cause.
        kind (`Literal["at_once", "extract"]`): whether sentences of a message are stored as they are, or all that is
            new is given to extraction.
        is_due (`Callable[[CaptureState], bool]`): for ``extract``: whether it is time.
        chosen (`Callable[[str], bool] | None`): for ``at_once``: which sentences are meant; None for those that the
            user asks for outright.

    Raises:
        `ConfigError`: another kind, or something that is no function.
    """

    name: str
    kind: Kind
    is_due: Callable[[CaptureState], bool] = field(default=lambda _: False, repr=False)
    chosen: Callable[[str], bool] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ConfigError(
                f"The trigger rule {self.name!r} is of the kind {self.kind!r}: there are {get_args(Kind)}."
            )
        for name, given in (("is_due", self.is_due), ("chosen", self.chosen)):
            if not callable(given) and (given is not None or name == "is_due"):
                raise ConfigError(f"{name} of the trigger rule {self.name!r} is {given!r}: give a function.")

    def applies(self, to: Any) -> bool:
        """Whether extraction is due in a `CaptureState`, or a sentence is meant."""
        judge: Callable[[Any], bool] | None = self.chosen if self.kind == "at_once" else self.is_due
        try:
            return judge is not None and bool(judge(to))
        except Exception:
            logger.exception("The trigger rule %r failed, and counts as one that does not apply.", self.name)
            return False


TriggerRule = str | Trigger | Callable[[CaptureState], bool]
"""A rule as text (see `parse_triggers`), a `Trigger`, or a function that says whether an extraction is due."""


def parse_triggers(rules: Sequence[TriggerRule]) -> tuple[Trigger, ...]:
    """Read rules.

    Args:
        rules (`Sequence[str | Trigger | Callable]`):
            ``explicit``: what the user asks to remember, in Chinese or English. ``user_contains:TEXT`` and
            ``user_matches:REGEX`` (any case): sentences of the user with this text are stored at once; where TEXT
            itself is a word that asks to remember, what it asks for. ``round_count:N``, ``token_count:N``: extraction
            after so many rounds or tokens. ``idle:SECONDS``, ``session_end``: extraction then, if anything is new. The
            colon may be a Chinese one. A function takes a `CaptureState` and says whether extraction is due; a
            `Trigger` may store at once what a function of your own chooses.

    Returns:
        `tuple[Trigger, ...]`: in the same order.

    Raises:
        `ConfigError`: a rule that is none: it says why, and names all forms.
    """
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ConfigError(f"trigger_rules is {rules!r}: give a list of rules, such as {list(DEFAULT_TRIGGERS)!r}.")
    return tuple(_parsed(rule) for rule in rules)


def due(triggers: Sequence[Trigger], state: CaptureState) -> Trigger | None:
    """The first rule by which extraction is due; None where none is, or nothing is new."""
    if not state.rounds and not state.tokens:
        return None
    return next((each for each in triggers if each.kind == "extract" and each.applies(state)), None)


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
        if trigger.applies(sentence) and not concerns_memory(sentence, lexicon):
            asked = asked_in(sentences, at, lexicon, previous=previous)
            yield from [sentence.strip()] if asked is None else asked


def _parsed(rule: TriggerRule) -> Trigger:
    if isinstance(rule, Trigger):
        return rule
    if callable(rule):
        return Trigger(getattr(rule, "__name__", type(rule).__name__), "extract", rule)
    if not isinstance(rule, str):
        raise ConfigError(f"A trigger rule is {rule!r}: give a text, a function of a CaptureState, or a Trigger.")
    kind, colon, value = (part.strip() for part in _COLON.sub(":", rule, count=1).partition(":"))
    kind = kind.lower()
    if kind not in {form.partition(":")[0] for form in _FORMS}:
        raise _refused(rule, f"{kind!r} is none of them")
    if kind in ("explicit", "session_end"):
        if colon:
            raise _refused(rule, f"{kind!r} takes nothing behind it")
        return Trigger(rule, "at_once") if kind == "explicit" else Trigger(rule, "extract", lambda state: state.ended)
    if not value:
        raise _refused(rule, f"{kind!r} needs a value behind a colon")
    if kind == "user_contains":
        return Trigger(rule, "at_once", chosen=partial(_contains, value.casefold()))
    if kind == "user_matches":
        return Trigger(rule, "at_once", chosen=_pattern(rule, value))
    field_of = {"round_count": "rounds", "token_count": "tokens", "idle": "idle"}[kind]
    return Trigger(rule, "extract", partial(_reached, field_of, _number(rule, value, whole=kind != "idle")))


def _refused(rule: str, why: str) -> ConfigError:
    return ConfigError(
        f"The trigger rule {rule!r} cannot be read, for {why}: there are {', '.join(_FORMS)}, functions "
        "of a CaptureState, and Triggers."
    )


def _reached(name: str, least: float, state: CaptureState) -> bool:
    return getattr(state, name) >= least


def _contains(part: str, sentence: str) -> bool:
    return part in sentence.casefold()


def _pattern(rule: str, value: str) -> Callable[[str], bool]:
    try:
        pattern = re.compile(value, re.IGNORECASE)
    except re.error as error:
        raise _refused(rule, f"{value!r} is no regular expression ({error})") from error
    return lambda sentence: bool(pattern.search(sentence))


def _number(rule: str, value: str, *, whole: bool) -> float:
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise _refused(rule, f"{value!r} is no {'whole ' if whole else ''}number above 0")
    return number
