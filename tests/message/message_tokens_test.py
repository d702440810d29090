# -*- coding: utf-8 -*-
"""The estimate against Qwen's own tokenizer, and the choice of a counter."""

import base64
import hashlib
import logging
import time

import pytest
from _token_samples import CODE, PROSE, REFERENCE, SAMPLES
from agentscope.token import CharTokenCounter, OpenAITokenCounter, TokenCounterBase
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.message import _tokenizers
from agentscope_reme.message._estimate import estimate_tokens, estimate_with
from agentscope_reme.message._tokenizers import _LazyTokenizer, as_counter, tokenizer_for
from agentscope_reme.message._weights import CL100K, O200K


@pytest.fixture(scope="module")
def qwen():
    tokenizer = pytest.importorskip("dashscope").get_tokenizer("qwen-turbo")
    return lambda text: len(tokenizer.encode(text, allowed_special=set(), disallowed_special=()))


@pytest.mark.parametrize("kind", SAMPLES)
def test_estimate_is_near_qwens_own_count(kind, qwen):
    ratio = estimate_tokens(SAMPLES[kind]) / qwen(SAMPLES[kind])
    assert 0.85 <= ratio <= 1.35, f"{kind}: {ratio:.2f}"


@pytest.mark.parametrize("kind", REFERENCE)
def test_estimate_for_openai_models_is_near_their_vocabularies(kind):
    for weights, reference in zip((O200K, CL100K), REFERENCE[kind], strict=True):
        ratio = estimate_with(weights, SAMPLES[kind]) / reference
        assert 0.85 <= ratio <= 1.35, f"{kind}: {ratio:.2f}"


@pytest.mark.parametrize(
    "text", ["yes", "好的", "call_0", "{}", "42", "/etc/hosts", "はい", "Hello, world!", "README.md"]
)
def test_short_texts_differ_by_a_few_tokens_at_most(text, qwen):
    assert abs(estimate_tokens(text) - qwen(text)) <= 2


def test_sessions_of_chinese_digits_and_json_are_not_underestimated(qwen):
    chinese = "第三季度营收同比增长百分之十二，现金流为负。" * 40
    rows = "[" + ", ".join(f'{{"id":{10023 + n},"amt":-{n}8.71}}' for n in range(200)) + "]"
    assert estimate_tokens(chinese) >= 0.6 * 20 * 40
    assert estimate_tokens(rows) >= len(rows) / 3.5
    assert 0.85 <= estimate_tokens(rows) / qwen(rows) <= 1.2


@pytest.mark.parametrize(
    "text", ["格式是 {指令}<|endoftext|> 和 <|im_start|>", "\ud83d lone \udc00", "\x00\x07", "👨‍👩‍👧‍👦", " ", "\n"]
)
def test_hostile_texts_are_counted_by_every_counter(text, qwen):
    assert qwen(text) > 0
    for counter in (estimate_tokens, tokenizer_for("qwen-max"), tokenizer_for("gpt-4o"), tokenizer_for(None)):
        assert counter(text) > 0
        assert counter("") == 0


@given(st.text(st.characters(), max_size=300))
def test_a_text_costs_at_least_one_and_at_most_a_few_tokens_a_character(text):
    assert bool(text) <= estimate_tokens(text) <= 4 * len(text) + 1


@given(st.text(st.characters(), max_size=200), st.text(st.sampled_from("ab AZ09.,\n-中文の한я"), max_size=200))
def test_joined_texts_cost_about_what_their_parts_do(left, right):
    parts = estimate_tokens(left) + estimate_tokens(right)
    assert estimate_tokens(left + right) >= 0.8 * parts - 4
    assert estimate_tokens(left + right) <= 1.2 * parts + 8


def test_runs_of_one_letter_are_not_taken_for_words():
    assert estimate_tokens("x" * 4000) < 1000 < estimate_tokens("kvq" * 4000)


