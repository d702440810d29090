# -*- coding: utf-8 -*-
"""What left the context can be found and read again, and nothing else can."""

import asyncio
import json
import os
import re
import time

import pytest
from agentscope.message import Msg
from agentscope.tool import Toolkit
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.dialog import DialogArchive
from agentscope_reme.message import render
from agentscope_reme.text import PromptBook
from agentscope_reme.working_memory._offload import OffloadStore
from agentscope_reme.working_memory._reload_tools import ReloadTools
from agentscope_reme.working_memory._tool_results import ToolResultCompactor
from agentscope_reme.workspace import Workspace

BOOK = PromptBook()
CALL = re.compile(r'read_working_memory\(file_path="([^"]+)"(?:, start_line=(\d+))?(?:, start_byte=(\d+))?\)')
PIECES = ["line\n", "行\n", "\n", "a", "汉字", "👍", "é\r\n", "x" * 90, "端口 8443\n", "\x1b[2K"]
LONG = st.tuples(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.integers(1, 20)).map(
    lambda case: case[0] * case[1],
)


class Room:
    """A workspace with the tools over it."""

    def __init__(self, root, **kwargs):
        self.workspace = Workspace(root)
        self.workspace.create()
        self.store = OffloadStore(self.workspace.tool_result_dir)
        self.compactor = ToolResultCompactor(self.store, book=BOOK)
        self.archive = DialogArchive(self.workspace.dialog_dir, self.workspace.state_dir / "dialog.lock")
        self.tools = ReloadTools(self.workspace, **kwargs)

    def read(self, *args, **kwargs) -> list[str]:
        return [block["text"] for block in asyncio.run(self.tools.read_working_memory(*args, **kwargs)).content]

    def grep(self, *args, **kwargs) -> list[str]:
        return [block["text"] for block in asyncio.run(self.tools.grep_working_memory(*args, **kwargs)).content]

    def read_on(self, call: str, **kwargs):
        """All pieces from a call on, each as the text and the line that tells how to go on."""
        while match := CALL.search(call):
            path, line, byte = match.groups()
            # as a model would write it
            piece, call = self.read(path, line or 1, start_byte=byte or "", **kwargs)
            assert len(piece.encode()) <= 16_100
            yield piece

    def say(self, text, name="张三", role="user", at="2025-01-31 10:31:05.000") -> Msg:
        msg = Msg(name, text, role, timestamp=at)
        self.archive.append([msg], "s")
        return msg


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path / "work")


def result(output: str, name: str = "shell") -> Msg:
    return Msg("system", [{"type": "tool_result", "id": "c", "name": name, "output": output}], "system")


# Reading on


@given(LONG, st.integers(300, 3000), st.sampled_from(["en", "zh"]), st.sampled_from([None, "9", 50]))
@settings(max_examples=40, deadline=None)
def test_reading_on_gives_the_hidden_text_without_gap_or_overlap(tmp_path_factory, text, limit, language, lines):
    room = Room(tmp_path_factory.mktemp("r"), max_bytes=1_000)
    cut = room.compactor.compact_message(result(text), limit, language)
    if cut is None:
        return
    shown = cut.content[0]["output"]
    call = CALL.search(shown)
    _, line, byte = call.groups()
    begin = int(byte) if byte else sum(map(len, text.encode().splitlines(keepends=True)[: int(line) - 1]))
    head = text.encode()[:begin].decode()
    assert shown.startswith(head + ("" if head.endswith("\n") or not head else "\n") + "[")
    assert head + "".join(room.read_on(call[0], limit=lines)) == text


@given(st.lists(LONG, min_size=1, max_size=4), st.integers(1_000, 2_000))
def test_reading_on_through_messages_gives_each_once(tmp_path_factory, texts, piece):
    room = Room(tmp_path_factory.mktemp("r"), max_bytes=piece)
    said = [room.say(text, at=f"2025-01-31 10:00:{number:02}.000") for number, text in enumerate(texts)]
    bodies: dict[int, str] = {}
    for answer in room.read_on('read_working_memory(file_path="dialog/2025-01-31.jsonl")'):
        for part in re.split(r"(?:\A|\n\n)(?=#\d+(?: from byte \d+)?\n)", answer)[1:]:
            header, _, body = part.partition("\n")
            number, _, start = header.removeprefix("#").partition(" from byte ")
            assert len(bodies.get(int(number), "").encode()) == int(start or 0)
            bodies[int(number)] = bodies.get(int(number), "") + body
    assert bodies == {number: render(msg) or "(nothing to show)" for number, msg in enumerate(said, 1)}


