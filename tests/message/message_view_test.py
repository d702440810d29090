# -*- coding: utf-8 -*-
"""What a model API is shown: every call followed at once by its results, and nothing that a formatter chokes on."""

import asyncio
import copy
import json
from collections import Counter
from typing import Any

import pytest
from _message_histories import assistant, call, histories, result, results, said, text, tidy_histories, user
from agentscope.formatter import AnthropicChatFormatter, DashScopeChatFormatter, OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.message import (
    REPAIR_TEXT,
    is_repair,
    msg_to_dict,
    needs_view,
    output_text,
    pair_calls,
    provider_view,
    tool_results,
    tool_uses,
)


def _assert_acceptable(view: list[Msg]) -> None:
    """Each message with calls is followed at once by exactly its results; results stand nowhere else."""
    index = 0
    while index < len(view):
        assert not tool_results(view[index]), f"message {index} holds results that nobody waits for"
        awaited = Counter(use["id"] for use in tool_uses(view[index]))
        index += 1
        while awaited:
            assert index < len(view), f"no result for {awaited}"
            answers = Counter(answer["id"] for answer in tool_results(view[index]))
            assert answers, f"message {index} stands between calls and results"
            assert answers <= awaited
            assert len(tool_results(view[index])) == len(view[index].content)
            awaited -= answers
            index += 1


def _as_data(messages: list[Msg]) -> list[dict[str, Any]]:
    return [msg_to_dict(msg) for msg in messages]


@given(histories())
def test_the_view_is_acceptable_and_the_view_of_a_view_is_the_same(messages: list[Msg]) -> None:
    before, contents = _as_data(messages), [id(msg.content) for msg in messages]
    view = provider_view(messages)
    _assert_acceptable(view)
    assert pair_calls(view).is_valid
    assert _as_data(provider_view(view)) == _as_data(view)
    assert not needs_view(view)
    assert _as_data(messages) == before
    assert [id(msg.content) for msg in messages] == contents
    assert _as_data(provider_view(messages)) == _as_data(view)


@given(histories())
def test_what_was_said_is_all_there(messages: list[Msg]) -> None:
    view = provider_view(messages)
    assert [t for msg in view for t in _texts(msg)] == [t for msg in messages for t in _texts(msg)]
    pairing = pair_calls(messages)
    answered = [messages[m].content[p] for m, p in sorted(pairing.result_of.values())]
    shown = [answer for msg in view if not is_repair(msg) for answer in tool_results(msg)]
    assert Counter(map(_output, answered)) == Counter(map(_output, shown))
    repairs = [msg for msg in view if is_repair(msg)]
    readable = [(m, p) for m, p in pairing.dangling if isinstance(messages[m].content[p].get("id"), str)]
    assert len(repairs) == len(readable)
    assert len({msg.id for msg in view}) == len(view)


def _output(answer: dict[str, Any]) -> str:
    return _blurred(output_text(answer))


def _texts(msg: Msg) -> list[str]:
    if isinstance(msg.content, str):
        return [_blurred(msg.content)]
    blocks = [block for block in msg.content or [] if isinstance(block, dict)]
    return [_blurred(block["text"]) for block in blocks if block.get("type") == "text" and "text" in block]


def _blurred(words: str) -> str:
    """Text in which a lone surrogate and its replacement look alike."""
    return "".join("?" if "\ud800" <= char <= "\udfff" or char == "\ufffd" else char for char in words)


@settings(max_examples=40)
@given(tidy_histories())
def test_nothing_changes_where_nothing_has_to(messages: list[Msg]) -> None:
    assert not needs_view(messages)
    view = provider_view(messages)
    assert view is not messages
    assert list(map(id, view)) == list(map(id, messages))


@given(tidy_histories(), st.data())
def test_one_lost_result_adds_one_repair_and_leaves_the_others_alone(messages: list[Msg], data: st.DataObject) -> None:
    lost = [index for index, msg in enumerate(messages) if tool_results(msg)]
    if not lost:
        return
    del messages[data.draw(st.sampled_from(lost))]
    view = provider_view(messages)
    assert [id(msg) for msg in view if not is_repair(msg)] == list(map(id, messages))
    assert len(view) == len(messages) + 1


@given(histories(), st.sampled_from([OpenAIChatFormatter, DashScopeChatFormatter]))
def test_the_host_formats_every_view_into_paired_calls(messages: list[Msg], formatter: type) -> None:
    payload = asyncio.run(formatter().format(provider_view(messages)))
    json.dumps(payload, ensure_ascii=False).encode()
    awaited: Counter[str] = Counter()
    for entry in payload:
        if entry["role"] == "tool":
            assert awaited[entry["tool_call_id"]] > 0
            assert isinstance(entry["name"], str)
            awaited -= Counter([entry["tool_call_id"]])
        else:
            assert not awaited
            awaited = Counter(use["id"] for use in entry.get("tool_calls", []))
            assert all(
                use["function"]["name"] and use["function"]["arguments"][0] == "{"
                for use in entry.get("tool_calls", [])
            )
    assert not awaited


@settings(max_examples=20)
@given(histories())
def test_the_host_formats_every_view_for_anthropic(messages: list[Msg]) -> None:
    payload = asyncio.run(AnthropicChatFormatter().format(provider_view(messages)))
    json.dumps(payload, ensure_ascii=False).encode()


