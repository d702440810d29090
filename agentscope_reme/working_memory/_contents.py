# -*- coding: utf-8 -*-
"""What a memory holds, and the door through which the hook works on it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from ..dialog import message_record
from ..message import is_recalled, is_repair, is_summary, is_user_request
from ..storage import Journal
from ..text import detect_language
from ._departure import Departure
from ._entries import COMPRESSED, Content, Entry, EntryBook
from ._intake import clean_in_place, cleaned, cleaned_text
from ._services import MemoryServices
from ._session_log import NoLog, SessionLog
from ._session_state import SessionState
from ._summary_message import summary_message

__all__ = ["SessionContents", "is_injected"]


class SessionContents(InMemoryMemory):
    """The messages of one session and what is known of each. `ReMeInMemoryMemory` is what a host sees of it.

    Args:
        session_id (`str | None`):
            The session's id.
        services (`MemoryServices`):
            What it uses of the workspace.
        journal (`Journal | None`):
            The session's journal, open; nothing is journaled without.
        state (`SessionState | None`):
            What the journal says.
    """

    def __init__(
        self,
        session_id: str | None,
        services: MemoryServices,
        *,
        journal: Journal | None = None,
        state: SessionState | None = None,
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self.services = services
        self.overhead = 0
        """Tokens of all but the messages, as the last hook counted them."""
        self.shown: list[Msg] = []
        """Recalled messages that a model sees behind the summary. They are marked, counted, and never stored."""
        self.readers: dict[str, Any] = {}
        """Who, besides those who read what is noted, reads all that leaves, with what they have to know for it."""
        self._book = EntryBook(services.tokens)
        self._ids: Counter[str] = Counter()
        self._state = state or SessionState()
        self._state.session_id = session_id
        self._log: SessionLog = NoLog()
        if journal is not None and session_id is not None:
            self._log = SessionLog(journal, services.events, session_id, self._snapshot, services.consumers)
        self._departure = Departure(session_id, services.archive, services.results.store, self._log, self._state)
        for key, (msg, marks) in self._state.content.items():
            self.content.append((msg, marks))
            self._book.register(msg, marks, key=key)
            self._ids[msg.id] += 1
        self._compressed_summary = self._state.summary

    @property
    def pins(self) -> frozenset[str]:
        """The ids of the pinned messages."""
        return frozenset(self._state.pins)

    @property
    def language(self) -> str:
        """The language of what is said to the model: as configured, else that of the user's last request."""
        if self.services.language is not None:
            return self.services.language
        requests = (msg for msg, _ in reversed(self.content) if is_user_request(msg))
        return detect_language(
            (next(requests, None) or Msg("user", "", "user")).get_text_content() or self._compressed_summary
        )

    def summary_message(self) -> Msg | None:
        """The message that the summary is shown in, if there is one."""
        return summary_message(self._compressed_summary, self.services)

    def visible(self, *, everything: bool = False) -> list[tuple[Entry, list[str]]]:
        """The messages that a model sees, with their marks, after a look for edits in place."""
        self.verify(everything=everything)
        self._agree(thoroughly=True)
        return [(self._book.of(msg), marks) for msg, marks in self.content if COMPRESSED not in marks]

    def total_tokens(self) -> int:
        """The size of the messages that a model sees, without the summary."""
        return self._book.visible_tokens

    def verify(self, *, everything: bool = False) -> None:
        """Notice what was edited in place or put into the list directly, count it and put it down."""
        self._agree()
        try:
            changed = self._book.verify(self.content, everything=everything)
        except KeyError:
            self._rebuild()
            return
        self._clean(changed)
        edited = [[entry.key, message_record(entry.msg)] for entry in changed if entry.logged]
        if edited:
            self._log.write("edit", entries=edited)

    def replace(self, changed: dict[int, Msg]) -> None:
        """Put other messages in the place of stored ones, by the stored one's journal key, and put that down."""
        self._agree(thoroughly=True)
        logged = []
        for at, (msg, marks) in enumerate(self.content):
            entry = self._book.of(msg)
            if entry.key in changed:
                new = changed[entry.key]
                self._book.drop([msg])
                self._book.register(new, marks, key=entry.key)
                self.content[at] = (new, marks)
                if entry.logged:
                    logged.append([entry.key, message_record(new)])
        if logged:
            self._log.write("edit", entries=logged)

    def leave(
        self,
        messages: Sequence[Msg],
        *,
        op: str,
        summary: str | None = None,
        noted: bool = True,
    ) -> list[Msg]:
        """Let stored messages go: archive them, commit that to the journal, remove them. In one piece: nothing is
        awaited between its parts, and if archive or journal fail, nothing has changed.

        Args:
            messages (`Sequence[Msg]`):
                Stored messages, by identity; others are passed over. Hints are removed without a trace.
            op (`str`):
                `"fold"`, whose ids stay known, or `"clear"`.
            summary (`str | None`):
                The summary from now on; as it is if left out.
            noted (`bool`):
                Whether they are for the note writer too.

        Returns:
            `list[Msg]`: what left.

        Raises:
            `StorageError`: archive or journal failed.
        """
        self._agree(thoroughly=True)
        going = [entry for msg in messages if (entry := self._book.get(msg)) is not None]
        if not going:
            return []
        summary = self._compressed_summary if summary is None else cleaned_text(summary, self.services)
        self._clean(going)
        archived = [entry.msg for entry in going if entry.logged]
        keys = [entry.key for entry in going]
        self._departure.commit(op, keys, archived, summary=summary, noted=noted, readers=self.readers)
        gone = [entry.msg for entry in going]
        identities = {id(msg) for msg in gone}
        self.content = [pair for pair in self.content if id(pair[0]) not in identities]
        self._compressed_summary = summary
        self._unregister(gone)
        self._log.try_checkpoint([msg.id for msg in archived] if op == "fold" else ())
        return gone

    def hand_over(self) -> tuple[Content, str]:
        """Give the live messages and the summary away, and put down that nothing lives here any more. A fold that is
        under way finds nothing to fold.

        Returns:
            `tuple[Content, str]`: the messages with their marks, and the summary.
        """
        self._clean(self._book.of(msg) for msg, _ in self._agreed())
        content, summary = self.content, self._compressed_summary
        self.content, self._compressed_summary = [], ""
        if content or summary:
            self._state.pins = set()
            self._rebuild()
        self.close()
        return content, summary

    def results(self, longer_than: int = 0) -> list[Entry]:
        """The entries with a tool result of more than so many bytes, oldest first."""
        return self._book.results(longer_than)

    def recent_results(self, at_least: int) -> set[int]:
        """The journal keys of the recent tool results: the trailing run of them, and at least so many; 0 makes none."""
        if at_least == 0:
            return set()
        keys: set[int] = set()
        in_run = True
        for msg, _ in reversed(self.content):
            entry = self._book.get(msg)
            found = entry is not None and entry.result_bytes > 0
            in_run = in_run and found
            if not in_run and len(keys) >= at_least:
                break
            if entry is not None and found:
                keys.add(entry.key)
        return keys

    def guide_tokens(self) -> int:
        """The size of what is said around a summary."""
        guide = summary_message("-", self.services)
        return self.services.tokens.message(guide) if guide else 0

    def hold(self, messages: Iterable[Msg], summary: str, marks: Iterable[list[str]] | None = None) -> None:
        """Take over whole contents in the place of what is here, without copies but where something is redacted."""
        messages = [msg for msg in messages if not is_injected(msg)]
        self.content = list(zip(messages, marks or ([] for _ in messages), strict=True))
        self._compressed_summary = cleaned_text(summary, self.services)
        self._rebuild()

    def checkpoint(self, past: Iterable[str] = ()) -> None:
        """Put the whole state into the journal."""
        self._log.try_checkpoint(past)

    def has_pending(self, consumer: str) -> bool:
        """Whether there are fold records that a consumer has not read yet."""
        return bool(self._state.outbox) and bool(self.pending(consumer))

    def pending(self, consumer: str) -> list[dict[str, Any]]:
        """The fold records that a consumer has not read yet, oldest first; see `pending_messages`."""
        return self._state.pending(self.services.consumers, consumer)

    def give_ahead(self) -> None:
        """Make a record for the readers of the fold records of the live messages that they did not get yet; they do not
        get them again when these leave. For the end of a session that may never be gone on with."""
        self.verify(everything=True)
        given = self._state.ahead
        msgs = [msg for msg, _ in self.content if self._book.of(msg).logged and msg.id not in given]
        if not msgs:
            return
        days = sorted({self.services.archive.day_of(msg) for msg in msgs})
        record = {"number": self._state.number + 1, "ids": list(dict.fromkeys(msg.id for msg in msgs)), "days": days}
        self._state.apply({"op": "ahead", **record})
        self._log.write("ahead", **record)

    def pending_messages(self, record: dict[str, Any]) -> list[Msg]:
        """The messages of a fold record, in their order, as the memory or the archive has them; without those that were
        deleted. Reads the archive."""
        live: dict[str, list[Msg]] = {}
        if record.get("live"):
            for msg, _ in tuple(self.content):
                live.setdefault(msg.id, []).append(msg)
        archived = self.services.archive.find([each for each in record["ids"] if each not in live], record["days"])
        for msg in archived:
            live.setdefault(msg.id, []).append(msg)
        return [msg for each in dict.fromkeys(record["ids"]) for msg in live.get(each, ())]

    def advance(self, consumer: str, number: int) -> None:
        """Put down that a consumer has read the fold records up to `number`."""
        self._state.cursors[consumer] = max(number, self._state.cursors.get(consumer, 0))
        self._log.write("cursor", consumer=consumer, number=self._state.cursors[consumer])

    def owed(self, consumer: str) -> Any:
        """What a consumer has to know to read the messages that live here, where that is owed to it; else None."""
        return self._state.owed.get(consumer)

    def owe(self, consumer: str, about: Any) -> None:
        """Put down that the messages that live here are due to a consumer, and what it has to know; None: not any
        more."""
        if about != self.owed(consumer):
            self._state.apply({"op": "owe", "consumer": consumer, "about": about})
            self._log.write("owe", consumer=consumer, about=about)

    @property
    def is_open(self) -> bool:
        """Whether the session's journal is this memory's."""
        return self._log.is_open

    def close(self) -> None:
        """Let go of the journal. The messages stay; a later change opens it again."""
        self._log.close()

    # ------------------------------------------------------------------ inside

    def _knows(self, message_id: str) -> bool:
        return message_id in self._ids or message_id in self._state.folded

    def _unregister(self, gone: list[Msg]) -> None:
        self._book.drop(gone)
        for msg in gone:
            self._ids[msg.id] -= 1
            if self._ids[msg.id] <= 0:
                del self._ids[msg.id]
                self._state.pins.discard(msg.id)

    def _agree(self, *, thoroughly: bool = False) -> None:
        """Notice what was put into the list directly: by its length, or `thoroughly` by each message."""
        if not self._book.knows(self.content) if thoroughly else len(self._book) != len(self.content):
            self._rebuild()

    def _agreed(self) -> Content:
        self._agree(thoroughly=True)
        return self.content

    def _rebuild(self) -> None:
        self._take_over()
        self._log.try_checkpoint()

    def _take_over(self) -> None:
        """Know just what the list holds, whoever put it there; what is new in it is redacted."""
        content: Content = []
        taken: set[int] = set()
        for msg, marks in self.content:
            if id(msg) in taken:
                msg = deepcopy(msg)
            elif self._book.get(msg) is None:
                msg = cleaned(msg, self.services)
            taken.add(id(msg))
            content.append((msg, marks))
        self.content = content
        self._book.rebuild(self.content)
        self._ids = Counter(msg.id for msg, _ in self.content)

    def _clean(self, entries: Iterable[Entry]) -> None:
        """Redact messages that may have been edited since they came."""
        if self.services.redact is not None:
            for entry in entries:
                if clean_in_place(entry.msg, self.services):
                    self._book.recount(entry)

    def _set_pins(self, pins: set[str]) -> None:
        self._state.pins = pins
        self._log.write("pins", ids=sorted(pins))

    def _snapshot(self) -> SessionState:
        if not self._book.knows(self.content):
            self._take_over()
        pairs = [(entry, marks) for msg, marks in self.content if (entry := self._book.of(msg)).logged]
        self._clean(entry for entry, _ in pairs)
        self._state.summary = self._compressed_summary
        self._state.content = {entry.key: (entry.msg, list(marks)) for entry, marks in pairs}
        return self._state


def is_injected(msg: Msg) -> bool:
    """Whether it is one of ours that is shown and never stored."""
    return bool(msg.metadata) and (is_summary(msg) or is_recalled(msg) or is_repair(msg))
