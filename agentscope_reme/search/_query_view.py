# -*- coding: utf-8 -*-
"""A query as ranking sees it: its words, and the dates and names in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from ..text import ASKING, DateSpan, date_mentions
from ._query_text import without_names

__all__ = ["QueryView", "Tokenizer"]

_CODE = re.compile(r"\d{5,}|(?=.*[a-z])(?=.*[\d._/\\@])[a-z\d]\S+", re.ASCII)
"""What a vector cannot tell apart: letters with digits (zx-4471), names of files and functions, long numbers."""


_SHORT = 40
"""Words of a query that may ask for a time alone."""


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
        now (`datetime`): when it is asked, in the asker's time zone.
        tokenizer (`Tokenizer`): what cut it, for names to be cut alike.
    """

    text: str
    tokens: tuple[str, ...]
    now: datetime
    tokenizer: Tokenizer

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, now: datetime) -> QueryView:
        """Read a query.

        Args:
            text (`str`): the query.
            tokenizer (`Tokenizer`): what cut the indexed texts.
            now (`datetime`): when it is asked, in the asker's time zone.
        """
        return cls(text, tuple(tokenizer.query_tokens(text)), now, tokenizer)

    @property
    def codes(self) -> dict[str, frozenset[str]]:
        """The identifiers among the words, with the words that are parts of each: itself, inv and 2093 of inv-2093."""
        codes = [token for token in self.tokens if _CODE.fullmatch(token)]
        return {code: frozenset(token for token in self.tokens if token in code) for code in codes}

    def dates(self, newest: date | None = None) -> list[DateSpan]:
        """The dates in the query; one without a year is looked for up to the newest text of a source."""
        return date_mentions(self.text, self.now, newest)

    def time_words(self, dates: Sequence[DateSpan], names: Iterable[str]) -> tuple[str, ...] | None:
        """The words of its dates, where a time is all that the query asks for: "what did we talk about on Monday".

        Args:
            dates (`Sequence[DateSpan]`): the dates in the query.
            names (`Iterable[str]`): words of the names of speakers, whom a query may ask about beside that.

        Returns:
            `tuple[str, ...] | None`: None where it asks for more, or for no time.
        """
        if not dates or len(self.tokens) > _SHORT:
            return None
        text, parts, at = unicodedata.normalize("NFKC", self.text), [], 0
        for span in dates:
            parts.append(text[at : span.position])
            at = span.position + len(span.text)
        besides = set(self.tokenizer.query_tokens("\n".join([*parts, text[at:]])))
        told = besides.intersection(self.tokenizer.query_tokens(ASKING)) if besides else besides
        names = besides.intersection(names)
        if besides - told - names or (names and not told):
            return None
        return tuple(self.tokenizer.query_tokens("\n".join(span.text for span in dates)))

    def named(self, speakers: Iterable[str]) -> dict[str, frozenset[str]]:
        """Those of the speakers whose whole name is in the query, with the words of the name."""
        words = frozenset(self.tokens)
        names = {speaker: frozenset(self.tokenizer.query_tokens(speaker)) for speaker in speakers}
        return {speaker: name for speaker, name in names.items() if name and name <= words}

    def without(self, names: Iterable[str]) -> str:
        """The text to embed: with pronouns for the names of speakers, because a name draws a vector to whoever talks of
        that person.

        Args:
            names (`Iterable[str]`): the speakers; one that is not in the query, or is all of it, changes nothing.
        """
        return without_names(self.text, self.named(names))
