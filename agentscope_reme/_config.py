# -*- coding: utf-8 -*-
"""Frozen configuration, checked once where it is made."""

import logging
from dataclasses import dataclass, field
from typing import Literal

from ._errors import ConfigError

__all__ = ["DEFAULT_RESERVE", "ContextConfig", "RecallConfig", "fitted_reserve"]

logger = logging.getLogger("agentscope_reme")

DEFAULT_RESERVE = 10_000
"""Tokens that a compaction leaves for the most recent messages, unless told otherwise."""

_SUMMARY_SHARE = 0.2
_SUMMARY_FLOOR, _SUMMARY_CEILING = 128, 4_000
_HINT_TOKENS = 500


@dataclass(frozen=True)
class ContextConfig:
    """How much a context may hold and when it is condensed. All sizes are in tokens.

    Args:
        max_input_length (`int`):
            The model's input window.
        compact_ratio (`float`):
            The share of the window that may be used before compaction, above 0 and at most 1.
        memory_compact_reserve (`int | None`):
            What a compaction keeps of the most recent messages. `None` stands for the default, which is halved to fit
            a small window; a number of your own at or above the threshold is an error.
        warn_ratio (`float`):
            The share of the threshold at which a usage warning is emitted.

    Raises:
        `ConfigError`: a number that cannot work, with the numbers it was compared with.
    """

    max_input_length: int = 131_072
    compact_ratio: float = 0.7
    memory_compact_reserve: int | None = None
    warn_ratio: float = 0.85
    reserve: int = field(init=False, default=0)
    """The reserve in force, always below `threshold`."""

    def __post_init__(self) -> None:
        if not isinstance(self.max_input_length, int) or self.max_input_length < 256:
            raise ConfigError(
                f"max_input_length is {self.max_input_length!r}: give the model's window in tokens, at least 256.",
            )
        if not isinstance(self.compact_ratio, (int, float)) or not 0 < self.compact_ratio <= 1:
            raise ConfigError(f"compact_ratio is {self.compact_ratio!r}: give a share of the window in (0, 1].")
        if not isinstance(self.warn_ratio, (int, float)) or not 0 < self.warn_ratio <= 1:
            raise ConfigError(f"warn_ratio is {self.warn_ratio!r}: give a share of the threshold in (0, 1].")
        reserve = self.memory_compact_reserve
        if reserve is None:
            reserve = fitted_reserve(DEFAULT_RESERVE, self.threshold)
        elif not isinstance(reserve, int) or reserve < 1:
            raise ConfigError(f"memory_compact_reserve is {reserve!r}: give a positive number of tokens.")
        elif reserve >= self.threshold:
            raise ConfigError(
                f"memory_compact_reserve {reserve} is not below the compaction threshold {self.threshold} "
                f"(max_input_length {self.max_input_length} * compact_ratio {self.compact_ratio} * 0.95): "
                "lower the reserve or enlarge the window.",
            )
        object.__setattr__(self, "reserve", reserve)

    @property
    def threshold(self) -> int:
        """Tokens above which the context is condensed: `int(max_input_length * compact_ratio * 0.95)`."""
        return int(self.max_input_length * self.compact_ratio * 0.95)

    @property
    def summary_budget(self) -> int:
        """The most tokens that a summary may take."""
        return max(_SUMMARY_FLOOR, min(_SUMMARY_CEILING, int(self.threshold * _SUMMARY_SHARE)))

    def summary_budget_beside(self, fixed: int) -> int:
        """The same where the system prompt and the tools take so many tokens: its share of what they leave."""
        share = int((self.threshold - fixed) * _SUMMARY_SHARE)
        return max(_SUMMARY_FLOOR, min(self.summary_budget, share))

    @property
    def headroom(self) -> int:
        """Tokens left free below the threshold after a compaction, so that the next step does not compact again."""
        return self.threshold // 10

    @property
    def hint_tokens(self) -> int:
        """Room for the hint messages that the host adds after the hook has run."""
        return min(_HINT_TOKENS, self.threshold // 20)


@dataclass(frozen=True)
class RecallConfig:
    """What an agent is shown of its long-term memory before a reply.

    Args:
        enabled (`bool`):
            Search notes and archive with the user's message and the last turn.
        max_memories (`int`):
            The most hits to show, from 1 to 100.
        min_score (`float`):
            The least score of a hit, from 0 to 1.
        max_tokens (`int`):
            The most tokens that the hits may take together, passages of knowledge bases among them.
        form (`"list" | "json"`):
            How they are shown.
        memory_md (`bool`):
            Show MEMORY.md, whether or not a search is made.
        memory_md_tokens (`int`):
            The most tokens of it.

    Raises:
        `ConfigError`: a value that cannot work.
    """

    enabled: bool = True
    max_memories: int = 5
    min_score: float = 0.2
    max_tokens: int = 1_000
    form: Literal["list", "json"] = "list"
    memory_md: bool = True
    memory_md_tokens: int = 1_500

    def __post_init__(self) -> None:
        if not 1 <= self.max_memories <= 100:
            raise ConfigError(f"max_memories is {self.max_memories!r}: give a number from 1 to 100.")
        if not 0 <= self.min_score <= 1:
            raise ConfigError(f"min_score is {self.min_score!r}: give a number from 0 to 1.")
        if self.max_tokens < 1 or self.memory_md_tokens < 1:
            raise ConfigError(
                f"max_tokens {self.max_tokens!r} and memory_md_tokens {self.memory_md_tokens!r} must be positive.",
            )
        if self.form not in ("list", "json"):
            raise ConfigError(f"form is {self.form!r}: it is 'list' or 'json'.")


def fitted_reserve(reserve: int, threshold: int) -> int:
    """The reserve, halved until it lies below the threshold; says so once for each pair of numbers."""
    if reserve < threshold:
        return reserve
    fitted = reserve
    while fitted >= threshold and fitted > 1:
        fitted //= 2
    if (reserve, threshold) not in _warned:
        _warned.add((reserve, threshold))
        logger.warning(
            "A reserve of %d tokens does not fit below the compaction threshold of %d; %d is used.",
            reserve,
            threshold,
            fitted,
        )
    return fitted


_warned: set[tuple[int, int]] = set()
