# -*- coding: utf-8 -*-
"""A redacted copy holds no secret, and everything that identifies it is as it was."""

import json

import pytest
from _message_histories import assistant, call, histories, result, said, text, user
from agentscope.message import Msg
from hypothesis import given, settings

from agentscope_reme import _errors
from agentscope_reme.message import MARK_KEY, msg_to_dict, redacted

_SECRET = "sk-密钥123"


def _redact(words: str) -> str:
    return words.replace(_SECRET, "[redacted]")


def test_the_secret_is_gone_from_everywhere_that_was_written() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    link = {"type": "image", "source": {"type": "url", "url": f"https://x.cn/?key={_SECRET}"}}
    msg = assistant(
        text(f"key {_SECRET}"),
        {"type": "thinking", "thinking": _SECRET},
        call("a", input={"k": _SECRET, "deep": [{"v": [_SECRET, 5, None]}]}, raw_input=f'{{"k": "{_SECRET}"}}'),
        result("a", f"out {_SECRET}", metadata={"note": _SECRET}),
        result("b", [text(_SECRET), {"type": "image", "source": source}, link, _SECRET]),
        {"type": "novel", "data": {"x": _SECRET}},
        _SECRET,
    )
    msg.metadata = {"output": {"answer": _SECRET}, MARK_KEY: "recalled"}
    before = msg_to_dict(msg)
    copy = redacted(msg, _redact)
    assert _SECRET not in json.dumps(msg_to_dict(copy), ensure_ascii=False)
    assert copy.content[2]["input"] == {"k": "[redacted]", "deep": [{"v": ["[redacted]", 5, None]}]}
    assert copy.metadata == {"output": {"answer": "[redacted]"}, MARK_KEY: "recalled"}
    assert msg_to_dict(msg) == before


def test_ids_names_types_and_base64_data_are_never_touched() -> None:
    msg = assistant(
        call("id", name="name"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "abc"}},
        {"type": "image", "source": {"type": "url", "url": "data:image/png;base64,abc"}},
        result("id", [{"type": "audio", "source": {"type": "base64", "media_type": "audio/wav", "data": "abc"}}]),
    )
    msg.metadata = {MARK_KEY: {"kind": "recalled", "offloaded": {"0": {"file": "a.txt"}}}, "answer": "42"}
    copy = redacted(msg, lambda words: "***")
    assert copy.metadata == {**msg.metadata, "answer": "***"}
    use, image, link, answer = copy.content
    assert (use["id"], use["name"], use["type"], use["input"]) == ("id", "name", "tool_use", {"q": "***"})
    assert image == msg.content[1]
    assert link == msg.content[2]
    assert answer == msg.content[3]
    assert (copy.id, copy.name, copy.role, copy.timestamp) == (msg.id, msg.name, msg.role, msg.timestamp)


@settings(max_examples=40)
@given(histories())
def test_a_copy_with_nothing_to_redact_is_equal_and_apart(messages: list[Msg]) -> None:
    for msg in messages:
        msg.invocation_id = "call-7"
        copy = redacted(msg, lambda words: words)
        assert msg_to_dict(copy) == msg_to_dict(msg)
        assert copy is not msg
        if isinstance(msg.content, list):
            assert not {id(b) for b in copy.content if isinstance(b, dict)} & {id(b) for b in msg.content}


@pytest.mark.parametrize("content", ["plain 文", [text("块")]])
def test_a_callable_that_returns_no_text_is_an_error(content: object) -> None:
    with pytest.raises(_errors.ConfigError, match="NoneType"):
        redacted(said("user", content), lambda words: None)  # type: ignore[arg-type, return-value]


def test_plain_text_is_redacted() -> None:
    assert redacted(user(f"我的密钥是 {_SECRET}"), _redact).content == "我的密钥是 [redacted]"
