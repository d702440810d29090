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

    def __len__(self) -> int:
        return len(self._entries)

    def register(self, msg: Msg, *, logged: bool, key: int | None = None) -> Entry:
        """Know a stored message."""
        if key is not None:
            self._keys = count(max(key + 1, next(self._keys)))
        entry = Entry(
            msg,
            next(self._keys) if key is None else key,
            self.tokens.message(msg),
            content_signature(msg),
            logged,
            _result_bytes(msg),
        )
        self._entries[id(msg)] = entry
        if entry.result_bytes:
            self._results[id(msg)] = entry
        return entry

    def of(self, msg: Msg) -> Entry:
        return self._entries[id(msg)]

    def drop(self, messages: Iterable[Msg]) -> None:
        for msg in messages:
            self._entries.pop(id(msg), None)
            self._results.pop(id(msg), None)

    def agrees_with(self, content: Content) -> bool:
        """Whether the book knows just the messages of `content`; it does unless somebody changed the list itself."""
        return len(content) == len(self._entries) and all(id(msg) in self._entries for msg, _ in content)

    def rebuild(self, content: Content) -> None:
        """Know just the messages of `content`."""
        old = self._entries
        self._entries, self._results = {}, {}
        for msg, marks in content:
            if id(msg) in old:
                self._entries[id(msg)] = old[id(msg)]
                if old[id(msg)].result_bytes:
                    self._results[id(msg)] = old[id(msg)]
            else:
                self.register(msg, logged=HINT not in marks)

    def results(self) -> list[Entry]:
        """The entries that hold tool results, oldest first."""
        return sorted(self._results.values(), key=lambda entry: entry.key)

    def total(self, content: Content) -> int:
        """Tokens of the messages that a model sees: those not marked as compressed."""
        entries = self._entries
        return sum([entries[id(msg)].tokens for msg, marks in content if COMPRESSED not in marks])

    def verify(self, content: Content, *, everything: bool = False) -> list[Entry]:
        """Count again what was edited in place.

        Returns:
            `list[Entry]`: the entries whose message had changed.
        """
        if everything or len(content) <= self.LATEST + self.IN_TURN:
            return self._changed(content)
        older = len(content) - self.LATEST
        start = self._turn if self._turn < older else 0
        self._turn = start + self.IN_TURN
        return self._changed(content[start : min(self._turn, older)]) + self._changed(content[older:])

    def _changed(self, content: Sequence[tuple[Msg, list[str]]]) -> list[Entry]:
        changed = []
        for msg, _ in content:
            entry = self._entries[id(msg)]
            signature = content_signature(msg)
            if signature != entry.signature:
                entry.signature = signature
                entry.tokens = self.tokens.message(msg)
                entry.result_bytes = _result_bytes(msg)
                changed.append(entry)
        return changed


def text_bytes(msg: Msg) -> int:
    """The length of a message's texts, tool results and call arguments in bytes of UTF-8; media count for nothing."""
    return sum(_utf8(text) for block in blocks_of(msg) for text in _texts(block))


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
