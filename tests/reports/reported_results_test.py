# -*- coding: utf-8 -*-
"""What was reported about long tool results: what is shown, what is in the file, and for how long."""

import asyncio
import copy
import json
import os
import re
import time
from pathlib import Path

import pytest
from _report_scenes import agent, calls, result, scene, talk, text_of, user
from agentscope.message import Msg

from agentscope_reme import EventKind, ReMeLight
from agentscope_reme.working_memory import ReloadTools
from agentscope_reme.workspace import Workspace

pytestmark = pytest.mark.slow

FILE = re.compile(r"tool_result/[0-9a-f]{24}\.txt")
DAY = 86_400


def compacted(folder: Path, messages: list[Msg], **options) -> list[Msg]:
    async def main() -> list[Msg]:
        async with ReMeLight(folder, model=None) as light:
            return await light.compact_tool_result(messages, **options)

    return asyncio.run(main())


def shown(msg: Msg) -> str:
    output = msg.content[0]["output"]
    return output if isinstance(output, str) else "\n".join(block.get("text", "") for block in output)


def old(output, **extra) -> list[Msg]:
    """A result that is no longer recent."""
    return [user("run it"), calls("t1"), result("t1", output, **extra), agent("done"), user("and now?")]


def cut(folder: Path, output, limit: int = 3_000, **extra) -> str:
    return shown(compacted(folder, old(output, **extra), recent_n=0, old_max_bytes=limit)[2])


def stored(folder: Path, text: str) -> Path:
    """The one file that a shortened text names."""
    (name,) = set(FILE.findall(text))
    return folder / name


def read_on(folder: Path, **where) -> str:
    tool = ReloadTools(Workspace(folder)).read_working_memory
    return asyncio.run(tool(**where)).content[0]["text"]


def aged(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * DAY,) * 2)


def test_what_is_not_the_text_of_a_result_stays(tmp_path):
    extra = {"metadata": {"exit": 0}, "created_at": "2025-01-31T10:00:00", "vendor": [1, {"a": None}]}
    messages = old("log line\n" * 2_000, **extra)
    after = compacted(tmp_path, messages, recent_n=0)[2]
    block = after.content[0]
    assert {key: block[key] for key in extra} == extra
    assert (block["id"], block["name"]) == ("t1", "read_log")
    for field in ("id", "name", "role", "timestamp", "metadata"):
        assert getattr(after, field) == getattr(messages[2], field)


def test_the_notice_says_where_to_read_on_and_reading_on_leaves_no_gap(tmp_path):
    full = "".join(f"entry {n:04d} of the audit\n" for n in range(3_000))
    text = cut(tmp_path, full, 5_000)
    path = FILE.search(text)[0]
    first = int(re.search(r"start_line=(\d+)", text)[1])
    head = text[: text.index("[...")]
    assert full.startswith(head)
    assert head.count("\n") == first - 1
    page = read_on(tmp_path, file_path=path, start_line=first, limit=40)
    assert page.startswith("".join(full.splitlines(True)[first - 1 : first + 39]))


@pytest.mark.parametrize(
    ("text", "limit"), [("甲🌍乙🌎丙" * 900, 3_001), ("漢字かな" * 5_000, 1_501), ("e\u0301🇨🇳" * 3_000, 2_002)]
)
def test_no_character_is_cut_in_half(tmp_path, text, limit):
    after = cut(tmp_path, text, limit)
    assert "\ufffd" not in after
    assert len(after.encode()) <= limit
    assert stored(tmp_path, after).read_bytes() == text.encode()


def test_the_end_of_a_result_is_shown_and_all_of_it_is_in_the_file(tmp_path):
    full = "compiling unit\n" * 4_000 + "FAILED test_totals: expected 17, got 16"
    after = cut(tmp_path, full)
    assert after.startswith("compiling unit")
    assert after.endswith("expected 17, got 16")
    assert stored(tmp_path, after).read_text("utf-8") == full


def test_the_newest_result_is_capped_before_the_model_is_called(tmp_path):
    async def main():
        async with scene(tmp_path, window=32_000) as it:
            await it.memory.add([user("dump it"), calls("t1"), result("t1", "0123456789abcdef" * 65_536)])
            assert len(text_of(it.held())) < 120_000, "already before any hook"
            request = await it.step()
            assert len(text_of(request)) < 120_000
            assert FILE.search(text_of(request))
            assert it.told(EventKind.TRUNCATED)

    asyncio.run(main())


@pytest.mark.parametrize(("request_text", "said"), [("Run it", "is hidden"), ("请运行", "隐藏")])
def test_the_notice_tells_that_there_is_more_and_how_to_get_it(tmp_path, request_text, said):
    messages = [user(request_text), calls("t1"), result("t1", "x y z\n" * 3_000), user(request_text)]
    text = shown(compacted(tmp_path, messages, recent_n=0)[2])
    assert said in text
    assert "read_working_memory(" in text


