# -*- coding: utf-8 -*-
"""The six sections of a summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.working_memory._sections import Checkpoint, heading_count, parse_checkpoint, render_checkpoint

HARD_PIECES = st.sampled_from(
    [
        "- ",
        "* ",
        "## Goal",
        "**Goal**: x",
        "Goal: y",
        "(none)",
        "无",
        "[x] ",
        "1. ",
        "```",
        "# ",
        "---",
        "Done: z",
        "已完成：",
        "目标",
        "\n",
        "  ",
        "：",
        ":",
        "foo",
        "中文",
        "_",
        "===",
        "\u2028",
        "\t",
    ],
)
ITEMS = st.lists(st.lists(HARD_PIECES | st.text(max_size=4), max_size=5).map("".join), max_size=3).map(tuple)
CHECKPOINTS = st.builds(Checkpoint, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS, ITEMS)
MARKED = st.integers(0, 999).map("q{0} word{0}".format)
LANGUAGES = st.sampled_from(["en", "zh"])


@given(CHECKPOINTS, LANGUAGES)
def test_what_is_rendered_is_read_back(checkpoint: Checkpoint, language: str) -> None:
    text = render_checkpoint(checkpoint, language)
    assert parse_checkpoint(text) == checkpoint
    assert heading_count(text) == 6


@given(st.lists(HARD_PIECES | st.text(max_size=6), max_size=20).map("".join))
def test_reading_any_text_gives_a_checkpoint_that_is_stable(text: str) -> None:
    checkpoint = parse_checkpoint(text)
    assert parse_checkpoint(render_checkpoint(checkpoint, "en")) == checkpoint
    assert 0 <= heading_count(text) <= 6


@given(st.lists(st.tuples(st.sampled_from(["", "- ", "* ", "## ", "### ", "> ", "  "]), MARKED), max_size=12))
def test_nothing_is_lost(lines: list[tuple[str, str]]) -> None:
    read = render_checkpoint(parse_checkpoint("\n".join(mark + words for mark, words in lines)), "en")
    assert all(word in read for _, words in lines for word in words.split())


def test_the_english_layout() -> None:
    checkpoint = Checkpoint(goal=("ship it",), progress_done=("a", "b"), progress_blocked=("c",), context=("d",))
    assert render_checkpoint(checkpoint, "en") == (
        "## Goal\n- ship it\n\n## Constraints\n\n## Progress\n### Done\n- a\n- b\n### Blocked\n- c\n\n"
        "## Key Decisions\n\n## Next Steps\n\n## Critical Context\n- d"
    )


def test_the_chinese_layout() -> None:
    checkpoint = Checkpoint(constraints=("不用 npm",), progress_doing=("迁移",), next_steps=("部署",))
    assert render_checkpoint(checkpoint, "zh") == (
        "## 目标\n\n## 约束\n- 不用 npm\n\n## 进展\n### 进行中\n- 迁移\n\n"
        "## 关键决策\n\n## 下一步\n- 部署\n\n## 关键上下文"
    )


@pytest.mark.parametrize(
    ("heading", "field"),
    [
        ("## Goal", "goal"),
        ("# 目标", "goal"),
        ("#### 🎯 Goals:", "goal"),
        ("## 1. Goal", "goal"),
        ("## 一、目标（Goal）", "goal"),
        ("##Goal", "goal"),
        ("**Goal**", "goal"),
        ("**Goal:**", "goal"),
        ("__Objective__:", "goal"),
        ("Goal:", "goal"),
        ("目标：", "goal"),
        ("## Constraints & Preferences", "constraints"),
        ("## 约束与偏好", "constraints"),
        ("## Progress", "progress_done"),
        ("### Completed", "progress_done"),
        ("### In progress (2)", "progress_doing"),
        ("### 正在进行", "progress_doing"),
        ("### Blocked / Issues", "progress_blocked"),
        ("### 遇到的问题", "progress_blocked"),
        ("## Decisions", "decisions"),
        ("## 关键决定", "decisions"),
        ("## NEXT STEPS", "next_steps"),
        ("## 待办", "next_steps"),
        ("## Critical context", "context"),
        ("## 重要上下文", "context"),
    ],
)
def test_names_of_headings(heading: str, field: str) -> None:
    checkpoint = parse_checkpoint(f"## Something else\n- before\n{heading}\n- item")
    assert getattr(checkpoint, field)[-1] == "item"
    assert heading_count(heading) == 1


def test_a_model_s_own_layout() -> None:
    checkpoint = parse_checkpoint(
        """Here is the summary.

## Goal: fix the login
## Constraints
1. use tabs
   everywhere
2. None
## Progress
- [x] migrated
- [ ] testing
- **Blocked**: no key
Done: deployed
## Files
- a.py
### Empty
## Key Decisions
The service keeps its old name for now, because renaming it would break clients
deployed already.
---
## Next Steps
(none)
""",
    )
    assert checkpoint == Checkpoint(
        goal=("fix the login",),
        constraints=("use tabs everywhere",),
        progress_done=("migrated", "deployed"),
        progress_doing=("testing",),
        progress_blocked=("no key",),
        decisions=(
            "The service keeps its old name for now, because renaming it would break clients deployed already.",
        ),
        context=("Here is the summary.", "Files: a.py", "Empty"),
    )


def test_a_reply_in_a_fence_and_a_heading_inside_one() -> None:
    wrapped = "```markdown\n## Goal\n- a\n## Next Steps\n- b\n```"
    assert parse_checkpoint(wrapped) == Checkpoint(goal=("a",), next_steps=("b",))
    assert heading_count(wrapped) == 2
    quoted = "## Critical Context\n```\n## Goal\nrm -rf\n```\n- kept"
    assert parse_checkpoint(quoted) == Checkpoint(context=("## Goal", "rm -rf", "kept"))
    assert heading_count(quoted) == 1
    assert parse_checkpoint("## Goal\n- a\n```\n## Next Steps\n- b").next_steps == ("b",)  # a fence that never closes


def test_prose_without_headings_goes_to_context() -> None:
    assert parse_checkpoint("Hello! I am a large language model.") == Checkpoint(
        context=("Hello! I am a large language model.",),
    )
    assert heading_count("Hello! I am a large language model.\nMy goal is to help.") == 0
    assert parse_checkpoint("") == Checkpoint()
    assert heading_count("") == 0


def test_items_are_one_line() -> None:
    assert Checkpoint(goal=("a\nb\t c", " ", "(none)", "无")).goal == ("a b c",)
