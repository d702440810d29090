# -*- coding: utf-8 -*-
"""What tells that a file is as it was when it was read."""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = ["FileState", "Stamp"]

_TICK = 50_000_000
_COARSE_TICK = 2_100_000_000
_SECOND = 1_000_000_000


class Stamp(NamedTuple):
    """What the system says of a file without reading it; times in nanoseconds."""

    size: int
    mtime: int
    ctime: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp in what ``stat`` returned."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    def settled_at(self, read_at: int) -> bool:
        """Whether any change after this moment must show in the stamp.

        File systems count time in ticks: a file that was read within a tick of its last change may have changed again
        without a trace. Times in whole seconds are taken for a clock that ticks every two seconds.

        Args:
            read_at (`int`): The clock before the file was read, in nanoseconds.
        """
        latest = max(self.mtime, self.ctime)
        return latest + (_COARSE_TICK if self.mtime % _SECOND == 0 else _TICK) < read_at


class FileState(NamedTuple):
    """A file as the index knows it.

    Args:
        id (`int`): its number.
        path (`str`): as it is shown.
        source (`str`): the source that it belongs to.
        revision (`int`): how often its chunks were brought up to date.
        stamp (`Stamp`): when it was read.
        read_at (`int`): the clock before it was read, in nanoseconds.
        lines (`int`): how many whole lines were read.
        size (`int`): how many bytes these are.
        digest (`bytes`): of these bytes.
    """

    id: int
    path: str
    source: str
    revision: int
    stamp: Stamp
    read_at: int
    lines: int
    size: int
    digest: bytes

    def is_current(self, stamp: Stamp) -> bool:
        """Whether a file with this stamp need not be read."""
        return stamp == self.stamp and stamp.settled_at(self.read_at)
