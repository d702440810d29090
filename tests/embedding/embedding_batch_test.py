# -*- coding: utf-8 -*-
import asyncio
import contextlib
import gc
import itertools
import logging
import math
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest
from _models import FakeModel, Refused, vector_of
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, EmbeddingError, StorageError
from agentscope_reme.embedding import BatchEmbedder, EmbeddingCache

NAN = math.nan


def embedder(model, **options):
    options.setdefault("backoff", 0.0)
    return BatchEmbedder(model, **options)


def embed(model, texts, **options):
    return asyncio.run(embedder(model, **options).embed(texts))


def assert_rows(embedded, texts):
    """Each row is its own text's vector, or zero where there is none."""
    for row, there, text in zip(embedded.vectors, embedded.mask, texts, strict=True):
        expected = vector_of(text, len(row)) if there else np.zeros(len(row))
        np.testing.assert_allclose(row, expected, atol=1e-6)


# Laws


plain = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co"]), min_size=1, max_size=4
)
blank = st.sampled_from(["", " ", "\n\n\t", "\u3000", "\u200b", "\ufeff \u200d"])


@given(st.lists(st.one_of(plain, blank), max_size=30), st.integers(1, 12), st.integers(1, 4))
def test_rows_are_in_order_equal_texts_are_sent_once_and_blank_ones_never(texts, batch_size, concurrency):
    model = FakeModel()
    embedded = embed(model, texts, batch_size=batch_size, concurrency=concurrency)
    assert embedded.vectors.shape == (len(texts), 8)
    assert embedded.vectors.dtype == np.float32
    assert embedded.failed == {}
    assert sorted(model.sent) == sorted({text for text in texts if text in model.sent})
    assert embedded.mask.tolist() == [text in model.sent for text in texts]
    assert all(len(call) <= batch_size for call in model.calls)
    assert not any(text.strip("\u3000\u200b\ufeff\u200d \n\t") == "" for text in model.sent)
    assert_rows(embedded, texts)


@given(
    st.lists(plain, min_size=1, max_size=25, unique=True),
    st.sets(st.integers(0, 24)),
    st.sampled_from(["raise", "refuse", "nan", "zero", "short"]),
)
def test_a_bad_text_does_not_fail_the_others_and_is_named(texts, places, way):
    bad = {texts[place] for place in places if place < len(texts)}

    def before(sent, _):
        if bad & set(sent) and way in ("raise", "refuse"):
            raise Refused(400) if way == "refuse" else RuntimeError("no such luck")

    def after(vectors, sent, _):
        spoiled = {"nan": [NAN] * 8, "zero": [0.0] * 8, "short": None}.get(way)
        rows = [spoiled if text in bad else row for row, text in zip(vectors, sent, strict=True)]
        return [row for row in rows if row is not None]

    model = FakeModel(before=before, after=after)
    try:
        embedded = embed(model, texts, batch_size=8, retries=1)
    except EmbeddingError:
        assert len(bad) == len(texts) or len(bad) >= 3  # nothing worked, or nothing seemed to
        return
    assert embedded.mask.tolist() == [text not in bad for text in texts]
    assert set(embedded.failed) == {number for number, text in enumerate(texts) if text in bad}
    assert_rows(embedded, texts)


@given(st.text("ab 词。.\n", min_size=1, max_size=400), st.integers(3, 60))
def test_a_long_text_is_sent_whole_in_pieces_that_fit(text, max_tokens):
    model = FakeModel()
    embedded = embed(model, [text], max_tokens=max_tokens, count=len)
    assert all(len(piece) <= max_tokens for piece in model.sent)
    sent = "".join("".join(model.sent).split())
    assert len(sent) <= len("".join(text.split()))
    assert set(sent) == set("".join(text.split()))
    assert embedded.mask.tolist() == [bool(text.strip())]


# Batches (K6, K4)


class DashScopeTextEmbedding(FakeModel):
    """Named as the host's class is; its subclasses block as it does."""


def test_dashscope_gets_ten_texts_a_call():
    model = DashScopeTextEmbedding(most=10)
    texts = [f"第{n}段" for n in range(25)]
    embedded = embed(model, texts, concurrency=1)
    assert [len(call) for call in model.calls] == [10, 10, 5]
    assert_rows(embedded, texts)


