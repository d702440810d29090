# -*- coding: utf-8 -*-
"""Long texts are cut to a limit, say where the rest is, and can be made whole again byte for byte."""

import copy
import re
import time

import pytest
from agentscope.message import Msg
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, StorageError
from agentscope_reme.message import output_text, tool_results
from agentscope_reme.text import PromptBook
from agentscope_reme.working_memory._offload import OffloadStore
from agentscope_reme.working_memory._tool_results import ToolResultCompactor, ToolResultPolicy

BOOK = PromptBook()
KEY = "agentscope_reme"
NOTICE = re.compile(r"\n?\[(?:\.\.\. The middle|…… 中间部分).*?(?:\.\.\.|……)\]\n?", re.DOTALL)
FIRST = re.compile(r"(?:from byte |从第 )(\d+)(?: on| 字节起)")
HIDDEN = re.compile(r"(?:hidden: |\(|字节起的 )(\d+)(?: of \d+ bytes| 字节)")

PIECES = st.sampled_from(
    ["line\n", "行\n", "\n", "a", "汉字", "👍", "é\r\n", "\ud83c", "x" * 90, "日志：端口 8443\n", "\x1b[2K\x1b[1G⠋"]
)
TEXT = st.lists(PIECES, max_size=30).map("".join)
LONG = st.tuples(TEXT, st.integers(1, 40)).map(lambda case: case[0] * case[1])
LIMIT = st.integers(1, 4000)
LANGUAGE = st.sampled_from(["en", "zh"])


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def texts_in(output) -> list[str]:
    if isinstance(output, str):
        return [output]
    return [
        item if isinstance(item, str) else item["text"]
        for item in output
        if isinstance(item, str) or item["type"] == "text"
    ]


def result(output, name: str = "shell", **extra) -> Msg:
    block = {"type": "tool_result", "id": "call_0", "name": name, "output": output, **extra}
    return Msg("system", [block], "system", metadata={"m": 1}, timestamp="2025-01-31 10:00:00.000", invocation_id="i")


def state(msg: Msg) -> dict:
    return copy.deepcopy({**vars(msg)})


@pytest.fixture
def compactor(tmp_path):
    return ToolResultCompactor(OffloadStore(tmp_path / "tool_result"), book=BOOK)


def fresh(factory, **kwargs) -> ToolResultCompactor:
    return ToolResultCompactor(OffloadStore(factory.mktemp("t") / "tool_result", **kwargs), book=BOOK)


def files(compactor: ToolResultCompactor) -> list[str]:
    folder = compactor.store.folder
    return sorted(path.name for path in folder.glob("*.txt")) if folder.exists() else []


# One result


@given(LONG, LIMIT, LANGUAGE)
@example("汉字" * 5000, 101, "zh")
@example("a🌍b🌎c", 5, "en")
def test_cut_to_the_limit_and_whole_again(tmp_path_factory, text, limit, language):
    compactor, msg = fresh(tmp_path_factory), result(text)
    before = state(msg)
    new = compactor.compact_message(msg, limit, language)
    assert state(msg) == before
    if size(text) <= limit:
        assert new is None
        assert files(compactor) == []
        return
    block = new.content[0]
    output = block["output"]
    notice = NOTICE.search(output)[0]
    data, shown = text.encode("utf-8", "surrogatepass"), output.encode("utf-8", "surrogatepass")
    first, hidden = (int(pattern.search(notice)[1]) for pattern in (FIRST, HIDDEN))
    head, tail = data[:first], data[first + hidden :]
    assert shown.startswith(head)
    assert shown.endswith(tail)
    assert NOTICE.fullmatch(shown[first : len(shown) - len(tail)].decode())
    assert size(output) <= max(limit, size(notice))
    assert "\ufffd" not in output
    assert files(compactor) == [block[KEY]["file"]] == sorted(compactor.references(new))
    assert f"tool_result/{block[KEY]['file']}" in notice
    assert compactor.original_text(block) == text
    assert (block[KEY]["bytes"], block[KEY]["limit"]) == (size(text), limit)
    assert compactor.compact_message(new, limit, language) is None
    assert compactor.compact_message(new, limit + 1, language) is None


@given(LONG, st.lists(LIMIT, min_size=2, max_size=4), LANGUAGE)
def test_cut_again_is_as_if_cut_once_and_points_to_the_first_copy(tmp_path_factory, text, limits, language):
    compactor = fresh(tmp_path_factory)
    msg = once = result(text)
    for limit in limits:
        msg = compactor.compact_message(msg, limit, language) or msg
    once = compactor.compact_message(once, min(limits), language) or once
    assert msg.content[0].get("output") == once.content[0]["output"]
    assert compactor.original_text(msg.content[0]) == text
    assert len(files(compactor)) == (size(text) > min(limits))


