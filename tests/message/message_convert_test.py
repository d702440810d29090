# -*- coding: utf-8 -*-
"""What callers hand in becomes `Msg` objects, and `Msg` objects become dictionaries."""

import copy
import datetime as dt
from typing import Any

import pytest
from _message_histories import assistant, call, histories, result, text, user
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import _errors
from agentscope_reme.message import as_msgs, msg_to_dict, pair_calls, parsed_time

_PNG = "data:image/png;base64,iVBORw0KGgo="


def _one(item: Any) -> Msg:
    (msg,) = as_msgs([item])
    return msg


@settings(max_examples=30)
@given(histories())
def test_messages_pass_through_as_the_same_objects(messages: list[Msg]) -> None:
    assert list(map(id, as_msgs(messages))) == list(map(id, messages))
    assert list(map(id, as_msgs(iter(messages)))) == list(map(id, messages))


def test_one_message_or_none_will_do() -> None:
    msg = user("你好")
    assert as_msgs(None) == []
    assert as_msgs([]) == []
    assert as_msgs(msg) == [msg]
    assert as_msgs({"role": "user", "content": "hi"})[0].content == "hi"


@settings(max_examples=50)
@given(histories())
def test_a_message_survives_the_way_to_a_dictionary_and_back(messages: list[Msg]) -> None:
    for msg in messages:
        msg.metadata, msg.invocation_id = {"a": [1]}, "call-7"
        data = msg_to_dict(msg)
        assert list(data) == ["id", "name", "role", "content", "metadata", "timestamp", "invocation_id"]
        assert {key: data[key] for key in msg.to_dict()} == msg.to_dict()
        data["metadata"]["a"].append(2)
        assert msg.metadata == {"a": [1]}
        if isinstance(msg.content, list):
            assert data["content"] is not msg.content
            assert not {id(b) for b in data["content"] if isinstance(b, dict)} & {id(b) for b in msg.content}


def test_what_to_dict_gives_is_read_back_whole() -> None:
    msg = assistant({"type": "thinking", "thinking": "嗯"}, text("好"), call("a", raw_input="{}"))
    msg.invocation_id = "call-7"
    msg.metadata = {"agentscope_reme": "recalled"}
    assert msg_to_dict(_one(msg_to_dict(msg))) == msg_to_dict(msg)
    answer = Msg("system", [result("a", [text("b")])], "system")
    assert msg_to_dict(_one(msg_to_dict(answer))) == msg_to_dict(answer)


def test_a_conversation_in_openai_s_style() -> None:
    history = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "北京天气？", "name": "Alice", "time_created": "2026-02-28 10:00:00"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "要查",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "北京"}'}},
                {"id": "c2", "type": "function", "function": {"name": "clock", "arguments": {}}},
                {"id": "c3", "type": "function", "function": {"name": "broken", "arguments": '{"a": "b'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "晴"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "10:00"}], "name": "时钟"},
        {"role": "tool", "tool_call_id": "c3", "content": None},
    ]
    before = copy.deepcopy(history)
    prompt, question, calling, first, second, third = as_msgs(history)
    assert history == before
    assert (prompt.role, prompt.name, prompt.content) == ("system", "system", "Be brief.")
    assert (question.role, question.name, question.timestamp) == ("user", "Alice", "2026-02-28 10:00:00.000")
    assert calling.content == [
        {"type": "thinking", "thinking": "要查"},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "北京"}},
        {"type": "tool_use", "id": "c2", "name": "clock", "input": {}},
        {"type": "tool_use", "id": "c3", "name": "broken", "input": {"a": "b"}, "raw_input": '{"a": "b'},
    ]
    assert [(msg.role, msg.name) for msg in (first, second, third)] == [("system", "system")] * 3
    assert first.content == [{"type": "tool_result", "id": "c1", "name": "weather", "output": "晴"}]
    assert second.content == [{"type": "tool_result", "id": "c2", "name": "时钟", "output": [text("10:00")]}]
    assert third.content == [{"type": "tool_result", "id": "c3", "name": "broken", "output": ""}]
    assert pair_calls([calling, first, second, third]).is_valid


def test_a_tool_message_takes_the_name_from_a_message_object_before_it() -> None:
    assert as_msgs([assistant(call("c9")), {"role": "tool", "tool_call_id": "c9", "content": "x"}])[1].content == [
        {"type": "tool_result", "id": "c9", "name": "search", "output": "x"}
    ]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ("词", text("词")),
        ({"type": "text", "text": "词"}, text("词")),
        ({"text": "词"}, text("词")),
        ({"type": "input_text", "text": "词"}, text("词")),
        ({"type": "refusal", "refusal": "No."}, text("No.")),
        ({"type": "image_url", "image_url": {"url": "https://x.cn/a.png", "detail": "low"}},
         {"type": "image", "source": {"type": "url", "url": "https://x.cn/a.png"}}),
        ({"type": "image_url", "image_url": {"url": _PNG}},
         {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}),
        ({"type": "input_image", "image_url": _PNG},
         {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}),
        ({"image": "https://x.cn/a.png"}, {"type": "image", "source": {"type": "url", "url": "https://x.cn/a.png"}}),
        ({"type": "video_url", "video_url": {"url": "https://x.cn/a.mp4"}},
         {"type": "video", "source": {"type": "url", "url": "https://x.cn/a.mp4"}}),
        ({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}},
         {"type": "audio", "source": {"type": "base64", "media_type": "audio/mp3", "data": "UklGRg=="}}),
        ({"type": "input_audio", "input_audio": {"data": "data:;base64,UklGRg==", "format": "wav"}},
         {"type": "audio", "source": {"type": "base64", "media_type": "audio/wav", "data": "UklGRg=="}}),
        (call("a"), call("a")),
        ({"type": "novel", "data": 1}, {"type": "novel", "data": 1}),
    ],
)  # fmt: skip
def test_every_kind_of_part(part: Any, block: dict[str, Any]) -> None:
    assert _one({"role": "user", "content": [part]}).content == [block]


