# -*- coding: utf-8 -*-
"""What was reported about calls and results, whose separation makes a provider refuse every later request."""

import asyncio
import copy

import pytest
from _loopback import faults_of
from _report_scenes import agent, calls, calls_and_results, count_quarters, result, scene, talk, user
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg

from agentscope_reme import EventKind, ReMeLight

pytestmark = pytest.mark.slow

EIGHTEEN = [f"c{number}" for number in range(1, 19)]
CLUSTER = [
    *talk(2),
    user("check all shards"),
    calls(*EIGHTEEN, text="I check them all."),
    *(result(each, f"shard {each} is well; " * 12) for each in EIGHTEEN),
    agent("All are well."),
]


def sent(messages):
    """What a provider would object to."""
    formatted = asyncio.run(OpenAIChatFormatter().format([Msg("system", "You work.", "system"), *messages]))
    return faults_of({"messages": formatted})


@pytest.mark.parametrize("shuffled", [False, True])
def test_no_cut_through_eighteen_parallel_calls(tmp_path, shuffled):
    history = copy.copy(CLUSTER)
    if shuffled:
        history[6:24] = history[6:24][::-1]

    async def main():
        async with ReMeLight(tmp_path, model=None, token_counter=count_quarters) as light:
            for stop in range(5, len(history) + 1):
                present = sorted(calls_and_results(history[:stop])[1])
                for reserve in (1, 40, 120, 400, 900, 1_500):
                    fold, keep, is_valid = await light.check_context(history[:stop], reserve + 1, reserve)
                    called, answered = calls_and_results(keep)
                    assert sorted(called) == sorted(answered)
                    assert sorted(called) in ([], present), "all that has a result, or nothing"
                    assert is_valid == (stop == 5 or stop >= 24)
                    assert len(fold) + len(keep) == stop

    asyncio.run(main())


def test_a_cut_anywhere_in_a_live_session_is_accepted_by_the_provider(tmp_path):
    """The same cluster over and over, in a window that each of them nearly fills."""

    async def main():
        async with scene(tmp_path, window=6_000) as it:
            for turn in range(4):
                await it.memory.add(copy.deepcopy([Msg(m.name, m.content, m.role) for m in CLUSTER]))
                assert not faults_of({"messages": await it.step(f"again {turn}")})
            assert it.told(EventKind.FOLDED)

    asyncio.run(main())


@pytest.mark.parametrize(
    "broken", [{"input": None, "raw_input": '{"path": "/var/l'}, {"input": '{"path": "/var/l'}, {"input": [1, 2]}]
)
def test_a_call_whose_stream_broke_off_does_not_lock_the_session(tmp_path, broken):
    torn = Msg("agent", [{"type": "tool_use", "id": "t1", "name": "read_log", **broken}], "assistant")

    async def main():
        async with scene(tmp_path) as it:
            await it.memory.add([user("read it"), torn, result("t1", "interrupted by the user")])
            shown = await it.step("go on")
            assert not faults_of({"messages": shown})
            assert it.held()[1].content == torn.content, "memory and archive keep it as it was"

    asyncio.run(main())


def test_the_hook_run_twice_doubles_no_result(tmp_path):
    history = [*talk(30), user("both"), calls("a", "b"), result("a", "alpha " * 900), result("b", "beta " * 900)]

    async def main():
        async with ReMeLight(tmp_path, model=None, enable_notes=False, token_counter=count_quarters) as light:
            summary = ""
            for _ in range(3):
                history[:], summary = await light.pre_reasoning_hook(
                    history, compressed_summary=summary, max_input_length=3_000, memory_compact_reserve=500
                )
                assert calls_and_results(history) == (["a", "b"], ["a", "b"])

    asyncio.run(main())


def test_an_interrupted_call_hidden_by_later_talk(tmp_path):
    history = [user("look"), calls("t1"), agent("我被打断了"), user("继续")]

    async def main():
        async with ReMeLight(tmp_path, model=None, token_counter=count_quarters) as light:
            fold, keep, is_valid = await light.check_context(history, 10_000, 1_000)
            assert not is_valid
            assert (fold, keep) == ([history[1]], [history[0], *history[2:]])
        async with scene(tmp_path / "agent") as it:
            await it.memory.add(history)
            shown = await it.step()
            assert not faults_of({"messages": shown})

    asyncio.run(main())


def test_kept_messages_are_returned_as_they_are(tmp_path):
    """Thinking stays in kept messages: some providers refuse a call without the thought that led to it."""
    thought = {"type": "thinking", "thinking": "the log will tell"}
    call = Msg("agent", [thought, *calls("t1").content], "assistant")
    history = [*talk(20), user("why?"), call, result("t1", "because")]
    before = copy.deepcopy([msg.to_dict() for msg in history])

    async def main():
        async with ReMeLight(tmp_path, model=None, enable_notes=False, token_counter=count_quarters) as light:
            fold, keep, _ = await light.check_context(history, 2_000, 500)
            assert fold
            assert [id(msg) for msg in keep[-3:]] == [id(msg) for msg in history[-3:]]
            kept, summary = await light.pre_reasoning_hook(history, max_input_length=3_000, memory_compact_reserve=500)
            assert summary
            assert kept[-2].content[0] == thought
            assert [msg.to_dict() for msg in history] == before

    asyncio.run(main())


@pytest.mark.parametrize(("first", "second"), [(5_000, 200), (200, 5_000), (5_000, 5_000), (1, 1)])
def test_parallel_calls_with_results_of_very_different_size(tmp_path, first, second):
    history = [*talk(4), user("go"), calls("p", "q"), result("p", "p " * first), result("q", "q " * second)]

    async def main():
        async with ReMeLight(tmp_path, model=None, token_counter=count_quarters) as light:
            return [await light.check_context(history, 800, reserve) for reserve in (10, 300, 700)]

    for _, keep, is_valid in asyncio.run(main()):
        assert is_valid
        assert calls_and_results(keep) == (["p", "q"], ["p", "q"])
        assert not sent(keep)


def test_ids_that_repeat_in_every_round_are_told_apart_by_position(tmp_path):
    """Some models name every call `call_0`; an old result must not answer a new call."""
    rounds = [each for n in range(30) for each in (calls("call_0", n=n), result("call_0", f"row {n} " * 30))]
    history = [user("count"), *rounds, calls("call_0", n=99)]

    async def main():
        async with ReMeLight(tmp_path, model=None, token_counter=count_quarters) as light:
            _, keep, is_valid = await light.check_context(history, 700, 300)
            assert not is_valid
            assert keep[0] is history[0]
            called, answered = calls_and_results(keep)
            assert len(called) == len(answered) > 1
            assert [msg.content[0]["input"]["n"] for msg in keep[1::2]] == list(range(30 - len(called), 30))

    asyncio.run(main())