def test_a_text_with_half_characters_is_read_to_the_end(room):
    name = room.store.put("a\ud83cb\n" * 2000).name
    pieces = list(room.read_on(f'read_working_memory(file_path="tool_result/{name}")'))
    assert len("".join(pieces).split("\n")) == 2001
    "".join(pieces).encode()


def test_the_end_is_said(room):
    name = room.store.put("一\n二\n三").name
    assert room.read(f"tool_result/{name}") == [
        "一\n二\n三",
        f"[tool_result/{name}: lines 1 to 3 of 3, bytes 0 to 11 of 11. This is the end of the file.]",
    ]
    assert room.read(f"tool_result/{name}", start_line=2, limit=1)[0] == "二\n"
    assert room.read(f"tool_result/{name}", start_byte=5)[0] == "二\n三"
    assert "which has 3 lines" in room.read(f"tool_result/{name}", start_line=4)[0]
    assert "which has 11 bytes" in room.read(f"tool_result/{name}", start_byte=99)[0]


# Messages


def test_messages_are_readable(room):
    room.say("请看一下端口 8443")
    room.say(
        [
            {"type": "thinking", "thinking": "想一想"},
            {"type": "text", "text": "好的"},
            {"type": "tool_use", "id": "1", "name": "ls", "input": {"路径": "/"}},
        ],
        "bot",
        "assistant",
    )
    room.say(result("文件").content, "system", "system")
    text, whereto = room.read("dialog/2025-01-31.jsonl")
    assert text.startswith("#1\n[2025-01-31 10:31:05] user 张三:\n请看一下端口 8443\n\n#2\n")
    for part in (
        "好的",
        "想一想",
        'call ls({"路径": "/"})',
        "#3\n[2025-01-31 10:31:05] tool shell result:\n文件",
    ):
        assert part in text
    assert whereto == "[dialog/2025-01-31.jsonl: messages 1 to 3 of 3. This is the end of the file.]"
    second, whereto = room.read("dialog/2025-01-31.jsonl", 2, 1)
    assert second.startswith("#2\n")
    assert 'To read on: read_working_memory(file_path="dialog/2025-01-31.jsonl", start_line=3)' in whereto


def test_torn_and_malformed_lines_are_tolerated(room):
    room.say("好的消息 8443")
    path = room.workspace.dialog_dir / "2025-01-31.jsonl"
    bad = [
        b'{"id": "1", "role": "us',
        b"[]",
        b"null",
        b"8443",
        b"\xff\xfe 8443",
        b'{"role": "user", "content": "no name 8443"}',
        b"",
        b'{"content": 1}',
    ]
    path.write_bytes(path.read_bytes() + b"\n".join(bad) + b"\n" + b'{"id": "2", "role": "user", "content": "torn 8443')
    text = room.read("dialog/2025-01-31.jsonl")[0]
    assert "好的消息" in text
    assert "no name" in text
    assert "torn 8443" in text
    found = room.grep("8443")[0].split("\n")
    assert [re.match(r"\S+:(\d+) ", line)[1] for line in found] == ["1", "5", "6", "7", "10"]


# Searching


def test_matches_name_file_line_and_speaker(room):
    name = room.store.put("first\nPort 8443 open\nlast").name
    room.say("hello\nthe PORT 8443 is closed")
    lines = sorted(room.grep("port 8443")[0].split("\n"))
    assert lines == [
        "dialog/2025-01-31.jsonl:1 [2025-01-31 10:31:05] user 张三: the PORT 8443 is closed",
        f"tool_result/{name}:2 Port 8443 open",
    ]
    assert room.grep("port 8443")[1] == "[2 in all.]"
    assert room.grep("8443", "tool_result") == [f"tool_result/{name}:2 Port 8443 open", "[1 in all.]"]
    assert room.grep("8443", f"./tool_result/{name}")[1] == "[1 in all.]"


