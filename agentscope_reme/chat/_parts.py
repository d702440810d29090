# -*- coding: utf-8 -*-
"""A long input packed into parts that fit a model, with nothing left out."""

from collections.abc import Callable, Iterator, Sequence

from .._errors import ConfigError

__all__ = ["pack_parts", "split_to_fit"]

Measure = Callable[[str], int]


def pack_parts(texts: Sequence[str], capacity: int, measure: Measure, *, separator: str = "\n\n") -> list[list[str]]:
    """Put texts into as few consecutive parts as fit; one too long for a part is split over several.

    Args:
        texts (`Sequence[str]`): The texts in their order.
        capacity (`int`): The most tokens in a part once its texts are joined.
        measure (`Callable[[str], int]`): Tokens in a text.
        separator (`str`): What joins the texts of a part.

    Returns:
        `list[list[str]]`: The parts. All their texts in a row are the input, character for character.
    """
    parts: list[list[str]] = []
    room, joint = 0, measure(separator)
    for text in texts:
        for piece, size in _sized(text, capacity, measure):
            if parts and size + joint <= room:
                parts[-1].append(piece)
                room -= size + joint
            else:
                parts.append([piece])
                room = capacity - size
    return parts


def _sized(text: str, capacity: int, measure: Measure) -> list[tuple[str, int]]:
    size = measure(text)
    if size <= capacity:
        return [(text, size)]
    return [(piece, measure(piece)) for piece in split_to_fit(text, capacity, measure)]


def split_to_fit(text: str, capacity: int, measure: Measure) -> list[str]:
    """Split one text into pieces of at most ``capacity`` tokens, at the ends of lines or words where possible.

    The pieces joined are the text. A single character above the capacity is a piece of its own.
    """
    if capacity < 1:
        raise ConfigError(f"A part of {capacity} tokens holds nothing: enlarge the model's input window.")
    return list(_pieces(text, capacity, measure))


def _pieces(text: str, capacity: int, measure: Measure) -> Iterator[str]:
    at, guess = 0, max(1, len(text) * capacity // max(1, measure(text)))
    while at < len(text):
        length = _fitting(text, at, min(guess, len(text) - at), capacity, measure)
        piece = text[at : at + length]
        if at + length < len(text):
            piece = piece[: _break(piece)]
        yield piece
        at += len(piece)


def _fitting(text: str, at: int, length: int, capacity: int, measure: Measure) -> int:
    """A length from here, at most the one proposed, whose text fits."""
    while length > 1 and (size := measure(text[at : at + length])) > capacity:
        length = max(1, min(length - 1, length * capacity // size))
    return length


def _break(piece: str) -> int:
    """Where to cut: after the last line end in the second half, else after the last space there, else at the end."""
    for sign in ("\n", "。", " "):
        found = piece.rfind(sign, len(piece) // 2)
        if found >= 0:
            return found + 1
    return len(piece)
