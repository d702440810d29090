# -*- coding: utf-8 -*-
"""What a refined text may say: the numbers, times, dates, names, identifiers and negations of its sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property

from ..record import MemoryNode
from ..text import date_mentions
from ._identifiers import holds_identifier, identifiers_in
from ._lexicon import Lexicon, default_lexicon
from ._numbers import Mention, clock_mentions, number_mentions
from ._polarity import Clause, clauses_of
from ._words import plain

__all__ = ["Grounds", "Source", "sources_of"]

_AHEAD = timedelta(days=330)
_SUBJECTS = ("user", "the user", "assistant", "用户", "助手")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u017f][\w\u00c0-\u017f]*")


@dataclass(frozen=True)
class Source:
    """A text that something may be refined from.

    Args:
        text (`str`): what it says.
        time (`datetime | None`): when it was said; what "yesterday" in it counts from.
        names (`tuple[str, ...]`): who said it, and of whom it is.
    """

    text: str
    time: datetime | None = None
    names: tuple[str, ...] = ()


def sources_of(nodes: Iterable[MemoryNode]) -> list[Source]:
    """Memories as sources."""
    return [
        Source(
            "\n".join(filter(None, (node.content, node.when_to_use))),
            node.message_time or node.time_created,
            tuple(filter(None, (node.author, node.memory_target, str(node.metadata.get("speaker", ""))))),
        )
        for node in nodes
    ]


class Grounds:
    """The claims of some sources, read once.

    Args:
        sources (`Sequence[Source]`): the sources.
        lexicon (`Lexicon | None`): the words of negation; those of the package by default.
        known (`Sequence[str]`): texts that anybody may name besides, such as the user's own name.
    """

    def __init__(self, sources: Sequence[Source], lexicon: Lexicon | None = None, known: Sequence[str] = ()) -> None:
        self.sources = list(sources)
        self.lexicon = lexicon or default_lexicon()
        self._named = [*known, *(name for source in self.sources for name in source.names)]

    @cached_property
    def text(self) -> str:
        """All sources and names in one text."""
        return "\n".join([*(plain(source.text) for source in self.sources), *map(plain, self._named)])

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Every number that may be read in a source, however unlikely."""
        clocks = [(each.start, each.end) for each in clock_mentions(self.text) if each.sure]
        return frozenset(
            value
            for each in number_mentions(self.text)
            if not any(start <= each.start < end for start, end in clocks)
            for value in each.readings
        )

    @cached_property
    def clocks(self) -> frozenset[frozenset[Decimal]]:
        """What each time of day in a source may mean, in minutes; that of the source itself among them."""
        own = (source.time for source in self.sources if source.time)
        return frozenset(
            [each.readings for each in clock_mentions(self.text)]
            + [frozenset([Decimal(60 * time.hour + time.minute)]) for time in own]
        )

    def has_clock(self, time: Mention) -> bool:
        """Whether a source names this time of day: 3:00 is borne out by 3 o'clock and 03:00, and not by 3 pm."""
        return any(time.readings <= readings or time.written in readings for readings in self.clocks)

    @cached_property
    def days(self) -> frozenset[tuple[date, date]]:
        """Every span of days that a source names, counted from its own time, and the day of that time."""
        found: set[tuple[date, date]] = set()
        for source in self.sources:
            said = source.time or datetime.now().astimezone()
            if source.time:
                found.add((said.date(), said.date()))
            for latest in (None, said.date() + _AHEAD):
                for span in date_mentions(source.text, said, latest):
                    found.add((span.start, span.end))
                    if span.grain == "day" and said.date() - timedelta(days=7) <= span.end < said.date():
                        found.add((span.start + timedelta(days=7), span.end + timedelta(days=7)))
        return frozenset(found)

    @cached_property
    def latin_words(self) -> frozenset[str]:
        """The words in Latin letters, in lower case."""
        return frozenset(_bare(word) for word in _LATIN_WORD.findall(self.text))

    def has_name(self, name: str) -> bool:
        """Whether a source names this, whole or word by word."""
        if " ".join(name.casefold().split()) in self._squeezed:
            return True
        words = _LATIN_WORD.findall(name)
        return bool(words) and name.isascii() and all(_bare(word) in self.latin_words for word in words)

    @cached_property
    def _squeezed(self) -> str:
        return " ".join(self.text.casefold().split())

    def has_identifier(self, identifier: str) -> bool:
        """Whether a source has this identifier, letter for letter."""
        return holds_identifier(self.text, identifier)

    def has_days(self, start: date, end: date) -> bool:
        """Whether a source names days that all lie in this span: May 2024 holds where 7 May 2024 is named."""
        return any(start <= first and last <= end for first, last in self.days)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """The identifiers of the sources."""
        return frozenset(each for each, _, _ in identifiers_in(self.text))

    @cached_property
    def clauses(self) -> list[Clause]:
        """The clauses of the sources, without the names of those who speak."""
        return [each for source in self.sources for each in self.clauses_in(source.text)]

    def clauses_in(self, text: str) -> list[Clause]:
        """The clauses of a text; who it is about is taken out, since "I don't" and "Bob doesn't" deny the same."""
        return clauses_of(self._subjects.sub(" ", plain(text)), self.lexicon)

    @cached_property
    def _subjects(self) -> re.Pattern[str]:
        names = sorted({name for name in self._named if len(name) > 1} | set(_SUBJECTS), key=len, reverse=True)
        alone = [rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name) for name in names]
        return re.compile("|".join(alone), re.IGNORECASE)

    def clauses_about(self, words: frozenset[str]) -> list[tuple[float, Clause]]:
        """The clauses of the sources that share words, with the share of the given words that each holds or reaches."""
        counts: dict[int, int] = defaultdict(int)
        for word in words:
            for place in self._places.get(word, ()):
                counts[place] += 1
        found = [(count / len(words), self.clauses[place]) for place, count in counts.items()]
        return [(share, clause) for share, clause in found if clause.words & words]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = defaultdict(list)
        for number, clause in enumerate(self.clauses):
            for word in clause.words | clause.reach:
                places[word].append(number)
        return places


def _bare(word: str) -> str:
    lowered = word.casefold()
    return lowered.removesuffix("'s").removesuffix("’s")
