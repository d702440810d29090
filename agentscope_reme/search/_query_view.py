# -*- coding: utf-8 -*-
"""A query as ranking sees it: its words, and the dates and names in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..text import DateSpan, date_mentions

__all__ = ["QueryView", "Tokenizer"]


class Tokenizer(Protocol):
    """What cuts queries; `WordTokenizer` does."""

    def query_tokens(self, text: str) -> list[str]:
        """The distinct words of a query without stop words."""


@dataclass(frozen=True)
class QueryView:
    """A query, read once for all sources.

    Args:
        text (`str`): the query.
        tokens (`tuple[str, ...]`): its distinct words without stop words; none where it asks for nothing.
        dates (`tuple[DateSpan, ...]`): the dates in it.
        tokenizer (`Tokenizer`): what cut it, for names to be cut alike.
    """

    text: str
    tokens: tuple[str, ...]
    dates: tuple[DateSpan, ...]
    tokenizer: Tokenizer

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, now: datetime) -> QueryView:
        """Read a query.

        Args:
            text (`str`): the query.
            tokenizer (`Tokenizer`): what cut the indexed texts.
            now (`datetime`): when it is asked, in the asker's time zone.
        """
        return cls(text, tuple(tokenizer.query_tokens(text)), tuple(date_mentions(text, now)), tokenizer)

    def named(self, speakers: Iterable[str]) -> dict[str, frozenset[str]]:
        """Those of the speakers whose whole name is in the query, with the words of the name."""
        words = frozenset(self.tokens)
        names = {speaker: frozenset(self.tokenizer.query_tokens(speaker)) for speaker in speakers}
        return {speaker: name for speaker, name in names.items() if name and name <= words}
