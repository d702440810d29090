# -*- coding: utf-8 -*-
"""Reasoning that a model writes into its text, told apart from the answer."""

import re

__all__ = ["split_thinking", "strip_thinking"]

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning)"
_OPEN = rf"(?:<{_NAMES}>|<\|begin_of_thought\|>|◁think▷)"
_CLOSE = rf"(?:</{_NAMES}>|<\|end_of_thought\|>|◁/think▷)"
_UNQUOTED = r"(?<![`'\"“‘「])"

_LEADING = re.compile(rf"\s*{_OPEN}", re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)
_PAIR = re.compile(rf"{_UNQUOTED}{_OPEN}(.*?){_CLOSE}", re.IGNORECASE | re.DOTALL)
_OPEN_LINE = re.compile(rf"^[ \t]*{_OPEN}", re.IGNORECASE | re.MULTILINE)
_CLOSE_LINE = re.compile(rf"(?:^[ \t]*{_CLOSE}|{_UNQUOTED}{_CLOSE}[ \t]*$)", re.IGNORECASE | re.MULTILINE)
_ANY_CLOSING = re.compile(r"</([A-Za-z_][\w-]*)>")


def strip_thinking(text: str) -> str:
    """The text without the reasoning in it; empty where there is nothing but reasoning.

    Known are ``<think>``, ``<thinking>``, ``<thought>``, ``<reasoning>`` and ``<|begin_of_thought|>``, closed by the
    tag of another of them or by a tag that nothing opened, not closed at all (the rest is reasoning), or closed but
    never opened, as by models whose chat template writes the opening. A tag in quotes or backticks is text.
    """
    return split_thinking(text)[1]


def split_thinking(text: str) -> tuple[str, str]:
    """The reasoning in a text and the text without it, both stripped of outer white space."""
    thoughts: list[str] = []
    while leading := _LEADING.match(text):
        thought, text = _cut_leading(text[leading.end() :])
        thoughts.append(thought)
    thoughts += [match[1] for match in _PAIR.finditer(text)]
    text = _PAIR.sub("", text)
    if opening := _OPEN_LINE.search(text):
        thoughts.append(text[opening.end() :])
        text = text[: opening.start()]
    if closing := _CLOSE_LINE.search(text):
        thoughts.insert(0, text[: closing.start()])
        text = text[closing.end() :]
    return "\n".join(each.strip() for each in thoughts if each.strip()), text.strip()


def _cut_leading(rest: str) -> tuple[str, str]:
    """What follows an opening tag, cut at the tag that ends the reasoning."""
    closing = _CLOSING.search(rest) or _stray_closing(rest)
    return (rest[: closing.start()], rest[closing.end() :]) if closing else (rest, "")


def _stray_closing(rest: str) -> re.Match[str] | None:
    """The first closing tag of any name that nothing in the text opened: a model's slip of the pen."""
    for closing in _ANY_CLOSING.finditer(rest):
        if not re.search(rf"<{re.escape(closing[1])}[\s>]", rest[: closing.start()]):
            return closing
    return None
