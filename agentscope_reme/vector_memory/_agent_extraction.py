# -*- coding: utf-8 -*-
"""Memories drawn from a conversation by an agent with tools: first the memories, then the profile."""

from __future__ import annotations

import logging
from dataclasses import replace

from .._errors import ModelReplyError
from ._agent_tools import Say, toolkit_of
from ._conversations import Conversations
from ._extraction import in_thread
from ._memory_agent import run_agent
from ._memory_tools import MemoryTools
from ._model_access import ModelAccess
from ._profile import ProfileBook
from ._profile_tools import ProfileTools
from ._prompts import Assignment, Prompts, sections
from ._proposal import Extraction
from ._reply_items import says_nothing
from ._shown import Shown
from ._similar import SimilarMemories
from ._utterances import Passage

__all__ = ["AgentExtractor"]

logger = logging.getLogger("agentscope_reme")

_KNOWN = 24


class AgentExtractor:
    """Has an agent draft memories, look at what is known, and take down what becomes of each.

    What it takes down passes the same checks as a single reply, and is stored, if it finishes, by whoever asked: an
    agent that fails, runs out of time or is interrupted leaves nothing behind.

    Args:
        access (`ModelAccess`): the model and the bounds.
        similar (`SimilarMemories`): finds what is known already.
        profiles (`ProfileBook`): the profiles.
        conversations (`Conversations`): the stored conversations.
    """

    def __init__(
        self, access: ModelAccess, similar: SimilarMemories, profiles: ProfileBook, conversations: Conversations
    ) -> None:
        self._access, self._similar, self._profiles = access, similar, profiles
        self._conversations = conversations

    async def extract(self, assignment: Assignment) -> tuple[Extraction, Shown]:
        """Draw memories; see `Extractor.extract`.

        Raises:
            `ModelReplyError`: the model failed, or called no tool although it did not find that there is nothing.
        """
        prompts = Prompts(self._access, assignment)
        found, shown = Extraction(), Shown(refs=True)
        for part in await in_thread(prompts.passages):
            await self._memories(prompts, assignment, part, found, shown)
            if assignment.kind.keeps_profile:
                await self._profile(prompts, assignment, part, found, shown)
        found.proposals = list(shown.proposals.values())
        return found, shown

    async def _memories(
        self, prompts: Prompts, assignment: Assignment, part: Passage, found: Extraction, shown: Shown
    ) -> None:
        say = Say(self._access.book, assignment.language)
        texts = [each.words for each in part.utterances if each.words]
        known = await self._similar.like(assignment.owner, texts, _KNOWN)
        request = sections(prompts.question(part, shown.known_text(known), {}), prompts.text("agent_request"))
        system = prompts.agent_system()
        checks = replace(prompts.checks(shown), prompt=system)
        tools = MemoryTools(checks, shown, self._similar, self._conversations, say)
        toolkit = toolkit_of(tools.functions(), say, thinking=self._access.enable_thinking_params)
        answer = await run_agent(self._access, f"memory of {assignment.owner.key}", system, request, toolkit)
        self._check_idle(answer, tools.used, assignment)
        found.refusals.extend(tools.refusals)

    async def _profile(
        self, prompts: Prompts, assignment: Assignment, part: Passage, found: Extraction, shown: Shown
    ) -> None:
        """The second phase; its failure leaves the memories as they are."""
        say = Say(self._access.book, assignment.language)
        before = {**await self._profiles.read(assignment.owner.target), **found.profile}
        request = sections(
            prompts.question(part, shown.known_text(()), before),
            prompts.text("profile_request"),
        )
        tools = ProfileTools(prompts.checks(shown), before, say)
        toolkit = toolkit_of(tools.functions(), say, thinking=self._access.enable_thinking_params)
        try:
            name = f"profile of {assignment.owner.target}"
            answer = await run_agent(self._access, name, prompts.profile_system(), request, toolkit)
            self._check_idle(answer, tools.used, assignment)
        except ModelReplyError as error:
            logger.warning("The profile of %s stays as it is: %s", assignment.owner.target, error)
            found.failures["profile"] = str(error)
            return
        found.profile.update(tools.entries)
        found.refusals.extend(tools.refusals)

    def _check_idle(self, answer: str, used: bool, assignment: Assignment) -> None:
        """A run that took nothing down is fine if the model found that there is nothing, not if it forgot its tools.

        Raises:
            `ModelReplyError`: it did.
        """
        if not used and not says_nothing(answer, self._access.nothing_patterns()):
            raise ModelReplyError(
                f"Nothing was stored for {assignment.owner.key!r}: the model called no tool that takes anything down, "
                f"and answered {answer[:80]!r}.",
            )
