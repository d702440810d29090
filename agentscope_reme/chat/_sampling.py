# -*- coding: utf-8 -*-
"""The temperature of one request, as the host's model classes take it."""

import inspect
from collections.abc import Mapping
from typing import Any

__all__ = ["sampling"]


def sampling(model: Any, temperature: float | None) -> dict[str, Any]:
    """What a model is called with for a temperature; nothing where it has one of its own, or takes none by call.

    Args:
        model (`ChatModelBase`): the model.
        temperature (`float | None`): None to leave it to the model.
    """
    own = _mapping(getattr(model, "generate_kwargs", None))
    options = {**_mapping(getattr(model, "options", None)), **_mapping(own.get("options"))}
    if temperature is None or "temperature" in own or "temperature" in options or not _takes_any(model):
        return {}
    if any(kind.__name__ == "OllamaChatModel" for kind in type(model).__mro__):
        return {"options": {**options, "temperature": temperature}}
    return {"temperature": temperature}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _takes_any(model: Any) -> bool:
    try:
        parameters = inspect.signature(model).parameters
    except (TypeError, ValueError):
        return False
    return "temperature" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
