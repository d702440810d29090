# -*- coding: utf-8 -*-
"""What a memory knows about each message it holds: its journal key, its size, and what it looked like then."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from agentscope.message import Msg

from ..message import MessageTokens, blocks_of, content_signature, output_text, tool_results

__all__ = ["COMPRESSED", "HINT", "Content", "Entry", "EntryBook", "text_bytes"]

HINT = "hint"
COMPRESSED = "compressed"

Content = list[tuple[Msg, list[str]]]


@dataclass
class Entry:
    """One stored message. It holds the message, so that the identity it is found by is not taken by another."""

    msg: Msg
    key: int
    tokens: int
    signature: Hashable
    logged: bool
    result_bytes: int
    """The longest text of a tool result in it, in bytes; 0 where it has none."""
    visible: bool = True
    """Whether a model sees it: it is not marked as compressed."""


class EntryBook:
    """Entries by the identity of the stored message object.

    Sizes are counted once. An edit in place is noticed by `verify`: the latest messages are looked at each time, the
    others in turn, so that the cost of one look does not grow with the history.

    Args:
        tokens (`MessageTokens`):
            Counts messages.
    """

    LATEST = 64
    IN_TURN = 192

    def __init__(self, tokens: MessageTokens) -> None:
        self.tokens = tokens
        self._entries: dict[int, Entry] = {}
        self._results: dict[int, Entry] = {}
        self._keys = count(1)
        self._turn = 0
        self.visible_tokens = 0
        """Tokens of the messages that a model sees."""

    def __len__(self) -> int:
        return len(self._entries)

    def register(self, msg: Msg, marks: Sequence[str], *, key: int | None = None) -> Entry:
        """Know a stored message. A hint is not logged."""
        if key is not None:
            self._keys = count(max(key + 1, next(self._keys)))
        tokens, signature = self.tokens.signed(msg)
        entry = Entry(
            msg,
            next(self._keys) if key is None else key,
            tokens,
            signature,
            HINT not in marks,
            _result_bytes(msg),
            COMPRESSED not in marks,
        )
        self._entries[id(msg)] = entry
        self.visible_tokens += entry.tokens * entry.visible
        if entry.result_bytes:
            self._results[id(msg)] = entry
        return entry

    def of(self, msg: Msg) -> Entry:
        return self._entries[id(msg)]

    def get(self, msg: Msg) -> Entry | None:
        return self._entries.get(id(msg))

    def knows(self, content: Content) -> bool:
        """Whether the book knows just the messages of `content`."""
        return len(content) == len(self._entries) and all(id(msg) in self._entries for msg, _ in content)

    def drop(self, messages: Iterable[Msg]) -> None:
        for msg in messages:
            entry = self._entries.pop(id(msg), None)
            self._results.pop(id(msg), None)
            if entry is not None:
                self.visible_tokens -= entry.tokens * entry.visible

    def remark(self, entry: Entry, marks: Sequence[str]) -> None:
        """Know the marks of a stored message."""
        visible = COMPRESSED not in marks
        self.visible_tokens += entry.tokens * (visible - entry.visible)
        entry.visible = visible

    def rebuild(self, content: Content) -> None:
        """Know just the messages of `content`, whoever put them there."""
        old = self._entries
        self._entries, self._results, self.visible_tokens = {}, {}, 0
        for msg, marks in content:
            self.register(msg, marks, key=old[id(msg)].key if id(msg) in old else None)

    def results(self, longer_than: int = 0) -> list[Entry]:
        """The entries with a tool result of more than so many bytes, oldest first."""
        found = [entry for entry in self._results.values() if entry.result_bytes > longer_than]
        return sorted(found, key=lambda entry: entry.key)

    def verify(self, content: Content, *, everything: bool = False) -> list[Entry]:
        """Count again what was edited in place.

        Returns:
            `list[Entry]`: the entries whose message had changed.

        Raises:
            `KeyError`: there is a message that the book does not know.
        """
        if everything or len(content) <= self.LATEST + self.IN_TURN:
            return self._changed(content)
        older = len(content) - self.LATEST
        start = self._turn if self._turn < older else 0
        self._turn = start + self.IN_TURN
        return self._changed(content[start : min(self._turn, older)]) + self._changed(content[older:])

    def _changed(self, content: Sequence[tuple[Msg, list[str]]]) -> list[Entry]:
        changed = []
        for msg, marks in content:
            entry = self._entries[id(msg)]
            if marks or not entry.visible:
                self.remark(entry, marks)
            if content_signature(msg) != entry.signature:
                self.recount(entry)
                changed.append(entry)
        return changed

    def recount(self, entry: Entry) -> None:
        """Know a message as it is now."""
        before = entry.tokens
        entry.signature, entry.tokens = content_signature(entry.msg), self.tokens.message(entry.msg)
        self.visible_tokens += (entry.tokens - before) * entry.visible
        entry.result_bytes = _result_bytes(entry.msg)
        if entry.result_bytes:
            self._results[id(entry.msg)] = entry
        else:
            self._results.pop(id(entry.msg), None)


def text_bytes(msg: Msg) -> list[int]:
    """The lengths of a message's texts, tool results and call arguments, block by block, in bytes of UTF-8; media count
    for nothing."""
    return [_utf8(text) for block in blocks_of(msg) for text in _texts(block)]


def _texts(block: dict) -> list[str]:
    if block["type"] == "tool_result":
        return [output_text(block)]
    if block["type"] == "tool_use":
        return [str(block.get("input", ""))]
    return [str(block.get(block["type"], ""))] if block["type"] in ("text", "thinking") else []


def _result_bytes(msg: Msg) -> int:
    if isinstance(msg.content, str):
        return 0
    return max((_utf8(output_text(block)) for block in tool_results(msg)), default=0)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
