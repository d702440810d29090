# -*- coding: utf-8 -*-
"""What an image, a sound or a film costs: by rule, never by its bytes."""

import binascii
import struct
from collections.abc import Callable
from typing import Any

__all__ = ["media_tokens"]

_IMAGE, _AUDIO, _VIDEO = 1000, 1500, 3000  # tokens, where nothing more is known
_FEWEST, _MOST = 85, 4000
_PIXELS_PER_TOKEN = 750  # the rule of Anthropic's vision guide; Qwen-VL takes one for 28 x 28
_HEADER = 64  # characters of base64 that hold the size in all formats but JPEG
_JPEG_HEADER = 200_000  # characters; an embedded profile or preview stands before the size

Size = tuple[int, int]


def media_tokens(block: dict[str, Any]) -> int:
    """The tokens of an image, audio or video block.

    Args:
        block (`dict`):
            The block; a `source` with base64 data or with a link, or anything else.

    Returns:
        `int`: for an image whose size (in pixels) can be read, width x height / 750 within 85 to 4,000; else a constant
        of its type.
    """
    kind = block.get("type")
    if kind == "audio":
        return _AUDIO
    if kind == "video":
        return _VIDEO
    size = _image_size(_base64_of(block.get("source")))
    if size is None or 0 in size:
        return _IMAGE
    return min(max(size[0] * size[1] // _PIXELS_PER_TOKEN, _FEWEST), _MOST)


def _base64_of(source: Any) -> str:
    """The data of a source, without a leading `data:image/png;base64,`; `""` where it has none."""
    if not isinstance(source, dict):
        return ""
    data = source.get("data") or source.get("url")
    if not isinstance(data, str):
        return ""
    if data.startswith("data:"):
        return data[data.find(",", 0, 200) + 1 :]
    return data if source.get("data") else ""


def _image_size(data: str) -> Size | None:
    head = _decoded(data[:_HEADER])
    if head.startswith(b"\xff\xd8"):
        return _jpeg_size(_decoded(data[:_JPEG_HEADER]))
    read = next((read for magic, read in _READERS.items() if head.startswith(magic)), None)
    try:
        return read(head) if read else None
    except (struct.error, IndexError):
        return None


def _decoded(data: str) -> bytes:
    try:
        return binascii.a2b_base64(data[: len(data) // 4 * 4].encode())
    except ValueError:
        return b""


def _png_size(head: bytes) -> Size:
    return struct.unpack_from(">II", head, 16)


def _gif_size(head: bytes) -> Size:
    return struct.unpack_from("<HH", head, 6)


def _webp_size(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":  # 24 bits each, less one
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":  # 14 bits each, less one, after the signature
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


_READERS: dict[bytes, Callable[[bytes], Size | None]] = {
    b"\x89PNG\r\n\x1a\n": _png_size,
    b"GIF8": _gif_size,
    b"RIFF": _webp_size,
}


def _jpeg_size(data: bytes) -> Size | None:
    """Walk over the segments to the frame header (SOF), which holds the size."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None
