# -*- coding: utf-8 -*-
"""How a new statement stands to an old one: the same, a change, or something else."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from ..text import date_mentions
from ._frames import Frame, frames_of, kind_of
from ._identifiers import identifiers_in
from ._lexicon import Lexicon, default_lexicon, lower
from ._names import names_in
from ._numbers import clock_mentions, number_mentions
from ._polarity import clauses_of, polarity_of
from ._words import overlap, plain, words_of

__all__ = ["Comparison", "Relation", "compare", "says_the_same"]

Relation = Literal["same", "change", "beside"]

_SAME_WORDS = 0.95
_ALIKE = 0.5
_SAME_VALUE = 0.75
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Comparison:
    """How two statements stand to each other.

    Args:
        relation (`Relation`): ``same``: near copies that claim the same; ``change``: both cannot hold, and the new one
            does; ``beside``: they have nothing to do with each other, or agree.
        old (`Frame | None`), new (`Frame | None`): for a change, what changed into what.
        leftover (`bool`): for a change, whether the old statement says something besides, which the new one does not.
    """

    relation: Relation
    old: Frame | None = None
    new: Frame | None = None
    leftover: bool = False


def compare(
    old: str,
    new: str,
    lexicon: Lexicon | None = None,
    *,
    similarity: float | None = None,
    dedup_threshold: float = _SAME_WORDS,
    about: Collection[str] = (),
    times: tuple[datetime, datetime] | None = None,
) -> Comparison:
    """Compare an old and a new statement of one owner; in doubt they stand beside each other, and both are kept.

    Args:
        old (`str`), new (`str`): the statements; the new one is the later one.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        similarity (`float | None`): the cosine of their vectors, where there are any.
        dedup_threshold (`float`): from which cosine on they may be near copies.
        about (`Collection[str]`): names of the owner, which do not tell subjects apart.
        times (`tuple[datetime, datetime] | None`): when each was said: "yesterday" on two days is not the same.
    """
    lexicon = lexicon or default_lexicon()
    if says_the_same(old, new, lexicon, similarity=similarity, dedup_threshold=dedup_threshold, times=times):
        return Comparison("same")
    own = frozenset(word for name in (*about, "user", "用户") for word in words_of(name))
    changes = lexicon.found_in("change", new)
    for after in frames_of(new, lexicon):
        for before in frames_of(old, lexicon):
            if before.about - own == after.about - own and _excludes(before, after, changes, lexicon):
                return Comparison("change", before, after, _has_more(old, before, new, own, lexicon))
    return Comparison("beside")


def says_the_same(
    old: str,
    new: str,
    lexicon: Lexicon | None = None,
    *,
    similarity: float | None = None,
    dedup_threshold: float = _SAME_WORDS,
    times: tuple[datetime, datetime] | None = None,
) -> bool:
    """Whether two statements are near copies that make the same claims: dates, numbers, names, codes, yes or no."""
    if not _is_near_copy(old, new, similarity, dedup_threshold):
        return False
    if times is not None and _days(old, times[0]) != _days(new, times[1]):
        return False
    lexicon = lexicon or default_lexicon()
    return _squashed(old) == _squashed(new) or _claims(old, lexicon) == _claims(new, lexicon)


def _is_near_copy(old: str, new: str, similarity: float | None, dedup_threshold: float) -> bool:
    near = overlap(words_of(old), words_of(new))
    if near >= _SAME_WORDS or _squashed(old) == _squashed(new):
        return True
    return similarity is not None and similarity >= dedup_threshold and near >= _ALIKE


def _squashed(text: str) -> str:
    """What two texts share that differ only in case and punctuation."""
    return _MARKS.sub("", plain(lower(text)))


def _days(text: str, said: datetime) -> frozenset[tuple[date, date]]:
    return frozenset((span.start, span.end) for span in date_mentions(text, said))


def _claims(text: str, lexicon: Lexicon) -> tuple[object, ...]:
    text = plain(text)
    return (
        frozenset(value for each in number_mentions(text) for value in each.readings),
        frozenset(value for each in clock_mentions(text) if each.sure for value in each.readings),
        frozenset(name.text.casefold() for name in names_in(text) if name.sure),
        frozenset(code for code, _, _ in identifiers_in(text)),
        polarity_of(text, lexicon),
    )


def _excludes(before: Frame, after: Frame, changes: bool, lexicon: Lexicon) -> bool:
    """Whether what was cannot hold beside what is now."""
    if "slot" in (before.kind, after.kind):
        return before.kind == after.kind and _same_slot(before, after) and _other_value(before, after)
    if after.kind == "favourite":
        kind = before.name if before.kind == "favourite" else kind_of(before.value, lexicon)
        return before.positive and kind == after.name and before.words != after.words
    if before.kind == "favourite" or overlap(before.words, after.words) < _SAME_VALUE:
        return False
    if before.positive == after.positive:
        return False
    return before.kind == after.kind or changes


def _same_slot(before: Frame, after: Frame) -> bool:
    one, other = words_of(before.name), words_of(after.name)
    return one == other if one or other else before.name == after.name


def _other_value(before: Frame, after: Frame) -> bool:
    """Whether two values differ, and neither only describes the other more closely (Beijing, Haidian in Beijing)."""
    one, other = (_MARKS.sub("", lower(plain(each.value))) for each in (before, after))
    return one != other and one not in other and other not in one


def _has_more(old: str, frame: Frame, new: str, own: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether the old statement says something besides what changed, that the new one does not say."""
    text = plain(old)
    rest = f"{text[: frame.start]}\n{text[frame.end :]}"
    others = [each.words for each in frames_of(old, lexicon) if each.start == frame.start and each is not frame]
    said = words_of(new) | frame.words | frame.about | own
    left = [clause.words for clause in clauses_of(rest, lexicon)] + [each for each in others if each != frame.words]
    return any(words - said for words in left)
