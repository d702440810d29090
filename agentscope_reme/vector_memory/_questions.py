# -*- coding: utf-8 -*-
"""What a conversation asks of memory: its last request, and the same with the turns that it leans on."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope.message import Msg

from ..message import is_ours, is_system_prompt, is_user_request

__all__ = ["questions_of"]

_TURNS = 6
_TURN_CHARS = 300
_ASKED_CHARS = 2_000
_OURS = ("summary", "recalled", "repair")


def questions_of(messages: Sequence[Msg], query: str = "") -> list[str]:
    """Queries for a search.

    "Any cheaper ones?" means nothing by itself, so a request is also asked together with what was said before it.

    Args:
        messages (`Sequence[Msg]`): the conversation, oldest first.
        query (`str`): what is looked for, where that is known; else the last thing that a user said, or that was said
            at all.

    Returns:
        `list[str]`: one query or two; none where nothing was said.
    """
    said = [(msg, text) for msg in messages if _counts(msg) and (text := (msg.get_text_content() or "").strip())]
    asked = query.strip()
    if not asked:
        last = next((at for at in reversed(range(len(said))) if is_user_request(said[at][0])), len(said) - 1)
        if last < 0:
            return []
        asked, said = said[last][1][-_ASKED_CHARS:], said[:last]
    before = "\n".join(text[:_TURN_CHARS] for _, text in said[-_TURNS:])
    return [asked, f"{before}\n{asked}"] if before else [asked]


def _counts(msg: Msg) -> bool:
    """Whether somebody said it: memories are not looked for by other memories."""
    return not is_system_prompt(msg) and not any(is_ours(msg, kind) for kind in _OURS)
