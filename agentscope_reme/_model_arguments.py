# -*- coding: utf-8 -*-
"""What a model passes to a tool, taken for what it means: the host coerces nothing, and any type may come."""

import json
from contextlib import suppress
from typing import Any

__all__ = ["as_count", "as_texts"]

_TEXTS, _TEXT_CHARS = 50, 4_000
"""The most of one call."""


def as_texts(value: Any) -> list[str]:
    """A list of texts, whether they were written as a list, as JSON, or as one text; blank ones are left out."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    given = value if isinstance(value, (list, tuple)) else [value]
    return list(dict.fromkeys(text for each in given if (text := _text(each))))[:_TEXTS]


def as_count(value: Any, default: int, most: int) -> int:
    """A number from 1 to `most`; the default where the argument is none."""
    try:
        number = default if value is None or isinstance(value, bool) else int(float(value))
    except (TypeError, ValueError, OverflowError):
        number = default
    return max(1, min(number, most))


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:_TEXT_CHARS].encode("utf-8", "replace").decode("utf-8").strip()
