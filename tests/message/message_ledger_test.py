# -*- coding: utf-8 -*-
"""What a message costs: every part counted, media by rule, malformed blocks survived, edits seen."""

import base64
import copy
import struct
import time
import zlib

import pytest
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.message import _ledger
from agentscope_reme.message._estimate import estimate_tokens
from agentscope_reme.message._ledger import MessageTokens, content_signature
from agentscope_reme.message._media import media_tokens


def message(content, role="assistant", name="friend"):
    msg = Msg(name, "", role)
    msg.content = content
    return msg


def tokens(content, count=estimate_tokens):
    return MessageTokens(count).message(message(content))


def cost(*blocks, count=estimate_tokens):
    """What the blocks cost beyond an empty message."""
    return tokens(list(blocks), count) - tokens([], count)


def text(value):
    return {"type": "text", "text": value}


def call(arguments, **more):
    return {"type": "tool_use", "id": "call_1", "name": "run", "input": arguments, **more}


def result(output):
    return {"type": "tool_result", "id": "call_1", "name": "run", "output": output}


def image(data, media_type="image/png"):
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def png(width, height, size=100):
    """A PNG with random-looking data of about `size` bytes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk + bytes(n % 251 for n in range(size))).decode()


# Every part is counted.


def test_a_text_costs_what_the_counter_says():
    assert cost(text("a" * 40), count=len) == 40
    assert tokens("a" * 40, len) - tokens("", len) == 40


def test_name_and_frame_are_counted():
    ledger = MessageTokens(len)
    assert ledger.message(message("", name="x" * 30)) - ledger.message(message("", name="x")) == 29
    assert 1 <= MessageTokens(estimate_tokens).message(message("")) <= 12


@pytest.mark.parametrize("wrap", [call, lambda arguments: call({}, raw_input=str(arguments)), result, text])
def test_arguments_results_and_thoughts_are_counted_in_full(wrap):
    code = "x=1\n" * 4000
    block = wrap({"code": code}) if wrap is call else wrap(code)
    assert cost(block) >= 3000
    assert cost({"type": "thinking", "thinking": code}) >= 3000


def test_of_input_and_raw_input_the_larger_is_counted():
    raw = '{"path": "' + "folder/" * 200
    assert cost(call(None, raw_input=raw)) == cost(call({}, raw_input=raw)) > 300
    assert cost(call({"path": "folder/" * 200}, raw_input="{}")) > 300
    assert cost(call(raw)) > 300


@pytest.mark.parametrize("form", [lambda t: t, lambda t: [text(t)], lambda t: text(t), lambda t: [text(t), image("")]])
def test_a_result_is_counted_in_each_of_its_forms(form):
    short, long = cost(result(form("短"))), cost(result(form("一段很长的工具输出。" * 300)))
    assert long - short > 1000


def test_ids_are_counted():
    assert cost({**call({}), "id": "call_" + "9" * 40}) > cost({**call({}), "id": "call_9"}) + 20


def test_chinese_arguments_are_not_counted_as_escapes():
    assert cost(call({"问题": "今天天气怎么样" * 20})) < 140 * 1.2


# Media are counted by rule.


@pytest.mark.parametrize("size", [0, 10_000, 2_000_000])
def test_an_image_costs_the_same_however_many_bytes_it_has(size):
    block = image(png(750, 750, size))
    assert cost(block) == 750
    assert 740 < cost(result([text(""), block])) - cost(result("")) < 760


@pytest.mark.parametrize(
    ("width", "height", "expected"), [(10, 10, 85), (300, 300, 120), (1000, 750, 1000), (9000, 9000, 4000)]
)
def test_an_image_costs_by_its_pixels(width, height, expected):
    gif = b"GIF89a" + struct.pack("<HH", width, height) + bytes(60)
    jpeg = (
        b"\xff\xd8\xff\xe1"
        + struct.pack(">H", 30_002)
        + bytes(30_000)  # a preview before the frame header
        + b"\xff\xff\xc2"
        + struct.pack(">HBHH", 17, 8, height, width)
        + bytes(40)
    )
    webp = (
        b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"
        + (width - 1).to_bytes(3, "little")
        + (height - 1).to_bytes(3, "little")
    )
    lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(20)
    lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(20)
    for data in (base64.b64decode(png(width, height)), gif, jpeg, webp, lossy, lossless):
        encoded = base64.b64encode(data).decode()
        assert media_tokens(image(encoded)) == expected, data[:16]
        assert (
            media_tokens({"type": "image", "source": {"type": "url", "url": "data:image/x;base64," + encoded}})
            == expected
        )


@pytest.mark.parametrize(
    "source",
    [
        {"type": "url", "url": "https://example.com/cat.png"},
        {"type": "base64", "data": "!!!! not base64 " * 100_000},
        {"type": "base64", "data": base64.b64encode(b"\xff\xd8" + bytes(5000)).decode()},
        {"type": "base64", "data": png(1, 1)[:24]},
        {"type": "base64", "data": "é"},
        {"type": "base64", "data": b"\x89PNG"},
        {"type": "base64"},
        "https://example.com/cat.png",
        None,
    ],
)
def test_an_image_of_unknown_size_costs_a_constant(source):
    assert media_tokens({"type": "image", "source": source}) == 1000


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_sound_and_film_cost_a_constant(kind):
    small, large = ({"type": kind, "source": {"type": "base64", "data": "A" * n}} for n in (10, 3_000_000))
    assert 1000 <= cost(small) == cost(large) <= 4000


@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF1234WEBPVP8 "]),
)
def test_any_bytes_are_an_image_within_bounds(data, head):
    block = image(base64.b64encode(head + data).decode())
    assert 85 <= media_tokens(block) <= 4000
    assert media_tokens(image(block["source"]["data"] + "A" * 100_000)) <= 4000


# Malformed blocks.


def test_bad_blocks_are_skipped_and_the_rest_is_counted():
    content = [text("你好"), [], None, {"type": "text"}, {}, "", {"type": "text", "text": None}]
    assert cost(*content) == cost(text("你好")) > 0


@pytest.mark.parametrize(
    "block",
    [
        {"type": "blob", "payload": "2 MB of words " * 150_000},
        {"type": "text", "content": "words " * 2000},
        {"type": "text", "text": ["words"] * 2000},
        {"type": "tool_result", "tool_use_id": "1", "content": "words " * 2000},
        {"type": "tool_result", "id": 1, "output": {"rows": list(range(2000))}},
        {"type": ["text"], "text": "words " * 2000},
        ["words"] * 2000,
        "words " * 2000,
        {"words": {1, 2, 3} | set(range(2000))},
        object,
    ],
)
def test_what_is_malformed_costs_what_it_holds(block):
    assert cost(block) >= (1 if block is object else 1000)


def test_base64_in_a_block_of_no_known_type_is_capped():
    small, large = ({"type": "file", "data": base64.b64encode(bytes(range(256)) * n).decode()} for n in (400, 8000))
    assert 500 < cost(small) == cost(large) < 3000


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
)
KEYS = st.one_of(
    st.sampled_from(
        ["type", "text", "thinking", "id", "name", "input", "raw_input", "output", "source", "data", "url"]
    ),
    st.integers(),
    st.tuples(st.integers()),
)
KINDS = st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image", "audio", "video", "other"])
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.builds(lambda kind, rest: {"type": kind, **rest}, KINDS, st.dictionaries(KEYS, inner, max_size=4)),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)


@given(GARBAGE, GARBAGE)
def test_no_content_raises(content, name):
    msg = message(content, name=name)
    ledger = MessageTokens(estimate_tokens)
    assert 1 <= ledger.message(msg) == ledger.message(msg) == ledger.trusted(msg)
    assert content_signature(msg) == content_signature(msg)


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


def test_what_cannot_be_shown_is_survived():
    odd = Unprintable()
    for block in (odd, text(odd), call({"x": odd}), call({(1, 2): odd}), result(odd), result([odd]), {odd: {odd}}):
        msg = message([block])
        assert MessageTokens(estimate_tokens).message(msg) >= 1
        assert content_signature(msg) == content_signature(msg)


def test_endless_nesting_is_survived():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    circle: dict = {"type": "tool_result", "id": "1", "name": "run"}
    circle["output"] = [circle]
    nested = text("bottom")
    for _ in range(200):
        nested = result([nested])
    for block in (deep, circle, nested, call(circle), call(deep)):
        msg = message([block])
        assert MessageTokens(estimate_tokens).message(msg) >= 1
        assert content_signature(msg) == content_signature(msg)


# The ledger.


class Counted:
    """Counts characters, and how often it was asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, value):
        self.calls += 1
        return len(value)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
