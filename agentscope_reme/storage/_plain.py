# -*- coding: utf-8 -*-
"""Any value as one that JSON knows."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["plain"]

_DEEPEST = 60
_SHOWING_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as JSON's strings, numbers, lists and objects; never raises, and the same value gives the same.

    Args:
        value (`Any`):
            Anything, also what holds itself.
        above (`tuple[int, ...]`):
            The identities of what it lies in. What lies in itself, or too deep, is text.

    Returns:
        `Any`: numbers that JSON does not have, bytes, sets and other objects are text, as Python shows them.
    """
    if value is None or isinstance(value, (str, bool)):
        return str.__str__(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() < 8_000 else hex(value)
    if id(value) in above or len(above) >= _DEEPEST:
        return _shown(value)
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        return {_key(key): plain(item, inside) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, inside) for item in value]
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(_shown, value)))}}}"
    return _shown(value)


def _key(key: Any) -> str:
    return str.__str__(key) if isinstance(key, str) else _shown(key)


def _shown(value: Any) -> str:
    try:
        return str(value)
    except _SHOWING_ERRORS:
        return f"<{type(value).__name__}>"
