# -*- coding: utf-8 -*-
"""The models of refinement: ready ones, or dictionaries to build them from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ..chat import build_model
from ..text import PromptBook
from ..vector_memory import ModelAccess

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["Model", "access_of"]

Model = Union["ChatModelBase", "tuple[ChatModelBase, FormatterBase]", Mapping[str, Any], Callable[[], Any], None]
"""A model of the host, one with its formatter, a dictionary as `chat.build_model` takes it, a function that returns a
model, or None."""


def access_of(
    model: Model,
    formatter: FormatterBase | Callable[[], Any] | None,
    book: PromptBook,
    count: Callable[[str], int],
    timeout: float | None,
) -> ModelAccess:
    """A model with its formatter.

    Args:
        model (`ChatModelBase | tuple | Mapping | Callable | None`): the model; one without a temperature of its own is
            asked at a low one.
        formatter (`FormatterBase | Callable | None`): goes with it; a dictionary brings its own.
        book (`PromptBook`): the prompts.
        count (`Callable[[str], int]`): counts tokens.
        timeout (`float | None`): seconds for one reply.

    Raises:
        `ConfigError`: a dictionary that no model can be built from, or a model without a formatter.
        `MissingModelError`: a dictionary without a key.
    """
    if isinstance(model, Mapping):
        model, formatter = build_model(model)
    elif isinstance(model, tuple):
        model, formatter = model
    return ModelAccess(model=model, formatter=formatter, book=book, count=count, timeout=timeout)
