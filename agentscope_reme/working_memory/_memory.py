# -*- coding: utf-8 -*-
"""The host's in-memory memory, made aware of tokens and kept on disk."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from .._errors import ReMeError
from ..dialog import message_digest, message_record
from ..message import provider_view, units
from ..storage import dump_line
from ._contents import SessionContents, is_injected
from ._entries import COMPRESSED, HINT
from ._intake import bounded, cleaned, cleaned_text
from ._model_view import model_view
from ._usage import history_text, usage_of

__all__ = ["ReMeInMemoryMemory"]


class ReMeInMemoryMemory(SessionContents):
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
            messages = [*self.shown, *model_view(provider_view(messages), self)]
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
        fresh = [msg for msg in given if not is_injected(msg) and (allow_duplicates or not self._knows(msg.id))]
        before = len(self.content)
        try:
            await super().add([self._taken_in(msg) for msg in fresh], marks, allow_duplicates=True, **kwargs)
            entries = [self._book.register(msg, stored_marks) for msg, stored_marks in self.content[before:]]
        except BaseException:  # all of them are stored, or none is
            self._book.drop(msg for msg, _ in self.content[before:])
            del self.content[before:]
            raise
        added = []
        for entry, (msg, stored_marks) in zip(entries, self.content[before:], strict=True):
            self._ids[msg.id] += 1
            if entry.logged:
                added.append([entry.key, message_record(msg), stored_marks])
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
        self.leave([msg for msg, _ in self._agreed()], op="clear", noted=False)

    async def update_messages_mark(
        self,
        new_mark: str | None,
        old_mark: str | None = None,
        msg_ids: list[str] | None = None,
    ) -> int:
        """Add, replace or remove a mark as the host does. Returns how many messages changed."""
        self._agree(thoroughly=True)
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
        await super().update_compressed_summary(cleaned_text(str(summary or ""), self.services))
        self._log.write("summary", text=self._compressed_summary)

    def state_dict(self) -> dict:
        """The host's state, which the host's own memory loads as well, and the pins."""
        self._clean(self._book.of(msg) for msg, _ in self._agreed())
        state = deepcopy(super().state_dict())
        return {**state, "pins": sorted(self._state.pins)} if self._state.pins else state

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> None:
        """Load a state of either of the host's forms. What it displaces is archived first, another version of
        a message too.

        Raises:
            `KeyError`, `ValueError`: the state is not one; nothing has changed.
            `StorageError`: what it displaces could not be archived; nothing has changed.
        """
        probe = InMemoryMemory()
        probe.load_state_dict(state_dict, strict)
        coming = [(cleaned(msg, self.services), marks) for msg, marks in probe.content]
        kept = {_version(msg) for msg, _ in coming}
        self.leave([msg for msg, _ in self._agreed() if _version(msg) not in kept], op="clear", noted=False)
        self.content = coming
        self._compressed_summary = cleaned_text(probe._compressed_summary, self.services)
        self._state.pins = set(state_dict.get("pins", ()))
        self._state.folded -= {msg.id for msg, _ in coming}
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
        """Archive messages and remove them; their ids stay known. With one of a tool call and its results the others go
        too, so that no call loses its result. Pinned messages stay, and what belongs to them.

        Args:
            messages (`Sequence[Msg]`):
                Messages of this memory, found by id.

        Returns:
            `int`: how many were removed.

        Raises:
            `StorageError`: they could not be archived; nothing has changed.
        """
        ids, pins = {msg.id for msg in messages}, self._state.pins
        stored = [msg for msg, marks in self._agreed() if HINT not in marks]
        groups = [stored[unit.start : unit.stop] for unit in units(stored)]
        whole = [
            group
            for group in groups
            if any(msg.id in ids for msg in group) and not any(msg.id in pins for msg in group)
        ]
        going = {id(msg) for group in whole for msg in group}
        going |= {id(msg) for msg, marks in self.content if HINT in marks and msg.id in ids - pins}
        return len(self.leave([msg for msg, _ in self.content if id(msg) in going], op="fold"))

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
    def journal_state(self) -> str:
        """`"ok"`, or `"degraded"` while the journal cannot be written."""
        return "degraded" if self._log.degraded else "ok"

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

    # ------------------------------------------------------------------ inside

    def _taken_in(self, msg: Msg) -> Msg:
        return bounded(cleaned(msg, self.services), self)

    async def _removing(self, removal: Any) -> int:
        before = self._agreed()
        removed = await removal
        left = {id(msg) for msg, _ in self.content}
        gone = [msg for msg, _ in before if id(msg) not in left]
        keys = [self._book.of(msg).key for msg in gone if self._book.of(msg).logged]
        self._unregister(gone)
        if keys:
            self._log.write("drop", keys=keys)
        return removed


def _version(msg: Msg) -> tuple[str, bytes]:
    """A message and what it says, however much of its texts lies in files."""
    return msg.id, message_digest(dump_line(message_record(msg)))
