# -*- coding: utf-8 -*-
"""How memory is refined, as one frozen value that is checked where it is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from .._errors import ConfigError
from ._triggers import DEFAULT_TRIGGERS, TriggerRule, parse_triggers

__all__ = ["ConflictPolicy", "GroupBy", "RefinerConfig", "is_list_of_texts"]

GroupBy = Literal["two_level", "session", "time", "entity", "cluster"]
ConflictPolicy = Literal["supersede", "merge", "keep"]

_TOGETHER, _TOGETHER_SMALL = 0.46, 0.6
_WINDOW = 131_072
_SMALL, _FEW, _LITTLE = 200, 64, 48  # tokens
_SHARES = ("window_share", "target_ratio", "dedup_threshold", "archive_below", "cold_below", "protect_from")
_POSITIVE = ("capacity_memories", "capacity_chars", "group_tokens", "useful_to_protect")
_DAYS = ("retention_days", "unused_days", "sweep_days", "window_minutes", "schedule_hours", "idle_seconds")


@dataclass(frozen=True)
class RefinerConfig:
    """Thresholds, intervals and policies.

    Args:
        trigger_rules (`Sequence[str | Trigger | Callable]`): when something is captured; see `parse_triggers`.
        capacity_memories (`int`), capacity_chars (`int`): a run is due from so many active memories, or characters in
            them, of one owner on.
        schedule_hours (`float`): and so long after the last one, if anything is new.
        idle_seconds (`float`): and so long after the last message, if anything is new; infinity for never.
        after_session (`bool`): and when a session or task has ended.
        memory_types (`Sequence[str] | None`): the types that are condensed; None for all. A guide to a tool is one
            memory that is kept up to date by itself.
        group_by (`str`): ``two_level``: by session, then a sliding window of time in it; ``session``, ``time``,
            ``entity``, or ``cluster`` (by embedding).
        window_minutes (`float`): the window of time: a pause of this length parts what is condensed together.
        group_tokens (`int`): about how much is condensed at once.
        max_input_length (`int | None`), window_share (`float`): a request to a model never takes more than this share
            of its window, in tokens, with its instructions and room for the reply; what alone is longer is condensed
            without a model. `None`: that of the `ReMe`, else 131,072.
        target_ratio (`float`): how long a refined text is to be, as a share of its sources.
        keyword_ratio (`float`): how many telling words of the sources go with it, by which they are found again, as a
            share of the sources' tokens.
        goal (`str`): what the memory is for; told to the model.
        protect_from (`float`): memories of this importance on are kept word for word, and never fade.
        useful_to_protect (`int`): what was useful so often is not condensed further.
        retention_days (`float`): how long archived sources are kept; infinity for ever.
        dedup_threshold (`float`): cosine from which on a memory that says the same is a near copy.
        conflict_policy (`str`): what becomes of an old memory that a new one contradicts: ``supersede``, ``merge``
            (the text says what changed from what to what), ``keep`` (both stay).
        archive_below (`float`), cold_below (`float`): importance below which what was not used for long is archived,
            or moved to the cold file.
        unused_days (`float`): how long is long, for a memory that was never useful.
        strengthening (`float`): how much longer for each time that it was.
        sweep_days (`float`): how often that is looked for.
        expiry_days (`Mapping[str, float]`): by category: how many days after the last day that it names a memory dies.
        undated_expiry_days (`Mapping[str, float]`): the same after its own time, where it names no day.
        feedback_step (`float`): how far one verdict moves an importance toward its bound.
        feedback_range (`float`): how far all verdicts together move it from what it was judged at first.

    Raises:
        `ConfigError`: a value that cannot work, with the cure.
    """

    trigger_rules: Sequence[TriggerRule] = DEFAULT_TRIGGERS
    capacity_memories: int = 800
    capacity_chars: int = 500_000
    schedule_hours: float = 24.0
    idle_seconds: float = float("inf")
    after_session: bool = False
    memory_types: Sequence[str] | None = ("personal", "procedural")
    group_by: GroupBy = "two_level"
    window_minutes: float = 30.0
    group_tokens: int = 4_000
    max_input_length: int | None = None
    window_share: float = 0.7
    target_ratio: float = 0.2
    keyword_ratio: float = 0.3
    goal: str = ""
    protect_from: float = 0.9
    useful_to_protect: int = 3
    retention_days: float = 90.0
    dedup_threshold: float = 0.95
    conflict_policy: ConflictPolicy = "supersede"
    archive_below: float = 0.2
    cold_below: float = 0.1
    unused_days: float = 60.0
    strengthening: float = 1.0
    sweep_days: float = 7.0
    expiry_days: Mapping[str, float] = field(default_factory=lambda: {"plan": 7.0})
    undated_expiry_days: Mapping[str, float] = field(default_factory=dict)
    feedback_step: float = 0.1
    feedback_range: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "trigger_rules", tuple(self.trigger_rules) if self._listed() else self.trigger_rules)
        parse_triggers(self.trigger_rules)
        for name in _SHARES:
            if not _is_number(value := getattr(self, name)) or not 0 < value <= 1:
                raise ConfigError(f"{name} is {value!r}: give a share above 0 and at most 1.")
        for name in (*_POSITIVE, *(["max_input_length"] if self.max_input_length is not None else [])):
            if not isinstance(value := getattr(self, name), int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"{name} is {value!r}: give a whole number of at least 1.")
        for name in _DAYS:
            if not _is_number(value := getattr(self, name)) or not value > 0:
                raise ConfigError(f"{name} is {value!r}: give a number above 0; float('inf') for never.")
        if self.memory_types is not None:
            if not self.memory_types or not is_list_of_texts(self.memory_types):
                raise ConfigError(f"memory_types is {self.memory_types!r}: give a list of types, or None for all.")
            object.__setattr__(self, "memory_types", tuple(self.memory_types))
        if not isinstance(self.goal, str):
            raise ConfigError(f"goal is {self.goal!r}: give a text that says what the memory is for, or ''.")
        if not isinstance(self.after_session, bool):
            raise ConfigError(f"after_session is {self.after_session!r}: give True or False.")
        self._check_choices()
        self._check_forgetting()

    @property
    def request_limit(self) -> int:
        """The most tokens that one request to a model and its reply may take together."""
        return int((self.max_input_length or _WINDOW) * self.window_share)

    @property
    def group_limit(self) -> int:
        """The most tokens that a group may hold."""
        return max(1, min(self.group_tokens, self.request_limit))

    def content_budget(self, total: int) -> int:
        """About how many tokens a refined text may have; where there is little, not less than says anything.

        Args:
            total (`int`): tokens of the sources.
        """
        return max(int(total * self.target_ratio), min(_LITTLE, total // 3))

    def keyword_budget(self, total: int, content: int) -> int:
        """The most tokens of telling words beside a text, so that both together are well below the sources.

        Args:
            total (`int`): tokens of the sources.
            content (`int`): tokens of the text.
        """
        small = total < _SMALL
        wanted = max(int(total * self.keyword_ratio), _FEW if small and self.keyword_ratio else 0)
        return max(0, min(wanted, int(total * (_TOGETHER_SMALL if small else _TOGETHER)) - content))

    def _listed(self) -> bool:
        return isinstance(self.trigger_rules, Sequence) and not isinstance(self.trigger_rules, str)

    def _check_choices(self) -> None:
        for name, kind in (("group_by", GroupBy), ("conflict_policy", ConflictPolicy)):
            if getattr(self, name) not in list(get_args(kind)):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: it is one of {', '.join(get_args(kind))}.")

    def _check_forgetting(self) -> None:
        if self.cold_below > self.archive_below:
            raise ConfigError(f"cold_below {self.cold_below} is above archive_below {self.archive_below}: lower it.")
        if not _is_number(self.strengthening) or self.strengthening < 0:
            raise ConfigError(f"strengthening is {self.strengthening!r}: give a number of at least 0.")
        for name in ("feedback_step", "feedback_range", "keyword_ratio"):
            if not _is_number(value := getattr(self, name)) or not 0 <= value <= 1:
                raise ConfigError(f"{name} is {value!r}: give a number from 0 to 1.")
        for name in ("expiry_days", "undated_expiry_days"):
            days = getattr(self, name)
            if not isinstance(days, Mapping) or not all(
                isinstance(category, str) and _is_number(each) and each >= 0 for category, each in days.items()
            ):
                raise ConfigError(f"{name} is {days!r}: give days for categories, such as {{'plan': 7}}.")
            object.__setattr__(self, name, MappingProxyType(dict(days)))


def is_list_of_texts(value: object) -> bool:
    """Whether a value is a list of texts with something in them, in any form that keeps or has no order."""
    return (
        isinstance(value, Collection)
        and not isinstance(value, (str, bytes, Mapping))
        and all(isinstance(each, str) and each.strip() for each in value)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
