# -*- coding: utf-8 -*-
"""MEMORY.md as a model is shown it, whatever is in the file, and whatever the file is."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import EventKind, MemoryManager
from agentscope_reme._lasting_notes import ends
from agentscope_reme.message import delimited, estimate_tokens
from agentscope_reme.testing import ScriptedChatModel

TEA = "- 用户偏好红茶，不加糖"


def asked(folder: Path, *said: str, **options: Any) -> tuple[list[str], list[Any]]:
    """What the model of an attached agent is sent for each message, as a client would send it; and the events."""

    async def main() -> tuple[list[str], list[Any]]:
        model, told = ScriptedChatModel(lambda *_: "ok"), list[Any]()
        async with MemoryManager(folder, model=None, **options) as manager:
            manager.subscribe(told.append)
            agent = ReActAgent("friday", "You are helpful.", model, OpenAIChatFormatter())
            manager.attach(agent)
            for text in said:
                await agent(Msg("ann", text, "user"))
        sent = [json.dumps(request.messages, ensure_ascii=False) for request in model.requests]
        assert all(text.encode() for text in sent)
        return sent, told

    return asyncio.run(main())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16", "gb18030"])
def test_a_file_of_any_editor_is_shown_as_it_reads(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "MEMORY.md").write_bytes(f"# 记忆\n{TEA}\n".encode(encoding))
    (sent,), _ = asked(tmp_path, "喝什么？")
    assert f"\\n# 记忆\\n{TEA}\\n" in sent
    assert "\ufeff" not in sent
    assert "\\u0000" not in sent


@given(st.binary(max_size=60))
@settings(max_examples=15, deadline=None)
def test_no_bytes_of_a_file_keep_a_request_from_being_sent(tmp_path_factory: Any, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("m")
    (folder / "MEMORY.md").write_bytes(b"# M\n" + data + b"\n- likes tea\n")
    (sent,), told = asked(folder, "hi")
    assert "\\u0000" not in sent
    assert all(event.kind != EventKind.HOOK_FAILED for event in told)


@given(st.text(st.characters(exclude_categories=())))
def test_data_between_tags_can_always_be_sent(text: str) -> None:
    assert delimited(text, "data", path=text).encode()


@pytest.mark.parametrize("kind", ["a link that leads out", "a folder", "a link to itself"])
def test_a_file_that_cannot_be_read_is_told_once_and_the_rest_is_recalled(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "room"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "2026-09-15.md").write_text("- the oolong tea is on the top shelf\n", "utf-8")
    (tmp_path / "outside.md").write_text("- a secret\n", "utf-8")
    at = folder / "MEMORY.md"
    if kind == "a folder":
        at.mkdir()
    else:
        os.symlink(tmp_path / "outside.md" if "out" in kind else at, at)
    sent, told = asked(folder, "where is the oolong tea?", "and the oolong tea?", recall=True)
    assert all("top shelf" in text and "a secret" not in text for text in sent)
    failed = [event for event in told if event.kind in (EventKind.RECALL_FAILED, EventKind.HOOK_FAILED)]
    assert [event.details.get("source") for event in failed] == ["MEMORY.md"]
    assert sum("MEMORY.md cannot be read" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [("- newest: 偏好乌龙茶", "MEMORY.md 未全部显示"), ("- newest: likes oolong", "Not all of MEMORY.md is shown")],
)
def test_a_long_file_is_shown_from_both_ends_and_says_how_to_read_on(tmp_path: Path, text: str, words: str) -> None:
    lines = ["- first: " + "x y " * 10_000, *("- and more words" for _ in range(900)), text]
    (tmp_path / "MEMORY.md").write_text("\n".join(lines), "utf-8")
    (sent,), _ = asked(tmp_path, "你好，喝什么茶？" if "偏好" in text else "which tea?", max_input_length=16_000)
    assert "- first: x y x y" in sent
    assert text in sent
    assert words in sent
    assert "memory_get" in sent
    assert re.search(r"start_line(?: 为)? 1\b", sent)


LINES = st.lists(st.text(st.sampled_from("ab 茶\u3002-#"), max_size=120), max_size=30)


@given(LINES, st.integers(20, 400))
@settings(deadline=None)
def test_what_is_shown_fits_and_nothing_is_left_out_without_a_word(lines: list[str], most: int) -> None:
    shown, first = ends(lines, most, estimate_tokens)
    assert sum(estimate_tokens(line) + 1 for line in shown) <= most
    if first is None:
        assert shown == lines
        return
    assert shown[: first - 1] == lines[: first - 1]
    assert "[…]" in "".join(shown)
    assert not lines or shown, "something is shown, however long the lines are"
    if most >= 100:
        assert shown[-1] == lines[-1] or shown[-1].endswith(" […]"), "what came last is shown"