def test_an_interrupted_call_gets_a_marked_result_right_behind_it() -> None:
    """Field report C4: the interruption is hidden behind later talk."""
    messages = [user("读日志"), assistant(call("t1")), assistant(text("被打断了")), user("继续")]
    view = provider_view(messages)
    assert [view[0], view[1], view[3], view[4]] == messages
    assert is_repair(view[2])
    assert view[2].content == [{"type": "tool_result", "id": "t1", "name": "search", "output": REPAIR_TEXT}]
    assert (view[2].role, view[2].name, view[2].timestamp) == ("system", "system", messages[1].timestamp)
    assert view[2].id == provider_view(copy.deepcopy(messages))[2].id


@pytest.mark.parametrize("broken", [None, '{"path": "/tm', [], 5])
def test_arguments_of_a_broken_stream_become_a_dictionary(broken: Any) -> None:
    """Field report C2."""
    torn = call("t1", input=broken, raw_input='{"path": "/tm')
    messages = [user("列目录"), assistant(torn), results(result("t1", "The tool call has been interrupted."))]
    view = provider_view(messages)
    assert view[1].content[0]["input"] == {"path": "/tm"}
    assert torn["input"] == broken
    assert (view[1].id, view[1].timestamp) == (messages[1].id, messages[1].timestamp)
    assert view[0] is messages[0]
    assert view[2] is messages[2]


def test_a_doubled_result_is_left_out() -> None:
    """Field report C3."""
    messages = [assistant(call("t1")), results(result("t1")), results(result("t1")), user("好")]
    assert provider_view(messages) == [messages[0], messages[1], messages[3]]


@pytest.mark.parametrize("cut", range(21))
def test_eighteen_parallel_calls_cut_anywhere_stay_acceptable(cut: int) -> None:
    """Field report C5: even a cut inside the group leaves nothing that an API refuses."""
    ids = [f"c{i}" for i in range(18)]
    history = [
        user("巡检"),
        assistant(text("开始"), *map(call, ids)),
        *(results(result(i)) for i in ids),
        assistant(text("好")),
    ]
    _assert_acceptable(provider_view(history[cut:]))
    _assert_acceptable(provider_view(history[:cut]))


def test_malformed_blocks_are_left_out() -> None:
    """Field report B14."""
    messages = [said("assistant", [{"type": "text", "text": "你好"}, [], None, {"type": "text"}]), said("user", None)]
    view = provider_view(messages)
    assert [msg.content for msg in view] == [[{"type": "text", "text": "你好"}]]
    assert view[0].id == messages[0].id


def test_a_result_without_a_call_is_left_out_and_the_talk_beside_it_stays() -> None:
    messages = [said("user", [text("看这个"), result("zz")]), said("system", [result("zz")])]
    assert needs_view(messages)
    view = provider_view(messages)
    assert [(msg.content, msg.id) for msg in view] == [([text("看这个")], messages[0].id)]


def test_results_move_up_past_what_lies_between() -> None:
    late = results(result("b"), result("a"))
    messages = [assistant(call("a"), call("b")), user("还在吗？"), late, user("好")]
    assert provider_view(messages) == [messages[0], late, messages[1], messages[3]]


def test_a_message_that_answers_two_others_is_split_and_one_part_keeps_the_id() -> None:
    both = results(result("a"), result("b"))
    messages = [assistant(call("a")), assistant(call("b")), both]
    view = provider_view(messages)
    assert [[block["id"] for block in msg.content] for msg in view] == [["a"], ["a"], ["b"], ["b"]]
    assert view[1].id == both.id
    assert view[3].id not in (both.id, view[0].id, view[2].id)


def test_talk_beside_a_result_stays_at_its_place_with_the_id() -> None:
    mixed = said("user", [text("看这个"), result("a")])
    messages = [assistant(call("a")), user("等"), mixed]
    view = provider_view(messages)
    assert [msg.content for msg in view[1:]] == [[result("a")], "等", [text("看这个")]]
    assert view[3].id == mixed.id


def test_ids_that_repeat_from_round_to_round_stay() -> None:
    messages = [
        assistant(call("call_0")),
        results(result("call_0", "1")),
        assistant(call("call_0")),
        user("停"),
        assistant(call("call_0")),
        results(result("call_0", "3")),
    ]
    view = provider_view(messages)
    assert [output_text(block) for msg in view for block in tool_results(msg)] == ["1", REPAIR_TEXT, "3"]
    assert {use["id"] for msg in view for use in tool_uses(msg)} == {"call_0"}


def test_outputs_that_formatters_raise_on_are_mended() -> None:
    strange = result("a", [text("22 度"), None, {"type": "json", "data": 1}, "云"], name=None)
    view = provider_view([assistant(call("a")), results(strange)])
    assert view[1].content[0]["output"] == [text("22 度"), text("[json]"), text("云")]
    assert view[1].content[0]["name"] == "unknown_tool"
    assert provider_view([assistant(call("a")), results(result("a", None))])[1].content[0]["output"] == ""


def test_half_of_a_surrogate_pair_does_not_block_the_session() -> None:
    """Field report E9, at the door of the model: no client can encode it."""
    messages = [
        user("文件名 \udcff"),
        assistant(call("a", input={"path": ["\udcff.txt"]})),
        results(result("a", "\ud83c\udf0d 和 \ud83c")),
    ]
    view = provider_view(messages)
    assert view[0].content == "文件名 \ufffd"
    assert view[1].content[0]["input"] == {"path": ["\ufffd.txt"]}
    assert view[2].content[0]["output"] == "🌍 和 \ufffd"
    assert [msg.id for msg in view] == [msg.id for msg in messages]


def test_thinking_of_a_mended_message_is_kept() -> None:
    """Field report C6: APIs that think want it back."""
    thought = {"type": "thinking", "thinking": "先看目录"}
    message = assistant(thought, call("a", input=None))
    assert provider_view([message, results(result("a"))])[0].content[0] is thought
