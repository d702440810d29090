# -*- coding: utf-8 -*-
"""What was reported about counting and about what stays in a context, re-enacted. `reports.py` says which report."""

import asyncio

import pytest
from _report_scenes import (
    SUMMARY,
    agent,
    calls,
    calls_and_results,
    count_quarters,
    ids_of,
    result,
    scene,
    talk,
    text_of,
    user,
)
from agentscope.message import Msg

from agentscope_reme import EventKind, ReMeLight
from agentscope_reme.message import is_user_request

pytestmark = pytest.mark.slow


def checked(folder, messages, threshold, reserve, **options):
    """`check_context` of a fresh instance."""

    async def main():
        options.setdefault("token_counter", count_quarters)
        async with ReMeLight(folder, model=None, **options) as light:
            return await light.check_context(messages, threshold, reserve)

    return asyncio.run(main())


def hooked(folder, messages, **options):
    """The standalone hook of a fresh instance."""

    async def main():
        async with ReMeLight(folder, model=None, enable_notes=False, token_counter=count_quarters) as light:
            return await light.pre_reasoning_hook(messages, **options)

    return asyncio.run(main())


@pytest.mark.parametrize("model", ["qwen-max", "gpt-4o", "claude-opus-4"])
def test_spellings_of_special_tokens_are_counted(tmp_path, model):
    async def main():
        light = ReMeLight(tmp_path, default_llm_config={"model_name": model})
        memory = light.get_in_memory_memory()
        await memory.add(user("模板是 {问题}<|endoftext|> 然后 <|im_start|>assistant"))
        usage = await memory.estimate_tokens()
        assert usage["messages_tokens"] > 8
        await light.close()

    asyncio.run(main())


def test_the_whole_request_is_budgeted(tmp_path):
    """The messages alone are below the threshold; with prompt, tools and summary they are not."""

    async def main():
        async with scene(tmp_path, window=6_000, system_prompt="You are careful. " * 300) as it:
            await it.memory.add(talk(6, 500))
            await it.memory.update_compressed_summary(SUMMARY + "\n- known" * 250)
            threshold = it.manager.status()["threshold"]
            assert it.memory.total_tokens() < threshold / 2
            await it.step()
            assert it.told(EventKind.FOLDED)
            await it.step()
            last = it.told(EventKind.CHECKED)[-1]
            assert last.tokens_before <= threshold
            assert set(last.details["parts"]) >= {"system_prompt", "tools", "summary", "messages"}

    asyncio.run(main())


@pytest.mark.parametrize(
    "texts",
    [
        ["本季度门店客流下降百分之七，库存周转放缓。"] * 110,
        ["[" + ",".join(f'{{"sku":{70200 + n},"diff":-{n}.35}}' for n in range(180)) + "]"],
    ],
)
def test_chinese_and_digits_reach_the_threshold(tmp_path, texts):
    messages = [each for text in texts for each in (user(text), agent("记下了。"))]
    fold, _, is_valid = checked(tmp_path, [*talk(2), *messages], 2_000, 500, token_counter=None)
    assert is_valid
    assert len(fold) >= 4


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 180_000}}


@pytest.mark.parametrize("inside_a_result", [False, True])
def test_an_image_costs_by_rule_and_is_not_evicted(tmp_path, inside_a_result):
    pictured = result("c1", [IMAGE]) if inside_a_result else Msg("user", [IMAGE], "user")

    async def main():
        light = ReMeLight(tmp_path, model=None)
        memory = light.get_in_memory_memory()
        await memory.add([*([calls("c1")] if inside_a_result else []), pictured])
        detail = (await memory.estimate_tokens())["messages_detail"][-1]
        assert 80 <= detail["tokens"] <= 6_000
        history = [*talk(2), *(msg for msg, _ in memory.content), user("what is in it?")]
        assert await light.check_context(history, 8_000, 4_000) == ([], history, True)
        await light.close()

    asyncio.run(main())


def test_a_persona_above_the_reserve_leaves_the_last_request(tmp_path):
    said = talk(6, 300)
    kept, summary = hooked(
        tmp_path,
        [*said, user("and now?")],
        system_prompt="You are a pirate with a long history. " * 120,
        max_input_length=2_600,
        memory_compact_reserve=400,
    )
    assert kept[-1].content == "and now?"
    assert "目标" in summary or "Goal" in summary


def test_a_result_above_the_reserve_stays_with_its_call_and_the_request(tmp_path):
    history = [user("读一下日志"), calls("t1", path="app.log"), result("t1", "2025-01-31 ERROR timeout\n" * 800)]
    fold, keep, is_valid = checked(tmp_path / "a", history, 2_000, 1_000)
    assert (fold, ids_of(keep), is_valid) == ([], ids_of(history), True)
    kept, _ = hooked(tmp_path / "b", history, max_input_length=3_000, memory_compact_reserve=1_000)
    assert calls_and_results(kept) == (["t1"], ["t1"])
    assert kept[0].content == "读一下日志"
    assert len(text_of(kept)) < len(text_of(history)) / 2, "it was shortened, not dropped"


