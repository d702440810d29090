# -*- coding: utf-8 -*-
"""Bytes of a note to its lines, whatever editor wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Decoded", "decode", "mended", "split_lines"]

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HAN = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_FOREIGN = re.compile("[\u0080-\U0010ffff]")
_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_FEW = 0.1
_MANY_NULS = 0.25


@dataclass(frozen=True)
class Decoded:
    """A file as text.

    Args:
        text (`str`): Its characters, without a byte order mark; half surrogate pairs and NULs are replaced.
        encoding (`str`): What it was taken for.
        whole (`bool`): Whether every byte could be read in that encoding.
    """

    text: str
    encoding: str
    whole: bool = True


def decode(data: bytes) -> Decoded:
    """Read bytes as UTF-8 or UTF-16, as GB18030 (GBK, GB2312) where that gives Chinese, else as Windows-1252.

    Never fails: what fits no encoding is replaced by U+FFFD.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _lenient(data[len(bom) :], encoding)
    try:
        return Decoded(mended(data.decode("utf-8")), "utf-8")
    except UnicodeDecodeError:
        pass
    nuls = data[:4096].count(0)
    if nuls > _MANY_NULS * len(data[:4096]):
        return _lenient(data, "utf-16-le" if data[1:4096:2].count(0) > nuls // 2 else "utf-16-be")
    return _not_quite_utf8(data)


def split_lines(text: str) -> list[str]:
    """The lines without their ends; only a line feed ends one, as for the file tools."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if not lines[-1] else lines


def mended(text: str) -> str:
    """The text with every half surrogate pair that has its other half joined, and others and NULs replaced."""
    if not _UNSOUND.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "\ufffd")


def _lenient(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(mended(data.decode(encoding)), encoding)
    except UnicodeDecodeError:
        return Decoded(mended(data.decode(encoding, "replace")), encoding, whole=False)


def _not_quite_utf8(data: bytes) -> Decoded:
    try:
        return Decoded(mended(data.decode("utf-8", "surrogatepass")), "utf-8", whole=False)
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") <= _FEW * len(_FOREIGN.findall(text)):
        return Decoded(mended(text), "utf-8", whole=False)
    try:
        chinese = data.decode("gb18030")
        if 2 * len(_HAN.findall(chinese)) > len(_FOREIGN.findall(chinese)):
            return Decoded(mended(chinese), "gb18030")
    except UnicodeDecodeError:
        pass
    return Decoded(mended(data.decode("cp1252", "replace")), "cp1252", whole=False)
