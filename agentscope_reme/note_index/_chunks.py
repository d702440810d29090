# -*- coding: utf-8 -*-
"""A Markdown file to chunks: every line that is not blank in one of them, headings with the text below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..message import estimate_tokens
from ._blocks import Block, blocks, is_item
from ._long_lines import cut_line

__all__ = ["CHUNKER", "Section", "sections"]

CHUNKER = "markdown/1"
"""Which way of cutting this is; a file that was cut another way is cut again."""

_SOFT = 1.25
"""By how much a chunk may be over its limit to keep a short rest with its text."""
_SHORT = 40  # tokens
_LONGEST_TITLE = 200  # characters

Count = Callable[[str], int]


class Section(NamedTuple):
    """A stretch of a file that becomes a chunk.

    Args:
        start_line (`int`): The first line, counted from 1.
        end_line (`int`): The last line, included.
        text (`str`): What stands there; of a line that was too long, a part of it.
        heading (`str`): The headings above it, outermost first, separated by `` > ``; not those in ``text``.
        offset (`int`): Where in the first line the text begins, in characters.
    """

    start_line: int
    end_line: int
    text: str
    heading: str
    offset: int = 0


class _Piece(NamedTuple):
    """Lines from start to end, counted from 0, or a part of one line."""

    start: int
    end: int
    size: int
    first: int = 0
    last: int | None = None


def sections(lines: Sequence[str], limit: int = 400, count: Count = estimate_tokens) -> list[Section]:
    """Cut the lines of a Markdown file into chunks.

    A heading begins a chunk and stays with what follows it. Code fences, tables, list items and paragraphs stay whole
    where they fit into a chunk; those that do not are cut between their lines, and a line that does not fit is cut
    where a sentence or a word ends.

    Args:
        lines (`Sequence[str]`): The lines, without their ends.
        limit (`int`): Tokens of a chunk; a short rest may take it a quarter higher.
        count (`Callable[[str], int]`): Counts tokens.

    Returns:
        `list[Section]`: The chunks in order. Together they hold every line that is not blank exactly once.
    """
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    for heads, body in _groups(blocks(lines)):
        while heads and above and above[-1][0] >= heads[0].level:
            above.pop()
        outer = _path(above)
        above += [(head.level, head.title[:_LONGEST_TITLE]) for head in heads]
        pieces = [piece for block in (*heads, *body) for piece in _pieces(lines, block, limit, count)]
        for number, packed in enumerate(_packed(pieces, limit)):
            found.append(_section(lines, packed, _path(above) if number else outer))
    return found


def _groups(stream: Iterator[Block]) -> Iterator[tuple[list[Block], list[Block]]]:
    """Headings, each deeper than the one before it, and the blocks below them."""
    heads: list[Block] = []
    body: list[Block] = []
    for block in stream:
        if block.kind != "heading":
            body.append(block)
            continue
        if body or (heads and block.level <= heads[-1].level):
            yield heads, body
            heads, body = [], []
        heads.append(block)
    if heads or body:
        yield heads, body


def _path(above: Sequence[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in above if title)


def _pieces(lines: Sequence[str], block: Block, limit: int, count: Count) -> Iterator[_Piece]:
    """A block whole where it fits, else what it falls into."""
    size = count("\n".join(lines[block.start : block.end]))
    if size <= limit:
        yield _Piece(block.start, block.end, size)
    elif block.end - block.start == 1:
        line = lines[block.start]
        for first, last in cut_line(line, limit, count):
            yield _Piece(block.start, block.end, count(line[first:last]), first, last)
    else:
        for start, end in _parts(lines, block):
            yield from _pieces(lines, Block("text", start, end), limit, count)


def _parts(lines: Sequence[str], block: Block) -> Iterator[tuple[int, int]]:
    """An item falls into its own text and what is nested in it, anything else into its lines."""
    starts = [at for at in range(block.start, block.end) if lines[at].strip()]
    if block.kind == "item":
        items = [block.start, *(at for at in range(block.start + 1, block.end) if is_item(lines[at]))]
        if len(items) > 1:
            starts = items
    for start, following in zip(starts, [*starts[1:], block.end], strict=True):
        end = following
        while not lines[end - 1].strip():
            end -= 1
        yield start, end


def _packed(pieces: Sequence[_Piece], limit: int) -> Iterator[list[_Piece]]:
    """As many pieces together as fit, in order."""
    packed: list[_Piece] = []
    size = 0
    for number, piece in enumerate(pieces):
        rest = sum(each.size for each in pieces[number : number + 3])
        is_rest = number + 3 > len(pieces) and rest < _SHORT and size + rest <= _SOFT * limit
        torn = piece.last is not None or (packed and packed[-1].last is not None)
        if packed and (torn or (size + piece.size > limit and not is_rest)):
            yield packed
            packed, size = [], 0
        packed.append(piece)
        size += piece.size
    if packed:
        yield packed


def _section(lines: Sequence[str], packed: Sequence[_Piece], heading: str) -> Section:
    first, last = packed[0], packed[-1]
    text = (
        "\n".join(lines[first.start : last.end]) if first.last is None else lines[first.start][first.first : first.last]
    )
    return Section(first.start + 1, last.end, text, heading, first.first)
