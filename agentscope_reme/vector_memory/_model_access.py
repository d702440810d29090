# -*- coding: utf-8 -*-
"""The model that memories are drawn with, looked up at each use, and what it may be asked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._errors import ConfigError, MissingModelError
from ..message import estimate_tokens
from ..text import PromptBook, detect_language, normalize_language

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["ModelAccess"]


@dataclass(frozen=True)
class ModelAccess:
    """A model with its formatter, the prompts, and the bounds of a request.

    Args:
        model (`ChatModelBase | Callable[[], ChatModelBase | None] | None`):
            The model, a function that returns it and is asked at each use, or `None`.
        formatter (`FormatterBase | Callable[[], FormatterBase | None] | None`):
            The formatter that goes with the model, likewise.
        book (`PromptBook`):
            The prompts.
        count (`Callable[[str], int]`):
            Tokens in a text.
        max_input_tokens (`int`):
            Tokens that a request and its reply may have together.
        timeout (`float | None`), agent_timeout (`float | None`):
            Seconds for one reply, and for the run of an agent; `None` for as long as it takes.
        temperature (`float | None`):
            How much one reply may vary, where the model has no temperature of its own: little. `None` leaves it to the
            model.
        max_steps (`int`):
            How often an agent may ask the model.
        enable_thinking_params (`bool`):
            Whether each tool of an agent takes a ``thinking`` argument first.

    Raises:
        `ConfigError`: a number that cannot work, or a model without a formatter.
    """

    model: ChatModelBase | Callable[[], ChatModelBase | None] | None = None
    formatter: FormatterBase | Callable[[], FormatterBase | None] | None = None
    book: PromptBook = PromptBook()  # noqa: RUF009 - it is read at its first use and never changed
    count: Callable[[str], int] = estimate_tokens
    max_input_tokens: int = 24_000
    timeout: float | None = 120
    agent_timeout: float | None = 600
    temperature: float | None = 0.1
    max_steps: int = 12
    enable_thinking_params: bool = False

    def __post_init__(self) -> None:
        for name in ("max_input_tokens", "max_steps"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} is {value!r}: give a positive whole number.")
        for name in ("timeout", "agent_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not (isinstance(seconds, (int, float)) and seconds > 0):
                raise ConfigError(f"{name} is {seconds!r}: give a positive number of seconds, or None.")
        if self.model is not None and self.formatter is None:
            raise ConfigError("A model for memories needs the formatter that goes with it: give formatter too.")

    @property
    def is_there(self) -> bool:
        """Whether there is a model at the moment."""
        return _now(self.model) is not None

    def pair(self, purpose: str) -> tuple[Any, Any]:
        """The model and its formatter.

        Raises:
            `MissingModelError`: there is none; the text names the purpose and the cure.
        """
        model, formatter = _now(self.model), _now(self.formatter)
        if model is None or formatter is None:
            raise MissingModelError(
                f"{purpose} needs a chat model, and there is none: give model= with its formatter=, or "
                "default_llm_config= with a key (LLM_API_KEY). add_memory and retrieve_memory need none.",
            )
        return model, formatter

    def language(self, wanted: str | None, texts: list[str]) -> str:
        """The language of the prompts: the one wanted, else that of the texts where there are prompts in it.

        Raises:
            `PromptError`: there are no prompts in the language that was asked for.
        """
        if wanted is not None:
            language = normalize_language(wanted)
            self.book.names(language)
            return language
        language = detect_language(texts)
        return language if language in self.book.languages() else "en"

    def nothing_patterns(self) -> list[str]:
        """Patterns of answers that say that there is nothing, in all languages."""
        return [
            each for name in self.book.languages() for each in self.book.list(name, "memory_agent.nothing_patterns")
        ]


def _now(given: Any) -> Any:
    """What was given, or what a function that was given returns. A model is no function, though it can be called."""
    if inspect.isfunction(given) or inspect.ismethod(given) or isinstance(given, functools.partial):
        return given()
    return given
