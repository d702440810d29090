# -*- coding: utf-8 -*-
"""When two archive lines are the same message, and what is taken back with an unfinished last line."""

import json

import pytest
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.dialog import DialogArchive
from agentscope_reme.message import msg_to_dict
from agentscope_reme.text import PromptBook
from agentscope_reme.working_memory import OffloadStore, ToolResultCompactor

TEXTS = st.text(st.sampled_from("ab端口\n🌍 "), max_size=400)
MOST_BYTES = st.integers(1, 500)


def result(text: str, *, in_blocks: bool) -> dict:
    output = [{"type": "text", "text": part} for part in text.split(" ")] if in_blocks else text
    return {"type": "tool_result", "id": "call_0", "name": "read", "output": output, "metadata": {"took": 3}}


@given(text=TEXTS, more=TEXTS, in_blocks=st.booleans(), limits=st.lists(MOST_BYTES, max_size=3), edit=st.booleans())
@settings(max_examples=40)
def test_a_message_is_the_same_however_much_of_it_is_shown(tmp_path_factory, text, more, in_blocks, limits, edit):
    folder = tmp_path_factory.mktemp("workspace")
    archive = DialogArchive(folder / "dialog", folder / "lock")
    compactor = ToolResultCompactor(OffloadStore(folder / "tool_result"), book=PromptBook())
    msg = Msg("system", [result(text, in_blocks=in_blocks), {"type": "text", "text": more}], "system")
    archive.append([msg], "s")
    for limit in limits:
        msg = compactor.compact_message(msg, limit) or msg
        msg = compactor.compact_text_blocks(msg, limit) or msg
        assert archive.append([msg], "s") == []
    if edit:
        msg = Msg.from_dict(msg_to_dict(msg))
        msg.content[-1]["text"] += "!"
        msg.metadata = {}
        assert archive.append([msg], "s") == [msg.id]


@pytest.mark.parametrize("kept", [-1, -2, 40, 1])
def test_an_unfinished_last_line_is_taken_back_with_its_fold(tmp_path, kept):
    """Also one that only lacks its newline: it would be mended, and the message would be there twice."""
    archive = DialogArchive(tmp_path / "dialog", tmp_path / "lock")
    first, second = (Msg("user", text, "user", timestamp="2026-03-01 10:00:00.000") for text in ("one", "two 二"))
    archive.append([first], "s")
    path = tmp_path / "dialog" / "2026-03-01.jsonl"
    before = path.read_bytes()
    archive.append([second], "s")
    path.write_bytes(before + path.read_bytes()[len(before) :][:kept])
    archive = DialogArchive(tmp_path / "dialog", tmp_path / "lock")
    assert archive.remove("s", [second.id], ["2026-03-01"]) == 1
    assert path.read_bytes() == before
    archive.append([second], "s")
    assert [json.loads(line)["id"] for line in path.read_bytes().splitlines()] == [first.id, second.id]


@pytest.mark.parametrize("kept", [-1, -2, 40, 1])
def test_a_writer_that_goes_on_behind_one_that_died(tmp_path, kept):
    """It has the file open, and does not glue its line to half of another, nor repeat one that lacks its newline."""
    first, second, third = (Msg("user", text, "user", timestamp="2026-03-01 10:00:00.000") for text in "一二三")
    archive = DialogArchive(tmp_path / "dialog", tmp_path / "lock")
    archive.append([first], "s")
    path = tmp_path / "dialog" / "2026-03-01.jsonl"
    before = path.read_bytes()
    DialogArchive(tmp_path / "dialog", tmp_path / "lock").append([second], "s")
    with open(path, "r+b") as file:
        file.truncate(len(before) + len(path.read_bytes()[len(before) :][:kept]))
    archive.append([second, third], "s")
    assert [json.loads(line)["id"] for line in path.read_bytes().splitlines()] == [first.id, second.id, third.id]
