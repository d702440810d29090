# -*- coding: utf-8 -*-
"""What of a chunk is embedded."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.note_index._vector_texts import vector_texts

SAID = "she likes green tea a lot"


@pytest.mark.parametrize(
    "line",
    [
        f"- {SAID}",
        f"- 10:30 {SAID}",
        f"- [10:30] {SAID}",
        f"- 2026-03-01 10:30:05 {SAID}",
        f"- 2026年3月1日 {SAID}",
        f"- {SAID} (Anna, 10:30)",
        f"- {SAID}（2026-03-01）",
        f"- 3:05 pm, {SAID}",
    ],
)
def test_a_time_is_taken_off(line: str) -> None:
    assert vector_texts("note", line) == [SAID]


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (f"- 10:30 Anna: {SAID}", [f"Anna: {SAID}", SAID]),
        (f"- **Anna Maria** (10:30): {SAID}", [f"Anna Maria (10:30): {SAID}", SAID]),
        ("- 小明（10:30）：她很喜欢喝绿茶", ["小明（10:30）：她很喜欢喝绿茶", "她很喜欢喝绿茶"]),
        (f"- {SAID} (see the docs)", [f"{SAID} (see the docs)", SAID]),
        (f"## Drinks\n{SAID}", [SAID, f"Drinks {SAID}"]),
        ("- Allergy: peanuts and all shellfish", ["Allergy: peanuts and all shellfish", "peanuts and all shellfish"]),
    ],
)
def test_with_a_label_an_aside_or_a_heading_it_is_embedded_both_ways(line: str, texts: list[str]) -> None:
    assert vector_texts("note", line) == texts


@pytest.mark.parametrize(
    "line",
    [
        "Deadline: Friday",
        "电话：13812345678",
        "10:30",
        "The plan is simple: we go home at noon",
        "https://example.org: is a link that fails",
        "ratio 16:9 is best for the video",
    ],
)
def test_what_would_say_little_alone_stays_whole(line: str) -> None:
    assert vector_texts("note", line) == [line]


def test_a_turn_is_one_text_and_a_long_one_its_sentences() -> None:
    assert vector_texts("turn", "10:30 Anna: hello. How are you?") == ["10:30 Anna: hello. How are you?"]
    long = " ".join(f"This is sentence number {n} of the turn." for n in range(30))
    assert len(vector_texts("turn", long)) == 30
    assert vector_texts("turn", " \n") == vector_texts("note", "---\n\n***") == []


@settings(max_examples=60)
@given(st.text(alphabet="a 会:：()（）[]10-9.\n#*", max_size=80), st.sampled_from(["note", "turn"]))
def test_no_text_is_blank_or_twice(text: str, kind: str) -> None:
    texts = vector_texts(kind, text)
    assert all(each.strip() for each in texts)
    assert len(set(texts)) == len(texts)
