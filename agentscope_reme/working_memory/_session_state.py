# -*- coding: utf-8 -*-
"""What a session is, as the records of its journal make it."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agentscope.message import Msg

from .._errors import SessionError
from ..dialog import message_of, message_record

__all__ = ["SessionState", "head_record"]

logger = logging.getLogger("agentscope_reme")

_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, AssertionError, IndexError)

FORMAT = 1
"""The version of the records. A higher one is a later package's, which may mean something else by them."""

Stored = tuple[Msg, list[str]]


def head_record(session_id: str | None) -> dict[str, Any]:
    """What a journal begins with: whose it is, and how to read it."""
    return {"op": "session", "version": FORMAT, "session_id": session_id}


@dataclass
class SessionState:
    """What a session is after a number of records; `apply` adds one.

    Records, by `op`: `session` begins a journal; `add`, `drop`, `marks`, `edit` and `pins` name messages by the key
    they got when they were added; `leaving` announces ids on their way into the archive, `fold` and `clear` say that
    they are there and have left; `ahead` says that live messages are for the readers of the fold records before they
    leave; `summary` sets the summary; `cursor` moves a consumer of the fold records forward; `owe` says that one has
    yet to read what lives here; `state` replaces everything.
    """

    content: dict[int, Stored] = field(default_factory=dict)
    summary: str = ""
    pins: set[str] = field(default_factory=set)
    folded: set[str] = field(default_factory=set)
    outbox: list[dict[str, Any]] = field(default_factory=list)
    cursors: dict[str, int] = field(default_factory=dict)
    ahead: set[str] = field(default_factory=set)
    """The ids of messages that the readers of the fold records got while they were live."""
    owed: dict[str, Any] = field(default_factory=dict)
    """Consumers that have not read what lives here, though it was due, with what they have to know for it."""
    leaving: dict[str, Any] | None = None
    number: int = 0
    session_id: str | None = None
    faults: list[str] = field(default_factory=list)
    """What could not be read."""

    @classmethod
    def replay(cls, records: Iterable[dict]) -> "SessionState":
        """The state after all records; what cannot be read is logged, passed over and put down in `faults`.

        Raises:
            `SessionError`: a later version of this package wrote them.
        """
        state = cls()
        for record in records:
            try:
                state.apply(record)
            except _UNREADABLE as error:
                state._pass_over("a record", record, error)
        return state

    def apply(self, record: dict) -> None:
        """Add what one record says."""
        getattr(self, f"_on_{record['op']}")(record)

    def _pass_over(self, what: str, value: Any, error: Exception) -> None:
        logger.warning("In a journal %s cannot be read (%r) and is passed over: %.200r", what, error, value)
        self.faults.append(f"{what} cannot be read ({error!r})")

    def _on_session(self, record: dict) -> None:
        self.session_id = record.get("session_id", self.session_id)
        found = record.get("version", FORMAT)
        if isinstance(found, int) and found > FORMAT:
            raise SessionError(
                f"Session {self.session_id!r} was written in format {found}, and this agentscope-reme knows formats up "
                f"to {FORMAT}: upgrade agentscope-reme to go on with it.",
            )

    def _put(self, key: int, message: dict, marks: Iterable[str]) -> None:
        if not isinstance(key, int):
            raise TypeError(f"the key {key!r} is no number")
        self.content[key] = (message_of(message), list(marks))

    def _put_all(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            try:
                self._put(*entry)
            except _UNREADABLE as error:
                self._pass_over("a message", entry, error)

    def _on_add(self, record: dict) -> None:
        self._put_all(record["entries"])

    def _on_drop(self, record: dict) -> None:
        gone = {self.content.pop(key)[0].id for key in record["keys"] if key in self.content} & self.pins
        if gone:
            self.pins -= gone - {msg.id for msg, _ in self.content.values()}

    def _on_marks(self, record: dict) -> None:
        for key, marks in record["entries"]:
            if key in self.content:
                self.content[key] = (self.content[key][0], list(marks))

    def _on_edit(self, record: dict) -> None:
        known = ([*entry[:2], self.content[entry[0]][1]] for entry in record["entries"] if entry[0] in self.content)
        self._put_all(known)

    def _on_summary(self, record: dict) -> None:
        self.summary = record["text"]

    def _on_pins(self, record: dict) -> None:
        self.pins = set(record["ids"])

    def _on_leaving(self, record: dict) -> None:
        self.leaving = record

    def _on_fold(self, record: dict) -> None:
        self._on_clear(record)
        self.folded.update(record["ids"])

    def _on_clear(self, record: dict) -> None:
        self._on_drop(record)
        rest = [each for each in (self.leaving or {}).get("ids", ()) if each not in record["ids"]]
        self.leaving = {**self.leaving, "ids": rest} if self.leaving and rest else None
        self.session_id, self.number, self.summary = record["session_id"], record["number"], record["summary"]
        if record["noted"] or record.get("readers"):
            kept = ("op", "number", "ids", "days", "noted", "readers")
            left = {key: record[key] for key in kept if key in record}
            given = [each for each in record["ids"] if each in self.ahead]
            if len(given) == len(record["ids"]):
                left["noted"] = False
            if left["noted"] or left.get("readers"):
                self.outbox.append({**left, "given": given} if given else left)

    def _on_ahead(self, record: dict) -> None:
        self.number = record["number"]
        self.outbox.append({key: record[key] for key in ("number", "ids", "days")} | {"live": True})
        self.ahead.update(record["ids"])

    def _on_cursor(self, record: dict) -> None:
        self.cursors[record["consumer"]] = record["number"]

    def _on_owe(self, record: dict) -> None:
        self.owed[record["consumer"]] = record["about"]
        self.owed = {name: about for name, about in self.owed.items() if about is not None}

    def _on_state(self, record: dict) -> None:
        self._on_session(record)
        self.content = {}
        self._put_all(record["entries"])
        self.summary, self.pins, self.number = record["summary"], set(record["pins"]), record["number"]
        self.outbox, self.cursors = list(record["outbox"]), dict(record["cursors"])
        self.ahead, self.leaving = set(record.get("ahead", ())), record["leaving"]
        self.owed = dict(record.get("owed", {}))

    def unread(self, consumers: Iterable[str], consumer: str | None = None) -> list[dict[str, Any]]:
        """The fold records that somebody has yet to read, or one consumer: what a record names, and these consumers
        where it is noted."""
        return [
            record
            for record in self.outbox
            if any(
                record["number"] > self.cursors.get(name, 0)
                for name in (*record.get("readers", ()), *(consumers if record.get("noted", True) else ()))
                if consumer in (None, name)
            )
        ]

    def pending(self, consumers: Iterable[str], consumer: str) -> list[dict[str, Any]]:
        """The fold records that a consumer has not read yet, oldest first: `number`, `ids`, `days`, `readers`. Who
        reads what is noted got some of the messages while they were live, and does not get them again."""
        return [
            record
            if consumer in record.get("readers", ()) or "given" not in record
            else {**record, "ids": [each for each in record["ids"] if each not in record["given"]]}
            for record in self.unread(consumers, consumer)
        ]

    def record(self) -> dict[str, Any]:
        """The one record that stands for all of this, but for the folded ids, which the journal keeps apart."""
        return {
            **head_record(self.session_id),
            "op": "state",
            "entries": [[key, message_record(msg), marks] for key, (msg, marks) in self.content.items()],
            "summary": self.summary,
            "pins": sorted(self.pins),
            "number": self.number,
            "outbox": self.outbox,
            "cursors": self.cursors,
            "ahead": sorted(self.ahead & {msg.id for msg, _ in self.content.values()}),
            "leaving": self.leaving,
            "owed": self.owed,
        }
