# -*- coding: utf-8 -*-
"""Steps compose as a task group does: order, values, failures, cancellation."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.flow import Parallel, Sequence, step


def adder(n: int):
    async def add(value):
        await asyncio.sleep(0)
        return value + n

    return step(add, f"add{n}")


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.integers())
def test_a_sequence_is_the_fold_of_its_steps(numbers, start):
    flow = adder(numbers[0])
    for n in numbers[1:]:
        flow = flow >> adder(n)
    assert asyncio.run(flow(start)) == start + sum(numbers)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=6), st.integers())
def test_branches_get_the_same_input_and_answer_in_order(numbers, start):
    flow = adder(numbers[0])
    for n in numbers[1:]:
        flow = flow | adder(n)
    assert asyncio.run(flow(start)) == tuple(start + n for n in numbers)


def test_grouping_is_flat_and_readable():
    flow = adder(1) >> (adder(2) | adder(3)) >> adder(4)
    assert repr(flow) == "(add1 >> (add2 | add3) >> add4)"
    assert isinstance(flow, Sequence)
    assert isinstance(flow.steps[1], Parallel)


def test_branches_really_overlap():
    async def main():
        met = asyncio.Event()

        async def first(_):
            await asyncio.wait_for(met.wait(), 2)
            return "first"

        async def second(_):
            met.set()
            return "second"

        return await (step(first) | step(second))(None)

    assert asyncio.run(main()) == ("first", "second")


def test_one_failure_cancels_the_others_and_is_raised_as_itself():
    cancelled = []

    async def slow(_):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def bad(_):
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        asyncio.run((step(slow) | step(bad))(None))
    assert cancelled == [True]


def test_cancellation_from_outside_reaches_every_branch():
    cancelled = []

    async def slow(_):
        try:
            await asyncio.sleep(10)
        finally:
            cancelled.append(True)

    async def main():
        task = asyncio.ensure_future((step(slow) | step(slow))(None))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cancelled == [True, True]


def test_steps_are_replaced_and_inserted_by_name():
    flow = adder(1) >> adder(2)
    changed = flow.replace("add2", adder(20)).before("add1", adder(100)).after("add1", adder(1000))
    assert asyncio.run(changed(0)) == 1121
    assert asyncio.run(flow(0)) == 3
    with pytest.raises(ConfigError, match="add1, add2"):
        flow.replace("nope", adder(1))


def test_what_cannot_be_called_is_refused():
    with pytest.raises(ConfigError, match="not a step"):
        step(3)