def test_the_estimate_is_fast():
    def seconds(text: str, times: int) -> float:
        best = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(times):
                estimate_tokens(text)
            best.append((time.perf_counter() - start) / times)
        return min(best)

    english, chinese = PROSE["english"] * 1000, PROSE["chinese"] * 1000
    assert seconds(PROSE["english"][:200], 500) < 100e-6  # 7 microseconds on an idle core
    assert len(english.encode()) / seconds(english, 1) > 3e6  # bytes a second; about 20 MB/s
    assert len(chinese.encode()) / seconds(chinese, 1) > 2e6  # about 40 MB/s


@pytest.mark.parametrize(
    "name",
    ["qwen-max", "Qwen/Qwen3-32B", "qwq-plus", "qvq-72b", "dashscope/qwen-plus", "qwen2.5:7b", "text-embedding-v4"],
)
def test_qwen_models_are_counted_with_qwens_tokenizer(name, qwen):
    for text in (PROSE["mixed"], "<|endoftext|>", "a"):
        assert tokenizer_for(name)(text) == qwen(text)


@pytest.mark.parametrize("name", [None, "", "claude-opus-4", "deepseek-chat", "gemini-2.5-pro", "llama-3.1-70b"])
def test_other_models_are_estimated(name):
    assert tokenizer_for(name) is estimate_tokens


@pytest.mark.parametrize(
    "text", [PROSE["english"] * 50, PROSE["chinese"] * 50, "\n".join(CODE.values()) * 20, "中" * 9000, " " * 9000]
)
def test_long_texts_are_cut_without_a_difference_that_matters(text, qwen):
    assert tokenizer_for("qwen-max")(text) == pytest.approx(qwen(text), rel=0.02, abs=5)


def test_endless_words_do_not_hang_the_tokenizer():
    count = tokenizer_for("qwen-max")
    count("warm")
    start = time.perf_counter()
    assert count("abcdefgh" * 25_000) > 1000
    assert count("\t" * 200_000) > 100
    assert time.perf_counter() - start < 3


@pytest.fixture
def no_vocabulary(monkeypatch, tmp_path):
    """An empty cache of tiktoken, whose download would fail the test."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("requests.get", lambda *_, **__: pytest.fail("a download was started"))
    _tokenizers._openai.cache_clear()
    yield tmp_path
    _tokenizers._openai.cache_clear()


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        *((name, O200K) for name in ("gpt-4o", "openai/gpt-4.1-mini", "o3-mini", "ft:gpt-4o-2024-08-06", "gpt-5")),
        *((name, CL100K) for name in ("gpt-4", "gpt-3.5-turbo", "text-embedding-3-small", "azure/gpt-4-turbo")),
    ],
)
def test_openai_models_without_a_vocabulary_are_estimated_in_their_own_way(name, weights, no_vocabulary):
    assert tokenizer_for(name)(SAMPLES["numbers"]) == estimate_with(weights, SAMPLES["numbers"])


def test_a_missing_vocabulary_is_logged_once(no_vocabulary, caplog):
    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        for _ in range(3):
            tokenizer_for("gpt-4o")("text")
    assert [record.message for record in caplog.records if "o200k_base" in record.message] == [
        "Tokens are estimated: the tokenizer o200k_base cannot be loaded "
        "(its vocabulary is not in tiktoken's cache, and nothing is downloaded here)."
    ]


def test_a_damaged_vocabulary_is_neither_used_nor_replaced(no_vocabulary):
    address = _tokenizers._ENCODINGS["o200k_base"].address
    cached = no_vocabulary / hashlib.sha1(address.encode()).hexdigest()
    cached.write_bytes(b"IQ== 0\n")
    assert tokenizer_for("gpt-4o")("four words of text") == estimate_with(O200K, "four words of text")
    assert cached.read_bytes() == b"IQ== 0\n"


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_a_cached_vocabulary_is_used(variable, no_vocabulary, monkeypatch):
    """A tiny vocabulary under the name that tiktoken's own loader looks for."""
    tiktoken_public = pytest.importorskip("tiktoken_ext.openai_public")
    vocabulary = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))
    encoding = _tokenizers._ENCODINGS["cl100k_base"]
    (no_vocabulary / hashlib.sha1(encoding.address.encode()).hexdigest()).write_bytes(vocabulary)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv(variable, str(no_vocabulary))
    digest = hashlib.sha256(vocabulary).hexdigest()
    monkeypatch.setitem(_tokenizers._ENCODINGS, "cl100k_base", encoding._replace(sha256=digest))
    load = tiktoken_public.load_tiktoken_bpe
    monkeypatch.setattr(tiktoken_public, "load_tiktoken_bpe", lambda path, expected_hash: load(path, digest))
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    assert tokenizer_for("gpt-4")("<|endoftext|> 中") == len("<|endoftext|> ") + 3