def test_an_unknown_model_gets_ten_texts_a_call_too_and_one_that_knows_its_limit_that_many():
    model = FakeModel(most=10)
    embed(model, [f"chunk {n}" for n in range(25)], concurrency=1)
    assert [len(call) for call in model.calls] == [10, 10, 5]
    model.calls.clear()
    model.batch_size_limit = 7
    embed(model, [f"chunk {n}" for n in range(25)], concurrency=1)
    assert [len(call) for call in model.calls] == [7, 7, 7, 4]


def test_a_batch_that_is_too_large_is_halved_and_the_size_is_remembered():
    model = FakeModel(most=10)
    many = embedder(model, batch_size=64, concurrency=1)
    texts = [f"t{n}" for n in range(70)]
    assert_rows(asyncio.run(many.embed(texts)), texts)
    model.calls.clear()
    asyncio.run(many.embed([f"u{n}" for n in range(40)]))
    assert [len(call) for call in model.calls] == [8] * 5


@pytest.mark.parametrize(
    ("address", "dimensions", "expected"),
    [
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", 1024, 10),
        ("https://api.openai.com/v1", 1024, 48),
        ("https://api.openai.com/v1", 256, 64),
        ("https://api.openai.com/v1", 8192, 10),
    ],
)
def test_what_speaks_openai_gets_as_many_as_its_address_takes(address, dimensions, expected):
    from agentscope.embedding import OpenAITextEmbedding

    model = OpenAITextEmbedding(api_key="x", model_name="m", dimensions=dimensions, base_url=address)
    assert embedder(model)._call.batch_size == expected


def test_one_call_holds_at_most_a_hundred_thousand_tokens():
    model = FakeModel()
    embed(model, [str(n) + "长" * 5000 for n in range(30)], batch_size=30, concurrency=1)
    assert [len(call) for call in model.calls] == [13, 13, 4]


# Blank and odd texts (K1, E9)


def test_blank_chunks_are_never_sent_and_match_nothing():
    texts = ["长段落" * 50, "", "\n\n\n", "长段落", "   ", "---\n---"]
    embedded = embed(FakeModel(), texts)
    assert embedded.mask.tolist() == [True, False, False, True, False, True]
    assert not embedded.vectors[1].any()
    assert_rows(embedded, texts)
    nothing = embed(FakeModel(), ["", "\u200b"])
    assert nothing.mask.tolist() == [False, False]
    assert nothing.failed == {}


def test_nothing_at_all_is_embedded_without_a_call():
    model = FakeModel(16)
    assert embed(model, []).vectors.shape == (0, 16)
    assert asyncio.run(embedder(model).embed_one(" ")) is None
    assert model.calls == []


def test_half_surrogates_and_control_characters_are_replaced_and_whole_pairs_mended():
    model = FakeModel()
    assert embed(model, ["前\ud83c后", "\ud83d\ude00 smile", "a\x00b"]).mask.all()
    assert model.sent == ["前\ufffd后", "😀 smile", "a b"]


def test_an_emoji_family_at_the_cut_is_no_fault():
    text = "家" * 499 + "👩‍👩‍👧" + "庭" * 500
    embedded = embed(FakeModel(), [text], max_tokens=500, count=len)
    assert embedded.mask.all()


# Long texts (E3)


@pytest.mark.parametrize("character", ["：", "汉"])
def test_nine_thousand_wide_characters_in_one_line_are_accepted_tail_and_all(character):
    model = FakeModel(longest=8192)
    embedded = embed(model, [character * 9000 + "尾巴", "short"])
    assert embedded.mask.all()
    assert "".join(model.sent).count(character) == 9000
    assert any("尾巴" in text for text in model.sent)


def test_a_long_text_is_the_mean_of_its_pieces_by_length():
    model = FakeModel()
    text = "a" * 30 + "\n" + "b" * 10
    embedded = embed(model, [text], max_tokens=35, count=len)
    pieces = model.sent
    assert len(pieces) == 2
    total = sum(len(piece) * np.array(vector_of(piece)) for piece in pieces)
    np.testing.assert_allclose(embedded.vectors[0], total / np.linalg.norm(total), atol=1e-6)


