# -*- coding: utf-8 -*-
"""Files to chunks: every line in one of them, whatever the file holds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.message import estimate_tokens
from agentscope_reme.note_index._chunks import Section, sections
from agentscope_reme.note_index._long_lines import cut_line
from agentscope_reme.note_index._notes import note_drafts, path_day

LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "",
            "   ",
            "# One",
            "## Two",
            "### 三",
            "Setext",
            "===",
            "---",
            "- item",
            "  - nested item",
            "    more of it",
            "1. first",
            "```python",
            "```",
            "~~~",
            "    code = 1",
            "| a | b |",
            "|---|---|",
            "| 1 | 2 |",
            "> quoted",
            "A paragraph of some words.",
            "一段中文，讲的是今天的会议。",
            "#tag no heading",
            "***",
            "<!-- note -->",
        ]
    ),
    st.text(alphabet="ab 。.，-#|`>*\t一👍\u0301", max_size=60),
    st.integers(50, 400).map(lambda n: "long word " * n),
    st.integers(50, 600).map(lambda n: "没有空格的长句子" * n),
)
FILES = st.lists(LINES, max_size=40)


def held(found: list[Section], lines: list[str]) -> dict[int, str]:
    """What the chunks hold of each line, in their order."""
    got: dict[int, str] = {}
    for section in found:
        parts = section.text.split("\n") if section.start_line < section.end_line else [section.text]
        assert len(parts) == section.end_line - section.start_line + 1
        for number, part in enumerate(parts, start=section.start_line):
            got[number] = got.get(number, "") + part
    return got


@given(FILES, st.sampled_from([20, 60, 400]))
def test_chunks_hold_every_line_that_is_not_blank_exactly_once(lines: list[str], limit: int) -> None:
    found = sections(lines, limit)
    got = held(found, lines)
    assert {n: text for n, text in got.items() if text.strip()} == {
        n: line for n, line in enumerate(lines, start=1) if line.strip()
    }
    places = [(section.start_line, section.offset) for section in found]
    assert places == sorted(places)
    assert all(section.text.strip() for section in found)


@given(FILES, st.sampled_from([20, 60, 400]))
def test_chunks_are_about_as_long_as_allowed(lines: list[str], limit: int) -> None:
    for section in sections(lines, limit):
        size = estimate_tokens(section.text)
        alone = section.start_line == section.end_line
        assert size <= 1.25 * limit + 4 * (section.end_line - section.start_line + 1) + (limit if alone else 0)


@settings(max_examples=60)
@given(st.text(alphabet="ab c。.，👩‍👧é\u0301🏽", min_size=2, max_size=400), st.integers(4, 40))
def test_a_long_line_is_cut_without_doubling_or_loss(text: str, limit: int) -> None:
    spans = cut_line(text, limit, estimate_tokens)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(text)
    assert all(end > start for start, end in spans)


def test_a_long_line_is_cut_at_its_sentences_and_not_inside_an_emoji() -> None:
    line = "第一句话讲的是天气很好。" * 30
    assert all(line[start:end].endswith("。") for start, end in cut_line(line, 60, estimate_tokens))
    family = "👩‍👩‍👧" * 60
    assert all(
        family[start] == "👩" and family[start - 1] != "\u200d" for start, _ in cut_line(family, 40, estimate_tokens)
    )


def test_headings_stay_with_their_text_and_their_path_is_kept() -> None:
    text = "# Trip\nintro\n## Food\n- no coriander\n## Hotels\n### Kyoto\nnear the station\n# Work\nlate"
    found = [(section.heading, section.text) for section in sections(text.split("\n"))]
    assert found == [
        ("", "# Trip\nintro"),
        ("Trip", "## Food\n- no coriander"),
        ("Trip", "## Hotels\n### Kyoto\nnear the station"),
        ("", "# Work\nlate"),
    ]
    long = "# Trip\n## Food\n" + "\n".join(f"- dish number {n} with rice and beans" for n in range(60))
    parts = sections(long.split("\n"), 100)
    assert len(parts) > 2
    assert {part.heading for part in parts[1:]} == {"Trip > Food"}


@pytest.mark.parametrize(
    "block",
    [
        "```python\ndef f():\n\n    # no heading\n    return 1\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "- item\n\n  its second paragraph\n  - nested\n    deeper",
        "a paragraph\nof three\nlines",
    ],
)
def test_what_belongs_together_is_not_torn_where_it_fits(block: str) -> None:
    fill = "\n\n".join("words and words and words." for _ in range(14))
    found = sections(f"{fill}\n\n{block}\n\n{fill}".split("\n"), 80)
    assert len(found) > 2
    assert sum(block in section.text for section in found) == 1


def test_front_matter_is_one_block_and_a_rule_is_not_front_matter() -> None:
    found = sections(["---", "title: Plan", "tags: [a]", "---", "# Head", "text"])
    assert [section.text for section in found] == ["---\ntitle: Plan\ntags: [a]\n---", "# Head\ntext"]
    assert len(sections(["---", "", "# Head", "text"])) == 2
    assert sections([]) == sections(["", "  "]) == []


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_no_bytes_are_refused(data: bytes) -> None:
    note_drafts("memory/x.md", data, 400)


def test_crlf_and_lf_give_the_same_chunks() -> None:
    text = "# A\n- one\n\ntwo\n"
    assert note_drafts("a.md", text.encode(), 400) == note_drafts("a.md", text.replace("\n", "\r\n").encode(), 400)


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-03-01.md", "2026-03-01"),
        ("memory/2026-09/09.md", "2026-09-09"),
        ("memory/2026-09/2026-09-10.md", "2026-09-10"),
        ("notes/2026/9/1/a.md", "2026-09-01"),
        ("memory/2026_3_1 review.md", "2026-03-01"),
        ("memory/20260301.md", "2026-03-01"),
        ("memory/2026年3月1日.md", "2026-03-01"),
        ("memory/2026-02-30.md", ""),
        ("memory/v2026-13-01.md", ""),
        ("MEMORY.md", ""),
    ],
)
def test_a_day_in_the_path_is_the_time(path: str, day: str) -> None:
    assert path_day(path) == day


def test_a_day_in_a_heading_is_nearer_than_the_day_of_the_file() -> None:
    drafts, _ = note_drafts(
        "memory/2026-03-05.md", b"# Log\nx\n## 2026-03-01\ny\n## Both 2026-03-01 2026-03-02\nz", 400
    )
    assert [draft.time for draft in drafts] == ["2026-03-05", "2026-03-01", "2026-03-05"]
