# -*- coding: utf-8 -*-
"""What may be sent to an embedding model: text that encodes, is not blank and not too long."""

import re
from collections.abc import Callable

__all__ = ["clean", "cut_in_two", "cut_to_size", "estimate_tokens", "worth_cutting"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"[\n。！？；…]|[.!?;](?=\s)")
_WORD_END = re.compile(r"[\s，、,:：]")
_SHORT = 200  # characters
_REACH = 400  # characters from the middle in which a good place to cut is looked for


def clean(text: str) -> str:
    """Mend half surrogate pairs, take control characters out, strip; ``""`` where nothing is left to see."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _CONTROL.sub(" ", text).strip()
    return text if any(character.isprintable() and not character.isspace() for character in text) else ""


def estimate_tokens(text: str) -> int:
    """Tokens of a text for any model: half a token a byte of UTF-8, more than tokenizers make of prose."""
    return (len(text.encode("utf-8", "replace")) + 1) // 2


def cut_to_size(text: str, max_tokens: int, count: Callable[[str], int]) -> list[str]:
    """Cut a text into pieces of at most ``max_tokens``, where a sentence or a word ends if it can be; none is blank."""
    if len(text) < 2 or count(text) <= max_tokens:
        return [text]
    return [piece for half in cut_in_two(text) for piece in cut_to_size(half, max_tokens, count)]


def cut_in_two(text: str) -> list[str]:
    """Cut a text near its middle. One half alone is left where the other would be blank."""
    middle = len(text) // 2
    reach = min(_REACH, middle // 2)
    window = text[middle - reach : middle + reach]
    for ending in (_SENTENCE_END, _WORD_END):
        places = [match.end() - reach for match in ending.finditer(window)]
        if places:
            middle += min(places, key=abs)
            break
    return [half for half in map(clean, (text[:middle], text[middle:])) if half]


def worth_cutting(text: str) -> bool:
    """Whether a text that a model refused may have been too long for it."""
    return len(text) > _SHORT