def test_a_text_is_cut_where_a_sentence_ends():
    model = FakeModel()
    embed(model, ["今天下雨了，没有出门。明天要去医院复查，记得带上病历。"], max_tokens=20, count=len)
    assert model.sent == ["今天下雨了，没有出门。", "明天要去医院复查，记得带上病历。"]


def test_a_model_that_takes_less_than_was_thought_gets_smaller_pieces():
    model = FakeModel(longest=700)
    text = "一句很长的话" * 300
    embedded = embed(model, ["short", text, "another"])
    assert embedded.mask.all()
    assert "".join(sorted(model.answered, key=len)).count("一句很长的话") >= 290
    assert sum(len(piece) for piece in model.answered) == len("short") + len(text) + len("another")


# Failures (K2, H8)


def test_a_vector_that_is_not_a_number_costs_its_own_row_only_and_is_not_cached(tmp_path, caplog):
    failing = True

    def after(vectors, texts, _):
        return [[NAN] * 8 if failing and text == "二" else row for row, text in zip(vectors, texts, strict=True)]

    model = FakeModel(after=after)
    cache = EmbeddingCache(tmp_path / "e.db")
    patient = embedder(model, cache=cache, retries=1)
    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        embedded = asyncio.run(patient.embed(["一", "二", "三"]))
    assert embedded.mask.tolist() == [True, False, True]
    assert list(embedded.failed) == [1]
    assert "not finite" in embedded.failed[1]
    assert "1 of 3 texts" in caplog.text
    assert "二" not in caplog.text
    assert_rows(embedded, ["一", "二", "三"])
    assert asyncio.run(cache.count()) == 2
    failing = False
    model.calls.clear()
    assert asyncio.run(patient.embed(["一", "二", "三"])).mask.all()
    assert model.sent == ["二"]
    cache.close_sync()


