# -*- coding: utf-8 -*-
"""Many memories condensed without a model: how long, how much memory, how far, and that a stopped run goes on."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import Refiner, is_refined
from agentscope_reme.vector_memory import MemoryBank
from agentscope_reme.vector_store import LocalVectorStore

from ..vector_speed.side._clock import memory

__all__ = ["Part", "Scaled", "scaled"]

_START = datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
_NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
_USERS, _TURNS = 20, 30
_PEOPLE = ["Caroline", "Melanie", "Bruno", "Yusuf", "Ingrid", "李雷", "韩梅梅", "王建国", "陈晓东", "赵敏"]
_PLACES = ["Lisbon", "Oslo", "Kyoto", "Nairobi", "Quito", "上海", "苏州", "成都", "青岛", "拉萨"]
_SAID = (
    "{who} and I took the train to {where} on day {at} and the tickets were {much} euros altogether.",
    "The dentist in {where} moved my appointment; it is room {much} now, says {who}.",
    "{who} prefers the small hotel in {where} because the rooms face the harbour, number {much} above all.",
    "I don't eat shellfish, so {who} booked another restaurant in {where} for {much} people.",
    "{who}说{where}的新办公室在{much}号楼，第{at}天开始可以搬进去。",
    "我和{who}约好去{where}看展览，门票一共{much}元，记得带上证件。",
    "{who}不喜欢{where}的天气，打算第{at}天换到{much}路那家健身房。",
    "项目第{at}阶段由{who}负责，{where}机房的端口改成了{much}。",
)


@dataclass(frozen=True)
class Part:
    """One run, in a process of its own.

    Args:
        seconds (`float`): how long it took.
        base (`int`), peak (`int`): bytes in memory after the store was opened and read through once, and the most until
            the end of the run; 0 where the system does not tell.
        reports (`int`): how often progress was told.
        silence (`float`): the longest time without.
        groups (`int`), refined (`int`): of the report; 0 for a run that was stopped.
    """

    seconds: float
    base: int
    peak: int
    reports: int
    silence: float
    groups: int
    refined: int


@dataclass(frozen=True)
class Scaled:
    """What came of the runs.

    Args:
        stopped (`Part`), resumed (`Part`), idle (`Part`): a run that is stopped half-way, the next one, and one with
            nothing new.
        refined_half (`int`), refined (`int`): refined memories after the first and after the second run.
        sources (`int`): memories behind them.
        faults (`list[str]`): what was done twice, lost, or done with nothing new.
    """

    stopped: Part
    resumed: Part
    idle: Part
    refined_half: int
    refined: int
    sources: int
    faults: list[str]


class _StoppedError(Exception):
    pass


def scaled(number: int, folder: Path) -> Scaled:
    """Measure with so many stand-in memories, in sessions of several users.

    Args:
        number (`int`): how many.
        folder (`Path`): a folder for the store.
    """
    _alone(_fill, folder, number)
    stopped = _alone(_run, folder, number, True)
    half: dict[str, Any] = _alone(_state, folder)
    resumed = _alone(_run, folder, number, False)
    idle = _alone(_run, folder, number, False)
    whole: dict[str, Any] = _alone(_state, folder)
    behind = Counter(key for keys in whole["refined"].values() for key in keys)
    faults = [
        *(f"refined again: {key}" for key, keys in half["refined"].items() if whole["refined"].get(key) != keys),
        *(f"condensed twice: {key}" for key, times in behind.items() if times > 1),
        *(f"shown beside what was made of it: {key}" for key in behind if key in whole["shown"]),
    ]
    if len(behind) + len(whole["shown"]) != number:
        faults.append(f"{number - len(behind) - len(whole['shown'])} memories are lost")
    if idle.groups or idle.refined:
        faults.append(f"with nothing new, {idle.groups} groups were selected")
    return Scaled(stopped, resumed, idle, len(half["refined"]), len(whole["refined"]), len(behind), faults)


def stand_ins(number: int) -> Iterator[MemoryNode]:
    """Invented memories, the same each time: sessions of different lengths, some statements said again."""
    draw = random.Random(number)
    made = 0
    while made < number:
        user, session = draw.randrange(_USERS), f"s{made}"
        began = _START + timedelta(minutes=draw.randrange(500_000))
        for turn in range(min(draw.randint(3, 2 * _TURNS), number - made)):
            told = {"who": draw.choice(_PEOPLE), "where": draw.choice(_PLACES), "much": 100 + made, "at": turn + 1}
            moment = began + timedelta(minutes=2 * turn, microseconds=made)
            times = {"message_time": moment, "time_created": moment, "time_modified": moment}
            text = draw.choice(_SAID).format(**told)
            yield MemoryNode(text, "personal", f"user{user}", ref_memory_id=session, **times)
            made += 1


def _alone(work: Callable[..., Any], *given: Any) -> Any:
    """The answer of a function in a new process, whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def _bank(folder: Path) -> MemoryBank:
    return MemoryBank(LocalVectorStore(folder / "memories.db"), None, clock=lambda: _NOW, timezone=timezone.utc)


def _fill(folder: Path, number: int) -> None:
    async def main() -> None:
        async with _bank(folder) as bank:
            page: list[MemoryNode] = []
            for node in stand_ins(number):
                page.append(node)
                if len(page) == 1_000:
                    await bank.add(page)
                    page = []
            await bank.add(page)

    asyncio.run(main())


def _run(folder: Path, number: int, stops: bool) -> Part:
    told: list[float] = []

    def progress(done: int, total: int) -> None:
        told.append(time.perf_counter())
        if stops and done > number + (total - number) // 2:
            raise _StoppedError

    async def main() -> Part:
        groups = refined = 0
        async with _bank(folder) as bank:
            async for page in bank.store.pages():
                del page
            base = memory()
            began = time.perf_counter()
            try:
                report = await Refiner(bank).run(on_progress=progress)
                groups, refined = report.groups, report.refined
            except _StoppedError:
                pass
            ended = time.perf_counter()
        return Part(ended - began, base, memory("VmHWM"), len(told), _longest([began, *told, ended]), groups, refined)

    return asyncio.run(main())


def _longest(moments: Sequence[float]) -> float:
    return max(later - earlier for earlier, later in itertools.pairwise(moments))


def _state(folder: Path) -> dict[str, Any]:
    """The keys of refined memories with those of their sources, and the keys of other memories that are found."""

    async def main() -> dict[str, Any]:
        refined: dict[str, list[str]] = {}
        shown: set[str] = set()
        async with _bank(folder) as bank:
            async for page in bank.store.pages():
                for node in page:
                    if node.is_active and is_refined(node):
                        refined[node.key] = sorted(node.metadata["source_keys"])
                    elif node.is_active:
                        shown.add(node.key)
        return {"refined": refined, "shown": shown}

    return asyncio.run(main())