@given(LONG, LIMIT)
@settings(max_examples=40, deadline=None)
def test_all_else_of_message_and_block_stays(tmp_path_factory, text, limit):
    compactor = fresh(tmp_path_factory)
    msg = result(text, metadata={"a": [1]}, created_at="2025", deep={"k": {"v": None}})
    new = compactor.compact_message(msg, limit)
    if new is None:
        return
    assert {**vars(new), "content": 0} == {**vars(msg), "content": 0}
    left, right = dict(new.content[0]), dict(msg.content[0])
    assert left.pop(KEY)
    left.pop("output"), right.pop("output")
    assert left == right
    new.content[0]["deep"]["k"]["v"] = new.metadata["m"] = 2
    assert (msg.content[0]["deep"]["k"]["v"], msg.metadata["m"]) == (None, 1)


def test_one_line_of_json_gets_a_notice_with_the_byte(compactor):
    text = '{"rows": [' + ", ".join(f'{{"id": {n}, "名": "值"}}' for n in range(9000)) + "]}"
    output = compactor.compact_message(result(text), 3000).content[0]["output"]
    head = output.split("\n[...")[0]
    assert f"start_byte={size(head)})" in output
    assert text.startswith(head)
    assert output.endswith(text[-500:])


def test_the_notice_names_the_first_hidden_line(compactor):
    lines = [f"line {n}" for n in range(1, 3001)]
    output = compactor.compact_message(result("\n".join(lines)), 5000).content[0]["output"]
    shown = output.split("\n[...")[0].split("\n")
    assert shown == lines[: len(shown)]
    assert f"start_line={len(shown) + 1})" in output


def test_output_that_quotes_the_notice_is_cut_like_any_other(compactor):
    first = compactor.compact_message(result("x\n" * 9000), 1000).content[0]["output"]
    quoting = result(first + "\n" + "y\n" * 9000 + first)
    block = compactor.compact_message(quoting, 3000).content[0]
    assert size(block["output"]) <= 3000
    assert compactor.original_text(block) == quoting.content[0]["output"]


def test_a_text_changed_since_it_was_cut_is_a_text_of_its_own(compactor):
    block = compactor.compact_message(result("x\n" * 9000), 3000).content[0]
    changed = {**block, "output": "changed " * 500}
    assert compactor.original_text(changed) == changed["output"]
    new = compactor.compact_message(Msg("s", [changed], "system"), 1000).content[0]
    assert compactor.original_text(new) == changed["output"]


