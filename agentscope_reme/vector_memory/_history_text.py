# -*- coding: utf-8 -*-
"""A stored conversation as a model is shown it."""

from __future__ import annotations

from typing import Any

from ..message import delimited, transcript
from ._agent_tools import Say
from ._conversations import Conversations
from ._data_tags import escaped
from ._owner import Owner

__all__ = ["history_text"]

_HISTORY_CHARS, _MESSAGE_CHARS = 12_000, 2_000


async def history_text(conversations: Conversations, owner: Owner, ref: Any, say: Say) -> str:
    """A stored conversation of an owner as data, its beginning and its end where it is long."""
    wanted = ref.strip() if isinstance(ref, str) else ""
    messages = await conversations.read(wanted, owner) if wanted else []
    if not messages:
        return say("no_history", ref=wanted or "''")
    text = transcript(messages, _MESSAGE_CHARS)
    if len(text) > _HISTORY_CHARS:
        half = _HISTORY_CHARS // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    return delimited(escaped(text), "conversation", ref=wanted)
