# -*- coding: utf-8 -*-
"""What the methods of `ReMe` are given, read: names of owners, times, fields of a memory."""

import dataclasses
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, tzinfo
from numbers import Real
from typing import Any

from ._errors import ConfigError
from .message import parsed_time
from .record import MemoryNode, ToolCallRecord
from .vector_memory import Owner, owners_of

__all__ = [
    "Names",
    "Time",
    "count_of",
    "field_values",
    "flag_of",
    "limit_of",
    "memories_of",
    "number_of",
    "one_owner",
    "owner_or_none",
    "owners",
    "read_records",
    "read_time",
    "reason_of",
    "step_of",
    "text_of",
    "texts_of",
]

Names = str | Owner | Sequence[str | Owner]
"""One name or several; ``""`` and an empty list name nobody. An `Owner` stands for one of any kind of memory."""

Time = str | float | date | datetime | None
"""``YYYY-MM-DD HH:MM:SS``, ISO 8601, seconds since the epoch, or the object itself."""

_TYPES = {"user_name": "personal", "task_name": "procedural", "tool_name": "tool"}
_NAMES = "user_name, task_name or tool_name"


def owners(user_name: Names, task_name: Names, tool_name: Names) -> tuple[Owner, ...]:
    """Everybody that is named.

    Raises:
        `ConfigError`: nobody is, or a name is blank or no text.
    """
    found = _owners(user_name, task_name, tool_name)
    if not found:
        raise ConfigError(f"Nobody is named: say whose memories are meant by {_NAMES}.")
    return found


def one_owner(user_name: Names, task_name: Names, tool_name: Names) -> Owner:
    """The one that is named.

    Raises:
        `ConfigError`: nobody is, or several are.
    """
    owner = owner_or_none(user_name, task_name, tool_name)
    if owner is None:
        raise ConfigError(f"Nobody is named: say whose memory it is by {_NAMES}.")
    return owner


def owner_or_none(user_name: Names, task_name: Names, tool_name: Names) -> Owner | None:
    """The one that is named; None for nobody.

    Raises:
        `ConfigError`: several are.
    """
    found = _owners(user_name, task_name, tool_name)
    if len(found) > 1:
        keys = ", ".join(owner.key for owner in found)
        raise ConfigError(f"{keys} are named, and a memory belongs to one: give one of {_NAMES}.")
    return found[0] if found else None


def _owners(user_name: Names, task_name: Names, tool_name: Names) -> tuple[Owner, ...]:
    given = {"user_name": user_name, "task_name": task_name, "tool_name": tool_name}
    found = (owner for argument, names in given.items() for owner in owners_of(_TYPES[argument], names, argument))
    return tuple(dict.fromkeys(found))


def read_time(argument: str, value: Time, timezone: tzinfo | None) -> datetime | None:
    """A time; one without a zone is meant in `timezone`, None of which is this machine's.

    Raises:
        `ConfigError`: it is no time.
    """
    if value is None or value == "":
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.min)
    moment = parsed_time(value)
    if moment is None:
        cure = "give 'YYYY-MM-DD HH:MM:SS', ISO 8601, seconds since the epoch or a datetime"
        raise ConfigError(f"{argument} is {value!r}: {cure}.")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=timezone) if timezone else moment.astimezone()
    return moment


