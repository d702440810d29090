# -*- coding: utf-8 -*-
"""Real runs lived through again by a real agent with a small window: what each step used can still be found."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

from _loopback import faults_of
from _trace_agent import RecordedAgent
from _trace_facts import leaves, used_facts
from _trace_formats import Trace

from agentscope_reme import EventKind, MemoryManager

WINDOW = 6_000
"""Tokens beside the system prompt and the tools."""

POINTER = re.compile(r"tool_result/[0-9a-f]{24}\.txt")
FAULTS = {EventKind.HOOK_FAILED, EventKind.FOLD_FAILED, EventKind.OVER_BUDGET, EventKind.JOURNAL_DEGRADED}


def test_a_run_lived_through_again_loses_nothing(traces, source, size, tmp_path, report):
    seen: Counter[str] = Counter()

    async def main():
        for number, trace in enumerate(traces):
            await live(trace, tmp_path / str(number), seen)

    asyncio.run(main())
    assert seen["folded"] > 0
    assert seen["facts"] > 0
    report(
        f"{source} ({size}), a real agent: {seen['requests']} requests, {seen['folded']} folds, "
        f"{seen['truncated']} cuts, facts {seen['facts']}: visible {seen['visible'] / seen['facts']:.3f}, "
        "reachable 1.0, lost 0"
    )


async def live(trace: Trace, folder: Path, seen: Counter[str]) -> None:
    recorded = RecordedAgent(trace)
    manager = MemoryManager(
        folder, model=None, max_input_length=WINDOW + overhead(trace), tool_result_compact_keep_n=1, language="en"
    )
    manager.subscribe(lambda event: seen.update([event.kind.value]))
    manager.attach(recorded.agent)
    await recorded.live()
    assert not [kind for kind in FAULTS if seen[kind.value]], (trace.name, seen)
    facts = used_facts(trace)
    for step, messages in zip(recorded.steps, recorded.shown, strict=True):
        seen["requests"] += 1
        assert not faults_of({"messages": messages}), f"{trace.name}, step {step}"
        shown = "\n".join(leaves(messages))
        missing = {fact for fact in facts.get(step, ()) if fact not in shown}
        seen["facts"] += len(facts.get(step, ()))
        seen["visible"] += len(facts.get(step, ())) - len(missing)
        if missing:
            named = files_named(shown, folder)
            assert not {fact for fact in missing if fact not in named}, f"{trace.name}, step {step}: lost"
            for fact in sorted(missing)[:3]:
                assert "No match" not in await grep(recorded, fact), f"{trace.name}, step {step}: {fact!r} is not found"
    await manager.close()


def overhead(trace: Trace) -> int:
    tools = {
        block["name"] for msg in trace.messages for block in msg.content if isinstance(block, dict) and "input" in block
    }
    return len(trace.system_prompt) // 3 + 60 * len(tools) + 1_500


def files_named(shown: str, folder: Path) -> str:
    """What is in the files that a context names: those of the notices, and where it has the guide, the archive."""
    lines = [
        line
        for path in sorted((folder / "dialog").glob("*.jsonl"))
        if "dialog/" in shown
        for line in path.read_text("utf-8").splitlines()
    ]
    archived = "\n".join(text for line in lines for text in leaves(json.loads(line)))
    names = set(POINTER.findall(shown + archived))
    return "\n".join([archived, *((folder / name).read_text("utf-8") for name in sorted(names))])


async def grep(recorded: RecordedAgent, fact: str) -> str:
    tool = recorded.agent.toolkit.tools["grep_working_memory"].original_func
    return "\n".join(block["text"] for block in (await tool(fact)).content)
