# -*- coding: utf-8 -*-
"""Refinement runs: memories that belong together become one, their sources stay behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._loop_lock import LoopLock
from ..message import estimate_tokens
from ..record import MemoryNode
from ..text import PromptBook
from ..vector_memory import AuditRow, MemoryBank, ModelAccess, Owner, owned_by
from ._condense_prompts import CondensePrompts
from ._condenser import Condenser
from ._config import RefinerConfig
from ._forgetting import is_protected
from ._group_writer import ACTOR, GroupWriter
from ._grouping import group_memories, member_of, time_of
from ._keywords import WordWeights
from ._lexicon import Lexicon, default_lexicon
from ._models import Model, access_of
from ._run_progress import Progress, RunProgress
from ._run_report import RunReport
from ._schema import TagSchema
from ._selection import Catalog, Selected, active, new, select

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase

__all__ = ["RUN", "Refiner"]

logger = logging.getLogger("agentscope_reme")

RUN = "refine_run"
"""The action under which a run stands on record."""

_PAGE = 500
_SAMPLE = 20_000
"""Memories of an owner from which it is told how rare words are."""
_EXTRACT_TOKENS = 1_200
"""The size of a group where no model condenses it: short texts are found more exactly."""
_LEAST_ROOM = 200
"""Tokens for memories below which no model is asked: its window is too small for its instructions."""


class Refiner:
    """Condenses the memories of a bank.

    A run takes up what is new, and the refined memories that it touches; what was condensed before costs nothing. Each
    group is written at once, so that a run can be stopped at any time, also by a crash, and the next one goes on
    there. Protected memories (see `RefinerConfig.protect_from`) take no part and stay as they are.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig`): how.
        refine_model (`ChatModelBase | Mapping | None`): condenses a group in one reply; a dictionary as
            `chat.build_model` takes it. Without one, sentences are extracted. What has no temperature of its own is
            asked at a low one.
        filter_model (`ChatModelBase | Mapping | None`): a cheap model that says before what is of no use, whoever
            condenses the rest.
        formatter (`FormatterBase | None`): goes with the models that are not dictionaries.
        schema (`TagSchema | None`): the dimensions of tags.
        book (`PromptBook | None`): other prompts, words or languages.
        count (`Callable[[str], int]`): counts tokens.
        timeout (`float | None`): seconds for one reply.
    """

    def __init__(
        self,
        bank: MemoryBank,
        config: RefinerConfig | None = None,
        *,
        refine_model: Model = None,
        filter_model: Model = None,
        formatter: FormatterBase | None = None,
        schema: TagSchema | None = None,
        book: PromptBook | None = None,
        count: Callable[[str], int] = estimate_tokens,
        timeout: float | None = 120,
    ) -> None:
        self.config = config or RefinerConfig()
        self.bank = bank
        self.schema = schema or TagSchema()
        self.lexicon = Lexicon(book) if book else default_lexicon()
        self._count = count
        self._refine = access_of(refine_model, formatter, self.lexicon.book, count, timeout)
        self._sift = access_of(filter_model, formatter, self.lexicon.book, count, timeout)
        self._prompts = CondensePrompts(self.config, self.lexicon, count)
        self._condenser = Condenser(self.config, self.lexicon, self._refine, self._sift, count)
        self._writer = GroupWriter(bank, self.config, self.schema, self.lexicon, count)
        self._running = LoopLock()

    @property
    def refine_model(self) -> ModelAccess:
        """The model that condenses."""
        return self._refine

    @property
    def filter_model(self) -> ModelAccess:
        """The model that says what is of no use."""
        return self._sift

    async def count_new(self, owners: Sequence[Owner] | None = None) -> int:
        """How many memories no run has looked at."""
        return await self.bank.store.count([*owned_by(owners), *new(self.config)])

    async def run(
        self,
        owners: Sequence[Owner] | None = None,
        goal: str | None = None,
        on_progress: Progress | None = None,
    ) -> RunReport:
        """Condense what is new.

        Args:
            owners (`Sequence[Owner] | None`): whose memories; None for everybody's.
            goal (`str | None`): what the memory is for, for this run.
            on_progress (`Callable[[int, int], object] | None`): told how many steps of how many are done: one for each
                memory that is read, and one for each that is condensed or left.

        Returns:
            `RunReport`: what was done. With nothing new no group is selected and no model is asked.
        """
        report = RunReport()
        async with self._running.lock():
            if not (fresh := await self.count_new(owners)):
                return report
            there = await self.bank.store.count([*owned_by(owners), *active(self.config)])
            progress = RunProgress(on_progress, there + fresh)
            catalog, weights = await self._catalogued(owners, progress)
            grouping = self._grouping(goal or self.config.goal)
            groups = await asyncio.to_thread(group_memories, catalog.members, grouping, **await self._near(catalog))
            selected = select(groups, catalog, self.config)
            report.groups = len(selected)
            taken_up = {key for each in selected for key in each.group.keys}
            left = sorted((catalog.new | catalog.protected) - taken_up)
            progress.left(len(taken_up) + len(left))
            for each in selected:
                await self._condense(each, grouping.group_limit, weights[each.group.owner], goal, report)
                progress.went(len(each.group.members))
            for at in range(0, len(left), _PAGE):
                page = left[at : at + _PAGE]
                await self._writer.leave(set(page), report)
                progress.went(len(page))
            await self._on_record(sorted(weights), goal, report)
        return report

    # ------------------------------------------------------------------ reading

    @property
    def _asks(self) -> bool:
        return self._refine.is_there or self._sift.is_there

    def _grouping(self, goal: str) -> RefinerConfig:
        """How memories are grouped: so that what a model is asked about a group is within its window."""
        room = self._prompts.room(goal) if self._asks else 0
        extracted = not self._refine.is_there or room < _LEAST_ROOM
        most = min(self.config.group_tokens, _EXTRACT_TOKENS) if extracted else self.config.group_tokens
        return replace(self.config, group_tokens=min(most, room) if room >= _LEAST_ROOM else most)

    def _size(self, node: MemoryNode) -> int:
        return self._prompts.size(node) if self._asks else self._count(node.content)

    async def _catalogued(
        self, owners: Sequence[Owner] | None, progress: RunProgress
    ) -> tuple[Catalog, dict[str, WordWeights]]:
        """A little of each active memory, a page at a time, and how rare words are with each owner."""
        catalog, weights = Catalog(), dict[str, WordWeights]()
        conditions = [*owned_by(owners), *active(self.config)]
        async for page in self.bank.store.pages(conditions):
            await asyncio.to_thread(self._take_down, page, catalog, weights)
            progress.went(len(page))
        return catalog, weights

    def _take_down(self, page: Sequence[MemoryNode], catalog: Catalog, weights: dict[str, WordWeights]) -> None:
        for node in page:
            catalog.add(node, member_of(node, self._count, self._size), self.config)
            mine = weights.setdefault(node.owner, WordWeights())
            if mine.texts < _SAMPLE:
                mine.add(node.content)

    async def _near(self, catalog: Catalog) -> dict[str, Any]:
        """The vectors, where memories are grouped by them."""
        if self.config.group_by != "cluster" or self.bank.store.space is None:
            return {"count": self._count}
        vectors: dict[str, Any] = {}
        keys = [member.key for member in catalog.members]
        for at in range(0, len(keys), _PAGE):
            nodes = await self.bank.store.get(keys[at : at + _PAGE], with_vectors=True)
            vectors.update((key, node.vector) for key, node in nodes.items() if node.vector is not None)
        return {"vectors": vectors, "count": self._count}

    # ------------------------------------------------------------------ one group

    async def _condense(
        self, selected: Selected, limit: int, weights: WordWeights, goal: str | None, report: RunReport
    ) -> None:
        there = await self.bank.store.get([*selected.group.keys, *selected.sources, *selected.touched])
        nodes = [there[key] for key in selected.group.keys if key in there and self._takes_part(there[key])]
        again = [there[key] for key in selected.sources if key in there]
        touched = [there[key] for key in selected.touched if key in there and there[key].is_active]
        if touched and not self._fits(nodes, again, selected, limit):
            touched, again = [], []
        sources = sorted(
            {node.key: node for node in (*again, *nodes)}.values(), key=lambda node: (time_of(node), node.key)
        )
        if not nodes:
            return
        outcome = await self._condenser.condense(sources, weights, self.bank.clock(), goal or "")
        report.calls += outcome.calls
        report.faults += outcome.faults
        if outcome.failure:
            report.failures.append(outcome.failure)
        await self._writer.put(outcome.condensed, sources, nodes, touched, selected.group.label, goal or "", report)

    def _takes_part(self, node: MemoryNode) -> bool:
        return node.is_active and not is_protected(node, self.config)

    def _fits(self, nodes: Sequence[MemoryNode], again: Sequence[MemoryNode], selected: Selected, limit: int) -> bool:
        """Whether the sources of what is touched are all there, and can be condensed with the new ones at once."""
        return len(again) == len(selected.sources) and sum(map(self._size, (*nodes, *again))) <= limit

    async def _on_record(self, owners: Sequence[str], goal: str | None, report: RunReport) -> None:
        told = {"groups": report.groups, "refined": report.refined, "sources": report.sources, "calls": report.calls}
        told |= {"tokens_before": report.tokens_before, "tokens_after": report.tokens_after}
        now = self.bank.clock()
        rows = [AuditRow(now, RUN, Owner.of_key(each), (), ACTOR, goal or "", told) for each in owners]
        await self.bank.record(rows)
