# -*- coding: utf-8 -*-
"""Reading the JSON arguments of a tool call, also where the model's stream broke off half-way."""

import functools
import json
import re
from typing import Any

__all__ = ["lenient_dict"]

_REPAIR_CHARS = 4_000
"""`json_repair` takes some 10 to 30 microseconds a character: longer texts are only closed, not repaired."""
_REPAIR_BRACKETS = 200
"""... and where brackets are nested deeply, far more than that."""

_LITERAL_CHARS = 40
"""How far from the end a half-written number or word is looked for."""

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
_BROKEN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)\Z")
_BROKEN_TOKEN = re.compile(r"[^\s\[\]{},:\"]+\Z")


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


def _strict(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> Any:
    """Read a text that was cut off: close what is open, after dropping a half-written token."""
    body, closers = _open_ends(text)
    trimmed = body.rstrip().removesuffix(",")
    whole_tokens = trimmed[:-_LITERAL_CHARS] + _BROKEN_TOKEN.sub("", trimmed[-_LITERAL_CHARS:])
    endings = (body, f"{trimmed}:null", f"{body} null", trimmed, f"{whole_tokens} null")
    return next((value for ending in endings if (value := _strict(ending + closers)) is not None), None)


def _open_ends(text: str) -> tuple[str, str]:
    """The text with an open string closed, and the brackets that are missing after it."""
    stack: list[str] = []
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token in ("{", "["):
            stack.append("}" if token == "{" else "]")
        elif token in ("}", "]"):
            if stack:
                stack.pop()
        elif not match[1]:
            escape = _BROKEN_ESCAPE.search(text, match.start())
            text = (text[: escape.start(1)] if escape else text) + '"'
            break
    return text, "".join(reversed(stack))


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
