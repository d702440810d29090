# -*- coding: utf-8 -*-
"""What a message's metadata and text say about where it comes from: us, the host, or the user."""

from typing import Any

from agentscope.message import Msg

from ._blocks import MEDIA_TYPES, blocks_of

__all__ = [
    "MARK_KEY",
    "is_ours",
    "is_recalled",
    "is_repair",
    "is_summary",
    "is_system_prompt",
    "is_user_request",
    "offloads_of",
    "with_offloads",
]

MARK_KEY = "agentscope_reme"
"""The one key of `Msg.metadata` that is ours."""

_INJECTED_NAME = "long_term_memory"
_INJECTED_TEXT = ("<long_term_memory>", "<retrieved_knowledge>", "<system-hint>", "<system-info>")
_MADE_BY_US = ("summary", "recalled", "repair")


def is_ours(msg: Msg, kind: str) -> bool:
    """Whether our mark of this kind is on the message.

    Args:
        msg (`Msg`):
            The message.
        kind (`str`):
            `"summary"`, `"recalled"`, `"repair"`, or `"offloaded"` for a message of somebody else some of whose text
            lies in a file.
    """
    mark = _mark(msg)
    if isinstance(mark, dict):
        return mark.get("kind") == kind or bool(kind == "offloaded" and mark.get("offloaded"))
    return mark == kind


def is_summary(msg: Msg) -> bool:
    """Whether the message is the summary that stands for folded messages."""
    return is_ours(msg, "summary")


def is_recalled(msg: Msg) -> bool:
    """Whether the message holds recalled memories."""
    return is_ours(msg, "recalled")


def is_repair(msg: Msg) -> bool:
    """Whether the message is the synthetic result of an interrupted call."""
    return is_ours(msg, "repair")


def is_user_request(msg: Msg) -> bool:
    """Whether a user said this: role `user`, not made by us, not injected by the host, and not blank."""
    if msg.role != "user" or msg.name == _INJECTED_NAME or any(is_ours(msg, kind) for kind in _MADE_BY_US):
        return False
    blocks = blocks_of(msg)
    texts = [block["text"] for block in blocks if block["type"] == "text" and isinstance(block.get("text"), str)]
    if texts and texts[0][:64].lstrip().startswith(_INJECTED_TEXT):
        return False
    return any(text and not text.isspace() for text in texts) or any(block["type"] in MEDIA_TYPES for block in blocks)


def is_system_prompt(msg: Msg) -> bool:
    """Whether the message instructs the model. The host gives tool results the role `system` too; they are not this."""
    return msg.role == "system" and all(block["type"] != "tool_result" for block in blocks_of(msg))


def offloads_of(msg: Msg) -> dict[str, Any]:
    """What is known of the texts of this message that lie in files, by the caller's own keys; `{}` where none does."""
    mark = _mark(msg)
    offloads = mark.get("offloaded") if isinstance(mark, dict) else None
    return offloads if isinstance(offloads, dict) else {}


def with_offloads(metadata: dict[str, Any] | None, offloads: dict[str, Any]) -> dict[str, Any]:
    """Metadata with offloads recorded in it, beside those it already has and whatever else it holds.

    They stand in the message's metadata and not in the blocks, since formatters pass unknown keys of text blocks on to
    model APIs, which refuse them.

    Args:
        metadata (`dict | None`):
            The message's metadata; it is not changed.
        offloads (`dict`):
            JSON data by a string key that names the block.

    Returns:
        `dict`: the new metadata.
    """
    metadata = dict(metadata or {})
    mark = metadata.get(MARK_KEY)
    entry: dict[str, Any] = dict(mark) if isinstance(mark, dict) else ({"kind": mark} if isinstance(mark, str) else {})
    entry["offloaded"] = {**(entry.get("offloaded") or {}), **offloads}
    return {**metadata, MARK_KEY: entry}


def _mark(msg: Msg) -> Any:
    metadata = msg.metadata
    return metadata.get(MARK_KEY) if isinstance(metadata, dict) else None
