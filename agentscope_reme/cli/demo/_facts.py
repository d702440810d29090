# -*- coding: utf-8 -*-
"""What the report needs to say, and how it is recognized in whatever a model is shown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FACTS", "RELOADING", "Fact", "Finding", "Seen", "plain"]

RELOADING = ("grep_working_memory", "read_working_memory", "memory_search", "memory_get")


@dataclass(frozen=True)
class Fact:
    """One thing to report.

    Args:
        names (`tuple[str, ...]`):
            What the groups of the pattern hold.
        pattern (`str`):
            A regular expression that nothing but the fact itself matches.
        search (`Mapping[str, str]`):
            What to look for in the archive where it is not in the context any more, by language.
    """

    names: tuple[str, ...]
    pattern: str
    search: Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """A fact as it was found: the values, and where: `"kept"`, `"summary"` or `"archive"`."""

    values: dict[str, str]
    source: str


def _both(text: str) -> dict[str, str]:
    return {"en": text, "zh": text}


FACTS: Sequence[Fact] = (
    Fact(
        ("ticket", "author", "before", "after"),
        r"(CHG-\d+) \| ([\w.]+) \| paylane\.timeout_ms (\d+) -> (\d+)",
        _both("paylane.timeout_ms"),
    ),
    Fact(("setting",), r"paylane\.timeout_ms +\d+ +from ([\w/.]+:\d+)", _both("paylane.timeout_ms")),
    Fact(("code",), r"(orderdesk/paylane\.py:\d+): continue", _both("paylane.py:")),
    Fact(("pool",), r"pool\.size +(\d+) +from", _both("pool.size")),
    Fact(
        ("timeouts", "first_time", "first_request"),
        r"wave 1: (\d+) timeouts, then PoolEmpty at ([\d:]+) for (req-\w+)",
        _both("wave 1:"),
    ),
    Fact(("checkouts", "failed"), r"in all +(\d+) checkouts, (\d+) failed", _both("in all ")),
    Fact(
        ("extension",),
        r"(?:treasury desk \(ext\. |资金部（分机 )(\d+)",
        {"en": "treasury desk", "zh": "资金部"},
    ),
)


class Seen:
    """The messages of one request, as the model is sent them, and nothing else.

    Args:
        messages (`Sequence[dict]`):
            Formatted messages.
    """

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self._texts = list(_texts_of(messages))

    def find(self, fact: Fact) -> Finding | None:
        """The fact, if it can be read in what was sent; what was there all along goes before what was reloaded."""
        for source in ("summary", "kept", "archive"):
            for where, text in self._texts:
                if where == source and (found := re.search(fact.pattern, text)):
                    return Finding(dict(zip(fact.names, found.groups(), strict=True)), source)
        return None

    def number(self, pattern: str, default: int = 1) -> int:
        """The number that the latest text with this pattern holds."""
        for _, text in reversed(self._texts):
            if found := re.search(pattern, text):
                return int(found[1])
        return default


def _texts_of(messages: Sequence[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    """The texts, each with where it comes from. The system prompt and the person's requests report nothing."""
    reloads: set[str] = set()
    for at, message in enumerate(messages):
        calls = message.get("tool_calls") or []
        reloads |= {call["id"] for call in calls if call["function"]["name"] in RELOADING}
        text = plain(message.get("content"))
        if message["role"] == "tool":
            yield ("archive" if message.get("tool_call_id") in reloads else "kept"), text
        elif message["role"] == "assistant":
            yield "kept", text
        elif message["role"] == "user" and at == 1 and "grep_working_memory" in text:
            yield "summary", text


def plain(content: Any) -> str:
    """The text of a formatted message's content."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""