def test_a_call_that_fails_twice_is_tried_again_with_longer_pauses(monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    monkeypatch.setattr("agentscope_reme.embedding._batch_call.anyio.sleep", sleep)

    def before(_, number):
        if number < 2:
            raise RuntimeError("busy")

    model = FakeModel(before=before)
    assert embed(model, ["a", "b"], backoff=1.0).mask.all()
    assert model.calls == [["a", "b"]] * 3
    assert 0.8 <= pauses[0] <= 1.2 < 1.6 <= pauses[1] <= 2.4


@pytest.mark.parametrize("error", [ConnectionError("refused"), TimeoutError(), Refused(503), Refused(429)])
def test_a_model_that_cannot_be_reached_is_asked_a_few_times_and_no_more(error):
    def before(_texts, _number):
        raise error

    model = FakeModel(before=before)
    with pytest.raises(EmbeddingError, match="fake cannot be reached"):
        embed(model, [f"t{n}" for n in range(100)], concurrency=1, retries=2)
    assert len(model.calls) == 3


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_name_is_not_tried_again(status):
    def before(_texts, _number):
        raise Refused(status, "invalid key")

    model = FakeModel(before=before)
    with pytest.raises(EmbeddingError, match="check its key"):
        embed(model, ["a", "b"], concurrency=1)
    assert len(model.calls) == 1


def test_dashscopes_status_is_read_from_its_text():
    def before(_texts, _number):
        raise RuntimeError('Failed to get embedding: {"status_code": 401, "code": "InvalidApiKey"}')

    model = FakeModel(before=before)
    with pytest.raises(EmbeddingError, match="check its key"):
        embed(model, ["a"])
    assert len(model.calls) == 1


@pytest.mark.parametrize("error", [RuntimeError("whatever"), Refused(500), Refused(400)])
def test_a_model_that_fails_with_everything_is_given_up_soon(error):
    def before(_texts, _number):
        raise error

    model = FakeModel(before=before)
    with pytest.raises(EmbeddingError):
        embed(model, [f"text {n}" for n in range(500)], batch_size=64, concurrency=1, retries=1)
    assert len(model.calls) <= 25


def test_a_model_that_breaks_down_in_the_middle_is_given_up_and_what_was_done_is_kept(tmp_path):
    def before(_texts, number):
        if number >= 5:
            raise RuntimeError("out of memory")

    model = FakeModel(before=before)
    cache = EmbeddingCache(tmp_path / "e.db")
    with pytest.raises(EmbeddingError):
        embed(model, [f"text {n}" for n in range(500)], cache=cache, concurrency=1, retries=1)
    assert asyncio.run(cache.count()) == 50
    assert len(model.calls) < 80
    cache.close_sync()


@pytest.mark.parametrize("returned", [4, 16])
def test_another_dimension_is_an_error_with_both_numbers_and_never_cut_or_padded(returned, tmp_path):
    cache = EmbeddingCache(tmp_path / "e.db")
    model = FakeModel(8, after=lambda vectors, texts, _: [vector_of(text, returned) for text in texts])
    with pytest.raises(EmbeddingError, match=f"declares 8 dimensions and returned {returned}"):
        embed(model, ["a", "b"], cache=cache)
    assert len(model.calls) == 1
    assert asyncio.run(cache.count()) == 0
    cache.close_sync()


@pytest.mark.parametrize("answer", [None, types.SimpleNamespace(), types.SimpleNamespace(embeddings=[["x"] * 8])])
def test_an_answer_that_is_none_is_an_embedding_error(answer):
    class Odd(FakeModel):
        async def __call__(self, text, **kwargs):
            return answer

    with pytest.raises(EmbeddingError):
        embed(Odd(), ["a"], retries=0)


def test_one_text_that_fails_alone_is_an_error():
    model = FakeModel(after=lambda vectors, *_: [[NAN] * 8])
    with pytest.raises(EmbeddingError, match="None of 1 texts"):
        asyncio.run(embedder(model, retries=0).embed_one("x"))


def test_a_model_that_never_answers_is_given_up():
    class Silent(FakeModel):
        async def __call__(self, text, **kwargs):
            await asyncio.sleep(30)

    started = time.perf_counter()
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embed(Silent(), ["a"], timeout=0.05, retries=1)
    assert time.perf_counter() - started < 3


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (FakeModel(0), {}),
        (FakeModel(None), {}),
        (object(), {}),
        (FakeModel(), {"batch_size": 0}),
        (FakeModel(), {"max_tokens": -1}),
    ],
)
def test_what_cannot_work_is_refused_at_once(model, options):
    with pytest.raises(ConfigError):
        BatchEmbedder(model, **options)


# Loops and threads


class Blocking(DashScopeTextEmbedding):
    """Blocks the thread that it runs on, as the host's DashScope client does."""

    async def __call__(self, text, **kwargs):
        self.threads = {*getattr(self, "threads", ()), threading.get_ident()}
        time.sleep(0.15)
        return await super().__call__(text, **kwargs)


def test_a_client_that_blocks_runs_off_the_loop():
    model = Blocking()

    async def main():
        work = asyncio.ensure_future(embedder(model).embed(["a", "b"]))
        longest = 0.0
        while not work.done():
            started = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - started)
        return longest, await work

    longest, embedded = asyncio.run(main())
    assert longest < 0.1
    assert embedded.mask.all()
    assert threading.get_ident() not in model.threads


class Foreign(FakeModel):
    """A model of somebody else whose client blocks, as `sentence_transformers` does."""

    in_callers_loop = False
    thread = 0

    async def __call__(self, text, **kwargs):
        self.thread = threading.get_ident()
        time.sleep(0.15)
        return await super().__call__(text, **kwargs)


@pytest.mark.parametrize("in_callers_loop", [False, True])
def test_a_model_of_somebody_else_keeps_the_loop_only_where_it_says_that_it_belongs_there(in_callers_loop):
    model = Foreign()
    model.in_callers_loop = in_callers_loop

    async def main():
        ticks = []

        async def tick():
            while True:
                ticks.append(time.perf_counter())
                await asyncio.sleep(0.005)

        ticking = asyncio.ensure_future(tick())
        await asyncio.sleep(0.01)
        await embedder(model).embed(["a"])
        ticking.cancel()
        return max(later - earlier for earlier, later in itertools.pairwise(ticks)), len(ticks)

    longest, ticks = asyncio.run(main())
    assert (model.thread == threading.get_ident()) is in_callers_loop
    assert in_callers_loop or (longest < 0.1 and ticks > 3)


