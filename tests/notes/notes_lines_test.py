# -*- coding: utf-8 -*-
"""Notes as lines: bytes stay, hand-written lines stay in their order, and what a model sees is encodable."""

import pytest
from _note_scenes import is_part_in_order
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.notes._lines import (
    Line,
    aligned,
    clean_text,
    merged,
    new_lines,
    occurrences,
    parse,
    replaced,
    to_bytes,
    unparted,
)

RAW = st.binary(max_size=60) | st.lists(
    st.sampled_from(
        [b"\n", b"\r\n", b"\r", b"a", b"\xff", "用户".encode(), "偏好".encode("gbk"), b" ", b"\xef\xbb\xbf"]
    ),
    max_size=14,
).map(b"".join)
BODIES = st.lists(st.sampled_from(["alpha line", "beta line", "gamma line", "delta line", "```", "", "x"]), max_size=9)


def lines(bodies: list[str], hand: bool = False) -> list[Line]:
    return [Line(body, "\n", hand) for body in bodies]


@given(RAW)
def test_bytes_come_back(data: bytes) -> None:
    assert to_bytes(parse(data)) == data


@given(RAW)
def test_what_a_model_sees_can_be_encoded_and_has_one_line_a_line(data: bytes) -> None:
    for line in parse(data):
        line.shown.encode()
        assert "\n" not in line.shown
        assert len(line.body) - len(line.shown) == line.body.startswith("\ufeff")


@given(BODIES, st.lists(st.booleans(), min_size=9, max_size=9), BODIES)
def test_a_merge_keeps_what_stays_in_order_and_takes_all_that_is_new(
    old: list[str], hand: list[bool], new: list[str]
) -> None:
    before = [Line(body, "\n", stays) for body, stays in zip(old, hand, strict=False)]
    after, returned = merged(before, [line.hand for line in before], lines(new))
    bodies = [line.body for line in after]
    assert is_part_in_order([line for line in before if line.hand and line.key], after)
    assert set(new) - {""} <= set(bodies)
    assert {line.body for line in returned} <= {line.body for line in before if line.hand}
    assert len(set(old)) < len(old) or not {line.body for line in returned} & set(new)
    assert set(bodies) <= set(old) | set(new)


@given(BODIES, BODIES)
def test_a_merge_without_hand_written_lines_is_the_new_text(old: list[str], new: list[str]) -> None:
    after, returned = merged(lines(old), [False] * len(old), lines(new))
    assert [line.body for line in after] == new
    assert not returned


@given(st.lists(st.sampled_from(["a", "b", ""]), max_size=8), st.lists(st.sampled_from(["a", "b", ""]), max_size=8))
def test_an_alignment_covers_both_texts(old: list[str], new: list[str]) -> None:
    at = new_at = 0
    for same, begin, end, new_begin, new_end in aligned(old, new):
        assert (begin, new_begin) == (at, new_at)
        assert not same or old[begin:end] == new[new_begin:new_end]
        at, new_at = end, new_end
    assert (at, new_at) == (len(old), len(new))


def test_a_text_that_replaces_everything_comes_after_what_a_person_wrote() -> None:
    old = parse(b"# Mine\n\nFirst paragraph.\n\nSecond paragraph.\n")
    after, returned = merged(old, [True] * len(old), lines(["# Note", "", "- new"]))
    assert to_bytes(after).decode() == "# Mine\n\nFirst paragraph.\n\nSecond paragraph.\n# Note\n\n- new\n"
    assert len(returned) == 3


def test_a_line_that_a_model_moved_stands_once() -> None:
    old = parse(b"- first thing\n- second thing\n")
    after, _ = merged(old, [True, True], lines(["- second thing", "- first thing"]))
    assert sorted(line.body for line in after) == ["- first thing", "- second thing"]
    assert [line.body for line in after] == ["- first thing", "- second thing"]


def test_bytes_of_a_line_that_is_written_again_stay() -> None:
    old = parse(b"\xef\xbb\xbf# \xc4\xe3\xba\xc3  \r\n- ok\r\n")
    after, _ = merged(old, [False] * len(old), new_lines("# \ufffd\ufffd\ufffd\ufffd\n- ok\n- new\n", old))
    assert to_bytes(after) == b"\xef\xbb\xbf# \xc4\xe3\xba\xc3  \r\n- ok\r\n- new\r\n"


@given(st.text("ab \n中", max_size=30), st.text("ab \n中", min_size=1, max_size=4), st.text("xy\n", max_size=5))
def test_replacing_is_what_it_is_for_a_string(text: str, old: str, new: str) -> None:
    note = parse(text.encode())
    places = occurrences(note, old)
    assert places == [at for at in range(len(text)) if text.startswith(old, at)]
    for at in places[:2]:
        first, last, fresh = replaced(note, at, len(old), new)
        after = to_bytes([*note[:first], *fresh, *note[last:]]).decode()
        assert after == text[:at] + new + text[at + len(old) :]


def test_replacing_keeps_line_ends_and_bytes_around() -> None:
    note = parse(b"\xef\xbb\xbfone \xff two\r\nthree\r\nfour")
    (at,) = occurrences(note, "two\nthree")
    first, last, fresh = replaced(note, at, len("two\nthree"), "2\n3")
    assert to_bytes([*note[:first], *fresh, *note[last:]]) == b"\xef\xbb\xbfone \xff 2\r\n3\r\nfour"
    (at,) = occurrences(note, "one")
    first, last, fresh = replaced(note, at, 3, "1")
    assert to_bytes([*note[:first], *fresh, *note[last:]]) == b"\xef\xbb\xbf1 \xff two\r\nthree\r\nfour"


@settings(max_examples=60)
@given(st.text(max_size=20) | st.text("\ud83d\ude00\x00\r\n\u4e2d\x1b", max_size=12))
def test_clean_text_can_be_stored(text: str) -> None:
    clean = clean_text(text)
    assert clean == clean_text(clean)
    assert not set(clean) & {"\0", "\r", "\x1b"}
    clean.encode()


def test_halves_of_a_character_become_whole() -> None:
    assert clean_text("ok \ud83d\ude00 \ud83d") == "ok 😀 \ufffd"


@pytest.mark.parametrize(("stay", "expected"), [(["a", "b"], []), (["b", "a"], ["a"]), (["c"], ["c"])])
def test_lines_are_found_again_in_their_order(stay: list[str], expected: list[str]) -> None:
    marked, lost = unparted(lines(stay, hand=True), lines(["a", "x", "b"]))
    assert [line.body for line in lost] == expected
    assert {line.body for line in marked if line.hand} == set(stay) - set(expected)