@pytest.mark.parametrize(
    "pattern", [".*", "a+b", "[x]", "(", "\\d", "^", "$", "a|b", 'say "hi"', "C:\\new", "tab\there", "名字：值"]
)
def test_patterns_are_literal(room, pattern):
    room.say(f"before {pattern} after")
    room.say("nothing of it: ab xb 1 d say hi Cnew")
    room.store.put(f"one\n{pattern}\n")
    found, note = room.grep(pattern)
    assert note == "[2 in all.]"
    assert all(pattern in line for line in found.split("\n"))


def test_a_surrogate_in_a_message_does_not_hide_its_words(room):
    room.say("坏的 \ud83c 字符 8443")
    assert "8443" in room.grep("坏的")[0]
    assert room.grep("8443")[1] == "[1 in all.]"


@given(st.text(alphabet="汉字ab 👍", max_size=3000), st.text(alphabet="汉字ab 👍", max_size=3000))
def test_a_match_in_a_long_line_shows_where_to_read(tmp_path_factory, before, after):
    room = Room(tmp_path_factory.mktemp("r"))
    before, after = before + "x" * 200, "y" * 200 + after
    name = room.store.put("first\n" + before + "NEEDLE" + after + "\nlast").name
    found, _ = room.grep("needle")
    assert len(found) < 600
    where, byte, window = re.match(rf"tool_result/{name}:(\d+) \(from byte (\d+)\) \.\.\.(.*)\.\.\.$", found).groups()
    assert where == "2"
    assert "NEEDLE" in window
    assert room.read(f"tool_result/{name}", start_byte=byte)[0].startswith(window)


def test_a_match_in_a_long_message_shows_where_to_read(room):
    room.say("中" * 9000 + "NEEDLE" + "文" * 9000)
    found, _ = room.grep("needle")
    byte, window = re.search(r"\(from byte (\d+)\) \.\.\.(.*)\.\.\.$", found).groups()
    assert found.startswith("dialog/2025-01-31.jsonl:1 [2025-01-31 10:31:05] user 张三: ")
    assert room.read("dialog/2025-01-31.jsonl", 1, start_byte=byte)[0].startswith(f"#1 from byte {byte}\n{window}")


def test_many_matches_in_one_line_are_each_shown(room):
    room.store.put("[" + ", ".join(f'{{"id": {number}, "pad": "{"p" * 400}"}}' for number in range(30)) + "]")
    found, note = room.grep('"id": ')
    assert len(found.split("\n")) == 30
    assert note == "[30 in all.]"


def test_output_is_bounded_and_says_how_many_more(room):
    room.store.put("".join(f"端口 {number} {'长' * 80}\n" for number in range(5000)))
    found, note = room.grep("端口", limit=500)
    assert 10_000 < len(found.encode()) <= 16_000
    shown = len(found.split("\n"))
    assert note.startswith(f"[{5000 - shown} more matches are not shown")
    found, note = room.grep("端口", "", "2")
    assert len(found.split("\n")) == 2
    assert note.startswith("[4998 more")


def test_the_newest_files_come_first(room):
    for day, age in (("2025-01-29", 3), ("2025-01-31", 1), ("2025-01-30", 2)):
        room.say("关键词", at=f"{day} 10:00:00.000")
        os.utime(room.workspace.dialog_dir / f"{day}.jsonl", (time.time() - age * 1000,) * 2)
    name = room.store.put("关键词").name
    order = [line.split(":")[0] for line in room.grep("关键词")[0].split("\n")]
    assert order == [
        f"tool_result/{name}",
        "dialog/2025-01-31.jsonl",
        "dialog/2025-01-30.jsonl",
        "dialog/2025-01-29.jsonl",
    ]


def test_searching_does_not_find_earlier_searches(room):
    use = {"type": "tool_use", "id": "1", "name": "grep_working_memory", "input": {"pattern": "needle"}}
    room.say([use], "bot", "assistant")
    room.say(result("dialog/x:1 needle", "grep_working_memory").content, "system", "system")
    room.say(result("the needle", "read_working_memory").content, "system", "system")
    room.say("the needle itself")
    assert room.grep("needle")[1] == "[1 in all.]"
    assert "needle" in room.read("dialog/2025-01-31.jsonl", 2)[0]


