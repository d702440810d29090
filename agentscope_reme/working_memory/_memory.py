# -*- coding: utf-8 -*-
"""The host's in-memory memory, made aware of tokens and kept on disk."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from .._errors import ReMeError
from .._events import EventKind
from ..message import (
    is_recalled,
    is_repair,
    is_summary,
    is_user_request,
    msg_to_dict,
    provider_view,
    redacted,
)
from ..storage import Journal
from ..text import detect_language
from ._departure import Departure
from ._entries import COMPRESSED, HINT, Entry, EntryBook
from ._intake import bounded
from ._services import MemoryServices
from ._session_log import NoLog, SessionLog, SessionState
from ._summary_message import summary_message
from ._usage import history_text, usage_of
from ._window_view import VIEW_SHARE, within_window

__all__ = ["ReMeInMemoryMemory"]


class ReMeInMemoryMemory(InMemoryMemory):
    """The messages of one session: counted, journaled as they come, archived when they leave.

    It behaves as `InMemoryMemory`, with these differences. Without a mark and without an excluded mark, `get_memory`
    leaves out compressed messages and returns what a model accepts: each tool call directly followed by its result, a
    call that was interrupted with a result that says so. The summary comes first, as one marked user message with the
    guide to the archive. A message that was folded stays known, so that adding it again does nothing. A tool result
    that would take more than a quarter of the window is put into a file as it is added. `clear` archives.

    Made by `ReMeLight.get_in_memory_memory` and `MemoryManager`.

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

    # ------------------------------------------------------------------ the host's interface

    async def get_memory(
        self,
        mark: str | None = None,
        exclude_mark: str | None = None,
        prepend_summary: bool = True,
        **kwargs: Any,
    ) -> list[Msg]:
        """The messages, as the host selects them; without any mark, those that a model is to see.

        Args:
            mark (`str | None`):
                Only messages with this mark.
            exclude_mark (`str | None`):
                No messages with this mark.
            prepend_summary (`bool`):
                Put the summary first, where there is one.

        Returns:
            `list[Msg]`: live references, but for the summary and for what had to be made acceptable to a model. For a
            model no more than its window holds: where no hook has made room, older messages are left out of what it
            sees, and the memory keeps them.
        """
        for_model = mark is None and exclude_mark is None
        messages = await super().get_memory(mark, COMPRESSED if for_model else exclude_mark, False, **kwargs)
        if for_model:
            messages = [*self.shown, *self._within_window(provider_view(messages))]
        summary = self.summary_message() if prepend_summary else None
        return messages if summary is None else [summary, *messages]

    async def add(
        self,
        memories: Msg | list[Msg] | None,
        marks: str | list[str] | None = None,
        allow_duplicates: bool = False,
        **kwargs: Any,
    ) -> None:
        """Add messages and put them down in the journal, at once: nothing is awaited that could be interrupted.

        Args:
            memories (`Msg | list[Msg] | None`):
                The messages; copies are stored.
            marks (`str | list[str] | None`):
                Marks for all of them. What is marked as a hint is not journaled.
            allow_duplicates (`bool`):
                Add messages whose id is known too.
        """
        if memories is None:
            return
        self._agree()
        given = [memories] if isinstance(memories, Msg) else memories
        fresh = [msg for msg in given if not _is_injected(msg) and (allow_duplicates or not self._knows(msg.id))]
        before = len(self.content)
        await super().add([self._taken_in(msg) for msg in fresh], marks, allow_duplicates=True, **kwargs)
        added = []
        for msg, stored_marks in self.content[before:]:
            entry = self._book.register(msg, stored_marks)
            self._ids[msg.id] += 1
            if entry.logged:
                added.append([entry.key, msg_to_dict(msg), stored_marks])
        if added:
            self._log.write("add", entries=added)

    async def delete(self, msg_ids: list[str], **kwargs: Any) -> int:
        """Remove messages by id, for good: they are not archived. Returns how many."""
        return await self._removing(super().delete(msg_ids, **kwargs))

    async def delete_by_mark(self, mark: str | list[str], *args: Any, **kwargs: Any) -> int:
        """Remove messages by mark, for good: they are not archived. Returns how many."""
        return await self._removing(super().delete_by_mark(mark, *args, **kwargs))

    async def clear(self) -> None:
        """Archive all messages and remove them; the summary stays."""
        self.leave([msg for msg, _ in self.content], op="clear", noted=False)

    async def update_messages_mark(
        self,
        new_mark: str | None,
        old_mark: str | None = None,
        msg_ids: list[str] | None = None,
    ) -> int:
        """Add, replace or remove a mark as the host does. Returns how many messages changed."""
        self._agree()
        before = [list(marks) for _, marks in self.content]
        updated = await super().update_messages_mark(new_mark, old_mark, msg_ids)
        pairs = zip(self.content, before, strict=True)
        changed = [(self._book.of(msg), marks) for (msg, marks), old in pairs if marks != old]
        if any(not entry.logged and HINT not in marks for entry, marks in changed):
            self._rebuild()  # a hint became a message
            return updated
        for entry, marks in changed:
            self._book.remark(entry, marks)
        logged = [[entry.key, list(marks)] for entry, marks in changed if entry.logged]
        if logged:
            self._log.write("marks", entries=logged)
        return updated

    async def update_compressed_summary(self, summary: str) -> None:
        """Replace the summary."""
        await super().update_compressed_summary(summary)
        self._log.write("summary", text=summary)

    def state_dict(self) -> dict:
        """The host's state, which the host's own memory loads as well, and the pins."""
        state = deepcopy(super().state_dict())
        return {**state, "pins": sorted(self._state.pins)} if self._state.pins else state

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> None:
        """Load a state of either of the host's forms. What it displaces is archived first.

        Raises:
            `KeyError`, `ValueError`: the state is not one; nothing has changed.
            `StorageError`: what it displaces could not be archived; nothing has changed.
        """
        probe = InMemoryMemory()
        probe.load_state_dict(state_dict, strict)
        kept = {msg.id for msg, _ in probe.content}
        self.leave([msg for msg, _ in self.content if msg.id not in kept], op="clear", noted=False)
        self.content, self._compressed_summary = probe.content, probe._compressed_summary
        self._state.pins = set(state_dict.get("pins", ()))
        self._state.folded -= kept
        self._rebuild()

    # ------------------------------------------------------------------ what this memory adds

    def get_compressed_summary(self) -> str:
        """The summary of what was folded, empty where nothing was."""
        return self._compressed_summary

    def clear_compressed_summary(self) -> None:
        """Forget the summary. The archive still has the messages."""
        self._compressed_summary = ""
        self._log.write("summary", text="")

    async def clear_content(self) -> None:
        """Archive all messages and remove them; the summary stays."""
        await self.clear()

    async def mark_messages_compressed(self, messages: Sequence[Msg]) -> int:
        """Archive messages and remove them; their ids stay known. Pinned messages stay.

        Args:
            messages (`Sequence[Msg]`):
                Messages of this memory, found by id.

        Returns:
            `int`: how many were removed.

        Raises:
            `StorageError`: they could not be archived; nothing has changed.
        """
        ids = {msg.id for msg in messages} - self._state.pins
        return len(self.leave([msg for msg, _ in self.content if msg.id in ids], op="fold"))

    def pin(self, msg_ids: str | Iterable[str]) -> None:
        """Keep messages out of every compaction, in their place, until they are unpinned or deleted.

        Raises:
            `ReMeError`: no message with such an id is here.
        """
        ids = {msg_ids} if isinstance(msg_ids, str) else set(msg_ids)
        unknown = sorted(each for each in ids if each not in self._ids)
        if unknown:
            raise ReMeError(
                f"Cannot pin {', '.join(unknown)}: there is no such message in session {self.session_id!r}."
            )
        self._set_pins(self._state.pins | ids)

    def unpin(self, msg_ids: str | Iterable[str]) -> None:
        """Let compactions take messages again. Ids that are not pinned are passed over."""
        self._set_pins(self._state.pins - ({msg_ids} if isinstance(msg_ids, str) else set(msg_ids)))

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

    @property
    def journal_state(self) -> str:
        """`"ok"`, or `"degraded"` while the journal cannot be written."""
        return "degraded" if self._log.degraded else "ok"

    def summary_message(self) -> Msg | None:
        """The message that the summary is shown in, if there is one."""
        return summary_message(self._compressed_summary, self.services)

    async def estimate_tokens(self, max_input_length: int | None = None) -> dict[str, Any]:
        """How full the context is.

        Args:
            max_input_length (`int | None`):
                The model's window in tokens; `None` is the configured one.

        Returns:
            `dict[str, Any]`: `total_messages`, `messages_tokens`, `compressed_summary_tokens`, `estimated_tokens` (the
            sum of the two), `max_input_length`, `context_usage_ratio` (in percent), and `messages_detail`, a dictionary
            for each message with its `id`, `name`, `role`, `timestamp`, `tokens` and `marks`.
        """
        window = max_input_length or self.services.context.max_input_length
        return usage_of(self.visible(everything=True), self.summary_message(), self.services.tokens, window)

    async def get_history_str(self, max_input_length: int | None = None) -> str:
        """The session for a person to read: the usage, the summary, then each message with its size."""
        usage = await self.estimate_tokens(max_input_length)
        return history_text(self.session_id, usage, self._compressed_summary, self.visible())

    # ------------------------------------------------------------------ for the hook

    def visible(self, *, everything: bool = False) -> list[tuple[Entry, list[str]]]:
        """The messages that a model sees, with their marks, after a look for edits in place."""
        self.verify(everything=everything)
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
            changed = []
        edited = [entry for entry in changed if entry.logged]
        if edited:
            self._log.write("edit", entries=[[entry.key, msg_to_dict(entry.msg)] for entry in edited])

    def replace(self, changed: dict[int, Msg]) -> None:
        """Put other messages in the place of stored ones, by the stored one's journal key, and put that down."""
        logged = []
        for at, (msg, marks) in enumerate(self.content):
            entry = self._book.of(msg)
            if entry.key in changed:
                new = changed[entry.key]
                self._book.drop([msg])
                self._book.register(new, marks, key=entry.key)
                self.content[at] = (new, marks)
                if entry.logged:
                    logged.append([entry.key, msg_to_dict(new)])
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
                Stored messages, by identity. Hints are removed without a trace.
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
        self._agree()
        going = [self._book.of(msg) for msg in messages]
        if not going:
            return []
        summary = self._compressed_summary if summary is None else summary
        archived = [entry.msg for entry in going if entry.logged]
        self._departure.commit(op, [entry.key for entry in going], archived, summary=summary, noted=noted)
        gone = [entry.msg for entry in going]
        identities = {id(msg) for msg in gone}
        self.content = [pair for pair in self.content if id(pair[0]) not in identities]
        self._compressed_summary = summary
        self._unregister(gone)
        self._log.try_checkpoint([msg.id for msg in archived] if op == "fold" else ())
        return gone

    def results(self, longer_than: int = 0) -> list[Entry]:
        """The entries with a tool result of more than so many bytes, oldest first."""
        return self._book.results(longer_than)

    def recent_results(self, at_least: int) -> set[int]:
        """The journal keys of the recent tool results: the trailing run of them, and at least so many; 0 makes none."""
        if at_least == 0:
            return set()
        keys = [entry.key for entry in self._book.results()]
        run = 0
        for msg, _ in reversed(self.content):
            if not self._book.of(msg).result_bytes:
                break
            run += 1
        return set(keys[-max(run, at_least) :])

    def guide_tokens(self) -> int:
        """The size of what is said around a summary."""
        guide = summary_message("-", self.services)
        return self.services.tokens.message(guide) if guide else 0

    def hold(self, messages: Iterable[Msg], summary: str, marks: Iterable[list[str]] | None = None) -> None:
        """Take over whole contents in the place of what is here, without copies."""
        messages = [msg for msg in messages if not _is_injected(msg)]
        self.content = list(zip(messages, marks or ([] for _ in messages), strict=True))
        self._compressed_summary = summary
        self._rebuild()

    def checkpoint(self, past: Iterable[str] = ()) -> None:
        """Put the whole state into the journal."""
        self._log.try_checkpoint(past)

    def has_pending(self, consumer: str) -> bool:
        """Whether there are fold records that a consumer has not read yet."""
        return bool(self._state.outbox) and self._state.outbox[-1]["number"] > self._state.cursors.get(consumer, 0)

    def pending(self, consumer: str) -> list[dict[str, Any]]:
        """The fold records that a consumer has not read yet: `number`, `ids`, `days`, oldest first."""
        read = self._state.cursors.get(consumer, 0)
        return [record for record in self._state.outbox if record["number"] > read]

    def advance(self, consumer: str, number: int) -> None:
        """Put down that a consumer has read the fold records up to `number`."""
        self._state.cursors[consumer] = max(number, self._state.cursors.get(consumer, 0))
        self._log.write("cursor", consumer=consumer, number=self._state.cursors[consumer])

    def close(self) -> None:
        """Let go of the journal. The messages stay; a later change opens it again."""
        self._log.close()

    # ------------------------------------------------------------------ inside

    def _within_window(self, messages: list[Msg]) -> list[Msg]:
        room = int(self.services.context.max_input_length * VIEW_SHARE) - self.overhead
        if self.total_tokens() <= room:
            return messages
        hints = {msg.id for msg, marks in self.content if HINT in marks}
        kept = within_window(
            messages,
            max(0, room),
            stays=lambda msg: msg.id in self.pins or msg.id in hints,
            tokens=self.services.tokens,
            results=self.services.results,
            language=self.language,
        )
        self.services.events.emit(
            EventKind.OVER_BUDGET,
            session_id=self.session_id,
            tokens_before=self.overhead + self.total_tokens(),
            left_out=len(messages) - len(kept),
            error="The context does not fit the window before the next hook: the model sees the latest part of it.",
        )
        return kept

    def _knows(self, message_id: str) -> bool:
        return message_id in self._ids or message_id in self._state.folded

    def _taken_in(self, msg: Msg) -> Msg:
        return bounded(redacted(msg, self.services.redact) if self.services.redact else msg, self)

    async def _removing(self, removal: Any) -> int:
        self._agree()
        before = self.content
        removed = await removal
        left = {id(msg) for msg, _ in self.content}
        gone = [msg for msg, _ in before if id(msg) not in left]
        keys = [self._book.of(msg).key for msg in gone if self._book.of(msg).logged]
        self._unregister(gone)
        if keys:
            self._log.write("drop", keys=keys)
        return removed

    def _unregister(self, gone: list[Msg]) -> None:
        self._book.drop(gone)
        for msg in gone:
            self._ids[msg.id] -= 1
            if self._ids[msg.id] <= 0:
                del self._ids[msg.id]
                self._state.pins.discard(msg.id)

    def _agree(self) -> None:
        if len(self._book) != len(self.content):
            self._rebuild()

    def _rebuild(self) -> None:
        self._book.rebuild(self.content)
        self._ids = Counter(msg.id for msg, _ in self.content)
        self._log.try_checkpoint()

    def _set_pins(self, pins: set[str]) -> None:
        self._state.pins = pins
        self._log.write("pins", ids=sorted(pins))

    def _snapshot(self) -> SessionState:
        state = self._state
        state.summary = self._compressed_summary
        state.content = {
            entry.key: (msg, list(marks)) for msg, marks in self.content if (entry := self._book.of(msg)).logged
        }
        return state


def _is_injected(msg: Msg) -> bool:
    return bool(msg.metadata) and (is_summary(msg) or is_recalled(msg) or is_repair(msg))
