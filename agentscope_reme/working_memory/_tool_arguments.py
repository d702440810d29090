# -*- coding: utf-8 -*-
"""What a model writes as a tool's arguments, taken for what it means."""

from typing import Any

from .._errors import ConfigError

__all__ = ["some_text", "whole_number"]


def whole_number(name: str, value: Any, default: int) -> int:
    """Take an argument for a whole number: ``7``, ``7.0``, ``"7"`` and ``" 7.0 "`` are one.

    Args:
        name (`str`):
            The argument's name.
        value (`Any`):
            What the model wrote.
        default (`int`):
            The number where it wrote nothing (``None`` or an empty text).

    Returns:
        `int`: the number.

    Raises:
        `ConfigError`: it is none; the message names the value.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return default
    try:
        number = float(value) if isinstance(value, str) else value
        if isinstance(number, (int, float)) and not isinstance(number, bool) and int(number) == number:
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise ConfigError(f"{name} must be a whole number such as {default}, not {_shown(value)}")


def some_text(name: str, value: Any, default: str | None = None) -> str:
    """Take an argument for a text: a number is one too.

    Args:
        name (`str`):
            The argument's name.
        value (`Any`):
            What the model wrote.
        default (`str | None`, optional):
            The text where it wrote nothing; an error where left out.

    Returns:
        `str`: the text.

    Raises:
        `ConfigError`: it is none, or is missing; the message names the value.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        if default is None:
            raise ConfigError(f"{name} is empty: give a text")
        return default
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