def test_parts_that_hold_nothing_are_left_out() -> None:
    """Field report B14."""
    content = [{"type": "text", "text": "你好"}, [], None, {"type": "text"}, "", {"type": "text", "text": None}, {}]
    assert _one({"role": "assistant", "content": content}).content == [text("你好")]
    assert _one({"role": "assistant", "content": None}).content == []
    assert _one({"role": "assistant", "content": None, "refusal": "No."}).content == "No."


def test_content_shares_nothing_with_the_caller_s() -> None:
    part = call("a", input={"q": ["x"]})
    msg = _one({"role": "assistant", "content": [part], "metadata": {"m": part}})
    msg.content[0]["input"]["q"].append("y")
    assert part["input"] == {"q": ["x"]}
    assert msg.metadata["m"] is not part


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (None, "None"),
        ("hello", "'hello'"),
        ({}, "role None"),
        ({"role": "robot", "content": "x"}, "'robot'"),
        ({"role": ["user"], "content": "x"}, "['user']"),
        ({"role": "user"}, "no content"),
        ({"role": "user", "content": 7}, "content 7"),
        ({"role": "user", "content": [7]}, "part 7"),
        ({"role": "user", "content": [{"kind": "text"}]}, "{'kind': 'text'}"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "'text': 5"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "image_url"),
        ({"role": "user", "content": "x", "time_created": "昨天"}, "昨天"),
        ({"role": "user", "content": "x", "time_created": True}, "time_created True"),
        ({"role": "user", "content": "x", "timestamp": "../../x 1"}, "../../x 1"),
        ({"role": "user", "content": "x", "name": 5}, "name 5"),
        ({"role": "user", "content": "x", "id": 5}, "id 5"),
        ({"role": "user", "content": "x", "metadata": "m"}, "metadata 'm'"),
        ({"role": "tool", "content": "x"}, "tool_call_id None"),
        ({"role": "assistant", "content": None, "tool_calls": "c"}, "tool_calls 'c'"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, "{'id': 'c'}"),
        ({"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}, "id None"),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place_and_a_cure(item: Any, told: str) -> None:
    with pytest.raises(_errors.MessageFormatError) as caught:
        as_msgs([user("ok"), {"role": "user", "content": "ok"}, item])
    message = str(caught.value)
    assert message.startswith("messages[2] ")
    assert told in message
    assert "; " in message


@pytest.mark.parametrize("messages", ["hello", 5, b"x"])
def test_what_is_no_list_is_named(messages: Any) -> None:
    with pytest.raises(_errors.MessageFormatError, match="give a list"):
        as_msgs(messages)


def test_a_huge_value_is_shown_shortened() -> None:
    with pytest.raises(_errors.MessageFormatError) as caught:
        as_msgs([{"role": "user", "content": ["x" * 10**6, 7]}])
    assert len(str(caught.value)) < 1000


_TIMES = st.sampled_from(["2026-02-28 10:00:00", "2026-02-28T10:00:00Z", 1772244000, dt.datetime(2026, 2, 28, 10)])


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=6), _TIMES), max_size=8), st.randoms()
)
def test_derived_ids_follow_the_message_and_not_its_place(said: list[tuple[str, str, Any]], random: Any) -> None:
    history = [{"role": role, "content": words, "time_created": moment} for role, words, moment in said]
    ids = [msg.id for msg in as_msgs(history)]
    assert ids == [msg.id for msg in as_msgs(history)]
    assert len(set(ids)) == len(ids)
    shuffled = random.sample(history, len(history))
    assert {msg.id for msg in as_msgs(shuffled)} == set(ids)
    for item in history:
        assert _one(item).id in ids


def test_without_a_time_ids_follow_from_what_was_said_before_and_the_time_is_now() -> None:
    item = {"role": "user", "content": "好的"}
    before = dt.datetime.now() - dt.timedelta(milliseconds=1)
    one, other = as_msgs([item, item])
    assert one.id != other.id
    longer = as_msgs([item, item, {"role": "assistant", "content": "嗯"}])
    assert [msg.id for msg in longer[:2]] == [one.id, other.id]
    assert as_msgs([{"role": "user", "content": "x"}, item])[1].id not in (one.id, other.id)
    for empty in (None, ""):
        moment = parsed_time(_one({**item, "time_created": empty}).timestamp)
        assert moment is not None
        assert before <= moment <= dt.datetime.now()


def test_a_given_id_stays() -> None:
    assert _one({"role": "user", "content": "x", "id": "m1", "time_created": 1772244000}).id == "m1"
