# -*- coding: utf-8 -*-
import asyncio
import multiprocessing
import os

import numpy as np
import pytest
from _models import vector_of
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, EmbeddingError, NotStartedError
from agentscope_reme.embedding import EmbeddingCache

KEY, DIM = "Fake:m", 8
ROW = DIM * 4


def rows(*texts, dimensions=DIM):
    return {text: np.array(vector_of(text, dimensions), dtype=np.float32) for text in texts}


def put(cache, *texts, key=KEY, dimensions=DIM):
    asyncio.run(cache.put_many(key, dimensions, rows(*texts, dimensions=dimensions)))


def get(cache, *texts, key=KEY, dimensions=DIM):
    return asyncio.run(cache.get_many(key, dimensions, texts))


@pytest.fixture
def opened(tmp_path):
    made = []

    def build(**options):
        made.append(EmbeddingCache(tmp_path / "状态" / "embeddings.db", **options))
        return made[-1]

    yield build
    for cache in made:
        cache.close_sync()


def test_what_is_put_is_found_again_also_after_a_restart(opened):
    cache = opened()
    put(cache, "一", "two", "\ud83c")
    found = get(cache, "two", "一", "三", "\ud83c")
    assert set(found) == {"一", "two", "\ud83c"}
    for text, vector in found.items():
        assert vector.dtype == np.float32
        np.testing.assert_array_equal(vector, rows(text)[text])
    asyncio.run(cache.close())
    assert set(get(opened(), "一", "two")) == {"一", "two"}


def test_model_and_dimension_belong_to_the_key(opened):
    cache = opened()
    put(cache, "x")
    put(cache, "x", dimensions=16)
    assert get(cache, "x", key="Fake:other") == {}
    assert get(cache, "x")["x"].shape == (8,)
    assert get(cache, "x", dimensions=16)["x"].shape == (16,)
    assert get(cache, "x", dimensions=32) == {}


@pytest.mark.parametrize(
    "vector", [np.zeros(8), np.full(8, np.nan), np.full(8, np.inf), np.ones(7), np.ones((1, 8)), np.ones(0)]
)
def test_what_is_no_vector_is_refused_with_all_that_came_with_it(opened, vector):
    cache = opened()
    with pytest.raises(EmbeddingError):
        asyncio.run(cache.put_many(KEY, DIM, {**rows("good"), "bad": vector}))
    assert asyncio.run(cache.count()) == 0


def test_the_text_itself_is_not_in_the_file(opened):
    cache = opened()
    put(cache, "my password is hunter2")
    cache.close_sync()
    files = list(cache._database.path.parent.iterdir())
    assert any(file.name == "embeddings.db" for file in files)
    assert not any(b"hunter2" in file.read_bytes() for file in files)


def test_the_bound_drops_what_was_not_used_for_longest_and_never_the_newest(opened):
    cache = opened(max_bytes=3 * ROW)
    put(cache, "a")
    put(cache, "b")
    put(cache, "c")
    get(cache, "a")
    put(cache, "d")
    assert set(get(cache, "a", "b", "c", "d")) == {"a", "c", "d"}
    cache.close_sync()
    again = opened(max_bytes=3 * ROW)
    get(again, "c")
    put(again, "e")
    assert set(get(again, "a", "c", "d", "e")) == {"c", "d", "e"}  # the last look went a, c, d


def test_uses_are_remembered_over_a_restart_without_a_write(opened):
    first = opened(max_bytes=3 * ROW)
    put(first, "a", "b", "c")
    get(first, "a")
    first.close_sync()
    again = opened(max_bytes=3 * ROW)
    put(again, "d")
    assert set(get(again, "a", "b", "c", "d")) == {"a", "c", "d"}


