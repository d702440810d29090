# -*- coding: utf-8 -*-
"""What a set of tools has shown its model of each file, and of which version."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ._note_store import Note

__all__ = ["Sightings"]


@dataclass
class _Sighting:
    version: str | None
    lines: set[int] = field(default_factory=set)
    count: int = 0

    @property
    def is_whole(self) -> bool:
        return len(self.lines) >= self.count


class Sightings:
    """Decides whether a model may replace what it knows of a file."""

    def __init__(self) -> None:
        self._of: dict[str, _Sighting] = {}

    def saw(self, note: Note, lines: Iterable[int]) -> None:
        """Some lines were shown; those of an older version count no more."""
        sighting = self._of.get(note.path)
        if sighting is None or sighting.version != note.version:
            sighting = self._of[note.path] = _Sighting(note.version, count=len(note.lines))
        sighting.lines.update(lines)

    def fault(self, note: Note, kind: str) -> str:
        """Why a file must not be changed in this way now, as a name in the prompt book; "" where it may.

        Args:
            note (`Note`):
                The file as it is now.
            kind (`str`):
                `"write"`, `"edit"` or `"append"`.
        """
        sighting = self._of.get(note.path)
        if kind == "append":
            return ""
        if sighting is not None and sighting.version != note.version:
            return "changed"
        if note.version is None:
            return "missing_edit" if kind == "edit" else ""
        if kind == "edit":
            return ""
        if sighting is None:
            return "never_read"
        return "" if sighting.is_whole else "partly_read"

    def changed(self, before: Note, after: Note, *, whole: bool) -> None:
        """The model itself has changed a file: it knows the new version as far as it knew the old one."""
        sighting = self._of.get(before.path) or _Sighting(None)
        if whole or (sighting.version == before.version and sighting.is_whole):
            self._of[before.path] = _Sighting(after.version)
        elif sighting.version == before.version:
            self._of[before.path] = _Sighting(after.version, count=len(after.lines))
