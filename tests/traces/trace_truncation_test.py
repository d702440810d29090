# -*- coding: utf-8 -*-
"""Truncation before every step of real runs: each cut result names its file, is rebuilt byte for byte, and nothing that
a later step used is lost."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _trace_facts import leaves, used_facts
from _trace_formats import Trace
from agentscope.message import Msg

from agentscope_reme import ReMeLight

POINTER = re.compile(r"tool_result/[0-9a-f]{24}\.txt")
LIMITS = (3_000, 1_000)
SAVED = {"swe_agent": 0.30, "multi_swe_bench_output": 0.57}
"""The least share of the bytes of results that a limit of 3,000 bytes saves: by source or by file. What an ideal cut of
the other OpenHands file can save is less, for its results are short."""


@dataclass
class Replay:
    """What was seen over all states of a set of runs."""

    states: int = 0
    results: int = 0
    cut: int = 0
    facts: int = 0
    visible: int = 0
    saved: dict[str, list[int]] = field(default_factory=dict)
    """Bytes of results before and after, by file."""

    def share(self, *stems: str) -> float:
        before, after = (sum(pair[at] for stem, pair in self.saved.items() if stem in stems) for at in (0, 1))
        return 1 - after / before


def text_of(messages: list[Msg]) -> str:
    return "\n".join(text for msg in messages for text in leaves(msg.content))


def outputs(messages: list[Msg]) -> list[str]:
    return [
        block["output"]
        for msg in messages
        if msg.role == "system"
        for block in msg.content
        if isinstance(msg.content, list)
    ]


async def replay(trace: Trace, folder: Path, limit: int, seen: Replay) -> None:
    """Run one trace as a memory does: what was cut stays cut, and the next step's messages come on top."""
    reme = ReMeLight(folder)
    facts, memory = used_facts(trace), []
    for at in trace.states():
        memory = await reme.compact_tool_result([*memory, *trace.messages[len(memory) : at]], 1, 102_400, limit)
        seen.states += 1
        assert [msg.id for msg in memory] == [msg.id for msg in trace.messages[:at]]
        texts = check_results(trace, outputs(memory), outputs(trace.messages[:at]), folder, limit)
        shown = text_of(memory)
        for fact in facts.get(at, ()):
            seen.facts += 1
            seen.visible += fact in shown
            assert fact in shown or any(fact in text for text in texts), f"{trace.name}, step {at}: {fact!r} is lost"
    memory = await reme.compact_tool_result(memory, 0, 102_400, limit)  # now all of them are old
    before, after = outputs(trace.messages[: len(memory)]), outputs(memory)
    texts = check_results(trace, after, before, folder, limit)
    seen.results += len(before)
    seen.cut += len(texts)
    assert len(list((folder / "tool_result").glob("*.txt"))) == len(set(texts)), "one file for each text"
    total = seen.saved.setdefault(trace.name.rpartition("-")[0], [0, 0])
    for index, many in enumerate((before, after)):
        total[index] += sum(len(text.encode()) for text in many)
    await reme.close()
    assert len(list((folder / "tool_result").glob("*.txt"))) == len(set(texts)), "nothing expires that is fresh"


def check_results(trace: Trace, shown: list[str], full: list[str], folder: Path, limit: int) -> list[str]:
    """The full texts of the results that were cut, each read from the file that its own text names."""
    texts = []
    for now, was in zip(shown, full, strict=True):
        if now == was:
            continue
        assert len(was.encode()) > limit
        assert len(now.encode()) <= limit
        named = POINTER.findall(now)
        assert named, f"{trace.name}: no pointer in {now[:200]!r}"
        assert (folder / named[-1]).read_bytes() == was.encode(), f"{trace.name}: not what it was"
        head, tail = common_prefix(now, was), common_prefix(now[::-1], was[::-1])
        assert min(head, tail) >= limit // 10, f"{trace.name}: {head} characters of the head, {tail} of the tail"
        texts.append(was)
    return texts


def common_prefix(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("limit", LIMITS)
def test_truncation_loses_nothing(traces, source, size, limit, tmp_path, report):
    seen = Replay()

    async def main():
        for number, trace in enumerate(traces):
            await replay(trace, tmp_path / str(number), limit, seen)

    asyncio.run(main())
    assert seen.cut > 0
    assert seen.facts > 0
    share = seen.share(*seen.saved)
    report(
        f"{source} ({size}), {limit} bytes: {len(traces)} runs, {seen.states} states, "
        f"{seen.cut} of {seen.results} results cut, saved {share:.3f}, "
        f"pointer and exact 1.0, facts {seen.facts}: visible {seen.visible / seen.facts:.3f}, "
        "reachable 1.0, lost 0"
    )
    if size == "full" and limit == 3_000:
        for stem in {"multi_swe_bench_output"} & set(seen.saved):
            report(f"{source} ({size}), {limit} bytes, {stem} alone: saved {seen.share(stem):.3f}")
            assert seen.share(stem) >= SAVED[stem]
        assert share >= SAVED.get(source, 0)