def test_a_bound_below_one_row_and_a_smaller_bound_after_a_restart_hold(opened):
    tiny = opened(max_bytes=1)
    put(tiny, "a")
    assert asyncio.run(tiny.count()) == 0
    tiny.close_sync()
    large = opened()
    put(large, *map(str, range(50)))
    large.close_sync()
    small = opened(max_bytes=10 * ROW)
    put(small, "new")
    assert asyncio.run(small.count()) == 10
    assert "new" in get(small, "new")
    with pytest.raises(ConfigError, match="max_bytes is 0"):
        EmbeddingCache("never.db", max_bytes=0)


@given(st.lists(st.tuples(st.sampled_from(["put", "get"]), st.integers(0, 9)), max_size=30), st.integers(1, 6))
@settings(max_examples=12)
def test_it_is_what_a_dictionary_in_the_order_of_use_would_be(tmp_path_factory, steps, most):
    cache = EmbeddingCache(tmp_path_factory.mktemp("cache") / "e.db", max_bytes=most * ROW)
    model = {}
    for step, number in steps:
        text = str(number)
        if step == "get":
            assert (text in get(cache, text)) == (text in model)
            model |= {text: model.pop(text)} if text in model else {}
        else:
            put(cache, text)
            model.setdefault(text)
        while len(model) > most:
            del model[next(iter(model))]
    assert set(get(cache, *map(str, range(10)))) == set(model)
    cache.close_sync()


def test_many_texts_are_looked_up_in_one_go(opened):
    cache = opened()
    texts = [f"t{n}" for n in range(1300)]
    put(cache, *texts)
    assert len(get(cache, *texts, "other")) == 1300


def test_a_damaged_row_is_a_miss_and_a_damaged_file_begins_empty(opened):
    cache = opened()
    put(cache, "a", "b")
    cache._database.run_sync(lambda c: c.execute("UPDATE vector SET vector = x'00' WHERE id = 1").rowcount)
    assert set(get(cache, "a", "b")) == {"b"}
    cache.close_sync()
    cache._database.path.write_bytes(b"garbage " * 2000)
    again = opened()
    assert get(again, "b") == {}
    put(again, "c")
    assert set(get(again, "c")) == {"c"}
    with pytest.raises(NotStartedError):
        get(cache, "c")


def fill(path, name):
    """What one process does."""
    cache = EmbeddingCache(path)
    for number in range(20):
        put(cache, *(f"shared {number} {i}" for i in range(10)), f"{name} {number}")
    cache.close_sync()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_fill_one_cache(tmp_path):
    path = tmp_path / "e.db"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=fill, args=(path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    cache = EmbeddingCache(path, max_bytes=100 * ROW)
    assert asyncio.run(cache.count()) == 260
    put(cache, "last")
    assert asyncio.run(cache.count()) == 100
    cache.close_sync()


@given(st.lists(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdefg")))
def test_what_is_forgotten_is_not_there_for_any_model_and_its_room_is_free(tmp_path_factory, kept, gone):
    cache = EmbeddingCache(tmp_path_factory.mktemp("c") / "embeddings.db", max_bytes=8 * ROW)
    put(cache, *kept)
    put(cache, *kept, key="Fake:other")
    there = {text: key for key in (KEY, "Fake:other") for text in get(cache, *"abcdef", key=key)}
    before = asyncio.run(cache.count())
    removed = asyncio.run(cache.forget(gone))
    left = {text for key in (KEY, "Fake:other") for text in get(cache, *"abcdef", key=key)}
    assert left == set(there) - gone
    assert asyncio.run(cache.count()) == before - removed
    put(cache, *"abcdefgh")  # as many as there is room for: the size is known
    assert asyncio.run(cache.count()) == 8
    cache.close_sync()


def test_no_byte_of_a_forgotten_vector_is_left(opened, tmp_path):
    cache = opened()
    put(cache, *[str(n) for n in range(500)])
    secret = rows("7")["7"].astype("<f4").tobytes()

    def there():
        return any(secret in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    assert there()
    assert asyncio.run(cache.forget(["7", "never"])) == 1
    assert not there()
    assert len(get(cache, *[str(n) for n in range(500)])) == 499
