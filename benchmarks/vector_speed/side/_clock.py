# -*- coding: utf-8 -*-
"""What each side is measured with: seconds, percentiles, memory and disk."""

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["disk", "memory", "over", "percentile", "tell_time_by", "timed"]

_clock = time.perf_counter


def tell_time_by(processor: bool) -> None:
    """Whether seconds are what this process used of processors, all its threads, in place of the wall's."""
    global _clock
    _clock = time.process_time if processor else time.perf_counter


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    """Seconds that it takes, and what comes of it."""
    began = _clock()
    result = await work()
    return _clock() - began, result


async def over(items: Sequence[Any], work: Callable[[Any], Awaitable[Any]], budget: float) -> tuple[list[float], list]:
    """Seconds and result of each item; no further ones (but five at least) once all took more than the budget."""
    times: list[float] = []
    results = []
    for item in items:
        seconds, result = await timed(lambda: work(item))  # noqa: B023
        times.append(seconds)
        results.append(result)
        if sum(times) > budget and len(times) >= 5:
            break
    return times, results


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def memory(field: str = "VmRSS") -> int:
    """Bytes of this process in memory: now, or with ``VmHWM`` the most so far; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def disk(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
