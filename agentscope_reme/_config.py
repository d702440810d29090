# -*- coding: utf-8 -*-
"""Frozen configuration, checked once where it is made."""

import logging
from dataclasses import dataclass, field

from ._errors import ConfigError

__all__ = ["DEFAULT_RESERVE", "ContextConfig", "fitted_reserve"]

logger = logging.getLogger("agentscope_reme")

DEFAULT_RESERVE = 10_000
"""Tokens that a compaction leaves for the most recent messages, unless told otherwise."""

_SUMMARY_SHARE = 0.2
_SUMMARY_CEILING = 4_000
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
        if not 0 < self.compact_ratio <= 1:
            raise ConfigError(f"compact_ratio is {self.compact_ratio!r}: give a share of the window in (0, 1].")
        if not 0 < self.warn_ratio <= 1:
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
        return max(128, min(_SUMMARY_CEILING, int(self.threshold * _SUMMARY_SHARE)))

    @property
    def headroom(self) -> int:
        """Tokens left free below the threshold after a compaction, so that the next step does not compact again."""
        return self.threshold // 10

    @property
    def hint_tokens(self) -> int:
        """Room for the hint messages that the host adds after the hook has run."""
        return min(_HINT_TOKENS, self.threshold // 20)


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
