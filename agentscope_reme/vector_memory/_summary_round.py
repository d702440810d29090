# -*- coding: utf-8 -*-
"""One conversation worked on for all its targets at the same time; what fails for one fails for it alone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial

from .._errors import MissingModelError, ModelReplyError, ReMeError
from .._events import EventKind
from ..flow import Parallel, step
from ..message import delimited
from ..record import MemoryNode
from ._calls_in import calls_in
from ._delegation import delegate, targets_text
from ._extraction import in_thread
from ._memory_writer import Written
from ._owner import Owner
from ._prompts import Assignment, sections
from ._proposal import Extraction
from ._small_talk import says_something
from ._utterances import Utterance, passages, utterances
from ._workshop import Talk, Workshop
from .kinds import MemoryKind

__all__ = ["SummaryRound"]

logger = logging.getLogger("agentscope_reme")

_TOOL_CHARS = {True: 600, False: 3_000}
"""The most of a tool's message that is shown: where only people count, and elsewhere."""
_ROUTE_TOKENS = 2_000


class SummaryRound:
    """Works on one conversation.

    Args:
        workshop (`Workshop`): what is worked with.
        talk (`Talk`): what is worked on.
    """

    def __init__(self, workshop: Workshop, talk: Talk) -> None:
        self._shop, self._talk = workshop, talk
        self._nodes: dict[Owner, list[MemoryNode]] = {}
        self._failures: dict[Owner, ReMeError] = {}

    async def run(self, owners: Sequence[Owner]) -> list[MemoryNode]:
        """Work for these targets.

        Returns:
            `list[MemoryNode]`: what is new or changed, target by target.

        Raises:
            `ReMeError`: it failed for all of them.
        """
        from_records = [owner for owner in owners if self._kind(owner).from_records]
        from_talk = [owner for owner in owners if owner not in from_records]
        delegating = self._shop.delegating and len(from_talk) > 1 and self._shop.access.is_there
        jobs = [
            *(partial(self._guide, owner) for owner in from_records),
            *([partial(self._choose, from_talk)] if delegating else (partial(self._draw, each) for each in from_talk)),
        ]
        await Parallel([step(partial(_done, job), "job") for job in jobs])(None)
        if owners and len(self._failures) == len(owners):
            raise _as_one({owner: self._failures[owner] for owner in owners})
        return [node for owner in owners for node in self._nodes.get(owner, ())]

    # ------------------------------------------------------------------ the jobs

    async def _choose(self, owners: Sequence[Owner]) -> None:
        """Let a model say which targets are concerned, and draw for those."""
        worth = [owner for owner in owners if self._says_something(self._kind(owner))]
        if len(worth) < 2:
            for owner in worth:
                await self._draw(owner)
            return
        access, language = self._shop.access, self._talk.language or "en"

        def text(name: str, **values: object) -> str:
            return access.book.get(language, f"memory_agent.{name}").fill(**values)

        try:
            system = text("route", targets=targets_text(worth))
            request = sections(
                text("description", description=self._talk.description) if self._talk.description else "",
                text("conversation", conversation=delimited(await in_thread(self._outline), "conversation")),
                text("route_request"),
            )
            await delegate(access, worth, self._draw, language=language, system=system, request=request)
        except ReMeError as error:
            for owner in worth:
                self._failed(owner, error, "delegation")

    async def _draw(self, owner: Owner) -> None:
        """Draw memories of a target from the conversation, and store them."""
        kind = self._kind(owner)
        try:
            model, _ = self._shop.access.pair(f"Drawing memories of {owner.key!r} from a conversation")
            if not self._says_something(kind):
                return
            rules = self._talk.rules.of_kind(kind)
            assignment = Assignment(
                kind,
                owner,
                tuple(self._said(kind)),
                self._talk.language or "en",
                self._talk.forced,
                self._talk.description,
                rules,
            )
            drawn, shown = await self._shop.drawing.extract(assignment)
            actor = str(getattr(model, "model_name", type(model).__name__))
            written = await self._shop.writer.write(owner, drawn, shown, self._talk.messages, rules=rules, actor=actor)
        except ReMeError as error:
            self._failed(owner, error, "summary")
            return
        self._nodes[owner] = written.nodes
        self._tell(owner, drawn, written)

    async def _guide(self, owner: Owner) -> None:
        """Record the calls in the conversation, and bring the guide to the tool up to date."""
        try:
            calls = await in_thread(calls_in, self._talk.messages, owner.target, self._shop.access.count)
            if calls:
                await self._shop.records.record(calls)
            guide = await self._shop.guides.update(
                self._kind(owner),
                owner,
                language=self._talk.language,
                forced=self._talk.forced,
                by_model=self._talk.by_model,
            )
        except ReMeError as error:
            self._failed(owner, error, "guide")
            return
        if guide is not None:
            self._nodes[owner] = [guide]
            self._shop.events.emit(
                EventKind.TOOL_GUIDE_UPDATED,
                tool=owner.target,
                calls=len(calls),
                source="model" if guide.metadata.get("read") == guide.metadata.get("seen") else "statistics",
            )

    # ------------------------------------------------------------------ the conversation

    def _kind(self, owner: Owner) -> MemoryKind:
        return self._shop.kinds[owner.memory_type]

    def _said(self, kind: MemoryKind) -> list[Utterance]:
        return self._for_people if kind.people_only else self._for_all

    @cached_property
    def _for_people(self) -> list[Utterance]:
        return utterances(self._talk.messages, person=self._talk.person, tool_chars=_TOOL_CHARS[True])

    @cached_property
    def _for_all(self) -> list[Utterance]:
        return utterances(self._talk.messages, person=self._talk.person, tool_chars=_TOOL_CHARS[False])

    def _says_something(self, kind: MemoryKind) -> bool:
        return says_something(self._said(kind), kind, self._shop.phrases)

    def _outline(self) -> str:
        """The conversation for the one who chooses; of a long one its beginning, whose subject most of it has."""
        capacity = max(1_000, self._shop.access.max_input_tokens - _ROUTE_TOKENS)
        return passages(self._for_people, capacity, self._shop.access.count)[0].text

    # ------------------------------------------------------------------ what came of it

    def _failed(self, owner: Owner, error: ReMeError, stage: str) -> None:
        logger.warning("Memories of %s could not be drawn: %s", owner.key, error)
        self._failures.setdefault(owner, error)
        self._shop.events.emit(EventKind.MEMORY_SUMMARY_FAILED, error=error, owner=owner.key, stage=stage)

    def _tell(self, owner: Owner, drawn: Extraction, written: Written) -> None:
        events = self._shop.events
        for stage, reason in drawn.failures.items():
            events.emit(EventKind.MEMORY_SUMMARY_FAILED, error=reason, owner=owner.key, stage=stage)
        if written.refusals:
            reasons = [str(each) for each in written.refusals]
            counted = Counter(each.reason for each in written.refusals)  # what was said belongs in no log
            told = ", ".join(f"{reason} ({count})" for reason, count in counted.items())
            logger.warning("Not stored of what was proposed for %s: %s", owner.key, told)
            events.emit(EventKind.MEMORY_REFUSED, owner=owner.key, reasons=reasons)
        events.emit(
            EventKind.MEMORIES_SUMMARIZED,
            owner=owner.key,
            added=written.counts["add"],
            updated=written.counts["update"],
            superseded=written.counts["supersede"],
            known=written.counts["known"],
            calls=written.calls,
        )


async def _done(job: Callable[[], Awaitable[None]], _: object) -> None:
    await job()


def _as_one(failures: dict[Owner, ReMeError]) -> ReMeError:
    """The error for a round in which everything failed."""
    errors = list(failures.values())
    if len(errors) == 1 or all(isinstance(each, MissingModelError) for each in errors):
        return errors[0]
    told = "; ".join(dict.fromkeys(f"{owner.key}: {error}" for owner, error in failures.items()))
    joined = ModelReplyError(f"No memories were stored for any of {len(errors)} targets. {told}")
    joined.__cause__ = errors[0]
    return joined
