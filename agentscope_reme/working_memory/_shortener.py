# -*- coding: utf-8 -*-
"""Cutting a text to a number of bytes: the whole in a file, head and tail in its place, and a record of that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..message import Cut, cut_text
from ..text import PromptBook
from ._hiding import Fact, Part, exceeds, hide, joined, shown_digest
from ._offload import OffloadStore
from ._utf8 import encode_text

__all__ = ["Shortener"]

Language = Callable[[], str]

Shortened = tuple[list[str | None], Fact | None]
"""Each part's new text (``None`` for one of which nothing is left) and the record, if anything is hidden."""


class Shortener:
    """Cuts texts, and finds the whole of those that were cut.

    Args:
        store (`OffloadStore`):
            Where full texts go.
        book (`PromptBook`):
            Has the notice in each language.
        prefix (`str`):
            What stands before a file's name in a notice.
    """

    def __init__(self, store: OffloadStore, book: PromptBook, prefix: str) -> None:
        self._store = store
        self._book = book
        self._prefix = prefix

    def cut(self, parts: Sequence[Part], max_bytes: int, language: Language, fact: Fact | None) -> Shortened | None:
        """Cut a text.

        Args:
            parts (`Sequence[Part]`):
                The text as it is shown now.
            max_bytes (`int`):
                The most bytes of UTF-8 of its parts that are not fixed, the notice included.
            language (`Callable[[], str]`):
                Gives the language of the notice; called only where one is needed.
            fact (`Fact | None`):
                The record of an earlier cut, if there was one. It counts only where the text is what that cut left.

        Returns:
            `Shortened | None`: ``None`` where the text fits, or was cut to this limit or a lower one before.

        Raises:
            `StorageError`: the full text could not be stored, or not be read back.
        """
        if not exceeds(parts, max_bytes):
            return None
        shown = joined(parts)
        if fact is None or fact.shown != shown_digest(shown):
            return self._cut_first(parts, max_bytes, language)
        if fact.limit <= max_bytes:
            return None
        return self._cut_again(parts, shown, max_bytes, language, fact)

    def full(self, shown: str, fact: Fact | None) -> str:
        """The text as it was before it was cut.

        Args:
            shown (`str`):
                The text as it is shown.
            fact (`Fact | None`):
                The record that goes with it.

        Returns:
            `str`: the full text; what is shown where nothing was cut, where it was changed since, or where the file is
            gone.

        Raises:
            `StorageError`: the file is there and cannot be read.
        """
        if fact is None or fact.shown != shown_digest(shown):
            return shown
        full = self._store.read(fact.file)
        return shown if full is None else full

    def _cut_first(self, parts: Sequence[Part], max_bytes: int, language: Language) -> Shortened:
        clean = [part if part.fixed else replace(part, text=self._store.redacted(part.text)) for part in parts]
        if not exceeds(clean, max_bytes):
            return [part.text for part in clean], None
        full = joined(clean)
        stored = self._store.put(full, redacted=True)
        middle = _middle(full, max_bytes, partial(self._notice, language, stored.name))
        fact = Fact(stored.name, stored.sha256, stored.n_bytes, middle.cut.total_lines, max_bytes, shown="")
        return _hidden(clean, middle, fact)

    def _cut_again(
        self,
        parts: Sequence[Part],
        shown: str,
        max_bytes: int,
        language: Language,
        fact: Fact,
    ) -> Shortened:
        """Cut what was cut before, from the first full copy; without one, the head and the tail that are left of it."""
        fact = replace(fact, limit=max_bytes)
        full = self._store.read(fact.file)
        if full is not None:
            middle = _middle(full, max_bytes, partial(self._notice, language, fact.file))
            if shown.startswith(middle.cut.head) and shown.endswith(middle.cut.tail):
                return _hidden(parts, middle, fact)
        return _hidden(parts, _middle(shown, max_bytes, partial(self._gone, language, fact)), fact)

    def _notice(self, language: Language, file: str, cut: Cut) -> str:
        at_line_start = not cut.head or cut.head.endswith("\n")
        return self._book.text(
            language(),
            "working_memory.notice" if at_line_start else "working_memory.notice_bytes",
            path=self._prefix + file,
            total_bytes=cut.total_bytes,
            total_lines=cut.total_lines,
            first_hidden_line=cut.first_hidden_line,
            last_hidden_line=cut.last_hidden_line,
            first_hidden_byte=cut.first_hidden_byte,
            hidden_bytes=cut.hidden_bytes,
        )

    def _gone(self, language: Language, fact: Fact, cut: Cut) -> str:
        return self._book.text(
            language(),
            "working_memory.expired",
            path=self._prefix + fact.file,
            total_bytes=fact.bytes,
            total_lines=fact.lines,
            sha256=fact.sha256,
        )


@dataclass(frozen=True)
class _Middle:
    """What is hidden of a text, and the notice that stands for it, on lines of its own."""

    cut: Cut
    notice: str


def _middle(text: str, max_bytes: int, notice: Callable[[Cut], str]) -> _Middle:
    """Hide as much as is needed for the rest and the longest notice that could come of it; so one cut is enough."""
    size = 4 * len(text)
    widest = [Cut(head, "-", size, size, size, size, size, size) for head in ("-", "\n")]
    room = max_bytes - max(len(encode_text(_framed(cut, notice))) for cut in widest)
    cut = cut_text(text, max(0, room), lambda _cut: "").cut
    assert cut is not None, "only what is too long is cut"
    return _Middle(cut, _framed(cut, notice))


def _framed(cut: Cut, notice: Callable[[Cut], str]) -> str:
    before = "\n" if cut.head and not cut.head.endswith("\n") else ""
    return f"{before}{notice(cut)}" + ("\n" if cut.tail else "")


def _hidden(parts: Sequence[Part], middle: _Middle, fact: Fact) -> Shortened:
    texts = hide(parts, len(middle.cut.head), len(middle.cut.tail), middle.notice)
    left = [replace(part, text=text) for part, text in zip(parts, texts, strict=True) if text is not None]
    return texts, replace(fact, shown=shown_digest(joined(left)))
