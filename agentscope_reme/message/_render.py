# -*- coding: utf-8 -*-
"""Messages as text for prompts: transcript entries, and data that cannot break out of its tag."""

import json
import re
from collections.abc import Iterable
from typing import Any

from agentscope.message import Msg

from .._errors import ConfigError
from ._blocks import blocks_of, call_input, output_text
from ._sound import is_sendable, sendable
from ._timestamp import host_timestamp, parsed_time

__all__ = ["delimited", "escape_data", "render", "transcript"]

_TAG = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
_INVISIBLE = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"


def render(msg: Msg, max_chars: int | None = None, *, thinking: bool = False) -> str:
    """One message as an entry of a transcript.

    A header `[time] role name:`, then its texts, its calls as `call name(arguments)`, and media as `[image]`; each tool
    result has a header of its own, `[time] tool name result:`.

    Args:
        msg (`Msg`):
            The message, in any state.
        max_chars (`int | None`):
            The entry has at most so many characters: head and tail stay, and a note between them says how many are
            missing. `None` keeps all.
        thinking (`bool`):
            Whether thinking blocks are part of it.

    Returns:
        `str`: `""` where the message has nothing to show.
    """
    lines: list[str] = []
    speaking = False
    for block in blocks_of(msg):
        if block["type"] == "tool_result":
            lines += [f"{_time(msg)}tool {_one_line(block.get('name')) or 'unknown'} result:", output_text(block)]
            speaking = False
        elif said := _spoken(block, thinking):
            lines += [said] if speaking else [f"{_time(msg)}{_speaker(msg)}:", said]
            speaking = True
    return _shortened("\n".join(lines), max_chars)


def transcript(messages: Iterable[Msg], max_chars: int | None = None, *, thinking: bool = False) -> str:
    """The entries of several messages with an empty line between them; messages with nothing to show are left out.

    Args:
        messages (`Iterable[Msg]`):
            The messages, in order.
        max_chars (`int | None`):
            As in `render`, for each message.
        thinking (`bool`):
            As in `render`.
    """
    entries = (render(msg, max_chars, thinking=thinking) for msg in messages)
    return "\n\n".join(entry for entry in entries if entry)


def escape_data(text: str, tag: str) -> str:
    """Text that cannot open or close a tag: `<` becomes `&lt;` before the tag's name, whatever its case, also where a
    slash, white space or invisible characters lie between.

    Args:
        text (`str`):
            The data.
        tag (`str`):
            The name of the tag that delimits it: letters, digits, `_` and `-`.
    """
    _checked_tag(tag)
    if "<" not in text:
        return text
    return re.sub(f"<(?={_INVISIBLE}(?:/{_INVISIBLE})?{re.escape(tag)})", "&lt;", text, flags=re.IGNORECASE)


def delimited(text: str, tag: str, /, **attributes: Any) -> str:
    """Data between an opening and a closing tag, which it cannot leave; without half characters, which no client sends.

    Args:
        text (`str`):
            The data.
        tag (`str`):
            The name of the tag.
        attributes (`Any`):
            Attributes of the opening tag; `None` leaves one out.
    """
    pairs = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items() if value is not None)
    shown = f"<{_checked_tag(tag)}{pairs}>\n{escape_data(text, tag)}\n</{tag}>"
    return shown if is_sendable(shown) else sendable(shown)


def _spoken(block: dict[str, Any], thinking: bool) -> str:
    kind = block["type"]
    if kind in ("text", "thinking"):
        text = block.get(kind)
        if not isinstance(text, str) or not text.strip() or (kind == "thinking" and not thinking):
            return ""
        return text if kind == "text" else f"(thinking) {text}"
    if kind == "tool_use":
        return f"call {_one_line(block.get('name')) or 'unknown'}({_arguments(block)})"
    return f"[{_one_line(kind)}]"


def _arguments(block: dict[str, Any]) -> str:
    try:
        return json.dumps(call_input(block), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return "..."


def _speaker(msg: Msg) -> str:
    name = _one_line(msg.name)
    return msg.role if name in ("", msg.role) else f"{msg.role} {name}"


def _time(msg: Msg) -> str:
    moment = parsed_time(msg.timestamp)
    if moment is None:
        return ""
    try:
        return f"[{host_timestamp(moment)[:19]}] "
    except (ValueError, OverflowError, OSError):
        return ""


def _one_line(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _shortened(text: str, max_chars: int | None) -> str:
    if max_chars is None or len(text) <= max_chars:
        return text
    note = f"\n[... {len(text) - max_chars} characters left out ...]\n"
    room = max_chars - len(note) - 1  # the number may grow by a digit
    if room <= 0:
        return text[: max(0, max_chars)]
    head = room - room // 3
    tail = room - head
    note = note.replace(str(len(text) - max_chars), str(len(text) - room))
    return text[:head] + note + text[len(text) - tail :]


def _attribute(value: Any) -> str:
    text = str(value).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(text.split())


def _checked_tag(tag: str) -> str:
    if not _TAG.fullmatch(tag):
        raise ConfigError(f"the tag {tag!r} must begin with a letter and hold letters, digits, '_' and '-' only.")
    return tag