def test_a_client_that_belongs_to_the_callers_loop_is_called_there():
    class Bound(FakeModel):
        async def __call__(self, text, **kwargs):
            ready = self.loop.create_future()
            self.loop.call_soon_threadsafe(self.loop.call_later, 0.05, ready.set_result, None)
            await ready
            return await super().__call__(text, **kwargs)

    async def main():
        model = Bound()
        model.loop = asyncio.get_running_loop()
        return await embedder(model, retries=0).embed(["a"])

    assert_rows(asyncio.run(main()), ["a"])


def test_a_client_that_blocks_for_ever_does_not_take_the_others_with_it(monkeypatch):
    from agentscope_reme.embedding import _elsewhere

    monkeypatch.setattr(_elsewhere, "_STUCK", 0.1)
    release = threading.Event()

    class Stuck(FakeModel):
        async def __call__(self, text, **kwargs):
            release.wait(20)

    async def main():
        with contextlib.suppress(EmbeddingError):
            await embedder(Stuck(), retries=0, timeout=0.05).embed(["a"])
        await asyncio.sleep(0.1)
        return await embedder(FakeModel(), retries=0, timeout=5).embed(["a"])

    try:
        assert_rows(asyncio.run(main()), ["a"])
    finally:
        release.set()


def test_one_object_works_in_several_loops_and_nothing_is_left_at_the_end(tmp_path, recwarn):
    model = FakeModel()
    cache = EmbeddingCache(tmp_path / "e.db")
    patient = embedder(model, cache=cache)
    for texts in (["a", "b"], ["b", "c"], ["c", "d"]):
        assert_rows(asyncio.run(patient.embed(texts)), texts)
    assert model.sent == ["a", "b", "c", "d"]
    cache.close_sync()
    gc.collect()
    assert not [warning for warning in recwarn if "never awaited" in str(warning.message)]


