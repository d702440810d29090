# -*- coding: utf-8 -*-
"""Who sees everything: what the agent says and hears, as it happens, and what its memory makes of it."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentscope.message import Msg

from ..._events import Event, EventKind
from ...message import MessageTokens, tool_results, tool_uses
from ...working_memory import ReMeInMemoryMemory
from ...workspace import Workspace
from ._facts import RELOADING
from ._passages import Passage, passages_in

__all__ = ["Spectacle", "Tally", "Witness"]


@dataclass
class Tally:
    """The state of play. Sizes are in tokens."""

    window: int = 0
    threshold: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)
    """What the context holds: `system_prompt`, `tools`, `summary`, `shown` (of the long-term memory), `messages`."""
    steps: int = 0
    said: int = 0
    folds: int = 0
    truncations: int = 0
    reloads: int = 0
    folding: int = 0
    """Messages that are being condensed just now."""
    noting: int = 0
    """Messages of which notes are being made just now."""
    started: float = field(default_factory=time.monotonic)

    @property
    def used(self) -> int:
        return sum(self.parts.values())

    @property
    def shares(self) -> dict[str, int]:
        """The parts as the views name them: what stays the same is one."""
        fixed = self.parts.get("system_prompt", 0) + self.parts.get("tools", 0)
        return {
            "part_fixed": fixed,
            **{f"part_{key}": self.parts.get(key, 0) for key in ("summary", "shown", "messages")},
        }

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


class Spectacle(Protocol):
    """What a view shows while it happens."""

    def asked(self, text: str) -> None:
        """The person made a request."""

    def said(self, text: str) -> None:
        """The agent said something."""

    def used(self, tool: str, arguments: str, tokens: int) -> None:
        """A tool answered."""

    def truncated(self, tool: str, file: str, before: int, after: int) -> None:
        """A tool result was cut, and is in full in a file."""

    def folded(self, event: Event) -> None:
        """Messages were condensed and archived."""

    def noted(self, path: str, lines: int, last: str) -> None:
        """Lines were added to a note; the last of them."""

    def recalled(self, passage: Passage, tokens: int) -> None:
        """The agent is shown something of its long-term memory."""

    def warned(self, text: str) -> None:
        """Something went wrong, and the run goes on."""

    def gauged(self, tally: Tally) -> None:
        """The numbers are other ones now."""


class Witness:
    """Keeps a copy of all that is said, apart from the memory, and tells a view.

    Args:
        view (`Spectacle`):
            Is told.
        tokens (`MessageTokens`):
            Counts.
        tally (`Tally`):
            Is kept up to date.
        memory (`ReMeInMemoryMemory`):
            The memory that is watched: its summary, what it shows, and its notes.
    """

    def __init__(self, view: Spectacle, tokens: MessageTokens, tally: Tally, memory: ReMeInMemoryMemory) -> None:
        self.messages: dict[str, Msg] = {}
        """Everything that was said in the session, by id, as it was said."""
        self.tally = tally
        self._view = view
        self._tokens = tokens
        self._memory = memory
        self._arguments: dict[str, str] = {}
        self._cut: set[str] = set()
        self._noted = {path: len(_items(text)) for path, text in _notes_in(memory.services.workspace)}
        self._shown: Sequence[Msg] = memory.shown

    def asked(self, msg: Msg) -> None:
        """The person's request."""
        self._keep(msg)
        self._view.asked(msg.get_text_content() or "")

    def heard(self, _agent: Any, kwargs: dict[str, Any]) -> None:
        """A `pre_print` hook: the agent prints what it says, and each tool result."""
        msg = kwargs["msg"]
        if not kwargs.get("last", True):
            return
        self._keep(msg)
        results, calls = tool_results(msg), tool_uses(msg)
        if not results:
            self.tally.steps += 1
            self._arguments.update((use["id"], _shown(use["input"])) for use in calls)
            if calls and (text := msg.get_text_content()):
                self._view.said(text)
        for result in results:
            name = str(result["name"])
            self.tally.reloads += name in RELOADING
            self._view.used(name, self._arguments.get(result["id"], ""), self._tokens.message(msg))
        self._view.gauged(self.tally)

    def told(self, event: Event) -> None:
        """A listener: what the memory does."""
        if event.kind is EventKind.CHECKED:
            self._recalled()
            self.tally.parts = event.details["parts"]
        elif event.kind is EventKind.TRUNCATED and event.error is None:
            self._truncated(event)
        elif event.kind is EventKind.FOLD_STARTED:
            self.tally.folding = event.details["messages"]
        elif event.kind is EventKind.FOLDED:
            self._folded(event)
        elif event.kind is EventKind.FOLD_FAILED:
            self.tally.folding = 0
        elif event.kind is EventKind.CLEARED:
            self.tally.parts = {**self.tally.parts, "summary": 0, "messages": 0}
        elif event.kind is EventKind.NOTE_STARTED:
            self.tally.noting = event.details["messages"]
        elif event.kind in (EventKind.NOTED, EventKind.NOTE_FAILED):
            self._wrote(event)
        elif event.kind is EventKind.OVER_BUDGET:  # of the failures, this one alone is not logged
            self._view.warned(event.error or "")
        self._view.gauged(self.tally)

    def _folded(self, event: Event) -> None:
        self.tally.folds, self.tally.folding = self.tally.folds + 1, 0
        message = self._memory.summary_message()
        summary = self._tokens.message(message) if message else 0
        fixed = {key: self.tally.parts.get(key, 0) for key in ("system_prompt", "tools", "shown")}
        messages = (event.tokens_after or 0) - sum(fixed.values()) - summary
        self.tally.parts = {**fixed, "summary": summary, "messages": messages}
        self._view.folded(event)

    def _recalled(self) -> None:
        """Tell what the memory shows, once for each choice of it."""
        if self._memory.shown is self._shown:
            return
        self._shown = self._memory.shown
        for passage in passages_in([{"role": msg.role, "content": msg.content} for msg in self._shown]):
            self._view.recalled(passage, self._tokens.text(passage.text))

    def _wrote(self, event: Event) -> None:
        self.tally.noting = 0
        for path in (*event.details.get("files", ()), *(["MEMORY.md"] if event.details.get("memory_md") else [])):
            items = _items(self._memory.services.workspace.read_text(path))
            before, self._noted[path] = self._noted.get(path, 0), len(items)
            self._view.noted(path, len(items) - before, items[-1] if items else "")

    def _truncated(self, event: Event) -> None:
        self.tally.truncations += 1
        message_id = str(event.details["message_id"])
        before = event.tokens_before or 0
        if message_id not in self._cut and message_id in self.messages:
            before = max(before, self._tokens.message(self.messages[message_id]))
        self._cut.add(message_id)
        files = event.details.get("files") or [event.details.get("file", "")]
        self._view.truncated(str(event.details.get("tool") or ""), files[0], before, event.tokens_after or 0)

    def _keep(self, msg: Msg) -> None:
        known = msg.id in self.messages
        self.messages[msg.id] = msg
        self.tally.said += 0 if known else self._tokens.message(msg)


def _shown(arguments: Mapping[str, Any]) -> str:
    """The arguments of a call in a few words: the values, and the names of the numbers."""
    words = []
    for name, value in arguments.items():
        if (name == "start_line" and value == 1) or name in ("lines", "limit", "max_results"):
            continue
        words.append(str(value) if isinstance(value, str) else f"{name}={json.dumps(value, ensure_ascii=False)}")
    return " ".join(words).replace("\n", " ")


def _notes_in(workspace: Workspace) -> list[tuple[str, str]]:
    """The notes that are there, each with its path."""
    paths = [workspace.memory_md, *sorted(workspace.notes_dir.glob("*.md"))]
    names = [workspace.relative(path) for path in paths if path.is_file()]
    return [(name, workspace.read_text(name)) for name in names]


def _items(note: str) -> list[str]:
    """The list items of a note."""
    return [line.strip() for line in note.splitlines() if line.lstrip().startswith(("- ", "* "))]
