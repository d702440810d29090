# -*- coding: utf-8 -*-
"""What a model passes to a tool: the host coerces nothing, so any argument may be of any type."""

from typing import Any

from ._lines import clean_text

__all__ = ["as_number", "as_path", "as_text"]


def as_path(value: Any) -> str:
    """A path as text, without the quotes and blanks that models put around it; "" where it is none."""
    return value.strip().strip("`'\"") if isinstance(value, str) else ""


def as_text(value: Any) -> str | None:
    """A text that may be stored; `None` where the argument is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    return clean_text(value) if isinstance(value, str) else None


def as_number(value: Any, default: int, most: int) -> int:
    """A number from 1 to `most`; the default where the argument is none."""
    try:
        number = int(float(value)) if not isinstance(value, bool) else default
    except (TypeError, ValueError, OverflowError):
        number = default
    return max(1, min(number, most))
