# -*- coding: utf-8 -*-
"""Long texts in messages: the middle goes into a file, and a notice in its place says where to read on."""

import logging
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from agentscope.message import Msg

from .._errors import ReMeError
from ..message import MARK_KEY, copied, is_user_request, offloads_of, output_text, tool_results, with_offloads
from ..text import PromptBook, detect_language
from ._hiding import Fact, Part, exceeds, joined
from ._offload import OffloadStore
from ._result_policy import ToolResultPolicy
from ._shortener import Language, Shortener
from ._slots import is_block, message_parts, output_parts, with_content, with_input_texts, with_texts

__all__ = ["ToolResultCompactor", "ToolResultPolicy"]

logger = logging.getLogger("agentscope_reme")

_TEXT = "text"


class ToolResultCompactor:
    """Cuts long texts in messages to a number of bytes, and keeps each whole in a file.

    Messages are never changed: what must change comes back as a new one with the same id. That a text was cut is
    recorded beside it (``agentscope_reme`` in a tool result's block, in the message's metadata for other texts), so a
    text that merely looks cut is taken as it is, and one that was is cut further from its first full copy.

    Args:
        store (`OffloadStore`):
            Where full texts go.
        book (`PromptBook`):
            Has the notice in each language.
        workspace_relative_prefix (`str`, defaults to `"tool_result/"`):
            What stands before a file's name in a notice.
    """

    def __init__(
        self,
        store: OffloadStore,
        *,
        book: PromptBook,
        workspace_relative_prefix: str = "tool_result/",
    ) -> None:
        self.store = store
        self._shortener = Shortener(store, book, workspace_relative_prefix)

    def compact(self, messages: Sequence[Msg], *, policy: ToolResultPolicy, language: str | None = None) -> list[Msg]:
        """Cut all tool results to what the policy allows them.

        Args:
            messages (`Sequence[Msg]`):
                A history, oldest first.
            policy (`ToolResultPolicy`):
                The limits.
            language (`str | None`, optional):
                The language of the notices; the conversation's where left out.

        Returns:
            `list[Msg]`: the same objects where nothing had to change. A message whose text could not be stored stays
            whole, and that is logged.
        """
        chosen = cache(lambda: _language_of(messages)) if language is None else lambda: language
        first_recent = _first_recent(messages, policy.recent_n)
        compacted = list(messages)
        for index, msg in enumerate(messages):
            limit = policy.recent_max_bytes if index >= first_recent else policy.old_max_bytes
            try:
                compacted[index] = self._cut_results(msg, limit, chosen) or msg
            except (ReMeError, OSError) as error:
                logger.error("The tool results of message %s stay as they are: %s", msg.id, error)
        return compacted

    def compact_message(self, msg: Msg, max_bytes: int, language: str = "en") -> Msg | None:
        """Cut each tool result of a message.

        Args:
            msg (`Msg`):
                The message.
            max_bytes (`int`):
                The most bytes of UTF-8 that the texts of one result may take together, its notice included. Head and
                tail are kept; where the limit is shorter than the notice, the notice alone is.
            language (`str`, defaults to `"en"`):
                The language of the notice.

        Returns:
            `Msg | None`: the new message; ``None`` where nothing is to be cut.

        Raises:
            `StorageError`: a full text could not be stored.
        """
        return self._cut_results(msg, max_bytes, lambda: language)

    def compact_text_blocks(self, msg: Msg, max_bytes: int, language: str = "en") -> Msg | None:
        """Cut the text of a message, be it a string or text blocks; other blocks are not touched.

        Args:
            msg (`Msg`):
                The message, of any role.
            max_bytes (`int`):
                The most bytes of UTF-8 that its texts may take together, the notice included.
            language (`str`, defaults to `"en"`):
                The language of the notice.

        Returns:
            `Msg | None`: the new message; ``None`` where nothing is to be cut.

        Raises:
            `StorageError`: the full text could not be stored.
        """
        parts = message_parts(msg)
        cut = self._shortener.cut(parts, max_bytes, lambda: language, Fact.read(offloads_of(msg).get(_TEXT)))
        if cut is None:
            return None
        texts, fact = cut
        new = with_content(msg, with_texts(msg.content, parts, texts))
        if fact is not None:
            new.metadata = with_offloads(new.metadata, {_TEXT: fact.as_dict()})
        return new

    def compact_call_inputs(self, msg: Msg, max_bytes: int, language: str = "en") -> Msg | None:
        """Cut long strings in the arguments of tool calls: a last resort, since the model takes them for its own words.

        Args:
            msg (`Msg`):
                The message.
            max_bytes (`int`):
                The most bytes of UTF-8 of each string, its notice included.
            language (`str`, defaults to `"en"`):
                The language of the notices.

        Returns:
            `Msg | None`: the new message; ``None`` where nothing is to be cut.

        Raises:
            `StorageError`: a full text could not be stored.
        """
        known, facts = offloads_of(msg), {}

        def shortened(text: str, key: str) -> str:
            cut = self._shortener.cut([Part(text)], max_bytes, lambda: language, Fact.read(known.get(key)))
            if cut is None:
                return text
            if cut[1] is not None:
                facts[key] = cut[1].as_dict()
            return cut[0][0] or ""

        content = msg.content if isinstance(msg.content, list) else []
        new = {
            index: call
            for index, block in enumerate(content)
            if is_block(block, "tool_use")
            and (call := with_input_texts(block, f"input/{index}", shortened)) is not None
        }
        if not new:
            return None
        cut = _with_blocks(msg, new)
        cut.metadata = with_offloads(cut.metadata, facts) if facts else cut.metadata
        return cut

    def original_text(self, block: dict[str, Any]) -> str:
        """The text of a tool result as it was before anything was cut.

        Args:
            block (`dict`):
                A ``tool_result`` block.

        Returns:
            `str`: the full text, with placeholders for media. What is shown, where the file expired or the text was
            changed since it was cut.

        Raises:
            `StorageError`: the file is there and cannot be read.
        """
        return self._shortener.full(output_text(block), Fact.read(block.get(MARK_KEY)))

    def original(self, msg: Msg) -> Msg:
        """The message with every text that was cut made whole again, as far as the files are still there.

        Args:
            msg (`Msg`):
                The message; it is not changed.

        Returns:
            `Msg`: a new message, or the same where nothing was cut. A text that was spread over several blocks is in
            the first of them.

        Raises:
            `StorageError`: a file is there and cannot be read.
        """
        if not self.references(msg):
            return msg
        known, parts = offloads_of(msg), message_parts(msg)
        shown = joined(parts)
        full = self._shortener.full(shown, Fact.read(known.get(_TEXT)))
        content = copied(msg.content) if full == shown else _with_full(msg.content, parts, full)
        if isinstance(content, list):
            content = [self._original_block(block, known, index) for index, block in enumerate(content)]
        return with_content(msg, content)

    @staticmethod
    def references(msg: Msg) -> set[str]:
        """The names of the files that a message refers to.

        Args:
            msg (`Msg`):
                The message.
        """
        records = [block.get(MARK_KEY) for block in tool_results(msg)] + list(offloads_of(msg).values())
        return {fact.file for fact in map(Fact.read, records) if fact is not None}

    def _cut_results(self, msg: Msg, max_bytes: int, language: Language) -> Msg | None:
        if not isinstance(msg.content, list):
            return None
        new = {}
        for index, block in enumerate(msg.content):
            if is_block(block, "tool_result"):
                result = self._cut_result(block, max_bytes, language)
                if result is not None:
                    new[index] = result
        return _with_blocks(msg, new) if new else None

    def _cut_result(self, block: dict[str, Any], max_bytes: int, language: Language) -> dict[str, Any] | None:
        output = block.get("output")
        if isinstance(output, str) and len(output) * 4 <= max_bytes:
            return None
        parts = output_parts(output)
        if not exceeds(parts, max_bytes):
            return None
        cut = self._shortener.cut(parts, max_bytes, language, Fact.read(block.get(MARK_KEY)))
        if cut is None:
            return None
        texts, fact = cut
        new = {**copied(block), "output": with_texts(output, parts, texts)}
        new.pop(MARK_KEY, None)
        return new if fact is None else {**new, MARK_KEY: fact.as_dict()}

    def _original_block(self, block: Any, known: dict[str, Any], index: int) -> Any:
        if is_block(block, "tool_result"):
            parts, full = output_parts(block.get("output")), self.original_text(block)
            if full == joined(parts):
                return block
            rest = {key: value for key, value in block.items() if key != MARK_KEY}
            return {**rest, "output": _with_full(block["output"], parts, full)}
        if is_block(block, "tool_use"):
            return with_input_texts(block, f"input/{index}", partial(self._original_input, known)) or block
        return block

    def _original_input(self, known: dict[str, Any], text: str, key: str) -> str:
        return self._shortener.full(text, Fact.read(known.get(key)))


def _with_blocks(msg: Msg, new: dict[int, dict[str, Any]]) -> Msg:
    return with_content(msg, [new[index] if index in new else copied(block) for index, block in enumerate(msg.content)])


def _with_full(items: Any, parts: Sequence[Part], full: str) -> Any:
    """All of a text in the place of its first part."""
    first = next(part for part in parts if not part.fixed)
    return with_texts(items, parts, [full if part is first else None for part in parts])


def _first_recent(messages: Sequence[Msg], recent_n: int) -> int:
    """The index from which on results are recent: the trailing run of them, or the last few, whichever is longer."""
    first, found, in_run = len(messages), 0, recent_n > 0
    for index in range(len(messages) - 1, -1, -1):
        results = len(tool_results(messages[index]))
        in_run = in_run and results > 0
        if not in_run and found >= recent_n:
            break
        if results:
            first, found = index, found + results
    return first


def _language_of(messages: Sequence[Msg]) -> str:
    return detect_language(joined(message_parts(msg)) for msg in messages if is_user_request(msg))
