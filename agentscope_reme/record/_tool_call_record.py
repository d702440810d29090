# -*- coding: utf-8 -*-
"""One call of a tool by an agent, as tool memory learns from it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from types import MappingProxyType
from typing import Any

from .._errors import ConfigError

__all__ = ["ToolCallRecord"]


@dataclass(frozen=True)
class ToolCallRecord:
    """What a tool was called with, what came of it, and what it cost.

    Args:
        tool_name (`str`): the tool.
        input (`Mapping[str, Any] | str`): its arguments.
        output (`str`): what it answered, or the error.
        success (`bool`): whether the call did what it was made for.
        time_cost (`float`): seconds.
        token_cost (`int`): tokens that the call and its answer took of the context.
        create_time (`datetime`): when it was made.
        summary (`str`): what it did, in a sentence.
        evaluation (`str`): a verdict on it.
        score (`float | None`): the verdict as a number from 0 to 1; None where nobody judged.
        metadata (`Mapping[str, Any]`): anything else, as JSON values.

    Raises:
        `ConfigError`: no tool's name, a negative cost, a score outside 0 to 1, or a value of another kind.
    """

    tool_name: str
    input: Mapping[str, Any] | str = field(default_factory=dict)
    output: str = ""
    success: bool = True
    time_cost: float = 0.0
    token_cost: int = 0
    create_time: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    summary: str = ""
    evaluation: str = ""
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.tool_name, str) or not self.tool_name.strip():
            raise ConfigError(f"tool_name is {self.tool_name!r}: name the tool.")
        if not isinstance(self.input, (Mapping, str)):
            raise ConfigError(f"input is {_shown(self.input)}: give the arguments as a dictionary, or as a text.")
        for name in ("output", "summary", "evaluation"):
            if not isinstance(getattr(self, name), str):
                raise ConfigError(f"{name} is {_shown(getattr(self, name))}: give a text, such as by json.dumps.")
        if not isinstance(self.success, bool):
            raise ConfigError(f"success is {_shown(self.success)}: give True or False.")
        for name in ("time_cost", "token_cost"):
            if not _is_number(cost := getattr(self, name)) or cost < 0:
                raise ConfigError(f"{name} is {_shown(cost)}: give a number of at least 0.")
        if self.score is not None and not (_is_number(self.score) and 0 <= self.score <= 1):
            raise ConfigError(f"score is {_shown(self.score)}: give a number from 0 to 1, or None.")
        if not isinstance(self.create_time, datetime):
            raise ConfigError(f"create_time is {_shown(self.create_time)}: give a datetime.")
        if self.create_time.tzinfo is None:
            object.__setattr__(self, "create_time", self.create_time.astimezone())
        if not isinstance(self.metadata, Mapping):
            raise ConfigError(f"metadata is {_shown(self.metadata)}: give a dictionary of JSON values.")
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "metadata": dict(self.metadata)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, metadata=MappingProxyType(state["metadata"]))

    @property
    def call_hash(self) -> str:
        """The same for calls of one tool with equal arguments: 16 hex digits."""
        arguments = self.input if isinstance(self.input, str) else dict(self.input)
        text = json.dumps([self.tool_name, arguments], ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["input"] = self.input if isinstance(self.input, str) else dict(self.input)
        return {**values, "create_time": self.create_time.isoformat(), "metadata": dict(self.metadata)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ToolCallRecord:
        """Read what `to_dict` gave; fields that this version does not know are passed over.

        Raises:
            `ConfigError`: no tool's name, or a value that cannot be.
        """
        known = {each.name for each in fields(cls)}
        taken = {name: value for name, value in values.items() if name in known}
        if "tool_name" not in taken:
            raise ConfigError("tool_name is missing: name the tool.")
        if "create_time" in taken:
            taken["create_time"] = _time(taken["create_time"])
        return cls(**taken)


def _time(value: Any) -> Any:
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        if _is_number(value):
            return datetime.fromtimestamp(value, timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        cure = "give ISO 8601, seconds since the epoch or a datetime"
        raise ConfigError(f"create_time is {_shown(value)}: {cure}.") from error
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
