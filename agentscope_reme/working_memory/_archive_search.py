# -*- coding: utf-8 -*-
"""Finding a literal in archived messages and offloaded texts."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from .._errors import StorageError
from ._archive_files import ArchiveFiles, lines_of
from ._expired import read_expired
from ._finding import Place, literal, places
from ._paging import readable
from ._utf8 import encode_text

__all__ = ["ArchiveSearch"]

_MAX_HEADER = 200
_PLAIN = re.compile(r"[\w./-]+")
"""A literal that stands in a JSON line just as it stands in the message."""


@dataclass(frozen=True)
class _Found:
    """One match; what is said of it is made only where it is shown.

    Attributes:
        file (`str`): the file, as the model should write it.
        number (`int | None`): the line of a dialog file; ``None`` in other files, where the place has it.
        text (`str`): what was searched: a file, or a message.
        place (`Place`): where in that text.
        expired (`bool`): whether only head and tail are left of the file, so that its lines say nothing.
    """

    file: str
    number: int | None
    text: str
    place: Place
    expired: bool = False

    def __str__(self) -> str:
        """The match in one line."""
        if self.expired:
            where = f"{self.file} (expired: only its head and tail are left)"
        else:
            where = f"{self.file}:{self.place.line if self.number is None else self.number}{self._header()}"
        if self.place.whole:
            return f"{where} {self._shown()}"
        return f"{where} (from byte {self.place.byte_in(self.text)}) ...{self._shown()}..."

    def _header(self) -> str:
        """When a message was said, and by whom; unless that is the line that matched."""
        header = self.text.partition("\n")[0]
        return f" {header}" if self.number is not None and self.place.line > 1 and len(header) <= _MAX_HEADER else ""

    def _shown(self) -> str:
        part = self.text[self.place.begin : self.place.end]
        return readable(part.encode("utf-8", "surrogateescape")).rstrip("\r")


class ArchiveSearch:
    """Answers what a model searches.

    Args:
        files (`ArchiveFiles`):
            The files it may search.
        max_bytes (`int`):
            The most bytes of UTF-8 of matches in an answer.
        without_tools (`Collection[str]`):
            Names of tools whose archived calls and results are passed over: those that search, for they quote what
            others said.
    """

    def __init__(self, files: ArchiveFiles, *, max_bytes: int, without_tools: Collection[str] = ()) -> None:
        self._files = files
        self._max_bytes = max_bytes
        self._without_tools = without_tools

    def find(self, pattern: str, file_path: str, limit: int) -> list[str]:
        """The matches.

        Args:
            pattern (`str`):
                The text to find.
            file_path (`str`):
                A file, a folder, or ``""`` for all.
            limit (`int`):
                The most matches to show.

        Returns:
            `list[str]`: the matches, one a line (left out where there is none), and a line that tells how many there
            are and what to do about it.

        Raises:
            `ReMeError`: the file is missing or not allowed; the message tells the cure.
        """
        paths = self._files.newest_first(file_path)
        shown: list[str] = []
        total, room = 0, self._max_bytes
        for found in (each for path in paths for each in self._in_file(path, pattern)):
            total += 1
            if room > 0 and len(shown) < limit:
                line = str(found)
                room -= len(encode_text(line)) + 1
                if room >= 0 or not shown:
                    shown.append(line)
        if not total:
            return [_nothing(pattern, len(paths), file_path)]
        more = total - len(shown)
        how = "take a longer pattern, name a file_path, or raise limit"
        return ["\n".join(shown), f"[{more} more matches are not shown: {how}.]" if more else f"[{total} in all.]"]

    def _in_file(self, path: Path, pattern: str) -> Iterator[_Found]:
        try:
            data = self._files.read(path)
        except StorageError:
            return  # it went away meanwhile
        yield from (self._in_dialog if self._files.is_dialog(path) else self._in_text)(path, data, pattern)

    def _in_text(self, path: Path, data: bytes, pattern: str) -> Iterator[_Found]:
        expired = read_expired(path.name, data)
        text = f"{expired.head}\n[...]\n{expired.tail}" if expired else data.decode("utf-8", "surrogateescape")
        for place in places(text, literal(pattern)):
            yield _Found(self._files.spelled(path), None, text, place, expired is not None)

    def _in_dialog(self, path: Path, data: bytes, pattern: str) -> Iterator[_Found]:
        wanted, plain = literal(pattern), _PLAIN.fullmatch(pattern) is not None
        for line in lines_of(data):
            if plain and not wanted.search(line.raw) and "\\u" not in line.raw:
                continue
            text = line.rendered(self._without_tools)
            for place in places(text, wanted):
                yield _Found(self._files.spelled(path), line.number, text, place)


def _nothing(pattern: str, n_files: int, file_path: str) -> str:
    shown = pattern if len(pattern) <= 80 else f"{pattern[:80]}..."
    where = f"in {file_path}" if file_path else f"in {n_files} files"
    cure = "The text is matched literally: try a shorter or another word"
    return f"No match for {shown!r} {where}. {cure}{', or leave file_path out' if file_path else ''}."
