# -*- coding: utf-8 -*-
"""What a call of a tool would make of a note: decided over the note's lines, without touching the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ._lines import Line, merged, new_lines, occurrences, replaced, unparted
from ._note_store import Note
from ._repeats import without_standing

__all__ = ["Change", "Guard", "appended", "edited", "rewritten"]

_SHOWN_CHARS = 200
_SHOWN_LINES = 5
_LINES_COMPARED = 1_000
_HEADING_MARK = "#"


@dataclass(frozen=True)
class Guard:
    """Keeps one note to statements of a certain origin.

    Args:
        path (`str`):
            The note.
        elsewhere (`str`):
            The note that takes what is turned away.
        is_foreign (`Callable[[str], bool]`):
            Whether a new line has another origin.
        may_leave (`Callable[[str, Sequence[str], Sequence[str]], bool]`):
            Whether a line of the writer's own may be removed, given the lines that the note would have then, and those
            that are put in its very place where that is known.
        labelled (`Callable[[str], str]`):
            What is put down elsewhere for a line that was turned away.
    """

    path: str
    elsewhere: str
    is_foreign: Callable[[str], bool]
    may_leave: Callable[[str, Sequence[str], Sequence[str]], bool]
    labelled: Callable[[str], str]


@dataclass(frozen=True)
class Change:
    """What becomes of a note.

    Args:
        lines (`list[Line] | None`):
            The note's lines from now on; `None` where it stays as it is.
        answer (`str`):
            What the model is told: a name in the prompt book.
        values (`dict[str, Any]`):
            What goes into that text.
        ok (`bool`):
            Whether the model got what it wanted.
        returned (`tuple[Line, ...]`):
            Lines that were to go and stay.
        foreign (`tuple[str, ...]`):
            Lines that were turned away.
    """

    lines: list[Line] | None
    answer: str
    values: dict[str, Any] = field(default_factory=dict)
    ok: bool = True
    returned: tuple[Line, ...] = ()
    foreign: tuple[str, ...] = ()


def refused(answer: str, **values: Any) -> Change:
    return Change(None, answer, values, ok=False)


def rewritten(note: Note, text: str, guard: Guard | None = None) -> Change:
    """A new text for the whole note. Lines of a person that it leaves out stay where they are."""
    new = new_lines(text, note.lines)
    lines, returned = merged(note.lines, _staying(note.lines, new, guard), new)
    lines, foreign = _screened(note.lines, lines, guard)
    return Change(lines, "written", {"lines": len(lines)}, returned=tuple(returned), foreign=foreign)


def appended(note: Note, text: str, guard: Guard | None = None) -> Change:
    """A text at the end of the note, without what stands in the note already."""
    new = new_lines(text, note.lines)
    fresh, foreign = _screened(note.lines, without_standing(note.lines, new), guard)
    if not any(line.key for line in fresh):
        return Change(None, "all_screened" if foreign else "already_there", foreign=foreign)
    gap = [Line("", "", False)] if _wants_gap(note.lines, fresh) else []
    values = {"lines": len(fresh), "standing": sum(bool(line.key) for line in new) - len(foreign) - _filled(fresh)}
    return Change([*note.lines, *gap, *fresh], "appended", values, foreign=foreign)


def edited(note: Note, old: str, new: str, guard: Guard | None = None) -> Change:
    """One place of the note with another text in it. Where that would take a line of a person away, nothing changes."""
    places = occurrences(note.lines, old)
    if not places:
        return refused("no_match", path=note.path, nearest=_nearest(note, old))
    if len(places) > 1:
        return refused("many_matches", path=note.path, count=len(places))
    first, last, fresh = replaced(note.lines, places[0], len(old), new)
    touched = note.lines[first:last]
    after = [*note.lines[:first], *fresh, *note.lines[last:]]
    stays = _staying(touched, after, guard, fresh)
    marked, lost = unparted([line for line, stay in zip(touched, stays, strict=True) if stay and line.key], fresh)
    if lost:
        answer = "hand_lines" if any(line.hand for line in lost) else "user_lines"
        return refused(answer, path=note.path, lines=_quoted(line.shown for line in lost))
    lines, foreign = _screened(note.lines, [*note.lines[:first], *marked, *note.lines[last:]], guard)
    if foreign:  # half an edit helps nobody
        return Change(None, "all_screened", ok=False, foreign=foreign)
    return Change(lines, "edited", {"path": note.path})


def _staying(
    lines: Sequence[Line], after: Sequence[Line], guard: Guard | None, instead: Sequence[Line] = ()
) -> list[bool]:
    """Which lines a new text must not take away."""
    if guard is None:
        return [line.hand for line in lines]
    shown, new = [line.shown for line in after], [line.shown for line in instead]
    return [line.hand or (bool(line.key) and not guard.may_leave(line.shown, shown, new)) for line in lines]


def _screened(old: Sequence[Line], lines: Sequence[Line], guard: Guard | None) -> tuple[list[Line], tuple[str, ...]]:
    """The lines without new ones that must not come in, and those."""
    if guard is None:
        return list(lines), ()
    known = Counter(line.key for line in old)
    kept, foreign = [], []
    for line in lines:
        known[line.key] -= 1
        is_new = not line.hand and known[line.key] < 0 and bool(line.key)
        if is_new and guard.is_foreign(line.shown):
            foreign.append(line.key.strip())
        else:
            kept.append(line)
    return kept, tuple(foreign)


def _wants_gap(lines: Sequence[Line], fresh: Sequence[Line]) -> bool:
    return bool(lines) and bool(lines[-1].key) and fresh[0].body.lstrip().startswith(_HEADING_MARK)


def _filled(lines: Sequence[Line]) -> int:
    return sum(bool(line.key) for line in lines)


def _nearest(note: Note, old: str) -> str:
    """The line that is most like the first one that was looked for."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:_SHOWN_CHARS]
    lines = [line.shown[:_SHOWN_CHARS] for line in note.lines[-_LINES_COMPARED:] if line.key]
    return _quoted(get_close_matches(wanted, lines, 1, 0.5)) or "-"


def _quoted(lines: Iterable[str]) -> str:
    texts = [f"“{text.strip()[:_SHOWN_CHARS]}”" for text in lines]
    return " ".join(texts[:_SHOWN_LINES]) + (" …" if len(texts) > _SHOWN_LINES else "")
