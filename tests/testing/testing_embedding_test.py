# -*- coding: utf-8 -*-
"""The hash embedding: equal texts are equal, near letters are near, and it counts."""

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.testing import HashEmbedding


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@given(st.text(max_size=60), st.sampled_from([8, 64, 256]))
def test_vectors_are_unit_and_repeatable(text: str, dimensions: int) -> None:
    vector = HashEmbedding(dimensions).vector(text)
    assert len(vector) == dimensions
    assert math.isclose(cosine(vector, vector), 1.0, rel_tol=1e-9)
    assert vector == HashEmbedding(dimensions).vector(text)


def test_the_same_vector_on_every_machine() -> None:
    expected = [0.371542, 0.0, 0.536021, 0.0, -0.536021, 0.0, -0.536021, 0.0]
    assert HashEmbedding(8).vector("猫 cat 咪猫") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("the deployment failed", "deployment fails on Friday", "a cat sat on the mat"),
        ("用户喜欢喝绿茶", "喜欢绿茶", "数据库连接超时"),
    ],
)
def test_shared_letters_are_near(query: str, near: str, far: str) -> None:
    model = HashEmbedding()
    assert cosine(model.vector(query), model.vector(near)) > cosine(model.vector(query), model.vector(far)) + 0.2


def test_it_takes_strings_and_blocks_and_counts() -> None:
    model = HashEmbedding(16)
    first = asyncio.run(model(["a b", {"type": "text", "text": "甲"}]))
    second = asyncio.run(model(["a b"]))
    assert first.embeddings[0] == second.embeddings[0]
    assert model.calls == 2
    assert model.texts == ["a b", "甲", "a b"]


@pytest.mark.parametrize("item", [3, {"type": "image"}])
def test_other_things_are_refused(item: Any) -> None:
    with pytest.raises(ConfigError, match="cannot embed"):
        asyncio.run(HashEmbedding()([item]))


def test_too_few_dimensions_are_refused() -> None:
    with pytest.raises(ConfigError, match="dimensions=4"):
        HashEmbedding(4)
