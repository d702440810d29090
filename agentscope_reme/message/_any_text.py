# -*- coding: utf-8 -*-
"""Any value as text, for counting and comparing: never raises, whatever was put into a message."""

import json
import re
from typing import Any

__all__ = ["any_text", "shown"]

_DEEPEST = 40
_LONGEST_DATA, _DATA_KEPT = 4000, 2000  # characters of base64
_BASE64 = re.compile(r"(?:data:[^,]{0,200},)?[A-Za-z0-9+/_=\r\n-]*")
_REPR_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def any_text(value: Any) -> str:
    """A value as text: JSON where it can be, with long base64 in it cut short, else as Python shows it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(_shortened(value), ensure_ascii=False, default=shown)
    except (TypeError, ValueError, RecursionError):
        return shown(value)


def shown(value: Any) -> str:
    """A value as Python shows it; the name of its type where it cannot."""
    try:
        return repr(value)
    except _REPR_ERRORS:
        return f"<{type(value).__name__}>"


def _shortened(value: Any, depth: int = 0) -> Any:
    """A copy in which long strings that look like base64, and bytes, are cut."""
    if isinstance(value, str):
        is_data = len(value) > _LONGEST_DATA and _BASE64.fullmatch(value)
        return value[:_DATA_KEPT] if is_data else value
    if isinstance(value, (bytes, bytearray)):
        return shown(bytes(value[:_DATA_KEPT]))
    if depth >= _DEEPEST:
        return shown(value)
    if isinstance(value, dict):
        return {_key(key): _shortened(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_shortened(item, depth + 1) for item in value]
    return value


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, float)) or key is None else shown(key)
