# -*- coding: utf-8 -*-
"""Which chat model is in use: the one given, the one a dictionary describes, or the one an agent lends."""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._errors import ConfigError, MissingModelError
from .chat import build_model, check_config

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["UNSET", "Lender", "ModelSource", "Own", "Unset", "formatter_for", "own_model"]

logger = logging.getLogger("agentscope_reme")


class Unset:
    """The type of `UNSET`: an argument that was not given, where `None` means something."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()

Pair = tuple["ChatModelBase | None", "FormatterBase | None"]
Lender = Callable[[], Pair]
"""Lends a model where none was given: an agent."""

Own = Union["ChatModelBase", "tuple[ChatModelBase, FormatterBase]", Mapping[str, Any], None]
"""A model for one purpose: a ready one, one with its formatter, or a dictionary to build it from."""


class ModelSource:
    """Finds the chat model and its formatter, each time they are needed.

    Args:
        model (`ChatModelBase | None`):
            A ready model; `None` given on purpose means that there is to be none.
        formatter (`FormatterBase | None`):
            The formatter that goes with it; found by the model's class for the host's own models.
        config (`Mapping[str, Any] | None`):
            A dictionary to build the model from, at the first use.

    Raises:
        `ConfigError`: a model and a dictionary were both given, or no formatter can be found for the model.
    """

    def __init__(
        self,
        model: "ChatModelBase | Unset | None" = UNSET,
        formatter: "FormatterBase | None" = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if config is not None and not isinstance(model, Unset):
            raise ConfigError("Both model= and a model configuration were given: give one of them.")
        if formatter is not None and (isinstance(model, Unset) or model is None):
            raise ConfigError("formatter= was given without model=: give both, or neither.")
        if config is not None:
            check_config(config)
        self.missing: str | None = None
        """Why there is no model although one was described."""
        self._config = config
        self._pair: Pair | None = None
        if not isinstance(model, Unset):
            self._pair = (model, formatter or formatter_for(model)) if model is not None else (None, None)

    def pair(self, lender: Lender | None = None) -> Pair:
        """The model and its formatter, or twice `None`."""
        if self._pair is None and self._config is not None:
            self._pair = self._built(self._config)
        if self._pair is not None:
            return self._pair
        return lender() if lender else (None, None)

    def name(self, lender: Lender | None = None) -> str | None:
        """The name of the model in use."""
        model, _ = self.pair(lender)
        return None if model is None else str(getattr(model, "model_name", type(model).__name__))

    def _built(self, config: Mapping[str, Any]) -> Pair:
        try:
            return build_model(config)
        except MissingModelError as error:
            self.missing = str(error)
            logger.warning("No chat model: %s Summaries are extractive.", error)
            return None, None


def formatter_for(model: "ChatModelBase") -> "FormatterBase":
    """The host's chat formatter for one of the host's own model classes.

    Raises:
        `ConfigError`: the class is not the host's; the formatter has to be given.
    """
    import agentscope.formatter

    for kind in type(model).__mro__:
        found = getattr(agentscope.formatter, kind.__name__.replace("ChatModel", "ChatFormatter"), None)
        if found is not None and kind.__name__.endswith("ChatModel"):
            return found()
    raise ConfigError(f"There is no known formatter for {type(model).__name__}: give formatter= beside model=.")


def own_model(name: str, model: Own, formatter: "FormatterBase | None") -> tuple[Any, Any] | None:
    """A model for one purpose with its formatter: its own, that of its class, or the one that was given; None for none.

    A dictionary becomes two functions, which build both at their first use.

    Args:
        name (`str`):
            The argument's, for errors.
        model (`ChatModelBase | tuple | Mapping | None`):
            The model.
        formatter (`FormatterBase | None`):
            For models that are not of the host's own classes.

    Raises:
        `ConfigError`: it is no model, or there is no formatter for it.
    """
    if model is None:
        return None
    if isinstance(model, Mapping):
        source = ModelSource(config=model)
        return (lambda: source.pair()[0]), (lambda: source.pair()[1])
    if isinstance(model, tuple) and len(model) == 2:
        return model
    if not callable(model):
        raise ConfigError(f"{name} is {model!r}: give a chat model, (model, formatter), or a dictionary.")
    try:
        return model, formatter_for(model)
    except ConfigError:
        if formatter is None:
            kind = type(model).__name__
            cure = f"give {name}=(model, formatter), or formatter="
            raise ConfigError(f"There is no known formatter for the {kind} of {name}=: {cure}.") from None
        return model, formatter