def test_only_files_that_are_old_and_unused_expire(tmp_path):
    outside = tmp_path / "mine.txt"
    outside.write_text("mine")
    aged(outside, 99)
    folder = tmp_path / "w"

    async def main():
        async with scene(folder, window=64_000, retention_days=7, recent_max_bytes=3_000) as it:
            await it.memory.add([user("go"), calls("t1"), result("t1", "used " * 3_000)])
            used = stored(folder, text_of(it.held()))
            unused, fresh = [
                stored(folder, shown((await it.manager.compact_tool_result(old(text), 0, retention_days=7))[2]))
                for text in ("unused " * 3_000, "fresh " * 3_000)
            ]
            for path in (used, unused):
                aged(path, 8)
        return used, unused, fresh  # closing lets expire

    used, unused, fresh = asyncio.run(main())
    assert len(used.read_text("utf-8")) == 15_000
    assert len(fresh.read_text("utf-8")) == 18_000
    assert len(unused.read_text("utf-8")) < 3_000
    assert outside.read_text("utf-8") == "mine"
    assert "retention" in read_on(folder, file_path=f"tool_result/{unused.name}")
    assert "no file" in read_on(folder, file_path="tool_result/0123456789abcdef01234567.txt").lower()


def test_the_retention_of_a_call_outlives_start_and_close(tmp_path):
    """A result that was cut with 30 days is not deleted after 3 by the next start."""
    text = cut_with_retention(tmp_path, 30)
    path = stored(tmp_path, text)
    aged(path, 10)
    compacted(tmp_path, [], retention_days=30)  # starts and closes
    assert len(path.read_text("utf-8")) == 15_000


def cut_with_retention(folder: Path, days: float) -> str:
    return shown(compacted(folder, old("keep " * 3_000), recent_n=0, retention_days=days)[2])


def test_terminal_noise_is_capped_and_its_end_is_found(tmp_path):
    noise = "\x1b[2K\x1b[1G⠋ building" * 10_000 + "\nOK in 41 s"
    after = cut(tmp_path, noise)
    assert len(after.encode()) <= 3_000
    assert "OK in 41 s" in stored(tmp_path, after).read_text("utf-8")


def test_one_line_of_json_gets_a_notice_and_every_byte_of_it_can_be_reached(tmp_path):
    full = json.dumps([{"id": n, "名": "值", "amount": n * 7} for n in range(6_000)], ensure_ascii=False)
    text = cut(tmp_path, full)
    path, offset = FILE.search(text)[0], int(re.search(r"start_byte=(\d+)", text)[1])
    data, seen = full.encode(), b""
    while offset < len(data):
        page = read_on(tmp_path, file_path=path, start_byte=offset)
        piece = page.split("\n")[0].encode()
        assert piece
        assert data[offset:].startswith(piece)
        seen, offset = seen + piece, offset + len(piece)
    assert data.endswith(seen)


def test_five_passes_over_copies_leave_one_file_and_the_caller_s_messages(tmp_path):
    messages = old("same text\n" * 4_000)
    before = copy.deepcopy([msg.to_dict() for msg in messages])
    texts = set()
    for _ in range(5):
        texts.add(shown(compacted(tmp_path, copy.deepcopy(messages), recent_n=0)[2]))
        again = compacted(tmp_path, compacted(tmp_path, messages, recent_n=0), recent_n=0)
        texts.add(shown(again[2]))
    assert len(texts) == 1
    assert [msg.to_dict() for msg in messages] == before
    assert [path.name for path in (tmp_path / "tool_result").glob("*.txt")] == [Path(FILE.search(texts.pop())[0]).name]


def test_a_second_pass_with_a_lower_limit_points_to_the_whole(tmp_path):
    full = "".join(f"row {n}\n" for n in range(9_000))
    first = compacted(tmp_path, old(full), recent_n=0, old_max_bytes=9_000)
    second = compacted(tmp_path, first, recent_n=0, old_max_bytes=1_000)
    assert len(shown(second[2]).encode()) <= 1_000
    assert stored(tmp_path, shown(second[2])) == stored(tmp_path, shown(first[2]))
    assert stored(tmp_path, shown(second[2])).read_text("utf-8") == full


def test_output_that_quotes_a_notice_is_cut_all_the_same(tmp_path):
    quoted = cut(tmp_path, "first text\n" * 4_000)
    full = f"cat notes.txt\n{quoted}\n" + "more\n" * 4_000
    after = cut(tmp_path, full)
    assert len(after.encode()) <= 3_000
    names = set(FILE.findall(after))
    assert full in {(tmp_path / name).read_text("utf-8") for name in names}


def test_the_condensed_part_of_a_conversation_can_be_searched_and_read(tmp_path):
    async def main():
        async with scene(tmp_path) as it:
            await it.memory.add([user("the code word is 菠萝-77"), agent("noted")])
            await it.memory.add(talk(40, 500))
            await it.step()
            assert it.told(EventKind.FOLDED)
            tools = {
                name: it.agent.toolkit.tools[name].original_func
                for name in ("grep_working_memory", "read_working_memory")
            }
            found = (await tools["grep_working_memory"]("菠萝-77")).content[0]["text"]
            path = re.search(r"dialog/\d{4}-\d\d-\d\d\.jsonl", found)[0]
            page = (await tools["read_working_memory"](path, "1", "5")).content[0]["text"]
            assert "the code word is 菠萝-77" in page

    asyncio.run(main())