def test_nothing_found_says_what_to_try(room):
    assert "another word" in room.grep("没有")[0]
    room.say("hello")
    assert "leave file_path out" in room.grep("没有", "dialog")[0]


# Arguments as models write them


@pytest.mark.parametrize("value", ["2", 2, 2.0, " 2 ", "2.0"])
def test_numbers_are_taken_for_what_they_mean(room, value):
    name = room.store.put("一\n二\n三\n四").name
    assert room.read(f"tool_result/{name}", value, value)[0] == "二\n三\n"


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_is_the_default(room, value):
    name = room.store.put("一\n二").name
    assert room.read(f"tool_result/{name}", value, value, value)[0] == "一\n二"
    assert room.grep("一", value, value)[1] == "[1 in all.]"


@pytest.mark.parametrize("value", ["abc", [1], {"a": 1}, True, 1.5, "1e999", float("nan"), "nan", float("inf"), "二"])
def test_what_is_no_number_is_said(room, value):
    name = room.store.put("x").name
    for answer in (
        room.read(f"tool_result/{name}", value),
        room.read(f"tool_result/{name}", limit=value),
        room.grep("x", limit=value),
    ):
        assert re.match(r"Error: \w+ must be a whole number such as \d+, not ", answer[0])


@pytest.mark.parametrize("value", [-5, "0", -(10**30), 10**30])
def test_numbers_out_of_range_do_no_harm(room, value):
    name = room.store.put("一\n二").name
    assert room.read(f"tool_result/{name}", value, value, -1)
    assert room.read(f"tool_result/{name}", limit=value)[0] in ("一\n", "一\n二")
    assert room.grep("一", limit=value)[1] == "[1 in all.]"


def test_texts_are_taken_for_what_they_mean(room):
    room.say("code 8443")
    assert room.grep(8443)[1] == "[1 in all.]"
    for value in (None, "", "  "):
        assert room.grep(value) == ["Error: pattern is empty: give a text."]
        assert room.read(value) == ["Error: file_path is empty: give a text."]
    assert room.grep(["a"]) == ["Error: pattern must be a text, not ['a']."]
    assert room.read({"path": "x"})[0].startswith("Error: file_path must be a text")


@pytest.mark.parametrize(
    "spell",
    [
        "tool_result/{}.txt",
        "./tool_result/{}.txt",
        "{}.txt",
        "{}",
        ' "tool_result/{}.txt"\n',
        "`{}.txt`",
        "tool_result/../tool_result/{}.txt",
    ],
)
def test_spellings_of_one_file(room, spell):
    stem = room.store.put("内容").name.removesuffix(".txt")
    assert room.read(spell.format(stem))[0] == "内容"
    assert room.read(str(room.workspace.tool_result_dir / f"{stem}.txt"))[0] == "内容"
    room.say("你好")
    assert "你好" in room.read("2025-01-31")[0]


# What may not be read


@pytest.fixture
def guarded(room, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    room.workspace.memory_md.write_text("secret")
    room.workspace.notes_dir.joinpath("n.txt").write_text("secret")
    room.workspace.sessions_dir.joinpath("s.jsonl").write_text("secret")
    room.workspace.tool_result_dir.joinpath("sub").mkdir()
    room.workspace.tool_result_dir.joinpath("sub", "x.txt").write_text("secret")
    room.workspace.tool_result_dir.joinpath("x.md").write_text("secret")
    room.workspace.tool_result_dir.joinpath("link.txt").symlink_to(tmp_path / "secret.txt")
    room.workspace.dialog_dir.joinpath("link.jsonl").symlink_to(room.workspace.sessions_dir / "s.jsonl")
    (tmp_path / "work-2" / "tool_result").mkdir(parents=True)
    (tmp_path / "work-2" / "tool_result" / "s.txt").write_text("secret")
    return room


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "tool_result/../../secret.txt",
        "MEMORY.md",
        "memory/n.txt",
        ".state/sessions/s.jsonl",
        "tool_result/link.txt",
        "link",
        "dialog/link.jsonl",
        "tool_result/sub/x.txt",
        "tool_result/x.md",
        "tool_result",
        "dialog/",
        ".",
        "/etc/passwd",
        "tool_result/\0.txt",
        "C:\\x.txt",
        "\ud800",
        "x" * 5000,
        "../work-2/tool_result/s.txt",
        "~/secret.txt",
        "tool_result/CON.txt",
    ],
)
def test_nothing_else_is_read(guarded, tmp_path, path):
    for spelling in (path, str(tmp_path / path) if "\0" not in path else path):
        answer = "".join(guarded.read(spelling))
        assert answer.startswith("Error: ")
        assert "secret" not in answer.replace("secret.txt", "")
        "".join(guarded.grep("secret", spelling)).encode("utf-8", "surrogatepass")
    assert guarded.grep("secret")[0].startswith("No match")


