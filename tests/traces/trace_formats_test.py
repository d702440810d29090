# -*- coding: utf-8 -*-
"""The loaders give what the files hold, as an agent of the host would hold it; the facts are what they should be."""

import json

import pytest
from _trace_facts import identifiers, leaves, used_facts
from _trace_formats import FOLDERS, SAMPLE, Trace, load_traces
from agentscope.message import Msg


def blocks(trace: Trace, kind: str) -> list[dict]:
    return [
        block
        for msg in trace.messages
        if isinstance(msg.content, list)
        for block in msg.content
        if block["type"] == kind
    ]


def holds(msg: Msg, kind: str) -> bool:
    return isinstance(msg.content, list) and any(block["type"] == kind for block in msg.content)


def said(trace: Trace) -> str:
    return "\n".join(text for msg in trace.messages for text in leaves(msg.content))


def test_every_call_is_answered_by_the_next_message(traces):
    """Ids repeat in real runs, so calls and results are told apart by where they stand."""
    for trace in traces:
        calls = [at for at, msg in enumerate(trace.messages) if holds(msg, "tool_use")]
        results = [at for at, msg in enumerate(trace.messages) if holds(msg, "tool_result")]
        # a run may end with an action whose output nobody recorded
        open_call = [calls.pop()] if len(calls) > len(results) else []
        assert [at + 1 for at in calls] == results, trace.name
        assert open_call in ([], [len(trace.messages) - 1]), trace.name
        ids = [[block["id"] for block in blocks(trace, kind)] for kind in ("tool_use", "tool_result")]
        assert ids[0][: len(results)] == ids[1], trace.name


def test_roles_are_the_hosts(traces):
    for trace in traces:
        assert trace.messages[0].role == "user", trace.name
        for msg in trace.messages:
            assert (msg.role == "system") == holds(msg, "tool_result"), trace.name
        assert len({msg.id for msg in trace.messages}) == len(trace.messages)


def test_states_stand_before_the_steps_of_the_agent(traces):
    for trace in traces:
        assert trace.states(), trace.name
        for at in trace.states():
            assert at == len(trace.messages) or trace.messages[at].role == "assistant"
            assert trace.messages[at - 1].role != "assistant", trace.name


def test_no_output_of_swe_agent_is_lost():
    for path in sorted((SAMPLE / "swe_agent").glob("*.traj")):
        history = json.loads(path.read_text("utf-8"))["history"]
        texts = "\n".join(said(trace) for trace in load_traces(SAMPLE, "swe_agent"))
        assert all(item["content"] in texts for item in history if item["role"] in ("user", "tool"))


def test_no_output_of_openhands_is_lost():
    texts = [said(trace) for trace in load_traces(SAMPLE, "openhands")]
    lines = [
        line for path in sorted((SAMPLE / "openhands").glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    assert len(lines) == len(texts)
    for line, text in zip(lines, texts, strict=True):
        events = [event for event in json.loads(line)["history"] if event.get("observation")]
        assert events
        assert all(event["content"] in text for event in events)


def test_no_output_of_tau_bench_is_lost():
    runs = json.loads((SAMPLE / "tau_bench" / "gpt-4o-airline.json").read_text("utf-8"))
    for run, trace in zip(runs, load_traces(SAMPLE, "tau_bench"), strict=True):
        assert [item["content"] for item in run["traj"] if item["role"] == "tool"] == [
            block["output"] for block in blocks(trace, "tool_result")
        ]


def test_the_sample_is_small_and_has_its_licences():
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
    for folder in FOLDERS:
        assert "MIT" in (SAMPLE / folder / "LICENSE").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open src/app.py now", {"src/app.py"}),
        ("the order HX-4471 of mia_li_3668", {"HX-4471", "mia_li_3668"}),
        ("call getUserName, please", {"getUserName"}),
        ("plain words are no facts", set()),
    ],
)
def test_identifiers(text, found):
    assert identifiers(text) == found


def test_a_used_fact_was_seen_in_a_result_only():
    def call(number, **arguments):
        return Msg("a", [{"type": "tool_use", "id": f"c{number}", "name": "t", "input": arguments}], "assistant")

    def result(number, output):
        return Msg("system", [{"type": "tool_result", "id": f"c{number}", "name": "t", "output": output}], "system")

    history = [
        Msg("user", "see src/known.py", "user"),
        call(1, path="src/known.py"),
        result(1, "src/known.py imports src/found.py"),
        call(2, path="src/found.py", other="src/guessed.py"),
        result(2, "nothing"),
        call(3, path="src/found.py"),  # by now the agent has said it itself
    ]
    assert used_facts(Trace("t", "t", "", history)) == {3: {"src/found.py"}}


def test_the_sample_has_facts_and_long_results(traces, source):
    assert sum(map(len, (facts for trace in traces for facts in used_facts(trace).values()))) > 0
    longest = max(len(block["output"]) for trace in traces for block in blocks(trace, "tool_result"))
    assert longest > 4_000, source
