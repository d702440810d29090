# -*- coding: utf-8 -*-
"""The words of keyword search: every script, identifiers, stop words, and a missing jieba."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.text import WordTokenizer, _words

TOKENIZER = WordTokenizer()

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)


def shared(query: str, text: str, tokenizer: WordTokenizer = TOKENIZER) -> set[str]:
    return set(tokenizer.query_tokens(query)) & set(tokenizer.tokens(text))


FOUND = [
    ("评审", "明天下午三点开项目评审会议讨论排期"),
    ("项目评审会议", "明天下午三点开项目评审会议讨论排期"),
    ("排期", "明天下午三点开项目评审会议讨论排期"),
    ("9router", "我们用 9router 做 rerank，配置在 GOALS.md"),
    ("goals.md", "我们用 9router 做 rerank，配置在 GOALS.md"),
    ("GitHub备份脚本上传失败", "GitHub 备份脚本昨晚上传失败"),
    ("飞书插件配置", "飞书的插件在后台配置"),
    ("每日复盘 cron 备份", "每日复盘用cron备份"),
    ("しりとり", "今日は成語しりとりをした"),
    ("끝말잇기", "오늘 끝말잇기 게임을 했다"),
    ("끝말잇기", "끝말잇기를 좋아한다"),
    ("データベース", "ﾃﾞｰﾀﾍﾞｰｽを直した"),
    ("Qwen", "We tried Qwen."),
    ("children", "My child goes to school"),
    ("running", "She ran a marathon"),
    ("where does she live?", "Alice lives in Hangzhou."),
    ("when do they leave", "The train leaves at eight."),
    ("café", "the CAFE by the river"),
    ("ＡＰＩ", "the api is down"),
    ("main.py", "see src/app/main.py"),
    ("parse", "call parseHTTPReply first"),
    ("http reply", "call parseHTTPReply first"),
    ("inv 2093", "INV-2093 is paid"),
    ("INV-2093", "inv-2093 is paid"),
    ("2.1", "released v2.1 today"),
    ("snake", "rename snake_case_name"),
    ("C++", "written in c++"),
    ("12000", "it cost 12,000 yuan"),
    ("Caroline", "Caroline\u2019s garden"),
    ("ทดสอบ", "นี่คือการทดสอบ"),
    ("猫", "我家有一只猫"),
]


@pytest.mark.parametrize(("query", "text"), FOUND)
def test_a_query_shares_a_word_with_what_answers_it(query: str, text: str) -> None:
    assert shared(query, text)


@pytest.mark.parametrize(
    "text", ["的了？", "what is the", "", "  \n", "？！…", "👩‍👩‍👧 🎉", "你是谁", "です", "을", "\ud83c", "___"]
)
def test_nothing_to_search_for(text: str) -> None:
    assert TOKENIZER.is_stop_query(text)
    assert TOKENIZER.query_tokens(text) == []


@pytest.mark.parametrize(
    ("whole", "text"),
    [("v2.1", "use v2.1"), ("goals.md", "see GOALS.md"), ("inv-2093", "INV-2093"), ("snake_case", "a snake_case b")],
)
def test_identifiers_stay_whole_as_well(whole: str, text: str) -> None:
    assert whole in TOKENIZER.tokens(text)


def test_repetitions_count_in_the_index_and_not_in_a_query() -> None:
    assert TOKENIZER.tokens("rain, rain, rain").count("rain") == 3
    assert TOKENIZER.query_tokens("rain, rain, rain") == ["rain"]


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_any_text_can_be_cut(text: str) -> None:
    tokens = TOKENIZER.tokens(text)
    assert list(dict.fromkeys(tokens)) == TOKENIZER.query_tokens(text)
    assert TOKENIZER.is_stop_query(text) == (not tokens)
    for token in tokens:
        assert token
        assert not any(character.isspace() for character in token)
        token.encode("utf-8")


@settings(max_examples=50, deadline=None)
@given(st.lists(WORDS, max_size=6))
def test_case_and_width_do_not_count(words: list[str]) -> None:
    text = " ".join(words)
    wide = "".join(chr(ord(c) + 0xFEE0) if c != " " else c for c in text)
    assert TOKENIZER.tokens(text.upper()) == TOKENIZER.tokens(text) == TOKENIZER.tokens(wide)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["会议", "项目", "评审", "飞书", "插件", "后台", "备份"]), min_size=1, max_size=3).map(
        "".join
    ),
    st.text("的在了我你是有", max_size=4),
)
def test_a_chinese_word_is_found_between_particles(word: str, particles: str) -> None:
    assert shared(word, f"{particles}{word}{particles}")


@pytest.mark.parametrize(("query", "text"), [("他住在哪", "张伟住在杭州西湖区"), ("她怕什么", "刘洋怕狗")])
def test_a_verb_of_one_character_is_found_behind_a_name(query: str, text: str) -> None:
    """jieba takes 张伟住 for a name."""
    assert shared(query, text)


def test_without_jieba_pairs_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_words, "_jieba_segmenter", lambda: None)
    for query, text in FOUND:
        assert shared(query, text) or query == "猫"
    assert TOKENIZER.is_stop_query("的了？")


def test_a_segmenter_of_ones_own() -> None:
    tokenizer = WordTokenizer(segmenter=lambda run: [run[:2], run[2:]], name="mine 1")
    assert tokenizer.name == "mine 1"
    assert "小明爱" in WordTokenizer(segmenter=lambda run: [run], name="x").tokens("小明爱")


def test_the_name_tells_what_cut() -> None:
    assert "jieba=0" in TOKENIZER.name
    assert "snowballstemmer=" in TOKENIZER.name


def test_long_input_is_cut_in_pieces_and_in_time() -> None:
    tokens = TOKENIZER.tokens("a" * 300_000 + " " + "x." * 50_000 + " 结尾的评审")
    assert max(map(len, tokens)) <= 128
    assert "评审" in tokens


def test_threads_cut_alike() -> None:
    texts = [f"项目{i}评审会议 running tests number{i} INV-{i}" for i in range(40)]
    expected = [WordTokenizer().tokens(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(TOKENIZER.tokens, texts)) == expected


@pytest.mark.slow
def test_jieba_loads_without_a_sound_or_a_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    code = "from agentscope_reme.text import WordTokenizer; print(len(WordTokenizer().tokens('项目评审会议')))"
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-W", "error::UserWarning:jieba", "-c", code],
        capture_output=True,
        text=True,
        env={"TMPDIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 3
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