def test_a_tokenizer_that_cannot_be_loaded_becomes_the_estimate(caplog):
    def broken():
        raise ImportError("no module named dashscope")

    count = _LazyTokenizer("qwen", broken, estimate_tokens)
    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        assert [count("a few words"), count("a few words")] == [estimate_tokens("a few words")] * 2
    assert len(caplog.records) == 1


def test_nothing_is_loaded_before_the_first_count():
    loads = []
    count = _LazyTokenizer("lazy", lambda: loads.append(1) or len, estimate_tokens)
    assert not loads
    assert count("abc") == count("def") == 3
    assert loads == [1]


def test_the_injected_counter_decides():
    doubled = as_counter(lambda text: 2 * len(text), "qwen-max")
    assert doubled("four") == 8
    assert as_counter(None, "claude-opus-4") is estimate_tokens


@pytest.mark.parametrize("result", [None, "7", 1.5, -1, True, [1]])
def test_a_counter_that_does_not_count_is_refused_by_what_it_returned(result):
    with pytest.raises(ConfigError, match="int of at least 0") as caught:
        as_counter(lambda text: result)
    assert repr(result) in str(caught.value)


async def _count_later(text: str) -> int:
    return len(text)


@pytest.mark.parametrize("counter", [7, "qwen", _count_later, lambda: 1, CharTokenCounter])
def test_what_is_no_counter_is_refused(counter):
    with pytest.raises(ConfigError, match="token_counter="):
        as_counter(counter)


class Doubling(TokenCounterBase):
    async def count(self, messages, **kwargs):
        assert [message["role"] for message in messages] == ["user"]
        return 2 * len(messages[0]["content"])


class Remote(TokenCounterBase):
    closed = 0

    async def count(self, messages, **kwargs):
        try:
            await _Wait()
        finally:
            Remote.closed += 1
        return 1


class _Wait:
    def __await__(self):
        yield self


class Failing(TokenCounterBase):
    def __init__(self, error: Exception) -> None:
        self.error, self.calls = error, 0

    async def count(self, messages, **kwargs):
        self.calls += 1
        raise self.error


def test_a_host_counter_is_asked_about_one_message():
    assert as_counter(Doubling())("four") == 8
    assert as_counter(CharTokenCounter())("four") == len(str({"role": "user", "content": "four"}))


def test_a_host_counter_that_waits_is_closed_and_estimated_with_one_warning(caplog):
    Remote.closed = 0
    count = as_counter(Remote())
    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        assert [count("some text"), count("some text")] == [estimate_tokens("some text")] * 2
    assert Remote.closed == 1
    (record,) = caplog.records
    assert "Remote" in record.message
    assert "Callable[[str], int]" in record.message


@pytest.mark.parametrize(("error", "calls"), [(ConnectionError("no network"), 1), (ValueError("<|endoftext|>"), 3)])
def test_a_host_counter_that_fails_is_estimated(error, calls, caplog):
    counter = Failing(error)
    count = as_counter(counter)
    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        assert [count("some text") for _ in range(3)] == [estimate_tokens("some text")] * 3
    assert counter.calls == calls  # a lost network is not tried again, another text may do
    assert len(caplog.records) == 1


def test_the_hosts_openai_counter_never_downloads(no_vocabulary):
    assert as_counter(OpenAITokenCounter("gpt-4o"))("12345678") == estimate_with(O200K, "12345678")