def test_what_was_added_since_the_last_check_counts(tmp_path):
    async def main():
        async with scene(tmp_path, window=8_000) as it:
            await it.memory.add(talk(12, 500))
            await it.step()
            assert not it.told(EventKind.FOLDED)
            await it.memory.add([calls("t1"), result("t1", "row 1; row 2; row 3\n" * 400), agent("It is long.")])
            await it.step()
            assert it.told(EventKind.FOLDED)

    asyncio.run(main())


def test_the_hook_after_a_compaction_does_nothing(tmp_path):
    async def main():
        async with scene(tmp_path, SUMMARY) as it:
            await it.memory.add(talk(40, 500))
            await it.step()
            assert len(it.told(EventKind.FOLDED)) == 1
            asked = len(it.writer.requests)
            for number in range(5):  # small turns fit into the headroom
                await it.step(f"small question {number}")
            assert len(it.told(EventKind.FOLDED)) == 1
            assert len(it.writer.requests) == asked

    asyncio.run(main())


def test_the_counter_that_is_given_decides(tmp_path):
    history = talk(5, 400)

    def doubled(text):
        return 2 * count_quarters(text)

    assert checked(tmp_path, history, 1_500, 300, token_counter=count_quarters)[0] == []
    assert checked(tmp_path, history, 1_500, 300, token_counter=doubled)[0] != []


GROUPS = [
    user("compare the logs"),
    calls("A", "B", "C"),
    *(result(each, f"log {each} " * 500) for each in "ABC"),
    calls("D", "E"),
    *(result(each, f"log {each} " * 40) for each in "DE"),
]


@pytest.mark.parametrize("reserve", [1, 50, 200, 500, 2_000, 2_290])
def test_parallel_calls_with_results_in_several_messages_stay_together(tmp_path, reserve):
    fold, keep, is_valid = checked(tmp_path, GROUPS, 2_300, reserve)
    assert is_valid
    assert fold
    assert ids_of(keep)[-3:] == ids_of(GROUPS)[-3:]
    assert keep[0] is GROUPS[0]
    called, answered = calls_and_results(keep)
    assert called == answered
    assert set(called) in ({"D", "E"}, set("ABCDE"))


def test_two_parallel_calls_of_which_one_is_huge_are_compacted(tmp_path):
    history = [*talk(3), user("both, please"), calls("x", "y"), result("x", "ok"), result("y", "line of y\n" * 2_000)]
    fold, keep, is_valid = checked(tmp_path, history, 2_000, 500)
    assert is_valid
    assert ids_of(fold) == ids_of(history)[:6]
    assert ids_of(keep) == ids_of(history)[6:]


def test_a_small_window_compacts_with_the_default_reserve(tmp_path):
    kept, summary = hooked(tmp_path, talk(60, 900), max_input_length=15_000)
    assert summary
    assert 0 < len(kept) < 120


def test_a_last_request_above_the_reserve_stays(tmp_path):
    long = user("Here is the whole report. " * 600)
    fold, keep, _ = checked(tmp_path, [*talk(4), long], 3_000, 500)
    assert ids_of(keep) == [long.id]
    assert len(fold) == 8


@pytest.mark.parametrize("tail", [[calls("lost")], [result("nobody", "late")], [calls("lost"), agent("interrupted")]])
def test_half_a_pair_at_the_end_does_not_block_compaction(tmp_path, tail):
    history = [*talk(20), *tail]
    fold, keep, is_valid = checked(tmp_path / "a", history, 2_000, 600)
    assert not is_valid
    assert len(fold) > 20
    assert calls_and_results(keep) == ([], [])
    assert any(is_user_request(msg) for msg in keep)
    kept, summary = hooked(tmp_path / "b", history, max_input_length=3_000, memory_compact_reserve=600)
    assert summary
    called, answered = calls_and_results(kept)
    assert called == answered


def test_a_leading_system_message_stays(tmp_path):
    rules = Msg("system", "Answer in French.", "system")
    fold, keep, _ = checked(tmp_path, [rules, *talk(20)], 2_000, 600)
    assert fold
    assert keep[0] is rules


def test_the_current_request_is_not_folded_however_small_it_is(tmp_path):
    """An old greeting must not become the newest thing that the user said."""
    rounds = [each for n in range(6) for each in (calls(f"h{n}"), result(f"h{n}", f"status {n}: all well\n" * 60))]
    history = [user("你好呀"), agent("你好！"), user("/heartbeat"), *rounds]
    fold, keep, is_valid = checked(tmp_path, history, 1_200, 500)
    assert is_valid
    assert fold
    assert [msg.content for msg in keep if msg.role == "user"] == ["/heartbeat"]


def test_what_is_no_message_is_an_error_that_names_its_place(tmp_path):
    from agentscope_reme import MessageFormatError

    with pytest.raises(MessageFormatError, match=r"messages\[1\]"):
        checked(tmp_path, [user("a"), 7], 1_000, 100)


def test_keeping_no_result_recent_cuts_them_all(tmp_path):
    history = [user("read both"), calls("a", "b"), result("a", "alpha\n" * 4_000), result("b", "beta\n" * 4_000)]
    for keep_n, cut in ((0, [True, True]), (1, [False, False])):  # the trailing run is recent unless none is
        kept, _ = hooked(tmp_path / str(keep_n), history, tool_result_compact_keep_n=keep_n)
        assert [len(msg.content[0]["output"]) <= 3_000 for msg in kept[2:]] == cut
