# -*- coding: utf-8 -*-
"""The JSON in what a model wrote."""

import json
import re
from collections.abc import Iterator
from typing import Any

from .._errors import ModelReplyError
from ._thinking import strip_thinking

__all__ = ["parse_json"]

_START = re.compile(r"[\[{]")
_FENCE = re.compile(r"```(?:json\w*)?\s*\Z", re.IGNORECASE)
_LIKE_JSON = re.compile(r"""\{\s*["'“}]|\[\s*[\[{"'“\d\]-]""")
_DECODER = json.JSONDecoder(strict=False)


def parse_json(text: str) -> Any:
    """Read the JSON object or list in a model's reply.

    Reasoning before it, prose around it and a fence are passed over; a fence inside a string is left alone. Of several
    values a fenced one is preferred, then the longest, then the last. What is almost JSON is repaired.

    Args:
        text (`str`): The reply.

    Returns:
        `dict | list`: The value.

    Raises:
        `ModelReplyError`: the reply is empty or holds no JSON object or list.
    """
    whole = _decoded(text or "")
    if whole is not None:
        return whole
    answer = strip_thinking(text or "")
    if not answer:
        raise ModelReplyError("The model's reply is empty: JSON was asked for.")
    found = max(_candidates(answer), key=lambda each: each[:3], default=None)
    if found is None:
        raise ModelReplyError(f"There is no JSON in the model's reply: {answer[:200]!r}")
    return found[3]


def _decoded(text: str) -> Any:
    try:
        value = _DECODER.decode(text.strip())
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def _candidates(text: str) -> Iterator[tuple[bool, int, int, Any]]:
    """Each outermost value, with what it is ranked by: fenced, length, position."""
    at = 0
    while start := _START.search(text, at):
        value, end = _value_at(text, start.start())
        if end is not None:
            yield _is_fenced(text, start.start()), end - start.start(), start.start(), value
        at = start.end() if end is None else end


def _value_at(text: str, start: int) -> tuple[Any, int | None]:
    """The value that begins here and where it ends; `None` for the end where none does."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    if not _LIKE_JSON.match(text, start):
        return None, None
    end = text.find("\n```", start) if _is_fenced(text, start) else -1
    end = len(text) if end < 0 else end
    value = _repaired(text[start:end])
    return (value, end) if value else (None, None)


def _is_fenced(text: str, start: int) -> bool:
    return bool(_FENCE.search(text, max(0, start - 40), start))


def _repaired(text: str) -> Any:
    import json_repair

    value = json_repair.loads(text)
    return value if isinstance(value, (dict, list)) else None
