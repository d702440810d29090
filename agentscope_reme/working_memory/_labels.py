# -*- coding: utf-8 -*-
"""The few words that an extractive summary adds to what was said, put on and taken off again at the next fold."""

from __future__ import annotations

from ..text import Language

__all__ = ["FAILED", "PRINTED", "labelled", "unlabelled"]

FAILED = " → "
"""Between a call and what went wrong in it."""

PRINTED = " → “"
"""Between a call and what it printed."""

_LABELS = {
    "current": ("Current request: ", "当前请求："),
    "latest": ("Latest request (answered): ", "最近的请求（已答复）："),
    "user": ("User: ", "用户："),
    "reply": ("Replied: ", "已答复："),
    "question": ("Asked the user: ", "已询问用户："),
    "last": ("Last step: ", "最后一步："),
}


def labelled(text: str, kind: str, language: Language) -> str:
    """The text with the label of its kind, if that kind has one."""
    return _LABELS.get(kind, ("", ""))[language == "zh"] + text


def unlabelled(text: str) -> tuple[str, str]:
    """The text without its label in either language, and its kind: `""` if there was no label."""
    for kind, labels in _LABELS.items():
        for label in labels:
            if text.startswith(label):
                return text[len(label) :], kind
    return text, ""
