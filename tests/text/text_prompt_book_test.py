# -*- coding: utf-8 -*-
"""The prompt book: strict placeholders, languages that match, folders of one's own."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import PromptError
from agentscope_reme.text import Prompt, PromptBook, normalize_language

BOOK = PromptBook()
LANGUAGES = BOOK.languages()

# What an English word in a Chinese prompt may be: tags, tools, formats, names of things.
TECHNICAL = re.compile(
    r"\{\{\w+\}\}|</?\w+>|&\w+;|\b\w*_\w*\b|https?://\S+|\b(?:AI|API|JSON|YAML|Markdown|SHA|ID|id|URL|UTC|ISO|md|jsonl?|MEMORY|"
    r"YYYY|MM|DD|HH|python|Python|true|false|null|user|assistant|system|none|name|key|value|role|content|agent|tool|other|transcript|message)\b",
)


def write(root: Path, language: str, content: str, file: str = "greet.yaml") -> None:
    (root / language).mkdir(exist_ok=True)
    (root / language / file).write_text(content, encoding="utf-8")


def test_both_languages_are_there() -> None:
    assert set(LANGUAGES) >= {"en", "zh"}


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_languages_have_the_same_names_and_placeholders(language: str) -> None:
    assert BOOK.names(language) == BOOK.names("en")
    for name in BOOK.names("en"):
        here, there = BOOK._entry(language, name), BOOK._entry("en", name)
        assert type(here) is type(there), name
        if isinstance(here, Prompt) and isinstance(there, Prompt):
            assert set(here.placeholders) == set(there.placeholders), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_empty_and_lists_of_patterns_compile(language: str) -> None:
    for name in BOOK.names(language):
        entry = BOOK._entry(language, name)
        assert entry if isinstance(entry, tuple) else entry.text.strip(), name
        if name.endswith("_patterns"):
            assert all(re.compile(pattern) for pattern in BOOK.list(language, name))


def test_chinese_is_chinese() -> None:
    for name in BOOK.names("zh"):
        entry = BOOK._entry("zh", name)
        if isinstance(entry, Prompt):
            english = re.findall(r"[A-Za-z]{3,}(?: [A-Za-z]{2,})+", TECHNICAL.sub("|", entry.text))
            han = len(re.findall(r"[\u4e00-\u9fff]", entry.text))
            assert not english, (name, english)
            assert han or not TECHNICAL.sub("", entry.text).strip("-# \n"), name


def test_english_is_english() -> None:
    chinese = {
        name
        for name in BOOK.names("en")
        if isinstance(entry := BOOK._entry("en", name), Prompt) and re.search(r"[\u4e00-\u9fff]", entry.text)
    }
    assert chinese == set()


@settings(max_examples=80)
@given(st.text(max_size=40) | st.sampled_from(["{{limit}}", "{thinking}", "{{thinking}}", "\\g<0>", "{0}", "%s", "$x"]))
def test_values_are_put_in_as_they_are(value: str) -> None:
    values = {"thinking": value, "limit": "{{thinking}}"}
    pieces = re.split(r"\{\{(\w+)\}\}", BOOK.get("en", "compactor.system").text)
    expected = "".join(values[piece] if at % 2 else piece for at, piece in enumerate(pieces))
    assert BOOK.text("en", "compactor.system", **values) == expected


def test_other_braces_are_text(tmp_path: Path) -> None:
    write(tmp_path, "en", 'json: {placeholders: [x], text: \'{"a": {"b": {{x}}}} { {x} } {{ x }} {{}} $x %s\'}')
    assert PromptBook(tmp_path).text("en", "greet.json", x=1) == '{"a": {"b": 1}} { {x} } {{ x }} {{}} $x %s'


@pytest.mark.parametrize(
    ("language", "name", "values", "named"),
    [
        ("en", "compactor.update", {"previous": "x"}, "'transcript'"),
        ("en", "compactor.update", {"previous": "x", "transcript": None}, "'transcript'"),
        ("zh", "compactor.update", {"previous": "x", "transcript": "y", "more": 1}, "'more'"),
        ("en", "compactor.nothing", {}, "'compactor.update'"),
        ("tlh", "compactor.update", {}, "'en', 'zh'"),
        ("../en", "compactor.update", {}, "'en', 'zh'"),
        ("en", "compactor.error_patterns", {}, "list"),
        (None, "compactor.update", {}, "None"),
    ],
)
def test_what_is_wrong_is_named(language: str, name: str, values: dict[str, object], named: str) -> None:
    with pytest.raises(PromptError, match=re.escape(named)):
        BOOK.text(language, name, **values)


def test_a_text_is_no_list() -> None:
    with pytest.raises(PromptError, match="text"):
        BOOK.list("en", "compactor.system")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("hello: {placeholders: [], text: 'Hi {{who}}'}", "undeclared 'who'"),
        ("hello: {placeholders: [who], text: 'Hi'}", "unused 'who'"),
        ("hello: {placeholders: who, text: 'Hi {{who}}'}", "placeholders"),
        ("hello: {placeholders: [], text: '  '}", "no text"),
        ("hello: {text: Hi}", "`placeholders`"),
        ("hello: Hi", "'greet.hello'"),
        ("hello: [1, 2]", "'greet.hello'"),
        ("- Hi", "greet.yaml"),
        ("hello: [", "greet.yaml"),
    ],
)
def test_a_faulty_file_is_named(tmp_path: Path, content: str, named: str) -> None:
    write(tmp_path, "en", content)
    with pytest.raises(PromptError, match=re.escape(named)):
        PromptBook(tmp_path).names("en")


def test_a_language_is_one_folder(tmp_path: Path) -> None:
    write(tmp_path, "ja-JP", "hello: {placeholders: [who], text: 'こんにちは、{{who}}さん'}\nwords: ['はい', 'いいえ']")
    book = PromptBook(tmp_path)
    assert book.languages() == tuple(sorted({*LANGUAGES, "ja"}))
    assert book.text("ja", "greet.hello", who="太郎") == "こんにちは、太郎さん"
    assert book.list("ja", "greet.words") == ("はい", "いいえ")
    assert book.names("zh") == BOOK.names("zh")


def test_an_entry_of_ones_own_replaces_only_itself(tmp_path: Path) -> None:
    write(tmp_path, "zh", "no_thinking: {placeholders: [], text: 直接写。}", "compactor.yaml")
    book = PromptBook(tmp_path)
    assert book.text("zh", "compactor.no_thinking") == "直接写。"
    assert book.text("zh", "compactor.thinking") == BOOK.text("zh", "compactor.thinking")
    assert BOOK.text("zh", "compactor.no_thinking") != "直接写。"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="nowhere"):
        PromptBook(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("given_name", "short"),
    [
        ("", "en"),
        ("en-US", "en"),
        ("English", "en"),
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh_Hans", "zh"),
        ("CN", "zh"),
        (" Chinese ", "zh"),
        ("中文", "zh"),
        ("ja-JP", "ja"),
    ],
)
def test_names_of_languages(given_name: str, short: str) -> None:
    assert normalize_language(given_name) == short
