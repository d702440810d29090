# -*- coding: utf-8 -*-
"""Bytes of a text file to its lines, whatever editors wrote them, one after the other in one file too."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Decoded", "decode_text", "mended", "split_lines"]

_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_BOM = b"\xef\xbb\xbf"
_HAN = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_FOREIGN = re.compile("[\u0080-\U0010ffff]")
_WIDE = re.compile("[\u0800-\ud7ff\ue000-\U0010ffff]")  # three or four bytes of UTF-8 each
_TELLING = re.compile(  # what two bytes of GBK hardly make: such a wide one, a letter with an accent in a word, many
    "[\u0800-\U0010ffff]|[A-Za-z][\u00c0-\u024f]|[\u00c0-\u024f][A-Za-z]|(?:[\u0080-\u07ff].*?){4}"
)
_ALIEN = re.compile("[\udc80-\udcff]")
_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x81-\xfe]{4}")  # two characters of GBK side by side; European letters stand apart
_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_FEW = 0.1
_MANY_NULS = 0.25


@dataclass(frozen=True)
class Decoded:
    """A file as text.

    Args:
        text (`str`): Its characters, without a byte order mark; half surrogate pairs and NULs are replaced.
        encodings (`tuple[str, ...]`): What its lines were taken for.
        whole (`bool`): Whether every byte could be read in these encodings.
    """

    text: str
    encodings: tuple[str, ...]
    whole: bool = True


@dataclass(frozen=True)
class _Reading:
    """A line in one encoding.

    Args:
        encoding (`str`): which.
        text (`str`): what it says then.
        whole (`bool`): whether every byte could be read.
        sure (`bool`): whether it can hardly be another one.
    """

    encoding: str
    text: str
    whole: bool = True
    sure: bool = True


def decode_text(data: bytes) -> Decoded:
    """Read bytes as UTF-16 as a whole, or line by line as UTF-8, as GB18030 (GBK, GB2312) where that gives Chinese,
    else as Windows-1252. A short line that fits several is read as the nearest line that fits one.

    Never fails: what fits no encoding is replaced by U+FFFD.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _utf16(data[len(bom) :], encoding)
    data = data.removeprefix(_BOM)
    try:
        return Decoded(mended(data.decode("utf-8")), ("utf-8",))
    except UnicodeDecodeError:
        pass
    nuls = data[:4096].count(0)
    if nuls > _MANY_NULS * len(data[:4096]):
        return _utf16(data, "utf-16-le" if data[1:4096:2].count(0) > nuls // 2 else "utf-16-be")
    return _line_by_line(data)


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


def _utf16(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(mended(data.decode(encoding)), (encoding,))
    except UnicodeDecodeError:
        return Decoded(mended(data.decode(encoding, "replace")), (encoding,), whole=False)


def _line_by_line(data: bytes) -> Decoded:
    lines = data.split(b"\n")
    possible = [[] if line.isascii() else _readings(line) for line in lines]
    sure = [readings[0].encoding if len(readings) == 1 else "" for readings in possible]
    near = {encoding: _distances(encoding, sure) for encoding in set(sure) - {""}}
    far = [math.inf] * len(lines)
    texts, found, whole = [], dict[str, None](), True
    for number, (line, readings) in enumerate(zip(lines, possible, strict=True)):
        if not readings:
            texts.append(line.decode("ascii"))
            continue
        chosen = min(readings, key=lambda reading: near.get(reading.encoding, far)[number])
        texts.append(chosen.text)
        found[chosen.encoding] = None
        whole = whole and chosen.whole
    return Decoded(mended("\n".join(texts)), tuple(found), whole)


def _distances(encoding: str, sure: Sequence[str]) -> list[float]:
    """How far each line is from the nearest that is sure to be in an encoding."""
    above, below = _since(encoding, sure), _since(encoding, sure[::-1])[::-1]
    return [min(pair) for pair in zip(above, below, strict=True)]


def _since(encoding: str, sure: Sequence[str]) -> list[float]:
    distances, distance = [], math.inf
    for each in sure:
        distance = 0 if each == encoding else distance + 1
        distances.append(distance)
    return distances


def _readings(line: bytes) -> list[_Reading]:
    """What a line that is not ASCII may be, the likeliest first; one alone where the line itself tells."""
    utf8, chinese = _as_utf8(line), _as_chinese(line)
    if utf8 is not None:
        return [utf8] if utf8.sure or chinese is None else [utf8, chinese]
    if chinese is not None and chinese.sure:
        return [chinese]
    european = _Reading("cp1252", line.decode("cp1252", "replace"), whole=False, sure=False)
    return [european] if chinese is None else [chinese, european]


def _as_utf8(line: bytes) -> _Reading | None:
    """As UTF-8, also with some bytes amiss. Two bytes of it may as well be one character of GBK."""
    try:
        text = line.decode("utf-8")
        return _Reading("utf-8", text, sure=bool(_TELLING.search(text)))
    except UnicodeDecodeError:
        pass
    try:
        return _Reading("utf-8", line.decode("utf-8", "surrogatepass"), whole=False)
    except UnicodeDecodeError:
        pass
    text = line.decode("utf-8", "surrogateescape")
    high, amiss = len(_HIGH.findall(line)), len(_ALIEN.findall(text))
    wide = sum(len(character.encode()) for character in _WIDE.findall(text))
    if 2 * wide > high or amiss <= _FEW * high:
        return _Reading("utf-8", line.decode("utf-8", "replace"), whole=False, sure=False)
    return None


def _as_chinese(line: bytes) -> _Reading | None:
    try:
        text = line.decode("gb18030")
    except UnicodeDecodeError:
        return None
    if 2 * len(_HAN.findall(text)) <= len(_FOREIGN.findall(text)):
        return None
    return _Reading("gb18030", text, sure=bool(_RUN.search(line)))
