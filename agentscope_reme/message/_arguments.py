# -*- coding: utf-8 -*-
"""Reading the JSON arguments of a tool call, also where the model's stream broke off half-way."""

import functools
import json
import re
from typing import Any

__all__ = ["lenient_dict", "strict_dict"]

_REPAIR_CHARS = 4_000
"""`json_repair` takes some 10 to 30 microseconds a character: longer texts are only closed, not repaired."""
_REPAIR_BRACKETS = 200
"""... and where brackets are nested deeply, far more than that."""

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\],]', re.DOTALL)
_BROKEN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*((?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?)\Z")
"""Half an escape, with the half of a surrogate pair before it."""


def lenient_dict(*candidates: Any) -> dict[str, Any]:
    """The first candidate that reads as a JSON object, strictly if one does, else repaired; a new dictionary.

    Args:
        candidates (`Any`):
            Texts to try, in order; what is not a string is passed over.

    Returns:
        `dict`: `{}` where nothing can be read.
    """
    texts = [text for text in candidates if isinstance(text, str) and text and not text.isspace()]
    for read in (_strict, _closed, _repaired):
        for text in texts:
            value = read(text)
            if isinstance(value, dict):
                return value
    return {}


def strict_dict(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, or `None` where it is anything else."""
    value = _strict(text)
    return value if isinstance(value, dict) else None


def _strict(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> Any:
    """Read a text that was cut off: close what is open; where that is not enough, drop the entry that was cut."""
    body, entry, closers = _open_ends(text)
    value = _strict(body + closers)
    return _strict(body[:entry] + closers) if value is None else value


def _open_ends(text: str) -> tuple[str, int, str]:
    """The text with an open string closed; where its last entry begins; the brackets that are missing after it."""
    stack: list[str] = []
    entry = 0
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token == ",":
            entry = match.start()
        elif token in ("{", "["):
            stack.append("}" if token == "{" else "]")
            entry = match.end()
        elif token in ("}", "]"):
            if stack:
                stack.pop()
        elif not match[1]:
            escape = _BROKEN_ESCAPE.search(text, match.start())
            text = (text[: escape.start(1)] if escape else text) + '"'
            break
    return text, entry, "".join(reversed(stack))


@functools.lru_cache(maxsize=128)
def _repaired_json(text: str) -> str | None:
    import json_repair

    try:
        return json.dumps(json_repair.loads(text, skip_json_loads=True))
    except (ValueError, RecursionError, TypeError):
        return None


def _repaired(text: str) -> Any:
    if len(text) > _REPAIR_CHARS or text.count("{") + text.count("[") > _REPAIR_BRACKETS:
        return None
    repaired = _repaired_json(text)
    return None if repaired is None else json.loads(repaired)
