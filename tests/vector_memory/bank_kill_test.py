# -*- coding: utf-8 -*-
"""`kill -9` in the middle of writes: after it there is the old state or the new one, and the next life goes on."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from _bank_model import OWNERS, Model, agrees
from _bank_world import bank_of
from _kill_bank import Nursery

from agentscope_reme import ReMeError
from agentscope_reme.vector_store import LocalVectorStore

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="it takes a system that forks")]


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    it = Nursery()
    yield it
    it.close()


def play(model: Model, step: list) -> None:
    name, number, old, new = step
    owner = OWNERS[number]
    if name == "add":
        model.add(owner, old)
        model.add(owner, new)
    elif name == "update":
        model.update(owner, old, new)
    elif name == "supersede":
        model.supersede(owner, old, new)
    elif model.found(owner, old) is not None:
        model.delete(owner, old)


def told(path: Path, model: Model) -> list[Model]:
    """What there may be now: what was done, and where something was begun and not done, that with it or without."""
    begun = None
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        begun = said.get("begun")
        if begun is None:
            play(model, said["done"])
    if begun is None:
        return [model]
    after = deepcopy(model)
    play(after, begun)
    return [model, after]


def survivor(file: Path, possible: list[Model]) -> Model:
    """Which of the states that there may be there is; every id leads where it ought to."""

    async def main() -> Model:
        async with bank_of(LocalVectorStore(file)) as bank:
            failures: list[BaseException] = []
            for model in possible:
                try:
                    await agrees(bank, model, search=False)
                except (AssertionError, pytest.fail.Exception, ReMeError) as error:
                    failures.append(error)
                else:
                    await agrees(bank, model)
                    return model
            raise failures[-1]

    return asyncio.run(main())


def check_lives(nursery: Nursery, folder: Path, seed: int, deaths: int) -> None:
    pick, model, file = random.Random(seed), Model(), folder / "memories.db"
    for number in range(deaths):
        path = folder / f"told {number}"
        order = {
            "seed": pick.randrange(10**6),
            "count": 12,
            "die_at": pick.randint(1, 30),
            "before": pick.random() < 0.5,
        }
        status = nursery.run(told=str(path), file=str(file), **order)
        assert status in (-9, 0), f"{order} ended with {status}"
        model = survivor(file, told(path, model))


@pytest.mark.parametrize("seed", range(1))
def test_a_death_leaves_the_old_state_or_the_new_one(nursery: Nursery, tmp_path: Path, seed: int) -> None:
    check_lives(nursery, tmp_path, seed, deaths=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_deaths_leave_the_old_state_or_the_new_one(nursery: Nursery, tmp_path: Path, seed: int) -> None:
    check_lives(nursery, tmp_path, seed, deaths=6)
