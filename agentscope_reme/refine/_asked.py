# -*- coding: utf-8 -*-
"""What became of a request to forget, as it is told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from .._events import EventBus, EventKind
from ..record import MemoryNode
from ..vector_memory import Owner

__all__ = ["Asked", "InWaiting"]

logger = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class InWaiting:
    """How many messages that wait a request to forget reaches.

    Args:
        cut (`int`): messages of which sentences go.
        withheld (`int`): messages with sentences of health or safety, which stay.
    """

    cut: int = 0
    withheld: int = 0


@dataclass(frozen=True)
class Asked:
    """What was done, and what was not.

    Args:
        owners (`Sequence[Owner]`): who asked.
        forgotten (`Sequence[MemoryNode]`), withheld (`Sequence[MemoryNode]`): memories that went, and those of health
            and safety that stay.
        profile (`Sequence[str]`), profile_withheld (`Sequence[str]`): the same of a profile's keys.
        waiting (`InWaiting`): the same of messages that wait.
        everything (`bool`): whether everything was meant, which is not done.
    """

    owners: Sequence[Owner]
    forgotten: Sequence[MemoryNode]
    withheld: Sequence[MemoryNode]
    profile: Sequence[str]
    profile_withheld: Sequence[str]
    waiting: InWaiting
    everything: bool

    def tell(self, events: EventBus) -> None:
        """Tell it as `EventKind.FORGET_ASKED`; of what was not done, warn."""
        names = ", ".join(owner.key for owner in self.owners)
        if self.withheld:
            logger.warning(
                "%d memories of health or safety that a request of %s to forget is about were kept: preview_forget() "
                "shows them, and forget() lets them go.",
                len(self.withheld),
                names,
            )
        if self.profile_withheld or self.waiting.withheld:
            logger.warning(
                "%d entries of the profile and %d waiting messages of health or safety that a request of %s to forget "
                "is about were kept: ask again and name that.",
                len(self.profile_withheld),
                self.waiting.withheld,
                names,
            )
        if self.everything:
            logger.warning(
                "A request of %s to forget everything was not carried out: delete_all() and purge_all() remove "
                "everything of a person.",
                names,
            )
        events.emit(
            EventKind.FORGET_ASKED,
            owners=[owner.key for owner in self.owners],
            forgotten=[node.memory_id for node in self.forgotten],
            withheld=[node.memory_id for node in self.withheld],
            profile=list(self.profile),
            profile_withheld=list(self.profile_withheld),
            waiting=self.waiting.cut,
            waiting_withheld=self.waiting.withheld,
            everything=self.everything,
        )
