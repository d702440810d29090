# -*- coding: utf-8 -*-
"""Long inputs in parts: nothing left out, nothing too long."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.chat import pack_parts, split_to_fit

alphabet = st.sampled_from("ab 中文。\n<&")
texts = st.lists(st.text(alphabet, max_size=80), max_size=8)


def escaped_length(text: str) -> int:
    """A measure that is not one a character: brackets count four times."""
    return len(text) + 3 * (text.count("<") + text.count("&"))


@settings(max_examples=150)
@given(texts, st.integers(4, 60))
def test_parts_hold_everything_and_fit(given_texts: list[str], capacity: int) -> None:
    parts = pack_parts(given_texts, capacity, escaped_length)
    assert "".join(piece for part in parts for piece in part) == "".join(given_texts)
    assert all(escaped_length("\n\n".join(part)) <= capacity for part in parts)
    assert all(parts)


@settings(max_examples=80)
@given(texts, st.integers(4, 60))
def test_no_two_neighbours_would_fit_in_one(given_texts: list[str], capacity: int) -> None:
    parts = pack_parts(given_texts, capacity, escaped_length)
    for one, other in pairwise(parts):
        assert escaped_length("\n\n".join([*one, other[0]])) > capacity


def test_a_split_prefers_the_ends_of_lines() -> None:
    text = "".join(f"line {number} of a log\n" for number in range(40))
    pieces = split_to_fit(text, 100, len)
    assert "".join(pieces) == text
    assert all(piece.endswith("\n") for piece in pieces)


def test_a_character_that_does_not_fit_is_a_piece() -> None:
    assert split_to_fit("<<", 1, escaped_length) == ["<", "<"]
    with pytest.raises(ConfigError, match="0 tokens"):
        split_to_fit("x", 0, len)
