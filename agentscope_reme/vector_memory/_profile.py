# -*- coding: utf-8 -*-
"""What is known of a person in pairs of key and value, kept in the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from ._bank import MemoryBank

__all__ = ["ProfileBook"]


class ProfileBook:
    """Profiles of users.

    Args:
        bank (`MemoryBank`): where they are.
        capacity (`int`): keys that a profile may have; beyond it, those that were changed longest ago go.
    """

    def __init__(self, bank: MemoryBank, *, capacity: int = 50) -> None:
        self._bank = bank
        self.capacity = capacity

    async def read(self, user: str, query: str = "") -> dict[str, str]:
        """A profile, or what of it has to do with a query, the most relevant first."""
        raise NotImplementedError

    async def update(
        self, user: str, entries: Mapping[str, str], *, actor: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Set keys to values; other keys stay. The profile that there now is comes back."""
        raise NotImplementedError

    async def delete(self, user: str, key: str | None = None, *, actor: str = "", cause: str = "") -> int:
        """Delete a key, or all of them (None); how many there were comes back."""
        raise NotImplementedError
