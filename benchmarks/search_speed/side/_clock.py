# -*- coding: utf-8 -*-
"""What each side is measured with: percentiles, the longest stall of the event loop, memory and disk."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

__all__ = ["Stall", "disk", "memory", "now", "over", "percentile", "stalls", "tell_time_by", "timed"]


_BETWEEN = 0.003  # seconds in which the loop goes on, so that a stall is that of one call
_clock = time.perf_counter


def tell_time_by(processor: bool) -> None:
    """Whether seconds are what this process used of processors, all its threads, in place of the wall's."""
    global _clock
    _clock = time.process_time if processor else time.perf_counter


def now() -> float:
    """Seconds since some moment."""
    return _clock()


class Stall:
    """The longest time in seconds that the event loop stood still; always the wall's."""

    longest = 0.0


@asynccontextmanager
async def stalls() -> AsyncIterator[Stall]:
    """Watch the event loop while something runs."""
    stall = Stall()

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            stall.longest = max(stall.longest, time.perf_counter() - began - 0.001)

    ticking = asyncio.ensure_future(tick())
    await asyncio.sleep(0.01)
    stall.longest = 0.0
    try:
        yield stall
        await asyncio.sleep(0.002)
    finally:
        ticking.cancel()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds that it takes."""
    began = now()
    await work()
    return now() - began


async def over(items: Sequence[str], work: Callable[[str], Awaitable[object]], budget: float) -> list[float]:
    """Seconds of each item; no further ones (but five at least) once all together took more than the budget."""
    times: list[float] = []
    for item in items:
        times.append(await timed(lambda: work(item)))  # noqa: B023
        await asyncio.sleep(_BETWEEN)
        if sum(times) > budget and len(times) >= 5:
            break
    return times


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


def disk(*places: Path) -> int:
    """Bytes of files, and of all files in folders."""
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*"))]
    return sum(file.stat().st_size for file in files if file.is_file())
