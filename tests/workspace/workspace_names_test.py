# -*- coding: utf-8 -*-
"""Any string makes a safe file name, and no two make the same."""

import os
import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentscope_reme.workspace import escape_name
from agentscope_reme.workspace._names import component_fault

TRICKY = st.sampled_from(
    [
        *"aAbB./\\_-+%~:* \0\n",
        "con",
        "nul",
        "\u00e9",
        "e\u0301",
        "\u017f",
        "ß",
        "ı",
        "\u212a",
        "\u212b",
        "\u01c5",
        "\ufb01",
    ],
)
ANY = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.characters(), max_size=12),
    st.lists(TRICKY, max_size=8).map("".join),
    st.text(alphabet="会议记录Ａａ가\u1100\u1161👍\ud800\udfff", max_size=40),
)


def unescape(escaped: str) -> str:
    """Read an escaped name back, which shows that nothing was lost; a shortened one cannot be."""
    if escaped == "%empty":
        return ""
    data = b""
    for hexed, upper, plain in re.findall(r"%([0-9a-f]{2})|\+([a-z])|([^%+])", escaped):
        data += bytes.fromhex(hexed) if hexed else (upper.upper() or plain).encode()
    return data.decode("utf-8", "surrogatepass")


def same_on_some_disk(name: str) -> set[str]:
    """What file systems that fold case or compose characters might take the name for."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    return {fold(form) for form in forms for fold in (str.casefold, str.lower, str.upper, str)}


@given(ANY)
@example("a" * 500)
@example("\ud83c")
@settings(max_examples=300, deadline=None)
def test_safe_and_reversible(name):
    escaped = escape_name(name)
    assert component_fault(escaped) == ""
    assert escaped not in ("", ".", "..")
    assert not escaped.startswith(".")
    assert len(escaped.encode()) <= 120
    if "%~" not in escaped:
        assert unescape(escaped) == name


@given(ANY, ANY)
@settings(max_examples=300, deadline=None)
def test_two_names_never_meet(one, other):
    if one != other:
        assert not same_on_some_disk(escape_name(one)) & same_on_some_disk(escape_name(other))


def twins(name: str) -> set[str]:
    """What careless escaping would take for the name."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC")}
    return forms | {name.upper(), name.lower(), name.casefold(), f"{name} ", f"{name}.", escape_name(name)}


@given(st.text(alphabet=st.characters(), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_near_twins_never_meet(name):
    for twin in twins(name) - {name}:
        if escape_name(name) != name or twin != escape_name(name):
            assert escape_name(twin).casefold() != escape_name(name).casefold()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a/b", "a_b"),
        ("A", "a"),
        ("Alice Smith", "alice_smith"),
        ("", "%empty"),
        (".", ".."),
        ("con", "CON"),
        ("a.", "a"),
        ("x" * 300 + "1", "x" * 300 + "2"),
        ("文" * 100, "文" * 101),
        ("é", "e\u0301"),
        ("+a", "A"),
        ("%2f", "/"),
        ("\uac00", "\u1100\u1161"),
    ],
)
def test_pairs_that_others_mixed_up(one, other):
    assert not same_on_some_disk(escape_name(one)) & same_on_some_disk(escape_name(other))


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("alice", "alice"),
        ("会议记录", "会议记录"),
        ("session-2025_01.31", "session-2025_01.31"),
        ("é", "é"),
        ("мир", "мир"),
        ("Bob", "+bob"),
        ("", "%empty"),
        ("..", "%2e%2e"),
        ("../../etc", "%2e.%2f..%2fetc"),
        ("nul.txt", "%6eul.txt"),
    ],
)
def test_how_names_look(name, escaped):
    assert escape_name(name) == escaped


def test_long_names_keep_a_readable_front():
    escaped = escape_name("订单" * 200)
    assert escaped.startswith("订单订单")
    assert "%~" in escaped


def test_the_disk_takes_them(tmp_path):
    names = ["", ".", "..", "a/b", "a_b", "A", "a", "\0", "\ud800", "x" * 1000, "字" * 1000, "CON", " ", "-rf", "名 字"]
    for name in names:
        (tmp_path / f"{escape_name(name)}.jsonl").write_text(name, "utf-8", "surrogatepass")
    assert len(os.listdir(tmp_path)) == len(names)
