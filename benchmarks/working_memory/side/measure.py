# -*- coding: utf-8 -*-
"""All steps of one side, once, in a process of its own: `python measure.py ours|peer SIZES`. Prints JSON.

It stands alone, since it runs under each side's interpreter: no import but the standard library, the host and the side.
"""

import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

SYSTEM_PROMPT = "You are a careful engineer. Read before you write, and say what you did. " * 20
LIMIT = 3_000
"""Bytes of UTF-8 that a truncated result keeps."""
WINDOW = 10_000_000
"""Tokens: so many that a hook has nothing to do."""
THRESHOLD, RESERVE = int(131_072 * 0.7 * 0.95), 10_000
"""Tokens: the defaults of both sides."""


clock = time.perf_counter
"""What time is told by: the wall's, or with the size `cpu` what this process has used of a processor."""


def main(which: str, sizes: dict[str, Any]) -> dict[str, Any]:
    global clock
    clock = time.process_time if sizes["cpu"] else time.perf_counter
    began = clock()
    import agentscope

    host, host_rss, modules = clock() - began, rss(), len(sys.modules)
    side = chosen(which)
    began = clock()
    side.load()
    figures = {
        "import_host": host,
        "import": clock() - began,
        "import_modules": len(sys.modules) - modules,
        "rss_import": rss() - host_rss,
        **asyncio.run(steps(side, sizes)),
        "rss_peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    versions = {"python": sys.version.split()[0], "agentscope": agentscope.__version__, "package": side.version()}
    return {"figures": figures, "versions": versions}


def chosen(which: str) -> Any:
    if which == "ours":
        from _ours import Ours

        return Ours
    from _peer import Peer

    return Peer


async def steps(side: Any, sizes: dict[str, Any]) -> dict[str, float]:
    from _histories import history, long_results

    figures: dict[str, float] = {}
    for count in sizes["idle"]:
        figures[f"idle_{count}"] = await idle(side, history(count), sizes["repeats"])
        figures[f"list_{count}"] = await idle_list(side, history(count), sizes["repeats"])
    for count in sizes["check"]:
        checks = [await checking(side, history(count)) for _ in range(sizes["firsts"])]
        for name, seconds in zip(("check", "recheck"), zip(*checks, strict=True), strict=True):
            figures[f"{name}_{count}"] = statistics.median(seconds)
    figures["add"] = await again(sizes, lambda: adding(side, history(sizes["add"])))
    count, size = sizes["results"]
    passes = [await truncating(side, long_results(count, size), count) for _ in range(sizes["firsts"])]
    figures["truncate_first"], figures["truncate_second"] = map(statistics.median, zip(*passes, strict=True))
    figures["stall"] = await again(sizes, lambda: stalling(side, long_results(count, size)))
    return figures


async def again(sizes: dict[str, Any], step: Callable[[], Awaitable[float]]) -> float:
    """The median of what is done for the first time a few times over, each with messages and a folder of its own."""
    return statistics.median([await step() for _ in range(sizes["firsts"])])


@asynccontextmanager
async def opened(side: Any) -> AsyncIterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        workspace = side(Path(folder), WINDOW)
        await workspace.start()
        yield workspace
        await workspace.close()


async def timed(action: Callable[[], Awaitable[Any]]) -> float:
    began = clock()
    await action()
    return clock() - began


async def idle(side: Any, messages: list[Any], repeats: int) -> float:
    """Seconds of a hook that has nothing to do, over the memory of an agent."""
    async with opened(side) as workspace:
        memory, hook = workspace.attached(SYSTEM_PROMPT)
        await memory.add(messages)
        await hook()  # the first one may count
        seconds = [await timed(hook) for _ in range(repeats)]
        assert len(await memory.get_memory(prepend_summary=False)) == len(messages), "it was to have nothing to do"
    return statistics.median(seconds)


async def idle_list(side: Any, messages: list[Any], repeats: int) -> float:
    """Seconds of the standalone hook with nothing to do, over the same list again and again."""
    async with opened(side) as workspace:
        kept = await workspace.list_hook(messages, SYSTEM_PROMPT)
        assert len(kept) == len(messages), "it was to have nothing to do"
        return statistics.median(
            [await timed(lambda: workspace.list_hook(messages, SYSTEM_PROMPT)) for _ in range(repeats)]
        )


async def checking(side: Any, messages: list[Any]) -> tuple[float, float]:
    """Seconds of a check over messages never seen before, and of the next one over the same, as at each step."""
    async with opened(side) as workspace:

        async def check() -> None:
            fold, keep, is_valid = await workspace.check(messages, THRESHOLD, RESERVE)
            assert is_valid
            assert len(fold) + len(keep) == len(messages)

        return await timed(check), await timed(check)


async def adding(side: Any, messages: list[Any]) -> float:
    """Seconds of adding messages one by one."""
    async with opened(side) as workspace:
        memory = workspace.memory()
        began = clock()
        for msg in messages:
            await memory.add(msg)
        return clock() - began


async def truncating(side: Any, messages: list[Any], count: int) -> tuple[float, float]:
    """Seconds of cutting long results, and of a second pass over what came out. The trailing one is recent."""
    async with opened(side) as workspace:
        began = clock()
        messages = await workspace.truncate(messages, LIMIT)
        first = clock() - began
        files = workspace.files()
        assert count - 1 <= files <= count, f"{files} files for {count} results"
        began = clock()
        await workspace.truncate(messages, LIMIT)
        return first, clock() - began


async def stalling(side: Any, messages: list[Any]) -> float:
    """The longest time in seconds that the event loop stands still while results are cut."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - began - 0.001)

    async with opened(side) as workspace:
        ticking = asyncio.ensure_future(tick())
        await asyncio.sleep(0.01)
        longest = 0.0
        await workspace.truncate(messages, LIMIT)
        await asyncio.sleep(0.002)
        ticking.cancel()
    return longest


def rss() -> int:
    """Bytes of this process that are in memory now; the most so far where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], json.loads(sys.argv[2]))))
