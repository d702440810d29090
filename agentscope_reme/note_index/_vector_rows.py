# -*- coding: utf-8 -*-
"""Vectors in SQLite: which chunks wait for theirs, and giving them. Blocking: it runs in a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ._schema import fact, next_version, set_fact

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Waiting", "claim_vectors", "packed_vectors", "store_vectors", "waiting_chunks"]

_BATCH = 64  # chunks


class Waiting(NamedTuple):
    """A chunk that has no vectors yet."""

    kind: str
    twin: int
    text: str


def packed_vectors(
    texts: Sequence[Sequence[str]], vectors: np.ndarray, mask: np.ndarray
) -> tuple[list[bytes], list[bool]]:
    """The vectors of each chunk in half precision, and whether some of them are missing.

    Args:
        texts (`Sequence[Sequence[str]]`): By chunk, its texts.
        vectors (`np.ndarray`): A row for each text of all chunks.
        mask (`np.ndarray`): Which rows are vectors.
    """
    import numpy as np

    half = vectors.astype("<f2")
    packed, missing, start = [], [], 0
    for part in texts:
        rows = np.arange(start, start + len(part))
        packed.append(half[rows[mask[rows]]].tobytes())
        missing.append(not bool(mask[rows].all()))
        start += len(part)
    return packed, missing


def claim_vectors(connection: sqlite3.Connection, model: str) -> None:
    """Make the vectors those of a model; another model's are dropped, and every chunk waits for new ones."""
    if fact(connection, "model") != model:
        set_fact(connection, "model", model)
        connection.execute("DELETE FROM vector")
        connection.execute("UPDATE chunk SET waiting = 1 WHERE kind <> 'tool'")
        next_version(connection)


def waiting_chunks(connection: sqlite3.Connection, model: str, later: Sequence[int]) -> list[Waiting] | None:
    """The newest chunks first; None where the vectors are another model's by now."""
    if fact(connection, "model") != model:
        return None
    marks = ",".join("?" * len(later))
    query = f"SELECT kind, twin, text FROM chunk WHERE waiting AND twin NOT IN ({marks}) ORDER BY id DESC LIMIT ?"
    return [Waiting._make(row) for row in connection.execute(query, (*later, _BATCH))]


def store_vectors(connection: sqlite3.Connection, model: str, rows: Sequence[tuple[int, bytes, bool]]) -> bool:
    """Give every chunk with these texts its vectors, unless the model was changed meanwhile."""
    if fact(connection, "model") != model:
        return False
    version = next_version(connection)
    for twin, data, whole in rows:
        connection.execute(
            "INSERT OR REPLACE INTO vector SELECT id, ?, ? FROM chunk WHERE twin = ? AND waiting", (version, data, twin)
        )
        if whole:
            connection.execute("UPDATE chunk SET waiting = 0 WHERE twin = ? AND waiting", (twin,))
    return True
