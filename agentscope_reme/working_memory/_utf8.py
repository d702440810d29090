# -*- coding: utf-8 -*-
"""UTF-8 that takes any string and gives it back, lone surrogates included."""

__all__ = ["decode_text", "encode_text"]


def encode_text(text: str) -> bytes:
    """The UTF-8 bytes of any text; a lone surrogate becomes the three bytes it would have, and comes back."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def count_lines(text: str) -> int:
    """The number of lines, where only ``\\n`` ends one, and the last need not end."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def decode_text(data: bytes) -> str:
    """The text of such bytes; what is no UTF-8 at all becomes U+FFFD."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
