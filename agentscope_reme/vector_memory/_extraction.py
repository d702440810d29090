# -*- coding: utf-8 -*-
"""Memories drawn from a conversation in one reply of a model for each owner."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio

from .._errors import ModelReplyError
from ..chat import ask
from ._checks import Checks
from ._model_access import ModelAccess
from ._profile import ProfileBook
from ._prompts import Assignment, Prompts
from ._proposal import Extraction, Proposal, Refusal
from ._reply_items import items_of
from ._shown import Shown
from ._similar import SimilarMemories

__all__ = ["Extractor", "in_thread"]

logger = logging.getLogger("agentscope_reme")

_ATTEMPTS = 2
_KNOWN = 24
"""Memories that a model is shown beside a part of a conversation."""

_T = TypeVar("_T")


class Extractor:
    """Asks a model, part by part where a conversation is long; what it proposes is checked, and nothing is stored.

    Args:
        access (`ModelAccess`): the model and the prompts.
        similar (`SimilarMemories`): finds what is known already.
        profiles (`ProfileBook`): what is known in pairs of key and value.
    """

    def __init__(self, access: ModelAccess, similar: SimilarMemories, profiles: ProfileBook) -> None:
        self._access, self._similar, self._profiles = access, similar, profiles

    async def extract(self, assignment: Assignment) -> tuple[Extraction, Shown]:
        """Draw memories.

        Args:
            assignment (`Assignment`): what is wanted.

        Returns:
            `tuple[Extraction, Shown]`: what was drawn, and the memories that the model was shown meanwhile.

        Raises:
            `ModelReplyError`: the model failed twice on some part; nothing of the conversation is to be stored then.
            `MissingModelError`: there is no model.
        """
        prompts = Prompts(self._access, assignment)
        parts = await in_thread(prompts.passages)
        profile = await self._profiles.read(assignment.owner.target) if assignment.kind.keeps_profile else {}
        found, shown = Extraction(), Shown()
        for part in parts:
            texts = [each.words for each in part.utterances if each.words]
            known = await self._similar.like(assignment.owner, texts, _KNOWN)
            question = prompts.question(part, shown.known_text(known), {**profile, **found.profile})
            checks = prompts.checks(shown)
            await self._asked(prompts, question, checks, found, shown)
        found.proposals = list(shown.proposals.values())
        return found, shown

    async def _asked(self, prompts: Prompts, question: str, checks: Checks, found: Extraction, shown: Shown) -> None:
        """Ask about one part, once more where the answer cannot be used, and take down what passes."""
        model, formatter = self._access.pair(f"Drawing memories of {checks.owner.key!r} from a conversation")
        problem: ModelReplyError | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            asked = question if problem is None else f"{question}\n\n{prompts.text('retry')}"
            try:
                found.calls += 1
                reply = await ask(
                    model,
                    formatter,
                    prompts.system,
                    asked,
                    timeout=self._access.timeout,
                    temperature=self._access.temperature,
                )
                items, profile = items_of(reply.text, self._access.nothing_patterns())
                answers = await in_thread(checks.proposals, items)
                if items and all(isinstance(each, Refusal) and each.reason == "no_content" for each in answers):
                    raise ModelReplyError(f"None of {len(items)} memories in the model's reply has a content.")
            except ModelReplyError as error:
                logger.warning("Memories of %s, attempt %d: %s", checks.owner.key, attempt, error)
                problem = error
                continue
            for each in answers:
                if isinstance(each, Proposal):
                    shown.propose(replace(each, target=shown.resolve(each.target)))
                elif each is not None:
                    found.refusals.append(each)
            if checks.kind.keeps_profile:
                kept, refused = await in_thread(checks.profile, profile)
                found.profile.update(kept)
                found.refusals.extend(refused)
            return
        raise ModelReplyError(
            f"No memories of {checks.owner.key!r} were stored, since no reply of the model could be used in "
            f"{_ATTEMPTS} attempts: {problem}",
        ) from problem


async def in_thread(call: Callable[..., _T], *arguments: Any) -> _T:
    """Work that grows with the input, off the event loop; a cancelled caller does not wait for it."""
    return await anyio.to_thread.run_sync(partial(call, *arguments), abandon_on_cancel=True)
