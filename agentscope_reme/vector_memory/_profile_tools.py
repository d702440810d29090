# -*- coding: utf-8 -*-
"""The tools with which an agent brings a profile up to date. Nothing is stored before it has finished."""

from __future__ import annotations

from collections.abc import Mapping

from ._agent_tools import AgentTool, Say
from ._checks import Checks
from ._extraction import in_thread
from ._proposal import Refusal
from ._shown import profile_text

__all__ = ["ProfileTools"]


class ProfileTools:
    """Takes down entries of a person's profile.

    Args:
        checks (`Checks`): what is checked.
        profile (`Mapping[str, str]`): the profile as it stands.
        say (`Say`): the texts of the answers.
    """

    def __init__(self, checks: Checks, profile: Mapping[str, str], say: Say) -> None:
        self.entries: dict[str, str] = {}
        self.refusals: list[Refusal] = []
        self.used = False
        """Whether any tool was called."""
        self._checks, self._profile, self._say = checks, profile, say

    def functions(self) -> list[AgentTool]:
        """The tools."""
        return [self.read_profile, self.update_profile]

    async def read_profile(self) -> str:
        """Read the profile as it stands, with what you have changed."""
        self.used = True
        merged = {**self._profile, **self.entries}
        if not merged:
            return self._say("no_profile")
        return profile_text(merged)

    async def update_profile(self, entries: dict[str, str]) -> str:
        """Set entries of the profile. Other entries stay as they are.

        Args:
            entries (`dict[str, str]`):
                The new value of each key that is new or has changed.
        """
        self.used = True
        kept, refused = await in_thread(self._checks.profile, entries)
        self.entries.update(kept)
        self.refusals.extend(refused)
        answers = [self._say("profile_staged", keys=", ".join(kept))] if kept else []
        if refused:
            answers.append(self._say("profile_refused", keys="; ".join(each.value for each in refused)))
        return "\n".join(answers) or self._say("missing_argument", argument="entries")