def test_a_missing_file_says_what_there_is(room):
    assert room.read("tool_result/none.txt") == [
        "Error: there is no file tool_result/none.txt; nothing has been stored yet."
    ]
    name = room.store.put("x").name
    assert f"the newest there are tool_result/{name}" in room.read("tool_result/none.txt")[0]
    assert "there is no file" in room.grep("x", "dialog/2020-01-01.jsonl")[0]


def test_an_expired_file_says_so(room):
    name = room.store.put("开头 8443\n" + "x" * 9000 + "\n结尾").name
    room.store.expire(0, ())
    text = "".join(room.read(f"tool_result/{name}", start_line=2))
    assert text.startswith("开头 8443\n")
    assert text.endswith("\n结尾")
    assert "retention time was over" in text
    assert "9019 bytes" in text
    assert room.grep("8443")[0] == f"tool_result/{name} (expired: only its head and tail are left) 开头 8443"


def test_no_error_reaches_the_agent(room, monkeypatch, caplog):
    def broken(*_args, **_kwargs):
        raise RuntimeError("boom")

    monkeypatch.setattr(room.tools._pages, "read", broken)
    assert room.read("x")[0].startswith("Error: RuntimeError: boom")
    assert "boom" in caplog.text
    monkeypatch.setattr(Workspace, "read_bytes", broken)
    room.store.put("x")
    assert room.grep("x")[0].startswith("Error: RuntimeError: boom")


# As tools of the host


def test_the_model_sees_what_the_arguments_mean(room):
    toolkit = Toolkit()
    toolkit.register_tool_function(room.tools.grep_working_memory)
    toolkit.register_tool_function(room.tools.read_working_memory)
    grep, read = (schema["function"] for schema in toolkit.get_json_schemas())
    assert (grep["name"], read["name"]) == ("grep_working_memory", "read_working_memory")
    assert (grep["parameters"]["required"], read["parameters"]["required"]) == (["pattern"], ["file_path"])
    for schema in (grep, read):
        assert len(schema["description"]) > 100
        assert all(len(each["description"]) > 20 for each in schema["parameters"]["properties"].values())
    json.dumps([grep, read])


def test_called_through_the_toolkit(room):
    toolkit = Toolkit()
    toolkit.register_tool_function(room.tools.read_working_memory)
    name = room.store.put("一\n二").name

    async def call() -> str:
        block = {
            "type": "tool_use",
            "id": "1",
            "name": "read_working_memory",
            "input": {"file_path": f"tool_result/{name}", "start_line": "2"},
        }
        return "".join(
            [part["text"] async for chunk in await toolkit.call_tool_function(block) for part in chunk.content]
        )

    assert asyncio.run(call()).startswith("二")


def test_work_runs_off_the_loop(room, monkeypatch):
    monkeypatch.setattr(room.tools._pages, "read", lambda *_args, **_kwargs: (time.sleep(0.3), ["x"])[1])

    async def longest_stall() -> float:
        task, stall = asyncio.ensure_future(room.tools.read_working_memory("x")), 0.0
        while not task.done():
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            stall = max(stall, time.perf_counter() - started)
        return stall

    assert asyncio.run(longest_stall()) < 0.2


def test_a_search_can_be_cancelled(room, monkeypatch):
    monkeypatch.setattr(room.tools._search, "find", lambda *_args: (time.sleep(1), ["x"])[1])

    async def cancelled_after() -> float:
        started = time.perf_counter()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(room.tools.grep_working_memory("x"), 0.05)
        return time.perf_counter() - started

    assert asyncio.run(cancelled_after()) < 0.8