def test_the_hosts_openai_client_works_in_several_loops(loopback):
    server = loopback(embed=lambda texts, _: [vector_of(text, 8) for text in texts])
    patient = embedder(server.embedding(8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for texts in (["a", "b"], ["c"]):
            assert_rows(asyncio.run(patient.embed(texts)), texts)
    assert [request["input"] for request in server.embedding_requests] == [["a", "b"], ["c"]]


def test_the_hosts_openai_client_does_without_a_dimension_where_the_model_has_only_one(loopback):
    from _loopback import Status

    def answer(texts, number):
        if "dimensions" in server.embedding_requests[number]:
            return Status(400, 'Model "bge-m3" does not support matryoshka representation')
        return [vector_of(text, 8) for text in texts]

    server = loopback(embed=answer)
    patient = embedder(server.embedding(8))
    assert_rows(asyncio.run(patient.embed(["a", "b"])), ["a", "b"])
    asyncio.run(patient.embed(["c"]))
    assert ["dimensions" in request for request in server.embedding_requests] == [True, False, False]


def test_the_hosts_openai_client_against_a_server_that_is_picky_or_down(loopback):
    from _loopback import Garbage, Status

    def answer(texts, number):
        if number == 0:
            return Garbage()
        if "" in texts or len(texts) > 10:
            return Status(400, "batch size should not be larger than 10")
        return [vector_of(text, 8) for text in texts]

    server = loopback(embed=answer)
    texts = [f"第{n}段" for n in range(25)]
    assert_rows(embed(server.embedding(8), texts), texts)
    down = loopback(embed=lambda *_: Status(503))
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        embed(down.embedding(8), texts, retries=1)


def test_the_hosts_dashscope_client_runs_in_batches_and_on_a_thread(monkeypatch):
    from agentscope.embedding import DashScopeTextEmbedding as HostsModel

    batches = []

    def call(input, **_):
        batches.append((len(input), threading.current_thread() is threading.main_thread()))
        output = {"embeddings": [{"embedding": vector_of(text, 8)} for text in input]}
        return types.SimpleNamespace(status_code=200, output=output, usage={"total_tokens": 1})

    fake = types.SimpleNamespace(embeddings=types.SimpleNamespace(TextEmbedding=types.SimpleNamespace(call=call)))
    monkeypatch.setitem(sys.modules, "dashscope", fake)
    texts = [f"第{n}段" for n in range(25)]
    assert_rows(embed(HostsModel("key", "text-embedding-v4", 8), texts), texts)
    assert sorted(batches) == [(5, False), (10, False), (10, False)]


def test_tasks_that_want_the_same_text_share_one_request():
    async def main():
        gate = asyncio.Event()

        class Slow(FakeModel):
            async def __call__(self, text, **kwargs):
                await gate.wait()
                return await super().__call__(text, **kwargs)

        model = Slow()
        patient = embedder(model)
        works = [asyncio.ensure_future(patient.embed(["x", str(n)])) for n in range(5)]
        await asyncio.sleep(0.01)
        works[1].cancel()
        gate.set()
        done = await asyncio.gather(*works, return_exceptions=True)
        return model, done

    model, done = asyncio.run(main())
    assert model.sent.count("x") == 1
    assert isinstance(done[1], asyncio.CancelledError)
    for number in (0, 2, 3, 4):
        assert_rows(done[number], ["x", str(number)])


def test_a_request_whose_owner_was_cancelled_is_made_by_the_next():
    async def main():
        gate = asyncio.Event()

        class Slow(FakeModel):
            in_callers_loop = True

            async def __call__(self, text, **kwargs):
                await gate.wait()
                return await super().__call__(text, **kwargs)

        patient = embedder(Slow())
        owner = asyncio.ensure_future(patient.embed(["x"]))
        await asyncio.sleep(0.01)
        waiter = asyncio.ensure_future(patient.embed(["x"]))
        await asyncio.sleep(0.01)
        owner.cancel()
        await asyncio.sleep(0.01)
        gate.set()
        return await waiter

    assert_rows(asyncio.run(main()), ["x"])


# The cache, seen from here (O1)


def test_unchanged_texts_are_never_embedded_again_also_after_a_restart(tmp_path):
    texts = [f"笔记 {n}" for n in range(200)]
    for expected in (200, 0, 0):
        model = FakeModel()
        cache = EmbeddingCache(tmp_path / "e.db")
        for _ in range(3):
            assert_rows(embed(model, texts, cache=cache), texts)
        cache.close_sync()
        assert len(model.sent) == expected


@pytest.mark.parametrize("other", [FakeModel(16), FakeModel(8, "other name"), DashScopeTextEmbedding(8)])
def test_another_model_dimension_or_class_has_vectors_of_its_own(tmp_path, other):
    cache = EmbeddingCache(tmp_path / "e.db")
    first = FakeModel(8)
    embed(first, ["同一句话"], cache=cache)
    embedded = embed(other, ["同一句话"], cache=cache)
    assert other.sent == ["同一句话"]
    assert embedded.vectors.shape == (1, other.dimensions)
    assert embed(FakeModel(8), ["同一句话"], cache=cache).vectors.shape == (1, 8)
    assert asyncio.run(cache.count()) == 2
    cache.close_sync()


def test_a_cache_that_fails_costs_calls_and_nothing_else(tmp_path, caplog, monkeypatch):
    cache = EmbeddingCache(tmp_path / "e.db")

    async def refuse(*_):
        raise StorageError("disk full")

    monkeypatch.setattr(cache, "get_many", refuse)
    monkeypatch.setattr(cache, "put_many", refuse)
    assert_rows(embed(FakeModel(), ["a"], cache=cache), ["a"])
    assert "disk full" in caplog.text
    monkeypatch.undo()
    cache.close_sync()
    assert_rows(embed(FakeModel(), ["b"], cache=cache), ["b"])


# The floor


def test_a_floor_is_the_models_own_or_taken_from_unrelated_sentences_once(tmp_path):
    model = FakeModel(64)
    model.floor = 0.41
    assert asyncio.run(embedder(model).floor()) == 0.41
    assert model.calls == []
    del model.floor
    patient = embedder(model)
    floor = asyncio.run(patient.floor())
    calls = len(model.calls)
    assert asyncio.run(patient.floor()) == floor
    assert len(model.calls) == calls == 4
    assert 0.2 < floor < 0.6