PATHS = st.lists(st.integers(0, 3), max_size=6)


def edit(value, path, new):
    """Replace or append something inside a value, in place, as deep as the path leads."""
    for step in path:
        items = list(value) if isinstance(value, dict) else range(len(value))
        if not items:
            break
        inner = value[items[step % len(items)]]
        if not isinstance(inner, (dict, list)):
            value[items[step % len(items)]] = new
            return
        value = inner
    if isinstance(value, dict):
        value["added"] = new
    else:
        value.append(new)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.lists(JSON, max_size=3), PATHS)
def test_an_edit_in_place_is_seen_however_deep(arguments, output, path):
    msg = message([text("before"), call(arguments), result(output)])
    ledger, before = MessageTokens(len), content_signature(msg)
    ledger.message(msg)
    assert content_signature(copy.deepcopy(msg)) == before
    edit(msg.content, path, "something new and long")
    assert content_signature(msg) != before
    assert ledger.message(msg) == MessageTokens(len).message(msg)


@pytest.mark.parametrize(
    ("old", "new"), [(1, True), (1, 1.0), (0, False), (1, "1"), (-1, -2), ([], {}), (None, "None"), ([], ())]
)
def test_a_change_of_type_is_an_edit(old, new):
    msg = message([call({"value": old})])
    before = content_signature(msg)
    msg.content[0]["input"]["value"] = new
    assert content_signature(msg) != before


