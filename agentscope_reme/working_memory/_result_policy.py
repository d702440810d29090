# -*- coding: utf-8 -*-
"""How much of tool results stays in the context."""

from dataclasses import dataclass

from .._errors import ConfigError

__all__ = ["ToolResultPolicy"]


@dataclass(frozen=True)
class ToolResultPolicy:
    """How much of tool results stays in the context.

    Args:
        recent_n (`int`):
            How many of the last results count as recent; where more follow each other at the very end, all of those do.
            0 makes all of them old.
        recent_max_bytes (`int`):
            The most bytes of UTF-8 of a recent result.
        old_max_bytes (`int`):
            The most of an older one.
        retention_days (`float | None`):
            Days that a full text is kept after nothing refers to it; ``None`` keeps it for ever.

    Raises:
        `ConfigError`: a number that cannot work; the message has it and the one it does not fit.
    """

    recent_n: int = 3
    recent_max_bytes: int = 102_400
    old_max_bytes: int = 3_000
    retention_days: float | None = 3

    def __post_init__(self) -> None:
        for name, least in (("recent_n", 0), ("recent_max_bytes", 1), ("old_max_bytes", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{name} is {value!r}: give a whole number, {least} or more.")
        if self.old_max_bytes > self.recent_max_bytes:
            raise ConfigError(
                f"old_max_bytes {self.old_max_bytes} is above recent_max_bytes {self.recent_max_bytes}: "
                "an old result cannot keep more than a recent one; lower the first or raise the second.",
            )
        days = self.retention_days
        if days is not None and (isinstance(days, bool) or not isinstance(days, (int, float)) or not days >= 0):
            raise ConfigError(f"retention_days is {days!r}: give 0 or more days, or None to keep for ever.")