@pytest.mark.parametrize("gone", ["deleted", "expired"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_cut_again_without_the_first_copy_keeps_the_pointer(compactor, gone, language):
    lines = [f"第 {n} 行" for n in range(3000)]
    new = compactor.compact_message(result("\n".join(lines)), 5000, language)
    name = new.content[0][KEY]["file"]
    if gone == "deleted":
        (compactor.store.folder / name).unlink()
    else:
        assert compactor.store.expire(0, (), now=time.time() + 1) == [name]
    again = compactor.compact_message(new, 1000, language)
    output = again.content[0]["output"]
    assert size(output) <= 1000
    assert output.startswith("第 0 行\n")
    assert output.endswith("第 2999 行")
    assert f"tool_result/{name}" in output
    assert new.content[0][KEY]["sha256"] in output
    assert compactor.references(again) == {name}
    assert compactor.compact_message(again, 1000, language) is None
    assert compactor.original_text(again.content[0]) == output


@pytest.mark.parametrize(
    "record",
    [
        None,
        "summary",
        [],
        {},
        {"file": "../../etc/passwd"},
        {"file": 1, "sha256": "", "bytes": "1", "lines": 1, "limit": 1, "shown": ""},
    ],
)
def test_a_record_that_is_none_of_ours_is_passed_over(compactor, record):
    msg = result("x\n" * 5000, **{KEY: record})
    assert compactor.references(msg) == set()
    assert compactor.original_text(msg.content[0]) == "x\n" * 5000
    block = compactor.compact_message(msg, 1000).content[0]
    assert compactor.original_text(block) == "x\n" * 5000


def test_a_forged_record_leads_nowhere(compactor, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    shown = compactor.compact_message(result("x\n" * 5000), 1000).content[0]
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "secret.txt"):
        forged = {**shown, KEY: {**shown[KEY], "file": name}}
        assert compactor.original_text(forged) == shown["output"]
        assert (
            "secret" not in str(compactor.compact_message(Msg("s", [forged], "system"), 500).content[0]["output"])[:100]
        )


def test_a_record_that_points_to_another_text_shows_nothing_of_it(compactor):
    other = compactor.compact_message(result("other\n" * 5000), 1000).content[0]
    block = compactor.compact_message(result("x\n" * 5000), 2000).content[0]
    mixed = {**block, KEY: {**block[KEY], "file": other[KEY]["file"]}}
    output = compactor.compact_message(Msg("s", [mixed], "system"), 1000).content[0]["output"]
    assert "other" not in output
    assert output.startswith("x\nx\n")
    assert output.endswith("x\nx\n")


def test_terminal_noise_is_capped_and_the_end_is_kept(compactor):
    text = "\x1b[2K\x1b[1G⠋" * 10_000 + "OK"
    block = compactor.compact_message(result(text), 3000).content[0]
    assert block["output"].endswith("OK")
    assert compactor.original_text(block) == text


# Lists of blocks

ITEM = st.one_of(
    LONG.map(lambda text: {"type": "text", "text": text, "own": 1}),
    st.sampled_from(
        [{"type": "image", "source": {"type": "url", "url": "u"}}, {"type": "audio", "source": {}}, {"type": "odd"}]
    ),
    st.sampled_from([None, {}, {"type": "text"}, [], {"type": "text", "text": None}]),
    TEXT,
)


def readable_texts(output) -> list[str]:
    return [
        item if isinstance(item, str) else item["text"] for item in output if isinstance(item, str) or is_text(item)
    ]


def is_text(item) -> bool:
    return isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)


@given(st.lists(ITEM, max_size=6), LIMIT, LIMIT)
def test_text_blocks_share_one_budget_and_others_stay(tmp_path_factory, output, limit, lower):
    compactor, msg = fresh(tmp_path_factory), result(output)
    before, full = state(msg), output_text(msg.content[0])
    new = compactor.compact_message(msg, limit)
    assert state(msg) == before
    if sum(map(size, readable_texts(output))) <= limit:
        assert new is None
        return
    for again in (new, compactor.compact_message(new, lower) or new):
        block = again.content[0]
        shown = "\n".join(readable_texts(block["output"]))
        budget = min(limit, lower) if again is not new else limit
        assert sum(map(size, readable_texts(block["output"]))) <= max(budget, size(NOTICE.search(shown)[0]))
        others = [item for item in block["output"] if not isinstance(item, str) and not is_text(item)]
        assert others == [item for item in output if not isinstance(item, str) and not is_text(item)]
        assert all(item["own"] == 1 for item in block["output"] if is_text(item))
        assert compactor.original_text(block) == full
        [notice] = NOTICE.findall(shown)
        first, hidden = (int(pattern.search(notice)[1]) for pattern in (FIRST, HIDDEN))
        data, stream = (text.encode("utf-8", "surrogatepass") for text in (full, output_text(block)))
        assert stream.startswith(data[:first])
        assert stream.endswith(data[first + hidden :])
    assert len(files(compactor)) == 1


def test_small_texts_around_a_huge_one_stay(compactor):
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    output = [
        {"type": "text", "text": "概要"},
        {"type": "text", "text": "x\n" * 9000},
        image,
        {"type": "text", "text": "exit 0"},
    ]
    new = compactor.compact_message(result(output), 2000).content[0]["output"]
    assert [new[0], *new[2:]] == [output[0], *output[2:]]
    assert "tool_result/" in new[1]["text"]


def test_several_results_in_one_message_each_get_the_limit(compactor):
    blocks = [
        {"type": "tool_result", "id": "call_0", "name": "a", "output": text * 3000} for text in ("a\n", "b", "中\n")
    ]
    msg = Msg("system", [*blocks, {"type": "text", "text": "t" * 9000}, None, "odd"], "system")
    new = compactor.compact_message(msg, 1000)
    assert all(size(block["output"]) <= 1000 for block in tool_results(new))
    assert new.content[3:] == msg.content[3:]
    assert [compactor.original_text(block) for block in tool_results(new)] == [block["output"] for block in blocks]


@pytest.mark.parametrize(
    "content",
    ["x" * 9000, [], [{"type": "text", "text": "x" * 9000}], [{"type": "tool_result", "id": "1", "name": "n"}]],
)
def test_what_has_no_long_result_is_left_alone(compactor, content):
    assert compactor.compact_message(Msg("u", content, "user"), 100) is None


def test_an_output_that_is_neither_text_nor_list_is_cut_as_json(compactor):
    new = compactor.compact_message(result({"rows": ["值"] * 5000}), 1000)
    assert size(new.content[0]["output"]) <= 1000
    assert compactor.original_text(new.content[0]).startswith('{"rows": ["值", ')


# Other texts


@given(LONG, LIMIT, LIMIT, st.booleans(), LANGUAGE)
def test_a_huge_request_is_cut_alike(tmp_path_factory, text, limit, lower, as_string, language):
    compactor = fresh(tmp_path_factory)
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    msg = Msg("张三", text if as_string else [image, {"type": "text", "text": text}, image], "user", metadata={"a": 1})
    before = state(msg)
    new = compactor.compact_text_blocks(msg, limit, language)
    assert state(msg) == before
    if size(text) <= limit:
        assert new is None
        return
    new = compactor.compact_text_blocks(new, lower, language) or new
    shown = new.get_text_content()
    assert size(shown) <= max(min(limit, lower), size(NOTICE.search(shown)[0]))
    assert (new.id, new.name, new.timestamp, new.metadata["a"]) == (msg.id, msg.name, msg.timestamp, 1)
    assert isinstance(new.content, str) == as_string
    assert as_string or [new.content[0], new.content[2]] == [image, image]
    assert as_string or set(new.content[1]) == {"type", "text"}, "a model API refuses unknown keys"
    assert len(compactor.references(new)) == len(files(compactor)) == 1
    assert compactor.original(new).content == msg.content
    assert compactor.compact_text_blocks(new, min(limit, lower), language) is None


def test_long_arguments_are_cut_one_by_one(compactor):
    code = "print(1)\n" * 2000
    call = {
        "type": "tool_use",
        "id": "call_0",
        "name": "write",
        "input": {"a/b": code, "a": {"b": ["短", "中文" * 3000, 7, None]}},
        "raw_input": "{}",
    }
    msg = Msg("bot", [{"type": "text", "text": "ok"}, call], "assistant")
    before = state(msg)
    new = compactor.compact_call_inputs(msg, 1000)
    assert state(msg) == before
    cut = new.content[1]["input"]
    assert size(cut["a/b"]) <= 1000
    assert size(cut["a"]["b"][1]) <= 1000
    assert (cut["a"]["b"][0], cut["a"]["b"][2:], new.content[0]) == ("短", [7, None], msg.content[0])
    assert size(new.content[1]["raw_input"]) < 5000
    assert len(compactor.references(new)) == 2
    assert compactor.compact_call_inputs(new, 1000) is None
    again = compactor.compact_call_inputs(new, 600)
    assert len(files(compactor)) == 2
    assert compactor.original(again).content[1]["input"] == call["input"]
    assert compactor.compact_call_inputs(Msg("u", "x" * 9000, "user"), 10) is None


def test_original_makes_results_whole_and_leaves_the_rest(compactor):
    msg = result("x\n" * 9000, own=1)
    cut = compactor.compact_message(msg, 1000)
    assert compactor.original(cut).content == msg.content
    assert compactor.original(cut).id == msg.id
    assert compactor.original(msg) is msg
    listed = compactor.compact_message(
        result([{"type": "text", "text": "a\n" * 9000}, {"type": "image"}, {"type": "text", "text": "b\n" * 9000}]),
        1000,
    )
    whole = compactor.original(listed).content[0]["output"]
    assert whole == [{"type": "text", "text": "a\n" * 9000 + "\n[image]\n" + "b\n" * 9000}, {"type": "image"}]


# Secrets


def test_what_is_shown_and_stored_is_redacted_before_it_is_cut(tmp_path_factory):
    compactor = fresh(tmp_path_factory, redact=lambda text: text.replace("sk-1234567890", "***"))
    text = "sk-1234567890\n" + "行\n" * 3000 + "sk-1234567890"
    block = compactor.compact_message(result(text), 1000).content[0]
    assert "sk-" not in str(block)
    assert compactor.original_text(block) == text.replace("sk-1234567890", "***")
    short = compactor.compact_message(result("sk-1234567890" * 10), 100).content[0]
    assert short["output"] == "***" * 10
    assert KEY not in short


# A whole history


def history(*kinds: str) -> list[Msg]:
    return [
        result(f"{number}\n" * 3000) if kind == "r" else Msg("u", "请继续" if kind == "z" else "go on", "user")
        for number, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    ("kinds", "recent_n", "recent"),
    [
        ("urrrr", 1, {1, 2, 3, 4}),
        ("rrurur", 1, {5}),
        ("rrurur", 3, {1, 3, 5}),
        ("rruru", 1, {3}),
        ("rrr", 0, set()),
        ("rur", 9, {0, 2}),
        ("uu", 3, set()),
    ],
)
def test_what_is_recent(compactor, kinds, recent_n, recent):
    messages = history(*kinds)
    policy = ToolResultPolicy(recent_n=recent_n, recent_max_bytes=5000, old_max_bytes=1000)
    compacted = compactor.compact(messages, policy=policy)
    limits = {index: msg.content[0][KEY]["limit"] for index, msg in enumerate(compacted) if msg is not messages[index]}
    assert limits == {index: 5000 if index in recent else 1000 for index, kind in enumerate(kinds) if kind == "r"}
    assert [msg.id for msg in compacted] == [msg.id for msg in messages]
    again = compactor.compact(compacted, policy=policy)
    assert all(one is other for one, other in zip(again, compacted, strict=True))


def test_recent_counts_results_and_not_messages(compactor):
    two = Msg("system", [*result("a\n" * 3000).content, *result("b\n" * 3000).content], "system")
    messages = [result("c\n" * 3000), Msg("u", "x", "user"), two, Msg("u", "y", "user")]
    compacted = compactor.compact(
        messages, policy=ToolResultPolicy(recent_n=2, recent_max_bytes=90_000, old_max_bytes=1000)
    )
    assert compacted[2] is two
    assert compacted[0] is not messages[0]


def test_a_history_that_grows_points_to_one_copy_each(compactor):
    policy = ToolResultPolicy(recent_n=1, recent_max_bytes=4000, old_max_bytes=1000)
    messages, full = [], []
    for number in range(6):
        full.append(f"结果 {number} 的一行\n" * 2000)
        messages = compactor.compact([*messages, Msg("u", "继续", "user"), result(full[-1])], policy=policy)
    blocks = [block for msg in messages for block in tool_results(msg)]
    assert [compactor.original_text(block) for block in blocks] == full
    assert len(files(compactor)) == 6
    assert all(size(block["output"]) <= 1000 for block in blocks[:-1])


@pytest.mark.parametrize(
    ("kinds", "language", "word"),
    [("zr", None, "中间部分"), ("ur", None, "The middle"), ("ur", "zh", "中间部分"), ("r", None, "The middle")],
)
def test_the_notice_speaks_the_language_of_the_conversation(compactor, kinds, language, word):
    compacted = compactor.compact(history(*kinds), policy=ToolResultPolicy(recent_n=0), language=language)
    assert word in compacted[-1].content[0]["output"]


def test_one_that_cannot_be_stored_does_not_stop_the_others(compactor, monkeypatch, caplog):
    put = OffloadStore.put

    def picky(self, text, **kwargs):
        if text.startswith("1\n"):
            raise StorageError("disk full")
        return put(self, text, **kwargs)

    monkeypatch.setattr(OffloadStore, "put", picky)
    messages = history("r", "r", "r")
    compacted = compactor.compact(messages, policy=ToolResultPolicy(recent_n=0))
    assert [new is old for new, old in zip(compacted, messages, strict=True)] == [False, True, False]
    assert "disk full" in caplog.text
    with pytest.raises(StorageError):
        compactor.compact_message(messages[1], 100)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"old_max_bytes": 5000, "recent_max_bytes": 4000}, "5000.*4000"),
        ({"recent_n": -1}, "recent_n is -1"),
        ({"recent_n": "3"}, "recent_n is '3'"),
        ({"recent_n": True}, "recent_n is True"),
        ({"old_max_bytes": 0}, "old_max_bytes is 0"),
        ({"recent_max_bytes": 1.5}, "recent_max_bytes is 1.5"),
        ({"retention_days": -0.5}, "retention_days is -0.5"),
        ({"retention_days": float("nan")}, "retention_days is nan"),
        ({"retention_days": "3"}, "retention_days is '3'"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(kwargs, words):
    with pytest.raises(ConfigError, match=words):
        ToolResultPolicy(**kwargs)


def test_policies_that_work():
    assert ToolResultPolicy() == ToolResultPolicy(3, 102_400, 3_000, 3)
    assert ToolResultPolicy(recent_n=0, retention_days=None).retention_days is None
    assert ToolResultPolicy(retention_days=0.5).retention_days == 0.5


@pytest.mark.slow
def test_two_hundred_results_of_200_kb_take_a_fraction_of_a_second(compactor):
    messages = [result(f"line {number} of a long log, 结果\n" * 6000) for number in range(200)]
    started = time.perf_counter()
    compacted = compactor.compact(messages, policy=ToolResultPolicy())
    assert time.perf_counter() - started < 2
    assert all(new is not old for new, old in zip(compacted, messages, strict=True))
