# -*- coding: utf-8 -*-
"""How much a memory will be worth: bounds from rules, and a model's judgement within them."""

from __future__ import annotations

from dataclasses import dataclass

from ..record import NEUTRAL_IMPORTANCE
from ._lexicon import Lexicon, default_lexicon

__all__ = ["Judgement", "Signals", "judge_importance", "read_signals", "usual_importance"]

_ENOUGH = 2
_PER_REPEAT = 0.02


@dataclass(frozen=True)
class Signals:
    """What speaks for the worth of a text.

    Args:
        explicit (`bool`): the user asked for it to be remembered.
        safety (`bool`): health or safety.
        wish (`bool`): a wish that must hold: "never", "under no circumstances", "very important".
        times (`int`): how often it was said.
        commits (`bool`): a plan or a decision.
        emotion (`bool`): strong emotion.
        preference (`bool`): a like or dislike.
        empty (`bool`): nothing but courtesies or passing states.
    """

    explicit: bool = False
    safety: bool = False
    wish: bool = False
    times: int = 1
    commits: bool = False
    emotion: bool = False
    preference: bool = False
    empty: bool = False


@dataclass(frozen=True)
class Judgement:
    """An importance and where it comes from.

    Args:
        importance (`float`): 0 to 1.
        low (`float`), high (`float`): what the rules allow; a model's judgement counts between them.
        reason (`str`): the rule that raised it most: explicit, safety, wish, repeated, commitment, emotion, preference,
            plain, empty.
    """

    importance: float
    low: float
    high: float
    reason: str


def read_signals(text: str, lexicon: Lexicon | None = None, *, explicit: bool = False, times: int = 1) -> Signals:
    """What a text says for itself, in Chinese or English.

    Args:
        text (`str`): the text of a memory.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        explicit (`bool`): whether the user asked for it.
        times (`int`): how often it was said.
    """
    lexicon = lexicon or default_lexicon()
    return Signals(
        explicit=explicit,
        safety=lexicon.found_in("safety", text),
        wish=lexicon.found_in("wishes", text),
        times=times,
        commits=lexicon.found_in("plan", text) or lexicon.found_in("decision", text),
        emotion=lexicon.found_in("emotion", text),
        preference=lexicon.found_in("preference", text),
        empty=not any(map(str.isalnum, lexicon.removed("courtesy", text))) or lexicon.found_in("trivia", text),
    )


def judge_importance(signals: Signals, model: float | None = None) -> Judgement:
    """An importance by the rules; within their bounds, a model's.

    What was asked for, and health and safety, are worth 0.9 and up; what was said twice or more 0.7 to 0.8, as is
    strong emotion; a plan or a decision 0.6 to 0.7; a preference 0.5 to 0.7; anything else 0.3 to 0.6, and what is
    empty at most 0.2. More signals never make it less.

    Args:
        signals (`Signals`): what speaks for it.
        model (`float | None`): what a model thinks, 0 to 1; what is no number counts as None.
    """
    rules = list(_rules(signals))
    low = max(rule[0] for rule in rules)
    high = max(low, *(rule[1] for rule in rules))
    reason = max(rules)[3]
    usual = min(high, max(low, *(rule[2] for rule in rules)))
    chosen = min(high, max(low, model)) if model is not None and model == model else usual
    return Judgement(round(chosen, 4), low, high, reason)


def usual_importance(text: str, lexicon: Lexicon | None = None) -> float:
    """What the rules say of a text that somebody took the trouble to store: never less than of a plain fact."""
    return max(NEUTRAL_IMPORTANCE, judge_importance(read_signals(text, lexicon)).importance)


def _rules(signals: Signals) -> list[tuple[float, float, float, str]]:
    """Low, high, usual and name of each rule that applies; the first one always does."""
    if signals.empty and not (signals.explicit or signals.safety or signals.wish):
        return [(0.0, 0.2, 0.1, "empty")]
    found = [(0.3, 0.6, NEUTRAL_IMPORTANCE, "plain")]
    if signals.preference:
        found.append((0.5, 0.7, 0.6, "preference"))
    if signals.commits:
        found.append((0.6, 0.7, 0.65, "commitment"))
    if signals.emotion:
        found.append((0.6, 0.8, 0.7, "emotion"))
    if signals.times >= _ENOUGH:
        found.append((0.7, 0.8, min(0.8, 0.7 + _PER_REPEAT * (signals.times - _ENOUGH)), "repeated"))
    if signals.wish:
        found.append((0.8, 1.0, 0.85, "wish"))
    if signals.safety:
        found.append((0.9, 1.0, 0.95, "safety"))
    if signals.explicit:
        found.append((0.9, 1.0, 0.95, "explicit"))
    return found
