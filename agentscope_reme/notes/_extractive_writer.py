# -*- coding: utf-8 -*-
"""Puts extracted lines into the journal of the day and into MEMORY.md."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from agentscope.message import Msg

from ..text import PromptBook
from ._extractive import Entry, entries, is_known, most_telling
from ._lines import Line, new_lines
from ._note_store import Note, NoteStore
from ._repeats import squashed
from ._user_words import UserWords

__all__ = ["ExtractiveWriter"]

_MOST_LINES = 60
_MOST_STATEMENTS = 20


class ExtractiveWriter:
    """Notes without a model. What stands in a file already, in whatever form, is not added again.

    Args:
        store (`NoteStore`):
            The notes.
        book (`PromptBook`):
            Headings and labels.
        journal (`Callable[[date], str]`):
            The path of a day's file.
        memory (`str`):
            The path of the lasting notes.
        archive (`Callable[[date], str]`):
            Where the messages of a day can be read in full.
    """

    def __init__(
        self,
        store: NoteStore,
        book: PromptBook,
        journal: Callable[[dt.date], str],
        memory: str,
        archive: Callable[[dt.date], str],
    ) -> None:
        self._store, self._book = store, book
        self._journal, self._memory, self._archive = journal, memory, archive

    def write(self, day: dt.date, messages: Sequence[Msg], language: str) -> dict[str, int]:
        """Add what the messages of a day tell to its journal, and lasting statements of users to MEMORY.md as well;
        what users ask to forget leaves MEMORY.md.

        Returns:
            `dict[str, int]`: how many lines came into which file or left it; files that stayed as they were are left
            out.

        Raises:
            `StorageError`: the disk refused.
        """
        found = entries(messages)
        added = {
            self._journal(day): self._add_to_journal(day, found, language),
            self._memory: self.promote(day, found, language),
        }
        return {path: count for path, count in added.items() if count}

    def promote(self, day: dt.date, found: Iterable[Entry], language: str) -> int:
        """Add the lasting statements of users to MEMORY.md, under a heading of their own, and take out what they ask
        to forget after it was said; hand-written lines stay. How many lines came or went."""
        with self._store.locked():
            note = self._store.load(self._memory)
            if not note.is_text:
                return 0
            kept, lines, known = list(note.lines), list[str](), _squashed(note.lines)
            for entry in found:
                if entry.is_request:
                    asked = UserWords([entry.text], (), ())
                    kept = [each for each in kept if not _is_ours(each) or not asked.asked_to_forget(each.shown)]
                    lines = [each for each in lines if not asked.asked_to_forget(each)]
                    known = "\n".join([_squashed(kept), *map(squashed, lines)])
                elif entry.is_standing and len(lines) < _MOST_STATEMENTS and not is_known(entry.text, known):
                    values = {"text": entry.text, "speaker": _before(entry.name), "day": day}
                    lines.append(self._line(language, "statement", **values))
                    known += "\n" + squashed(lines[-1])
            gone = len(note.lines) - len(kept)
            if lines or gone:
                self._save_under_heading(replace(note, lines=tuple(kept)), lines, language)
            return len(lines) + gone

    def _add_to_journal(self, day: dt.date, found: Sequence[Entry], language: str) -> int:
        with self._store.locked():
            note = self._store.load(self._journal(day))
            known = _squashed(note.lines)
            fresh: list[Entry] = []
            for entry in found:
                if not is_known(entry.text, known, self._speaker(entry, language)):
                    fresh.append(entry)
                    known += "\n" + squashed(self._spoken(entry, language))
            chosen = most_telling(fresh, _MOST_LINES)
            lines = [self._spoken(entry, language) for entry in chosen]
            if len(fresh) > len(chosen):
                left = len(fresh) - len(chosen)
                lines.append(self._line(language, "left_out", count=left, path=self._archive(day)))
            if not lines or not note.is_text:
                return 0
            title = [f"# {day.isoformat()}", ""] if note.data is None else []
            self._store.save(note.path, [*note.lines, *new_lines("\n".join(title + lines), note.lines)])
            return len(lines)

    def _save_under_heading(self, note: Note, lines: Sequence[str], language: str) -> None:
        """Add lines, if any, to the section of ours, which is made at the end where there is none."""
        if not lines:
            self._store.save(note.path, note.lines)
            return
        heading = self._line(language, "memory_heading")
        at = next((at for at, line in enumerate(note.lines) if line.key == heading), None)
        if at is None:
            title = [self._line(language, "memory_title"), ""] if note.data is None else [""] if note.lines else []
            before, after = list(note.lines), []
            fresh = [*title, heading, "", *lines]
        else:
            end = _section_end(note.lines, at)
            before, after = list(note.lines[:end]), list(note.lines[end:])
            fresh = list(lines)
        self._store.save(note.path, [*before, *new_lines("\n".join(fresh), note.lines), *after])

    def _spoken(self, entry: Entry, language: str) -> str:
        time = f"{entry.time} " if entry.time else ""
        return f"- {time}{self._speaker(entry, language)}: {entry.text}"

    def _speaker(self, entry: Entry, language: str) -> str:
        if entry.is_agent:
            return self._line(language, "agent_name", speaker=entry.name)
        return entry.name or self._line(language, "user_name")

    def _line(self, language: str, entry: str, /, **values: Any) -> str:
        return self._book.text(language, f"notes.{entry}", **values).strip()


def _before(name: str) -> str:
    return f"{name}, " if name else ""


def _is_ours(line: Line) -> bool:
    """Whether it is an item that no person wrote."""
    return not line.hand and line.key.startswith("- ")


def _squashed(lines: Iterable[Line]) -> str:
    return "\n".join(squashed(line.shown) for line in lines)


def _section_end(lines: Sequence[Line], heading: int) -> int:
    """Where the section of a heading ends, blank lines at its end left out."""
    following = range(heading + 1, len(lines))
    end = next((at for at in following if lines[at].body.startswith(("# ", "## "))), len(lines))
    while not lines[end - 1].key:
        end -= 1
    return end
