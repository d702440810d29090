# -*- coding: utf-8 -*-
"""Reading archived messages and offloaded texts, a piece at a time."""

from pathlib import Path

from .._errors import StorageError
from ..text import PromptBook
from ._archive_files import ArchiveFiles, Line, lines_of
from ._expired import Expired, read_expired
from ._paging import Page, page_of
from ._utf8 import encode_text

__all__ = ["ArchivePages"]


class ArchivePages:
    """Answers what a model reads.

    Args:
        files (`ArchiveFiles`):
            The files it may read.
        book (`PromptBook`):
            Has the text that stands for an expired file.
        language (`str`):
            Its language.
        max_bytes (`int`):
            The most bytes of UTF-8 of text in an answer.
    """

    def __init__(self, files: ArchiveFiles, *, book: PromptBook, language: str, max_bytes: int) -> None:
        self._files = files
        self._book = book
        self._language = language
        self._max_bytes = max_bytes

    def read(self, file_path: str, *, start_line: int, limit: int, start_byte: int) -> list[str]:
        """One piece of a file.

        Args:
            file_path (`str`):
                The file, as the model spells it.
            start_line (`int`):
                The line to begin with, from 1; a message in a dialog file.
            limit (`int`):
                The most lines to read.
            start_byte (`int`):
                The byte to begin with, from 0; inside the message at ``start_line`` in a dialog file;
                negative where unused.

        Returns:
            `list[str]`: the piece as it is (left out where it is empty), and a line that tells how to go on.

        Raises:
            `ReMeError`: there is nothing to read; the message tells the cure.
        """
        path = self._files.locate(file_path)
        data = self._files.read(path)
        if self._files.is_dialog(path):
            return self._messages(path, data, start_line, limit, max(0, start_byte))
        expired = read_expired(path.name, data)
        if expired is not None:
            return [self._left(path, expired)]
        begin = start_byte if start_byte >= 0 else None
        page = page_of(data, start_line=start_line, start_byte=begin, limit=limit, max_bytes=self._max_bytes)
        if not page.text:
            raise StorageError(_behind_the_end(self._files.spelled(path), data, start_byte))
        return [page.text, self._whereto(path, data, page)]

    def _whereto(self, path: Path, data: bytes, page: Page) -> str:
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        what = f"{self._files.spelled(path)}: lines {page.first_line} to {page.last_line} of {lines}"
        what += f", bytes {page.first_byte} to {page.end_byte} of {len(data)}"
        if page.next_line is not None:
            return f"[{what}. {self._call(path, start_line=page.next_line)}]"
        if page.next_byte is not None:
            return f"[{what}. {self._call(path, start_byte=page.next_byte)}]"
        return f"[{what}. This is the end of the file.]"

    def _left(self, path: Path, expired: Expired) -> str:
        notice = self._book.text(
            self._language,
            "working_memory.expired",
            path=self._files.spelled(path),
            total_bytes=expired.n_bytes,
            total_lines=expired.n_lines,
            sha256=expired.sha256,
        )
        return f"{expired.head}\n{notice}\n{expired.tail}"

    def _messages(self, path: Path, data: bytes, start_line: int, limit: int, start_byte: int) -> list[str]:
        lines = list(lines_of(data))
        wanted = [line for line in lines if line.number >= start_line][:limit]
        if not wanted:
            raise StorageError(_behind_the_end(self._files.spelled(path), data, -1))
        texts: list[str] = []
        room = self._max_bytes
        for line in wanted:
            header, page, ends = self._message(line, start_byte if line is wanted[0] else 0, room)
            if not ends and texts:
                break  # it begins a piece of its own
            texts.append(header + page.text)
            room -= len(encode_text(texts[-1])) + 2
            if not ends:
                goes_on = self._call(path, start_line=line.number, start_byte=page.end_byte)
                return [texts[0], f"[{self._span(path, [line], lines)}, up to byte {page.end_byte} of it. {goes_on}]"]
        shown, rest = wanted[: len(texts)], [line for line in lines if line.number > wanted[len(texts) - 1].number]
        goes_on = self._call(path, start_line=rest[0].number) if rest else "This is the end of the file."
        return ["\n\n".join(texts), f"[{self._span(path, shown, lines)}. {goes_on}]"]

    def _message(self, line: Line, start_byte: int, room: int) -> tuple[str, Page, bool]:
        """The line above a message, as much of it as there is room for, and whether that is all."""
        data = encode_text(line.rendered() or "(nothing to show)")
        if start_byte and start_byte >= len(data):
            raise StorageError(f"start_byte is behind the end of message {line.number}, which has {len(data)} bytes")
        header = f"#{line.number}" + (f" from byte {start_byte}" if start_byte else "") + "\n"
        page = page_of(data, start_byte=start_byte, limit=len(data) + 1, max_bytes=max(4, room - len(header)))
        return header, page, page.end_byte == len(data)

    def _span(self, path: Path, shown: list[Line], lines: list[Line]) -> str:
        first, last, total = shown[0].number, shown[-1].number, lines[-1].number
        what = f"message {first}" if first == last else f"messages {first} to {last}"
        return f"{self._files.spelled(path)}: {what} of {total}"

    def _call(self, path: Path, **start: int) -> str:
        arguments = "".join(f", {name}={value}" for name, value in start.items())
        return f'To read on: read_working_memory(file_path="{self._files.spelled(path)}"{arguments})'


def _behind_the_end(spelling: str, data: bytes, start_byte: int) -> str:
    if not data:
        return f"{spelling} is empty"
    if start_byte >= 0:
        return f"start_byte is behind the end of {spelling}, which has {len(data)} bytes"
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return f"start_line is behind the end of {spelling}, which has {lines} lines"