def field_values(
    timezone: tzinfo | None, metadata: Mapping[str, Any], before: Mapping[str, Any], fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Fields of a memory as `MemoryNode` takes them, those that are given.

    Args:
        timezone (`tzinfo | None`): of times without a zone.
        metadata (`Mapping[str, Any]`): added to the metadata that there is.
        before (`Mapping[str, Any]`): the metadata that there is.
        fields (`Mapping[str, Any]`): other fields; None for one that is not given.
    """
    values = {name: value for name, value in fields.items() if value is not None}
    if isinstance(inside := metadata.get("metadata"), Mapping):  # given as a dictionary, as MemoryNode takes it
        metadata = {**{name: value for name, value in metadata.items() if name != "metadata"}, **inside}
    for name in ("message_time", "expires_at"):
        if name in values:
            values[name] = read_time(name, values[name], timezone)
    for name in ("score", "importance"):
        if name in values:
            number_of(name, values[name])
    if metadata:
        values["metadata"] = {**before, **metadata}
    return values


def read_records(records: Any) -> list[ToolCallRecord]:
    """Calls of tools, some of which may be dictionaries.

    Raises:
        `ConfigError`: something that is neither, or a value that cannot be.
    """
    if isinstance(records, (ToolCallRecord, Mapping)):
        records = [records]
    if isinstance(records, (str, bytes)) or not isinstance(records, Iterable):
        raise ConfigError(f"records is {records!r}: give a list of ToolCallRecord objects.")
    return [each if isinstance(each, ToolCallRecord) else _record(each) for each in records]


def _record(values: Any) -> ToolCallRecord:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{values!r} is no call of a tool: give a ToolCallRecord or a dictionary of its fields.")
    known = [each.name for each in dataclasses.fields(ToolCallRecord)]
    if unknown := [name for name in values if name not in known and name != "call_hash"]:
        raise ConfigError(f"A call of a tool has no {', '.join(map(repr, unknown))}: it has {', '.join(known)}.")
    return ToolCallRecord.from_dict(values)


def limit_of(limit: int | None, retrieve_top_k: int | None) -> int:
    """How many memories are asked for; the two arguments are one.

    Raises:
        `ConfigError`: both were given, or it is no number.
    """
    if limit is not None and retrieve_top_k is not None:
        raise ConfigError("limit and retrieve_top_k are two names of one thing: give one.")
    return count_of("limit", retrieve_top_k if limit is None else limit) or 20


def count_of(argument: str, value: Any) -> int | None:
    """A whole number of at least 1, or None where none was given.

    Raises:
        `ConfigError`: it is none.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ConfigError(f"{argument} is {value!r:.200}: give a whole number of at least 1.")
    return value


def number_of(argument: str, value: Any, least: float = -math.inf, most: float = math.inf) -> None:
    """Refuse what is no number within bounds; None is none that was given.

    Raises:
        `ConfigError`: it is none, or lies outside.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ConfigError(f"{argument} is {value!r}: give a number.")
    if not least <= float(value) <= most:
        raise ConfigError(f"{argument} is {value!r}: give a number from {least:g} to {most:g}.")


def flag_of(argument: str, value: Any) -> bool:
    """True or False, and nothing that Python takes for one of them: "no" is true to it.

    Raises:
        `ConfigError`: it is neither.
    """
    if not isinstance(value, bool):
        raise ConfigError(f"{argument} is {value!r:.200}: give True or False.")
    return value


def step_of(argument: str, value: Any) -> None:
    """Refuse what cannot be called now and then without being awaited; None is none that was given.

    Raises:
        `ConfigError`: it cannot be called, or is async.
    """
    call = getattr(value, "__call__", None)  # noqa: B004 - an object with an async __call__ is meant
    if value is not None and (
        not callable(value) or inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(call)
    ):
        raise ConfigError(f"{argument} is {value!r:.200}: give a function that is not async.")


def text_of(argument: str, value: Any, cure: str = "give a text") -> str:
    """A text, which may be empty.

    Raises:
        `ConfigError`: it is none.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{argument} is {value!r:.200}: {cure}.")
    return value


def reason_of(actor: Any, cause: Any) -> dict[str, str]:
    """Who does something and why, by these names.

    Raises:
        `ConfigError`: one of them is no text.
    """
    return {"actor": text_of("actor", actor), "cause": text_of("cause", cause)}


def texts_of(argument: str, values: Any, cure: str = "give a list of texts") -> list[str]:
    """A list of texts.

    Raises:
        `ConfigError`: it is none, or one text, which is a list of letters to Python.
    """
    return _all_of(argument, values, (str,), cure)


def memories_of(argument: str, values: Any, *, ids: bool) -> list[Any]:
    """Memories as they were found, one or several; where they are asked for by id too, such ids among them.

    Raises:
        `ConfigError`: something that is neither.
    """
    kinds = (str, MemoryNode) if ids else (MemoryNode,)
    given = [values] if isinstance(values, kinds) else values
    return _all_of(argument, given, kinds, f"give {'ids, or ' if ids else ''}memories as they were found")


def _all_of(argument: str, values: Any, kinds: tuple[type, ...], cure: str) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ConfigError(f"{argument} is {values!r:.200}: {cure}.")
    listed = list(values)
    if wrong := [each for each in listed if not isinstance(each, kinds)]:
        raise ConfigError(f"{argument} has {wrong[0]!r:.200}: {cure}.")
    return listed
