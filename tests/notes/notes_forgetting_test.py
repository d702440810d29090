# -*- coding: utf-8 -*-
"""Without a model, what users ask to forget leaves MEMORY.md, and the request does not come into it."""

import re
from pathlib import Path

import pytest
from _note_scenes import JOURNAL, read, run, user, writer_of

from agentscope_reme.notes._forgetting import asks_to_forget
from agentscope_reme.notes._note_store import NoteStore
from agentscope_reme.workspace import Workspace

REQUESTS = [  # what was said, what is asked, what of it stays
    (["记住，我喜欢喝红茶。", "我喜欢喝绿茶。"], "忘掉我喜欢喝红茶", ["我喜欢喝绿茶"]),
    (["我喜欢喝红茶。", "我对花生过敏。"], "请忘掉我喝红茶的事，我住在上海", ["花生过敏", "我住在上海"]),
    (["我住在杭州。", "我喜欢喝红茶。"], "忘掉我的地址。", ["红茶"]),
    (["我喜欢喝红茶。", "我喜欢吃鱼。"], "把我喜欢红茶忘了吧", ["吃鱼"]),
    (["我喜欢喝红茶。", "我喜欢吃鱼。"], "把我喜欢喝红茶这件事忘了吧", ["吃鱼"]),
    (["I like black tea.", "I like green tea."], "Forget that I like black tea", ["green tea"]),
    (
        ["I live in Hangzhou.", "I am allergic to peanuts."],
        "Please forget my address, I live in Berlin",
        ["Berlin", "peanuts"],
    ),
    (["I like peanuts.", "I am allergic to peanuts."], "Forget what I said about peanuts.", ["allergic"]),
    (["I am allergic to peanuts.", "I like tea."], "Forget that I am allergic to peanuts.", ["tea"]),
    (["I like tea.", "I prefer tabs."], "Forget everything.", ["tea", "tabs"]),
    (["我喜欢喝红茶。"], "把一切都忘掉", ["红茶"]),
]


@pytest.mark.parametrize("together", [False, True], ids=["later", "in one batch"])
@pytest.mark.parametrize(("told", "asked", "staying"), REQUESTS)
def test_what_is_asked_leaves_the_lasting_notes_and_nothing_else_does(
    tmp_path: Path, told: list[str], asked: str, staying: list[str], together: bool
) -> None:
    said = [user(each) for each in told]
    request = user(asked)
    for batch in [[*said, request]] if together else [said, [request]]:
        run(lambda batch=batch: writer_of(tmp_path).write(batch))
    lines = [line for line in read(tmp_path, "MEMORY.md").splitlines() if line.startswith("- ")]
    assert len(lines) == len(staying)
    assert all(any(each in line for line in lines) for each in staying)
    journal = read(tmp_path, JOURNAL)
    assert all(each.strip("。.") in journal for each in [*told, *re.split("[，,] ?", asked)])


def test_a_thing_said_again_after_the_request_is_noted(tmp_path: Path) -> None:
    for text in ("我喜欢喝红茶。", "忘掉我喜欢喝红茶。", "我喜欢喝红茶。"):
        run(lambda text=text: writer_of(tmp_path).write([user(text)]))
    assert read(tmp_path, "MEMORY.md").count("红茶") == 1


def test_hand_written_lines_stay_whatever_is_asked(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- I like black tea, says Bob\n", encoding="utf-8")
    run(lambda: writer_of(tmp_path).write([user("I like black tea.")]))
    run(lambda: writer_of(tmp_path).write([user("Forget that I like black tea.")]))
    note = NoteStore(Workspace(tmp_path)).load("MEMORY.md")
    assert [line.key for line in note.by_hand] == ["- I like black tea, says Bob"]
    assert read(tmp_path, "MEMORY.md").count("tea") == 1


@pytest.mark.parametrize(
    "rule",
    ["Always delete the notes of a test run.", "Never clear my notes.", "永远不要清空笔记。", "别忘了我喜欢喝红茶。"],
)
def test_a_rule_of_what_is_deleted_is_no_request(tmp_path: Path, rule: str) -> None:
    assert not asks_to_forget(rule)
    run(lambda: writer_of(tmp_path).write([user(rule)]))
    assert rule in read(tmp_path, "MEMORY.md")
