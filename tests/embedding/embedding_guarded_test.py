# -*- coding: utf-8 -*-
"""A model that hangs, fails or is slow costs those who ask for vectors a bounded time, and soon none."""

import asyncio
import time

import pytest
from _models import FakeModel, vector_of

from agentscope_reme.embedding import BatchEmbedder, GuardedEmbedder, ModelRest
from agentscope_reme.embedding import _guarded as guarded_module
from agentscope_reme.embedding import _rest as rest_module


class Moody(FakeModel):
    """Answers after some seconds, or never, or raises."""

    in_callers_loop = True
    floor = 0.3
    after = None
    delay = 0.0
    error: Exception | None = None

    async def __call__(self, text, **kwargs):
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return await super().__call__(text, **kwargs)


def guarded(model, **options):
    told = []
    rest = ModelRest(lambda reason: told.append(reason), lambda: told.append("works"))
    return GuardedEmbedder(BatchEmbedder(model, **{"retries": 0, "backoff": 0.0, **options}), rest), told


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(rest_module, "_FIRST_PAUSE", 0.05)
    monkeypatch.setattr(guarded_module, "_MOMENT", 0.01)


async def timed(work):
    started = time.monotonic()
    found = await work
    return found, time.monotonic() - started


def is_row(vector, text):
    return vector is not None and vector.tolist() == pytest.approx(vector_of(text))


@pytest.mark.parametrize("floor", [0.3, None])
def test_a_model_that_hangs_costs_one_wait_and_then_next_to_none(floor):
    async def main():
        model = Moody()
        model.delay, model.floor = 1000.0, floor
        guard, told = guarded(model)
        assert (await timed(guard.of_queries(["a", "b"], 0.1)))[0] == [None, None]
        waits = []
        for number in range(8):
            found, took = await timed(guard.of_queries([f"q{number}"], 0.1))
            assert found == [None]
            waits.append(took)
            await asyncio.sleep(0.06)
        assert max(waits) < 0.09
        assert guard.rest.failure == "The embedding model has not answered for 0.1 seconds."
        assert told == [guard.rest.failure]
        await guard.stop()

    asyncio.run(main())


def test_a_model_that_works_again_is_found_out_in_the_background():
    async def main():
        model = Moody()
        model.delay = 1000.0
        guard, told = guarded(model)
        await guard.of_queries(["a"], 0.1)
        model.delay = 0.04
        await asyncio.sleep(0.06)
        assert await guard.of_queries(["b"], 0.1) == [None]
        await asyncio.sleep(0.08)
        assert is_row((await guard.of_queries(["b"], 0.1))[0], "b")
        assert told[1:] == ["works"]
        await guard.stop()

    asyncio.run(main())


def test_what_came_too_late_is_there_the_next_time():
    async def main():
        model = Moody()
        model.delay = 0.15
        guard, told = guarded(model)
        assert await guard.of_queries(["a"], 0.05) == [None]
        await asyncio.sleep(0.2)
        found, took = await timed(guard.of_queries(["a"], 0.05))
        assert is_row(found[0], "a")
        assert took < 0.05
        assert len(told) == 1  # it is too slow, still
        await guard.stop()

    asyncio.run(main())


def test_many_texts_take_their_time_while_the_model_answers():
    async def main():
        model = Moody()
        model.delay = 0.03
        guard, told = guarded(model, concurrency=1, batch_size=1)
        found = await guard.of_texts(list("abcdefgh"), 0.15)
        assert all(is_row(vector, text) for vector, text in zip(found, "abcdefgh", strict=True))
        assert told == []
        model.delay = 1000.0
        found, took = await timed(guard.of_texts(["x", "y"], 0.1))
        assert found == [None, None]
        assert took < 0.3
        await guard.stop()

    asyncio.run(main())


@pytest.mark.parametrize("error", [ValueError("401 Unauthorized"), ConnectionError("down"), TimeoutError()])
def test_a_model_that_fails_is_asked_less_and_less(error):
    async def main():
        model = Moody()
        model.error = error
        guard, told = guarded(model)
        for number in range(40):
            assert await guard.of_queries([f"q{number}"], 0.5) == [None]
            await asyncio.sleep(0.01)
        assert told == [guard.rest.failure]
        assert guard.rest._pause >= 0.2
        model.error = None
        guard.rest._until = 0.0
        await guard.of_queries(["a"], 0.5)
        await asyncio.sleep(0.05)
        assert is_row((await guard.of_queries(["a"], 0.5))[0], "a")
        assert told[1:] == ["works"]

    asyncio.run(main())


def test_a_model_is_loaded_before_the_clock_starts():
    class Loaded(Moody):
        loaded = False

        async def load(self):
            await asyncio.sleep(0.0 if self.loaded else 0.1)
            self.loaded = True

    async def main():
        guard, told = guarded(Loaded())
        assert is_row((await guard.of_queries(["a"], 0.05))[0], "a")
        assert told == []

    asyncio.run(main())
