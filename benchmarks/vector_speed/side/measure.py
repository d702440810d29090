# -*- coding: utf-8 -*-
"""One step of one side in a process of its own: `python measure.py SIDE STEP GIVEN PLACE PLAN`. Prints JSON.

It stands alone, since it runs under each side's interpreter: no import but the standard library, numpy and the side.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _clock import disk, memory, over, percentile, tell_time_by, timed
from _given import Given

_AT_ONCE = 1_000
_TOP = 10
_LISTED = 20


def main(which: str, step: str, given: Path, place: Path, plan: dict[str, Any]) -> dict[str, Any]:
    tell_time_by(plan.get("cpu", False))
    side, version = chosen(which, Given(given), place)
    steps = {"build": build, "use": use}
    figures = asyncio.run(steps[step](side, side._given, place, plan))
    return {"version": version, "python": sys.version.split()[0], "figures": figures}


def chosen(which: str, given: Given, place: Path) -> tuple[Any, str]:
    """The side, with its package imported, and its version."""
    if which == "ours":
        from _ours import Ours

        return Ours(given, place), Ours.load()
    from _peers import PEERS

    return PEERS[which](given, place), PEERS[which].load()


async def build(side: Any, given: Given, place: Path, plan: dict[str, Any]) -> dict[str, float]:
    """Add everything, the last few one by one, and close."""
    size = len(given.memories)
    many = size - plan["ones"]
    await side.open()

    async def add_many() -> None:
        for start in range(0, many, _AT_ONCE):
            await side.add(range(start, min(many, start + _AT_ONCE)))

    took, _ = await timed(add_many)
    ones, _ = await over(range(many, size), lambda number: side.add([number]), float("inf"))
    peak = memory("VmHWM")
    closing, _ = await timed(side.close)
    figures = {"add": many / (took + closing), "add_one": percentile(ones, 0.5), "rss_peak": peak, "close": closing}
    return {**figures, "disk": disk(place)}


async def use(side: Any, given: Given, _place: Path, plan: dict[str, Any]) -> dict[str, float]:
    """Open what was built, search and list."""
    questions, budget = given.questions, plan["budget"]
    rss = memory()

    async def reopen() -> None:
        await side.open()
        assert await side.search(questions[0], None, _TOP)

    figures = {"reopen": (await timed(reopen))[0]}
    await over(questions[:20], lambda question: side.search(question, None, _TOP), budget)
    times, found = await over(questions, lambda question: side.search(question, None, _TOP), budget)
    figures |= shares("search", times) | {"recall": recall(found, [each.best for each in questions])}
    times, found = await over(questions, lambda each: side.search(each, f"user-{each.user}", _TOP), budget)
    figures |= shares("user", times) | {"recall_user": recall(found, [each.best_of_user for each in questions])}
    if hasattr(side, "search_both"):
        await over(questions[:20], lambda question: side.search_both(question, None, _TOP), budget)
        times, _ = await over(questions, lambda question: side.search_both(question, None, _TOP), budget)
        figures |= shares("both", times)
        times, _ = await over(questions, lambda each: side.search_both(each, f"user-{each.user}", _TOP), budget)
        figures |= shares("both_user", times)
    times, _ = await over(questions, lambda each: side.list(f"user-{each.user}", _LISTED), budget)
    figures |= shares("list", times) | {"rss": memory(), "rss_index": memory() - rss}
    figures["list_all"], listed = await timed(lambda: side.list(None, None))
    assert listed == len(given.memories), f"{listed} of {len(given.memories)} were listed"
    await side.close()
    return figures


def shares(name: str, times: Sequence[float]) -> dict[str, float]:
    return {f"{name}_p50": percentile(times, 0.5), f"{name}_p95": percentile(times, 0.95), f"{name}_count": len(times)}


def recall(found: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> float:
    """The share of the right answers that was found, over the questions that were asked."""
    pairs = list(zip(found, right[: len(found)], strict=True))
    return sum(len(set(mine) & set(best)) for mine, best in pairs) / sum(len(best) for _, best in pairs)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), json.loads(sys.argv[5]))))
