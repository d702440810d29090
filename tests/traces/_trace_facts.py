# -*- coding: utf-8 -*-
"""What a run needed again: the identifiers of its actions that only an earlier tool result had told it."""

import re
from collections.abc import Iterator
from typing import Any

from _trace_formats import Trace
from agentscope.message import Msg

__all__ = ["identifiers", "leaves", "used_facts"]

_IDENTIFIER = re.compile(r"[A-Za-z0-9_][\w./:@-]{3,}\w")
_TELLING = re.compile(r"[\d_./:@-]|[a-z][A-Z]")
"""What parts a name from a word of the language: a digit, punctuation inside, an inner capital."""


def identifiers(text: str) -> set[str]:
    """Paths, names, numbers and codes; plain words are none."""
    return {found for found in _IDENTIFIER.findall(text) if _TELLING.search(found)}


def leaves(value: Any) -> Iterator[str]:
    """All the strings in nested data, keys not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)


def used_facts(trace: Trace) -> dict[int, set[str]]:
    """The facts that each step used, by the index of its message.

    A fact is an identifier in the arguments of a call that stands in an earlier tool result and nowhere else before:
    not in the system prompt, a request, or anything the agent had written itself.
    """
    told, told_elsewhere = "", trace.system_prompt
    facts: dict[int, set[str]] = {}
    for at, msg in enumerate(trace.messages):
        used = {
            name for call in _blocks(msg, "tool_use") for text in leaves(call["input"]) for name in identifiers(text)
        }
        if found := {name for name in used if name in told and name not in told_elsewhere}:
            facts[at] = found
        told += "\n".join(text for block in _blocks(msg, "tool_result") for text in leaves(block["output"])) + "\n"
        if not list(_blocks(msg, "tool_result")):
            told_elsewhere += "\n".join(leaves(msg.content)) + "\n"
    return facts


def _blocks(msg: Msg, kind: str) -> Iterator[dict[str, Any]]:
    if isinstance(msg.content, list):
        yield from (dict(block) for block in msg.content if block["type"] == kind)