@pytest.mark.parametrize("attribute", ["name", "role", "content"])
def test_a_change_of_name_role_or_content_is_an_edit(attribute):
    msg = message("one")
    before = content_signature(msg)
    setattr(msg, attribute, "user")
    assert content_signature(msg) != before


def test_a_message_is_counted_once():
    count = Counted()
    ledger = MessageTokens(count)
    msgs = [message([text("hello"), call({"n": 1})]) for _ in range(10)]
    total, calls = ledger.messages(msgs), count.calls
    assert ledger.messages(msgs) == ledger.messages(iter(msgs)) == sum(map(ledger.trusted, msgs)) == total
    assert ledger.messages(copy.deepcopy(msgs)) == total
    assert count.calls == calls


def test_trusted_does_not_look_at_the_blocks_but_sees_another_content():
    ledger = MessageTokens(len)
    msg = message([text("short")])
    known = ledger.trusted(msg)
    msg.content[0]["text"] = "much longer than before"
    assert ledger.trusted(msg) == known
    verified = ledger.message(msg)
    assert ledger.trusted(msg) == verified > known
    msg.content = "another"
    assert ledger.trusted(msg) == MessageTokens(len).message(msg)


def test_messages_that_share_an_id_are_each_counted_as_they_are():
    ledger = MessageTokens(len)
    short, long = message("short"), message("long " * 100)
    long.id = short.id
    for _ in range(2):
        assert ledger.trusted(long) - ledger.trusted(short) == 495
        assert ledger.message(long) - ledger.message(short) == 495


def test_what_was_appended_since_is_counted():
    ledger = MessageTokens(estimate_tokens)
    msgs = [message("hello")]
    before = ledger.messages(msgs)
    msgs.append(message([result("word " * 4000)]))
    assert ledger.messages(msgs) > before + 3500


def test_texts_and_tools_are_remembered():
    count = Counted()
    ledger = MessageTokens(count)
    schema = {
        "type": "function",
        "function": {"name": "read", "description": "读文件", "parameters": {"type": "object"}},
    }
    first = ledger.tools([schema]), ledger.text("You are a careful assistant.")
    calls = count.calls
    assert (ledger.tools([copy.deepcopy(schema)]), ledger.text("You are a careful assistant.")) == first
    assert count.calls == calls
    schema["function"]["description"] = "读文件" * 20  # in place, by the toolkit
    assert ledger.tools([schema]) == first[0] + 57
    assert ledger.tools(None) == ledger.tools([]) == ledger.text("") == 0
    assert ledger.tools([{"name": {1, 2}}]) > 0


def test_forgotten_messages_are_counted_anew():
    count = Counted()
    ledger = MessageTokens(count)
    msg = message("hello")
    ledger.message(msg)
    ledger.forget([msg.id, "never seen"])
    calls = count.calls
    ledger.message(msg)
    assert count.calls > calls


def test_the_ledger_does_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr(_ledger, "_MOST_MESSAGES", 10)
    count = Counted()
    ledger = MessageTokens(count)
    msgs = [message(f"number {n}") for n in range(100)]
    assert ledger.messages(msgs) == MessageTokens(len).messages(msgs)
    assert len(ledger._entries) <= 10
    calls = count.calls
    ledger.message(msgs[-1])
    assert count.calls == calls


def test_a_look_at_a_known_history_is_cheap():
    ledger = MessageTokens(estimate_tokens)
    msgs = [message([text(f"第{n}轮 " + "some words " * 10)]) for n in range(2000)]
    ledger.messages(msgs)

    def seconds(look):
        best = []
        for _ in range(5):
            start = time.perf_counter()
            sum(map(look, msgs))
            best.append(time.perf_counter() - start)
        return min(best)

    assert seconds(ledger.trusted) < 3e-3  # 0.3 ms on an idle core
    assert seconds(ledger.message) < 60e-3  # 4 ms
