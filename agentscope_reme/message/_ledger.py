# -*- coding: utf-8 -*-
"""The tokens of messages: each counted once, and again only when it was edited."""

import json
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from agentscope.message import Msg

from ._any_text import any_text
from ._blocks import copied
from ._content_tokens import content_tokens
from ._signature import content_signature
from ._tokenizers import CountText

__all__ = ["MessageTokens", "content_signature"]

_MESSAGE = 5  # tokens of the frame that a provider puts around a message, its role among them
_SCHEMA = 8  # ... and around the schema of a tool
_MOST_MESSAGES = 50_000
_TEXTS, _NAMES, _TOOL_LISTS = 32, 1024, 4


class _Entry(NamedTuple):
    place: int
    """The identity of the content object."""
    signature: Hashable
    tokens: int


class MessageTokens:
    """A ledger of what messages, texts and tool schemas cost, by one counter.

    Args:
        count_text (`CountText`):
            Counts a text. It is asked about each block of a message apart, once.
    """

    def __init__(self, count_text: CountText) -> None:
        self.count_text = count_text
        self._entries: dict[str, _Entry] = {}
        self._text = lru_cache(_TEXTS)(count_text)
        self._name = lru_cache(_NAMES)(count_text)
        self._tool_lists: deque[tuple[list[dict], int]] = deque(maxlen=_TOOL_LISTS)

    def message(self, msg: Msg) -> int:
        """The tokens of a message with its frame, name and role; an edit in place is seen.

        Args:
            msg (`Msg`):
                The message, in any state: malformed blocks cost what they hold, media cost by rule.

        Returns:
            `int`: the tokens, at least 1.
        """
        return self.signed(msg)[0]

    def signed(self, msg: Msg) -> tuple[int, Hashable]:
        """What `message` gives, and the `content_signature` that goes with it.

        Args:
            msg (`Msg`):
                The message, in any state.
        """
        entry, signature = self._entries.get(msg.id), content_signature(msg)
        if entry is None or entry.signature != signature:
            self._keep(msg.id, entry := _Entry(id(msg.content), signature, self._counted(msg)))
        elif entry.place != id(msg.content):
            self._keep(msg.id, entry._replace(place=id(msg.content)))
        return entry.tokens, signature

    def trusted(self, msg: Msg) -> int:
        """The tokens of a message without a look at its blocks: for one that was not edited since it was last counted.

        Args:
            msg (`Msg`):
                The message; it is counted where it is unknown or its `content` was replaced by another object.

        Returns:
            `int`: the tokens.
        """
        entry = self._entries.get(msg.id)
        if entry is not None and entry.place == id(msg.content):
            return entry.tokens
        return self.message(msg)

    def messages(self, msgs: Iterable[Msg]) -> int:
        """The tokens of several messages."""
        return sum(map(self.message, msgs))

    def sizes(self, msgs: Sequence[Msg]) -> "MessageSizes":
        """The tokens of each of several messages, each counted when it is first asked for."""
        return MessageSizes(self, msgs)

    def text(self, text: str) -> int:
        """The tokens of a text such as a system prompt or a summary; the last few are remembered."""
        return self._text(any_text(text)) if text else 0

    def tools(self, schemas: list[dict] | None) -> int:
        """The tokens of tool schemas: name, description and parameters, as JSON.

        Args:
            schemas (`list[dict] | None`):
                What `toolkit.get_json_schemas()` returns; the last few lists are remembered by equality.

        Returns:
            `int`: the tokens; 0 for none.
        """
        if not schemas:
            return 0
        for known, tokens in self._tool_lists:
            if known == schemas:
                return tokens
        tokens = sum(_SCHEMA + self.count_text(_schema_text(schema)) for schema in schemas)
        self._tool_lists.append((copied(schemas), tokens))
        return tokens

    def forget(self, ids: Iterable[str]) -> None:
        """Drop messages that left, by id; unknown ids are fine."""
        for msg_id in ids:
            self._entries.pop(msg_id, None)

    def _counted(self, msg: Msg) -> int:
        name: Any = msg.name
        frame = _MESSAGE + (self._name(any_text(name)) if name else 0)
        return frame + content_tokens(msg.content, self.count_text)

    def _keep(self, msg_id: str, entry: _Entry) -> None:
        if len(self._entries) >= _MOST_MESSAGES and msg_id not in self._entries:
            for old in list(self._entries)[: _MOST_MESSAGES // 2]:  # those that were counted first
                del self._entries[old]
        self._entries[msg_id] = entry


class MessageSizes(Sequence[int]):
    """The tokens of messages by their index; what is not asked for is not counted.

    Args:
        tokens (`MessageTokens`):
            Counts.
        msgs (`Sequence[Msg]`):
            The messages.
    """

    def __init__(self, tokens: MessageTokens, msgs: Sequence[Msg]) -> None:
        self._tokens, self._msgs = tokens, msgs

    def __len__(self) -> int:
        return len(self._msgs)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self._tokens.message(msg) for msg in self._msgs[at]]
        return self._tokens.message(self._msgs[at])

    def exceed(self, limit: int) -> bool:
        """Whether they are more than `limit` together: counted from the latest on, no further than it takes."""
        return any(total > limit for total in accumulate(reversed(self)))


def _schema_text(schema: Any) -> str:
    try:
        return json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return any_text(schema)
