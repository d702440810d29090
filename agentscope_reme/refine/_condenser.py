# -*- coding: utf-8 -*-
"""A group of memories condensed to one text: by a model whose answer is checked, or by extraction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .._errors import ModelReplyError
from ..chat import Reply, ask
from ..message import estimate_tokens
from ..record import MemoryNode
from ..vector_memory import ModelAccess
from ._category import reason_to_drop
from ._condense_prompts import CondensePrompts
from ._config import RefinerConfig
from ._draft import Draft, parse_draft, parse_numbers
from ._extractive import extract
from ._fidelity import Fault, missing_statements, must_keep, repaired
from ._grounds import Grounds, sources_of
from ._grouping import time_of
from ._keywords import WordWeights, keywords_of
from ._lexicon import Lexicon
from ._refined import Condensed

__all__ = ["EXTRACTIVE", "Condenser", "Outcome", "missing_in"]

logger = logging.getLogger("agentscope_reme")

EXTRACTIVE = "extractive"
"""What a refined memory is made by where no model made it."""

_ATTEMPTS = 2
_MOST_NAMED = 12


@dataclass
class Outcome:
    """What came of a group.

    Args:
        condensed (`Condensed | None`): the text; None where there is nothing to say, or nothing is gained.
        calls (`int`): how often a model was asked.
        faults (`list[Fault]`): claims of a model that its sources did not bear out, and that were left out.
        failure (`str`): why a model's answer could not be used, where it was extracted instead.
    """

    condensed: Condensed | None = None
    calls: int = 0
    faults: list[Fault] = field(default_factory=list)
    failure: str = ""


class Condenser:
    """Condenses groups.

    Args:
        config (`RefinerConfig`): ratios, the goal, and what protects.
        lexicon (`Lexicon`): the words that tell, and the prompts.
        refine (`ModelAccess`): the model that condenses; without one, sentences are extracted.
        sift (`ModelAccess`): a cheap model that says first what is of no use; without one, rules alone do.
        count (`Callable[[str], int]`): counts tokens.
    """

    def __init__(
        self,
        config: RefinerConfig,
        lexicon: Lexicon,
        refine: ModelAccess,
        sift: ModelAccess,
        count: Callable[[str], int] = estimate_tokens,
    ) -> None:
        self._config, self._lexicon, self._count = config, lexicon, count
        self._refine, self._sift = refine, sift
        self._prompts = CondensePrompts(config, lexicon, count)

    async def condense(
        self, nodes: Sequence[MemoryNode], weights: WordWeights, now: datetime, goal: str = ""
    ) -> Outcome:
        """Condense the memories of a group.

        What a model says is checked claim by claim; lines that the sources do not bear out are left out. Where too much
        goes, it is asked once more, with the claims named; then the sources' own sentences take its place.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories, in the order of time.
            weights (`WordWeights`): how much words tell.
            now (`datetime`): the present.
            goal (`str`): what the memory is for; that of the configuration by default.
        """
        outcome = Outcome()
        useful = await asyncio.to_thread(self._worth_it, nodes, now)
        if useful and self._sift.is_there:
            useful = await self._sifted(useful, outcome)
        if useful and self._refine.is_there:
            outcome.condensed = await self._by_model(nodes, useful, weights, goal or self._config.goal, outcome)
        if useful and outcome.condensed is None:
            outcome.condensed = await asyncio.to_thread(self._extracted, useful, weights)
        return outcome

    # ------------------------------------------------------------------ rules

    def _worth_it(self, nodes: Sequence[MemoryNode], now: datetime) -> list[MemoryNode]:
        return [
            node for node in nodes if not reason_to_drop(node.content, self._lexicon, now=now, expires=node.expires_at)
        ]

    def _extracted(self, nodes: Sequence[MemoryNode], weights: WordWeights) -> Condensed | None:
        found = extract(nodes, self._config, self._lexicon, count=self._count, weights=weights)
        if not found.content or found.time is None:
            return None
        return Condensed(found.content, found.keywords, found.time, EXTRACTIVE)

    # ------------------------------------------------------------------ models

    async def _sifted(self, nodes: list[MemoryNode], outcome: Outcome) -> list[MemoryNode]:
        """Without what the cheap model finds useless; an answer that cannot be read leaves everything."""
        if len(nodes) < 2:
            return nodes
        language = self._language(nodes)
        system, question = self._prompts.sifting(language, nodes)
        if not self._prompts.fits_sifting(system, question, len(nodes)):
            return nodes
        outcome.calls += 1
        try:
            reply = await self._asked(self._sift, "Sifting memories", system, question)
            dropped = parse_numbers(reply.text, len(nodes))
        except ModelReplyError as error:
            logger.warning("What memories are of use was not told: %s", error)
            return nodes
        return [
            node
            for number, node in enumerate(nodes, 1)
            if number not in dropped or must_keep(node, self._config, self._lexicon)
        ] or nodes

    async def _by_model(
        self, nodes: Sequence[MemoryNode], useful: list[MemoryNode], weights: WordWeights, goal: str, outcome: Outcome
    ) -> Condensed | None:
        language = self._language(useful)
        statements = list(dict.fromkeys(s for node in useful for s in must_keep(node, self._config, self._lexicon)))
        grounds = Grounds(sources_of(nodes), self._lexicon, known=[nodes[0].memory_target])
        total = sum(self._count(node.content) for node in useful)
        wanted = self._config.content_budget(total)
        system, request = self._prompts.condensing(language, useful, statements, wanted, goal)
        said, problem = max(map(time_of, useful)), ""
        for _ in range(_ATTEMPTS):
            asked = self._prompts.again(language, request, problem) if problem else request
            if not self._prompts.fits_condensing(system, asked, statements, wanted):
                outcome.failure = outcome.failure or self._too_long()
                break
            outcome.calls += 1
            try:
                reply = await self._asked(self._refine, "Refining memories", system, asked)
                draft = parse_draft(reply.text)
            except ModelReplyError as error:
                outcome.failure, problem = str(error), self._prompts.text(language, "not_json")
                continue
            lines = draft.lines(lambda b, a: self._prompts.text(language, "changed", before=b, after=a))
            kept, faults = await asyncio.to_thread(repaired, lines, grounds, said, statements)
            problem = self._problem(language, lines, kept, faults, statements, total)
            if not problem:
                outcome.faults += faults
                outcome.failure = ""
                return self._condensed(kept, draft, nodes, weights, said, total)
            outcome.failure = problem
        logger.warning("No model's refinement can be used, sentences are extracted instead: %s", outcome.failure)
        return None

    def _problem(
        self,
        language: str,
        lines: Sequence[str],
        kept: Sequence[str],
        faults: Sequence[Fault],
        statements: Sequence[str],
        total: int,
    ) -> str:
        """Why an answer cannot be used; "" where it can."""
        sound = [line for line in kept if line in lines]
        if 2 * len(sound) < len(lines) or not (sound or statements):
            claims = ", ".join(dict.fromkeys(fault.text for fault in faults[:_MOST_NAMED]))
            return self._prompts.text(language, "unfounded", claims=claims or "-")
        if self._count("\n".join(kept)) >= total:
            return self._prompts.text(language, "too_long")
        return ""

    def _condensed(
        self,
        lines: Sequence[str],
        draft: Draft,
        nodes: Sequence[MemoryNode],
        weights: WordWeights,
        said: datetime,
        total: int,
    ) -> Condensed:
        content = "\n".join(line if line == draft.narrative else f"- {line}" for line in lines)
        texts = [node.content for node in nodes]
        budget = self._config.keyword_budget(total, self._count(content))
        words = keywords_of(texts, content, budget, weights, self._count)
        return Condensed(content, words, said, self._name(), _parts(draft, lines))

    async def _asked(self, access: ModelAccess, purpose: str, system: str, question: str) -> Reply:
        model, formatter = access.pair(purpose)
        return await ask(model, formatter, system, question, timeout=access.timeout, temperature=access.temperature)

    def _name(self) -> str:
        model, _ = self._refine.pair("Refining memories")
        return str(getattr(model, "model_name", "") or type(model).__name__)

    def _language(self, nodes: Sequence[MemoryNode]) -> str:
        return self._refine.language(None, [node.content for node in nodes])

    def _too_long(self) -> str:
        return (
            f"A request would take more than {self._config.request_limit} tokens, the share of the model's window: "
            "its memories are condensed without it. A larger max_input_length lets the model do it."
        )


def missing_in(condensed: Condensed, nodes: Sequence[MemoryNode], config: RefinerConfig, lexicon: Lexicon) -> list[str]:
    """The statements that must be kept and that a condensed text does not hold: none, or it may not be stored."""
    return missing_statements(condensed.content, [each for node in nodes for each in must_keep(node, config, lexicon)])


def _parts(draft: Draft, lines: Sequence[str]) -> dict[str, Any]:
    """The parts of a draft, without what was left out."""
    kept = set(lines)
    parts: dict[str, Any] = {
        "narrative": draft.narrative if draft.narrative in kept else "",
        "facts": [each for each in draft.facts if each in kept],
        "preferences": [each for each in draft.preferences if each in kept],
        "lessons": [each for each in draft.lessons if each in kept],
        "changes": [list(each) for each in draft.changes],
    }
    return {name: part for name, part in parts.items() if part}
