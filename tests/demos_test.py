# -*- coding: utf-8 -*-
"""The programs in demos/ run as a reader would run them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "demos").glob("[!_]*.py"))


def run(name: str, folder: Path) -> str:
    """What a program prints. It says nothing else, and leaves nothing behind."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "demos" / f"{name}.py")],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert list(folder.iterdir()) == []
    return done.stdout


@pytest.mark.slow
def test_the_quickstart_runs_and_shows_what_it_promises(tmp_path: Path) -> None:
    printed = run("quickstart", tmp_path)
    first, second = printed.split("you, in another process: ")
    assert first.count("  folded  ") >= 3
    assert first.count("  cut     ") >= 3
    assert "CHG-4127 by l.moreno" in first
    assert "- From now on, begin every answer about an incident with its ticket number." in first
    assert "  noted   " in first
    assert "  found   " in second
    assert "agent: CHG-4127: Before you refund, tell the treasury desk, ext. 5530." in second
    assert "(not found)" not in printed
    assert "Journal: ok" in printed


@pytest.mark.slow
def test_the_assistant_remembers_and_gives_way(tmp_path: Path) -> None:
    printed = run("personal_assistant", tmp_path)
    first, later = printed.split("I am planning the dinner")
    assert "] Alice is allergic to peanuts." in first
    assert "assistant: Nothing with peanuts for you." in later
    assert "assistant: Order a decaf coffee." in later
    assert "Alice drinks green tea in the morning.   (no longer true; kept, not found)" in later
    plans = later.split("found by question and filter:\n")[1]
    assert plans == "  - Alice's train to Shanghai leaves on 2026-12-04 at 08:15.\n"


@pytest.mark.slow
def test_the_second_release_takes_fewer_steps(tmp_path: Path) -> None:
    printed = run("coding_agent", tmp_path)
    first, second = printed.split("you: Release version 1.5.0")
    assert first.count("Error: ") == 2
    assert first.count("learned: ") == 2
    assert "Error: " not in second
    assert "Calls of tools: 5 in the first run, 3 in the second." in second


@pytest.mark.slow
def test_the_guide_to_a_tool_keeps_it_from_being_called_wrongly_again(tmp_path: Path) -> None:
    first, second, third = run("tool_memory", tmp_path).split("--- the guide now ---")[1:]
    assert "worked: 1 of 2" in first
    assert "worked: 2 of 3" in second
    assert "worked: 3 of 4" in third
    assert "give IATA codes of three letters" in third


@pytest.mark.slow
def test_each_customer_sees_what_is_theirs(tmp_path: Path) -> None:
    printed = run("customer_service", tmp_path)
    assert "客服：查到了：李雷的订单 A-1042 要换成 42 码。" in printed
    assert "路人甲：我的订单怎么样了？\n客服：没有查到您的订单。" in printed
    assert "删除了 2 条记忆" in printed
    assert "其余 201 条（共 203 条）都还在" in printed


@pytest.mark.slow
def test_the_study_buddy_remembers_gives_way_and_forgets(tmp_path: Path) -> None:
    printed = run("study_buddy", tmp_path)
    first, later = printed.split("几天以后，另一个进程")
    assert "0.95 我递归总是学不好（fact topic:递归）" in first
    assert "0.60 我喜欢先看例子，再看概念。（preference）" in first
    assert "我打算下个月学完装饰器。（plan" in first
    known = first.split("第一天以后记得的")[1]
    assert not any(word in known for word in ("你好", "谢谢", "好累", "明天见"))  # greetings and trivia are dropped
    assert "递归是你的难点，我们先用迭代和图示讲清遍历" in later
    assert "我喜欢先看例子，再看概念。（preference）［已被取代，可恢复］" in later
    assert "我打算下个月学完装饰器。（plan topic:装饰器）［已忘掉，可恢复］" in later
    assert "更重要了：0.955 我递归总是学不好" in later
    steps = re.findall(r"^  \d\d-\d\d \d\d:\d\d (\w+)（", later.split("忘掉的可以要回来")[1], re.M)
    assert [step for step in steps if step != "accessed"] == ["created", "forgotten", "restored"]
    assert re.search(r"为什么问“递归”会想起它：排第 1，相关性来自语义 \d+%，用词 \d+%；重要性 0\.95", later)
    assert "什么也不剩，一共删去：记忆 1 条，操作记录 4 条" in later


@pytest.mark.slow
def test_refined_memories_are_short_keep_what_must_be_kept_and_lead_to_their_sources(tmp_path: Path) -> None:
    printed = run("memory_refinement", tmp_path)
    before, after = map(int, re.findall(r"(?:memories of|became \d+ of) (\d+)", printed)[:2])
    assert after < before / 2
    assert "[kept word for word] I never eat shellfish, I am allergic to it" in printed
    condensed, asked = printed.split("--- asked in general")
    for detail in ("LX-88421", "2026-05-20"):
        assert detail not in condensed
        assert f"source: [2026-03-{'01' if detail == 'LX-88421' else '20'}" in asked
        assert detail in asked.split("A second run")[0]
    assert "A second run with nothing new: 0 groups, 0 calls of a model." in printed
    assert "personal/Alice\n" in printed.split("for a person to judge")[1]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_demo_is_short_and_uses_public_names_alone(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    assert 60 <= len(text.splitlines()) <= 140
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentscope_reme"):
            assert not any(part.startswith("_") for part in [*node.module.split("."), *(a.name for a in node.names)])
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
