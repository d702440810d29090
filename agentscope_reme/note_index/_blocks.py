# -*- coding: utf-8 -*-
"""The blocks of a Markdown file, as ranges of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["Block", "blocks", "is_item"]

_FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,})(?P<rest>.*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?)(?:[ \t]+#+)?)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:(?P<equals>=+)|-{2,})[ \t]*$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,9}[.)、])[ \t]+\S|(?P<empty>[ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_FRONT_MATTER_LINES = 200
_LONGEST_MARK = 1_000  # characters; a longer line is no heading, rule or delimiter row


class Block(NamedTuple):
    """Lines that belong together.

    Args:
        kind (`str`): "heading", "fence", "table", "item", "front" or "text".
        start (`int`): The first line, counted from 0.
        end (`int`): The line after the last.
        level (`int`): 1 to 6 for a heading, else 0.
        title (`str`): The words of a heading.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Cut a file into headings, code fences, tables, list items (with what is nested in them) and paragraphs.

    Every line that is not blank is in exactly one block; no block begins or ends with a blank line.
    """
    at = 0
    if (end := _front_matter_end(lines)) > 0:
        yield Block("front", 0, end)
        at = end
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block = _block_at(lines, at)
        yield block
        at = block.end


def is_item(line: str) -> bool:
    """Whether a list item begins on this line."""
    return not _is_rule(line) and _ITEM.match(line) is not None


def _block_at(lines: Sequence[str], at: int) -> Block:
    line = lines[at]
    if _opens_fence(line):
        return Block("fence", at, _fence_end(lines, at))
    if heading := _heading(line):
        return Block("heading", at, at + 1, len(heading["marks"]), (heading["title"] or "").strip())
    if _is_table(lines, at):
        return Block("table", at, _table_end(lines, at))
    if is_item(line):
        return Block("item", at, _item_end(lines, at))
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if len(line) <= _LONGEST_MARK and (under := _underline(following)) and not _is_rule(line) and line[0] != ">":
        return Block("heading", at, at + 2, 1 if under["equals"] else 2, line.strip())
    return Block("text", at, _paragraph_end(lines, at))


def _front_matter_end(lines: Sequence[str]) -> int:
    """The line after YAML front matter; 0 where there is none."""
    if not lines or lines[0].rstrip() != "---" or len(lines) < 3 or not lines[1].strip():
        return 0
    for at in range(1, min(len(lines), _FRONT_MATTER_LINES)):
        if lines[at].rstrip() in ("---", "..."):
            return at + 1
    return 0


def _opens_fence(line: str) -> bool:
    fence = _FENCE.match(line)
    return fence is not None and not (fence["mark"][0] == "`" and "`" in fence["rest"])


def _fence_end(lines: Sequence[str], at: int) -> int:
    """The line after the closing fence, or the last line that is not blank where it is never closed."""
    fence = _FENCE.match(lines[at])
    assert fence is not None
    mark = fence["mark"]
    for number in range(at + 1, len(lines)):
        close = _FENCE.match(lines[number])
        if close and close["mark"].startswith(mark) and not close["rest"].strip():
            return number + 1
    end = len(lines)
    while not lines[end - 1].strip():
        end -= 1
    return end


def _is_table(lines: Sequence[str], at: int) -> bool:
    if lines[at].lstrip().startswith("|"):
        return True
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return (
        "|" in lines[at] and "|" in following and len(following) <= _LONGEST_MARK and bool(_DELIMITERS.match(following))
    )


def _table_end(lines: Sequence[str], at: int) -> int:
    end = at + 1
    while end < len(lines) and "|" in lines[end] and not _heading(lines[end]) and not _opens_fence(lines[end]):
        end += 1
    return end


def _item_end(lines: Sequence[str], at: int) -> int:
    """The line after an item and all that is nested in it."""
    indent = _indent(lines[at])
    end = at + 1
    while end < len(lines):
        ahead = end
        while ahead < len(lines) and not lines[ahead].strip():
            ahead += 1
        if ahead == len(lines):
            break
        nested = _indent(lines[ahead]) > indent
        if not nested and (ahead > end or is_item(lines[ahead]) or _interrupts(lines, ahead)):
            break
        end = _fence_end(lines, ahead) if _opens_fence(lines[ahead]) else ahead + 1
    return end


def _paragraph_end(lines: Sequence[str], at: int) -> int:
    end = at + 1
    while end < len(lines) and lines[end].strip() and not is_item(lines[end]) and not _interrupts(lines, end):
        end += 1
    return end


def _interrupts(lines: Sequence[str], at: int) -> bool:
    """Whether a heading, a fence or a table begins here, which end a paragraph without a blank line."""
    line = lines[at]
    return bool(_heading(line)) or _opens_fence(line) or line.lstrip().startswith("|")


def _heading(line: str) -> re.Match[str] | None:
    return _HEADING.match(line) if len(line) <= _LONGEST_MARK else None


def _underline(line: str) -> re.Match[str] | None:
    return _UNDERLINE.match(line) if len(line) <= _LONGEST_MARK else None


def _is_rule(line: str) -> bool:
    return len(line) <= _LONGEST_MARK and _RULE.match(line) is not None


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
