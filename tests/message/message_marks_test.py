# -*- coding: utf-8 -*-
"""Whose a message is: ours, the host's, the user's."""

from typing import Any

import pytest
from _message_histories import result, said, text
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.message import (
    MARK_KEY,
    is_ours,
    is_recalled,
    is_repair,
    is_summary,
    is_system_prompt,
    is_user_request,
    offloads_of,
    with_offloads,
)

_IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}


def _marked(kind: Any) -> Msg:
    return Msg("user", "text", "user", metadata={MARK_KEY: kind})


def test_each_mark_is_told_apart() -> None:
    checks = {"summary": is_summary, "recalled": is_recalled, "repair": is_repair}
    for kind in checks:
        assert [name for name, check in checks.items() if check(_marked(kind))] == [kind]
        assert not is_user_request(_marked(kind))
    assert not any(check(Msg("user", "text", "user")) for check in checks.values())


@pytest.mark.parametrize(
    "metadata", [None, "summary", [], {MARK_KEY: None}, {MARK_KEY: ["summary"]}, {"other": "summary"}]
)
def test_hostile_metadata_marks_nothing(metadata: Any) -> None:
    msg = Msg("Alice", "记住这个", "user")
    msg.metadata = metadata
    assert not is_ours(msg, "summary")
    assert offloads_of(msg) == {}
    assert is_user_request(msg)


@pytest.mark.parametrize(
    "content",
    [
        "你好",
        "  what is <system-hint>?",
        [text("请看"), _IMAGE],
        [_IMAGE],
        [text(""), text("后面")],
        [result("a"), text("and this")],
        [None, text("好")],
    ],
)
def test_requests_of_a_user(content: Any) -> None:
    assert is_user_request(said("user", content))
    assert not is_user_request(said("assistant", content))
    assert not is_user_request(said("system", content))


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n\u3000",
        [],
        None,
        [text(" ")],
        [{"type": "text"}],
        [result("a")],
        [{"type": "thinking", "thinking": "嗯"}],
        "<long_term_memory>The content below ...</long_term_memory>",
        [text("<retrieved_knowledge>Use the following"), text("..."), text("</retrieved_knowledge>")],
        "\n<system-hint>Now generate a text response</system-hint>",
        "<system-info>Here is a summary</system-info>",
    ],
)
def test_what_is_no_request(content: Any) -> None:
    assert not is_user_request(said("user", content))


def test_the_name_of_the_host_s_memory_message_is_no_user() -> None:
    assert not is_user_request(Msg("long_term_memory", "Alice likes tea", "user"))


def test_tool_results_have_the_system_s_role_and_are_not_the_prompt() -> None:
    assert is_system_prompt(Msg("system", "你是助手", "system"))
    assert is_system_prompt(Msg("system", [text("You are an assistant")], "system"))
    assert not is_system_prompt(said("system", [result("a")]))
    assert not is_system_prompt(Msg("Alice", "你是助手", "user"))


@settings(max_examples=50)
@given(
    st.sampled_from([None, {}, {"a": 1}, {MARK_KEY: "recalled"}, {MARK_KEY: {"kind": "summary"}}, {MARK_KEY: 5}]),
    st.lists(st.dictionaries(st.text(max_size=3), st.integers(), max_size=3), min_size=1, max_size=3),
)
def test_offloads_add_up_and_keep_what_was_there(
    metadata: dict[str, Any] | None, batches: list[dict[str, int]]
) -> None:
    msg = Msg("Alice", "长文", "user", metadata=metadata)
    kinds = [kind for kind in ("summary", "recalled", "repair") if is_ours(msg, kind)]
    before, expected = dict(msg.metadata), {}
    for batch in batches:
        msg.metadata = with_offloads(msg.metadata, batch)
        expected.update(batch)
    assert offloads_of(msg) == expected
    assert is_ours(msg, "offloaded") == bool(expected)
    assert [kind for kind in ("summary", "recalled", "repair") if is_ours(msg, kind)] == kinds
    assert {key: value for key, value in msg.metadata.items() if key != MARK_KEY} == {
        key: value for key, value in before.items() if key != MARK_KEY
    }
    assert is_user_request(msg) == (not kinds)
