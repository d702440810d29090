# -*- coding: utf-8 -*-
"""The message in which a summary is shown to the model."""

import hashlib
from functools import lru_cache

from agentscope.message import Msg

from ..message import MARK_KEY, delimited
from ..text import detect_language
from ._services import MemoryServices

__all__ = ["SUMMARY_TAG", "summary_message"]

SUMMARY_TAG = "summary"


def summary_message(summary: str, services: MemoryServices) -> Msg | None:
    """One user message: the guide to the archive, then the summary as delimited data.

    Its id derives from its text, so that the same summary is the same message; it is marked, so that it is counted and
    never folded, archived or noted.

    Args:
        summary (`str`):
            The summary; nothing comes back for an empty one.
        services (`MemoryServices`):
            The texts and the folders to name.
    """
    if not summary:
        return None
    text = _shown(summary, services.language, services)
    message = Msg("user", text, "user", metadata={MARK_KEY: "summary"})
    message.id = f"summary-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return message


@lru_cache(maxsize=64)
def _shown(summary: str, language: str | None, services: MemoryServices) -> str:
    guide = services.book.text(
        detect_language(summary) if language is None else language,
        "working_memory.guide",
        dialog_dir=services.workspace.relative(services.workspace.dialog_dir),
        tool_result_dir=services.workspace.relative(services.workspace.tool_result_dir),
    )
    return f"{guide}\n{delimited(summary, SUMMARY_TAG)}"
