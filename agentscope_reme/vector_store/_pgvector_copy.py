# -*- coding: utf-8 -*-
"""Rows in PostgreSQL's binary COPY format, which takes vectors as they are in memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["END", "START", "packed"]

START = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
"""Before the first row."""

END = struct.pack(">h", -1)
"""After the last one."""

_NULL = struct.pack(">i", -1)


def packed(rows: Iterable[tuple]) -> bytes:
    """Rows of texts, whole numbers (int4), fractions (float8) and vectors; None is NULL."""
    parts: list[bytes] = []
    for row in rows:
        parts.append(struct.pack(">h", len(row)))
        for value in row:
            if value is None:
                parts.append(_NULL)
            else:
                data = _bytes(value)
                parts += (struct.pack(">i", len(data)), data)
    return b"".join(parts)


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int):
        return struct.pack(">i", value)
    return struct.pack(">d", value) if isinstance(value, float) else _vector(value)


def _vector(vector: np.ndarray) -> bytes:
    return struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes()
