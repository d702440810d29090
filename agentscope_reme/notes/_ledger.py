# -*- coding: utf-8 -*-
"""Who wrote which line of a note: the writer's own lines are remembered, and every other is a person's."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from .._errors import StorageError
from ..storage import read_bytes, write_atomic
from ..workspace import escape_name
from ._lines import Line, aligned

__all__ = ["LineLedger"]

logger = logging.getLogger("agentscope_reme")


class LineLedger:
    """Remembers, for each note, its lines as the writer left them and which of them are its own.

    A line counts as the writer's only where it still stands, unchanged, as the writer left it; whatever else is found
    in the file was put there by a person. So does everything where the ledger is lost: nothing can be lost by that,
    it only can no longer be changed by the writer.

    Args:
        folder (`Path`):
            Where the ledger lies, a small file for each note.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def marked(self, path: str, lines: Sequence[Line]) -> list[Line]:
        """The lines of a note, each with its mark of who wrote it.

        Args:
            path (`str`):
                The note, as seen from the workspace.
            lines (`Sequence[Line]`):
                Its lines now.
        """
        hashes, hands = self._read(path)
        marks = [True] * len(lines)
        for same, at, to, new_at, new_to in aligned(hashes, [_hash(line) for line in lines]):
            if same:
                marks[new_at:new_to] = hands[at:to]
        return [line._replace(hand=hand) for line, hand in zip(lines, marks, strict=True)]

    def record(self, path: str, lines: Sequence[Line]) -> None:
        """Remember the lines as they are now. Where the disk refuses, they count as hand-written."""
        hands = "".join("1" if line.hand else "0" for line in lines)
        data = json.dumps({"lines": [_hash(line) for line in lines], "hand": hands})
        try:
            write_atomic(self._file(path), data.encode(), durable=False)
        except StorageError as error:
            logger.warning("Who wrote which line of %s cannot be put down: %s", path, error)

    def _read(self, path: str) -> tuple[list[str], list[bool]]:
        try:
            value = json.loads(read_bytes(self._file(path)))
            hashes, hands = list(map(str, value["lines"])), [mark != "0" for mark in value["hand"]]
        except (StorageError, ValueError, TypeError, KeyError):
            return [], []
        return (hashes, hands) if len(hashes) == len(hands) else ([], [])

    def _file(self, path: str) -> Path:
        return self._folder / f"{escape_name(path)}.json"


def _hash(line: Line) -> str:
    """The line by its exact bytes; "" for a blank one, which nobody owns."""
    body = line.body.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(body, digest_size=8).hexdigest() if body.strip() else ""
