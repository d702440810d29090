# -*- coding: utf-8 -*-
"""Names of people, sessions and tool calls as file names, and which file names are safe on every system."""

import hashlib
import unicodedata

__all__ = ["MAX_NAME_BYTES", "component_fault", "escape_name"]

MAX_NAME_BYTES = 255
"""The longest file name that common file systems take, in bytes of UTF-8."""

_MAX_ESCAPED_BYTES = 120
"""The longest escaped name: room for an extension, and for file systems that encrypt names (143 bytes)."""

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"]
)
_UCD = unicodedata.ucd_3_2_0
"""A version of Unicode that never changes, so that a name gets the same file name under every Python."""


def escape_name(name: str) -> str:
    """Turn any string into a file name that is safe on every system, a different one for each string.

    Lower-case letters, digits, ``-``, ``_``, inner dots and letters of other scripts stay as they are, ``A`` becomes
    ``+a`` (file systems that ignore case would mix them up), everything else ``%`` and the hex digits of its UTF-8
    bytes. What would get longer than 120 bytes is cut and ends in a SHA-256 of the name.

    Args:
        name (`str`):
            A session id, a user's name, a tool call's id: anything, also empty or malformed.

    Returns:
        `str`: the file name, without an extension. Two different names never share one, not even where case or
        Unicode normalization is ignored.
    """
    if not name:
        return "%empty"
    tokens = [_escape_char(char) for char in name]
    for edge in (0, -1):
        if tokens[edge] == ".":
            tokens[edge] = "%2e"
    if "".join(tokens).partition(".")[0] in _RESERVED:
        tokens[0] = _percent(name[0])
    if _UCD.normalize("NFC", "".join(tokens)) != "".join(tokens):
        tokens = [token if token.isascii() else _percent(token) for token in tokens]
    escaped = "".join(tokens)
    return escaped if len(escaped.encode()) <= _MAX_ESCAPED_BYTES else _shortened(name, tokens)


def component_fault(part: str) -> str:
    """Say what is wrong with one part of a path, on whatever system it will be used.

    Args:
        part (`str`):
            A file or folder name; not ``..``.

    Returns:
        `str`: the reason, or ``""`` where nothing is wrong.
    """
    if any(ord(char) < 32 or char == "\x7f" for char in part):
        return "it holds a control character"
    if any("\ud800" <= char <= "\udfff" for char in part):
        return "it holds half a character"
    if any(char in '\\:*?"<>|' for char in part):
        return 'it holds one of the characters \\ : * ? " < > |'
    if part.endswith((".", " ")):
        return "a name must not end in a dot or a space"
    if part.partition(".")[0].rstrip(" ").lower() in _RESERVED:
        return "the name is reserved on Windows"
    if len(part.encode()) > MAX_NAME_BYTES:
        return f"a name of {len(part.encode())} bytes is longer than the {MAX_NAME_BYTES} that a file system takes"
    return ""


def _escape_char(char: str) -> str:
    if char.isascii():
        if char.islower() or char.isdigit() or char in "-_.":
            return char
        return f"+{char.lower()}" if char.isupper() else _percent(char)
    return char if _is_plain_letter(char) else _percent(char)


def _is_plain_letter(char: str) -> bool:
    """Whether a letter or digit outside ASCII means the same file whatever a file system folds or composes."""
    raised = char.upper()
    folds = {char.casefold(), char.lower(), raised.lower(), raised.casefold(), _UCD.normalize("NFKC", char)}
    return _UCD.category(char)[0] in "LN" and folds == {char}


def _percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "surrogatepass"))


def _shortened(name: str, tokens: list[str]) -> str:
    """Keep whole escaped characters from the front, then ``%~`` (found nowhere else) and the hash of the name."""
    suffix = "%~" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    room, kept = _MAX_ESCAPED_BYTES - len(suffix), []
    for token in tokens:
        room -= len(token.encode())
        if room < 0:
            break
        kept.append(token)
    return "".join(kept) + suffix
