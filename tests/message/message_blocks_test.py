# -*- coding: utf-8 -*-
"""Reading blocks in any state, and the arguments of calls that broke off."""

import json
import time
from typing import Any

import pytest
from _message_histories import assistant, call, histories, result, said, text
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.message import blocks_of, call_input, copied, output_text, raw_blocks, tool_results, tool_uses

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_objects = st.dictionaries(st.text(max_size=5), _json, max_size=4)


@settings(max_examples=50)
@given(histories())
def test_blocks_are_readable_and_in_order(messages: list[Msg]) -> None:
    for msg in messages:
        blocks = blocks_of(msg)
        assert all(isinstance(block["type"], str) for block in blocks)
        if not isinstance(msg.content, str):
            raw = list(map(id, raw_blocks(msg)))
            places = [raw.index(id(block)) for block in blocks]
            assert len(places) <= len(raw)
        assert [b for b in blocks if b["type"] == "tool_use"] == tool_uses(msg)
        assert [b for b in blocks if b["type"] == "tool_result"] == tool_results(msg)
        assert all(isinstance(output_text(block), str) for block in tool_results(msg))
        assert all(isinstance(call_input(block), dict) for block in tool_uses(msg))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("你好", [text("你好")]),
        ("", []),
        (None, []),
        (7, []),
        (text("alone"), [text("alone")]),
        ([text("a"), [], None, {"type": None}, "b", {"text": "c"}], [text("a")]),
        ((text("a"),), [text("a")]),
    ],
)
def test_contents_of_every_kind(content: Any, expected: list[dict[str, Any]]) -> None:
    """Field report B14."""
    assert blocks_of(said("user", content)) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("晴", "晴"),
        (None, ""),
        ([], ""),
        ([text("a"), {"type": "image", "source": {}}, text("b"), None, "c", {"type": "text"}, 5], "a\n[image]\nb\nc"),
        (text("alone"), "alone"),
        ({"温度": 22}, '{"温度": 22}'),
        (3.5, "3.5"),
    ],
)
def test_outputs_of_every_kind(output: Any, expected: str) -> None:
    assert output_text(result("a", output)) == expected
    assert output_text({"type": "tool_result"}) == ""


@given(_objects, st.data())
def test_arguments_read_whole_and_broken_off_at_any_character(arguments: dict[str, Any], data: st.DataObject) -> None:
    written = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
    assert call_input(call("a", input=written)) == json.loads(written)
    cut = data.draw(st.integers(1, len(written)))
    part = call_input(call("a", input=None, raw_input=written[:cut]))
    assert list(part) == list(arguments)[: len(part)]
    finished = list(arguments.items())[: max(0, len(part) - 1)]
    assert list(part.items())[: len(finished)] == finished


@settings(max_examples=100)
@given(st.text(alphabet='{}[]",:\\u0a1 n中\n', max_size=30))
def test_any_text_gives_a_dictionary_that_is_json(written: str) -> None:
    json.dumps(call_input(call("a", input=written)))


def test_a_dictionary_is_taken_as_it_is_and_what_cannot_be_read_is_empty() -> None:
    arguments = {"q": "x"}
    assert call_input(call("a", input=arguments, raw_input='{"q": "y"}')) is arguments
    assert call_input(call("a", input="{'q': 'x'}")) == {"q": "x"}
    assert call_input(call("a", input="", raw_input='{"q": 1}')) == {"q": 1}
    assert call_input(call("a", input="garbage", raw_input="[1]")) == {}
    assert call_input({"type": "tool_use"}) == {}


def test_a_long_call_that_broke_off_is_read_at_once() -> None:
    written = json.dumps({"path": "a.py", "content": "打印('x')\n" * 40_000})[:-3]
    start = time.perf_counter()
    assert call_input(call("a", input=None, raw_input=written))["path"] == "a.py"
    assert time.perf_counter() - start < 0.5  # some 20 ms on an idle core; a general repair takes ten seconds


@given(_objects)
def test_a_copy_is_equal_and_shares_nothing_that_can_change(value: dict[str, Any]) -> None:
    copy = copied(value)
    assert copy == value
    assert not _containers(copy) & _containers(value)


def _containers(value: Any) -> set[int]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {i for item in inner for i in _containers(item)} | (
        {id(value)} if isinstance(value, (dict, list)) else set()
    )


def test_a_copy_reaches_what_is_not_json() -> None:
    odd = {"when": {1, 2}}
    assert copied(odd) == odd
    assert copied(odd)["when"] is not odd["when"]


def test_uses_and_results_are_the_blocks_themselves() -> None:
    use, answer = call("a"), result("a")
    message = assistant(text("x"), use, answer)
    assert tool_uses(message)[0] is use
    assert tool_results(message)[0] is answer
