# -*- coding: utf-8 -*-
"""The six sections of a summary: a checkpoint as a value, written as Markdown in either language and read from any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ..text import Language
from ._headings import (
    PARTS_OF_PROGRESS,
    SECTIONS,
    TITLES,
    Heading,
    any_heading,
    field_named,
    known_heading,
    split_label,
)

__all__ = ["Checkpoint", "heading_count", "parse_checkpoint", "render_checkpoint"]

_BULLET = re.compile(r"\s*(?:[-*+•·▪◦‣]\s+|\d{1,2}[.)、．]\s*(?=[^\d\s]))")
_CHECKBOX = re.compile(r"\[([ xX✓✔~-])\]\s+")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_OPEN_END = re.compile(r"[^.。!！?？:：;；]\s*$")
_WRAPPED_CHARS = 60
_NOTHING = frozenset(
    [
        "(none)",
        "none",
        "none.",
        "(none yet)",
        "none yet",
        "n/a",
        "-",
        "（无）",
        "(无)",
        "无",
        "无。",
        "暂无",
        "（暂无）",
    ],
)


@dataclass(frozen=True)
class Checkpoint:
    """What is known of the work at one point: the sections of a summary, each a tuple of one-line items.

    Items are brought to one line when the checkpoint is made; what says only "none" is no item.
    """

    goal: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    progress_done: tuple[str, ...] = ()
    progress_doing: tuple[str, ...] = ()
    progress_blocked: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    context: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            items = (_one_line(item) for item in getattr(self, field.name))
            object.__setattr__(self, field.name, tuple(item for item in items if item))


def render_checkpoint(checkpoint: Checkpoint, language: Language) -> str:
    """The checkpoint as Markdown: all six headings, and a list under each that has items.

    Args:
        checkpoint (`Checkpoint`):
            What to write.
        language (`Language`):
            The language of the headings.

    Returns:
        The text, from which `parse_checkpoint` reads an equal checkpoint.
    """
    which = 1 if language == "zh" else 0
    blocks = []
    for section in SECTIONS:
        lines = [f"## {TITLES[section][which]}"]
        for field in PARTS_OF_PROGRESS if section == "progress" else (section,):
            items = getattr(checkpoint, field)
            lines += [f"### {TITLES[field][which]}"] if items and section == "progress" else []
            lines += [f"- {item}" for item in items]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a summary, whoever wrote it: a model's Markdown in either language, or plain prose.

    Headings are `#` lines, bold lines and lines such as `Goal:`; common variants of the names are known. A list item or
    any other line is an item of the section it stands in. What stands under an unknown heading, or before the first
    heading, goes to `context`, with that heading in front of it. Nothing is dropped but marks of layout.

    Args:
        text (`str`):
            The summary.

    Returns:
        The checkpoint.
    """
    reader = _Reader()
    for line, fenced in _lines(text):
        reader.read(line, fenced)
    return reader.checkpoint()


def heading_count(text: str) -> int:
    """How many of the six sections have a heading in the text, in either language."""
    headings = [known_heading(line) for line, fenced in _lines(text) if not fenced]
    found = {heading.field for heading in headings if heading}
    return len({"progress" if field in PARTS_OF_PROGRESS else field for field in found})


class _Reader:
    """Takes a summary line by line."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}
        self._place = Heading("context", 0)
        self._foreign = ""  # the unknown heading that the lines stand under
        self._last = ""  # the field whose last item the next line may continue
        self._listed = False

    def read(self, line: str, fenced: bool) -> None:
        if not line.strip():
            self._last = ""
        elif fenced:
            self._add(line.strip())
        elif known := known_heading(line, inside_progress=self._place.field.startswith("progress")):
            self._open(known, "")
            self._read_item(known.rest)
        elif foreign := any_heading(line):
            title, depth = foreign
            is_part = self._place.depth and depth > self._place.depth
            self._open(self._place if is_part else Heading("context", 0), title)
        elif not _RULE.match(line):
            self._read_item(line)

    def checkpoint(self) -> Checkpoint:
        self._open(self._place, "")
        return Checkpoint(**{field: tuple(items) for field, items in self._items.items()})

    def _open(self, place: Heading, foreign: str) -> None:
        if self._foreign and not self._last:  # an unknown heading with nothing under it
            self._items.setdefault(_part_of_progress(self._place.field, ""), []).append(self._foreign)
        self._place, self._foreign, self._last = place, foreign, ""

    def _read_item(self, line: str) -> None:
        bullet = _BULLET.match(line)
        if not bullet and self._continues(line):
            self._items[self._last][-1] += " " + line.strip()
        elif item := line[bullet.end() if bullet else 0 :].strip():
            self._add(item)
            self._listed = bool(bullet)

    def _continues(self, line: str) -> bool:
        """Whether a line without a bullet goes on with the item before it."""
        if not self._last:
            return False
        before = self._items[self._last][-1]
        return line[:2].isspace() if self._listed else len(before) > _WRAPPED_CHARS and bool(_OPEN_END.search(before))

    def _add(self, item: str) -> None:
        field = _part_of_progress(self._place.field, item)
        if field != self._place.field:
            item = _without_part_label(item)
        self._last = field
        self._items.setdefault(field, []).append(f"{self._foreign}: {item}" if self._foreign else item)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a code fence; the fences themselves are left out."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2:  # one was never closed
        fences.pop()
    if fences and not any(line.strip() for line in lines[: fences[0]]):  # the whole reply in a fence
        lines[fences[0]] = lines[fences[-1]] = ""
        fences = fences[1:-1]
    borders = set(fences)
    fenced = False
    for number, line in enumerate(lines):
        if number in borders:
            fenced = not fenced
        else:
            yield line, fenced


def _part_of_progress(field: str, item: str) -> str:
    """Where an item that stands right under the heading of all progress belongs."""
    if field != "progress":
        return field
    if box := _CHECKBOX.match(item):
        return "progress_doing" if box[1] in " ~-" else "progress_done"
    label, rest = split_label(item)
    part = field_named(label.replace("**", "")) if rest else None
    return part if part in PARTS_OF_PROGRESS else "progress_done"


def _without_part_label(item: str) -> str:
    label, rest = split_label(item)
    is_label = rest and field_named(label.replace("**", "")) in PARTS_OF_PROGRESS
    return rest.removeprefix("**").strip() if is_label else item


def _one_line(item: str) -> str:
    line = " ".join(item.split())
    while box := _CHECKBOX.match(line):
        line = line[box.end() :]
    return "" if line.casefold() in _NOTHING else line
