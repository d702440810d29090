# -*- coding: utf-8 -*-
"""Keeps a memory inside its window: the steps that run before each reasoning step of an agent."""

import functools
import logging
import time
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from agentscope.message import Msg

from .._errors import ReMeError, StorageError
from .._events import EventKind
from ..flow import Sequence as Flow
from ..flow import step
from ..message import is_system_prompt, is_user_request, units
from ._compactor import Compactor, Summary
from ._entries import HINT, Entry
from ._memory import ReMeInMemoryMemory
from ._sections import Checkpoint, parse_checkpoint, render_checkpoint
from ._shrink import shrink, tell_truncated
from ._split import plan_split

__all__ = ["ContextKeeper", "Turn"]

logger = logging.getLogger("agentscope_reme")

_QUOTED_REQUEST = 2_000
"""Characters of the current request that the summary prompt quotes."""


class FoldChangedError(ReMeError):
    """What a fold was based on is not so any more."""


@dataclass
class Fold:
    """What is to be folded, and what it looked like when that was decided."""

    units: list[list[tuple[Entry, Hashable]]]
    split: int | None
    kept: int
    previous: str
    budget: int

    @property
    def messages(self) -> list[Msg]:
        return [entry.msg for unit in self.units for entry, _ in unit]


@dataclass
class Turn:
    """What the steps work on and hand to each other.

    Args:
        memory (`ReMeInMemoryMemory`):
            The memory to keep inside its window.
        compactor (`Compactor`):
            Makes the summaries.
        system_prompt (`str`):
            Counted with the context.
        tools (`list[dict] | None`):
            The tools' JSON schemas, counted with the context.
        language (`str | None`):
            The language of the summary; `None` is the conversation's.
        instruction (`str`):
            Added to the summary's prompt.
        force (`bool`):
            Fold although the threshold has not been passed.
        truncate (`bool`):
            Whether old tool results are cut.
    """

    memory: ReMeInMemoryMemory
    compactor: Compactor
    system_prompt: str = ""
    tools: list[dict[str, Any]] | None = None
    language: str | None = None
    instruction: str = ""
    force: bool = False
    truncate: bool = True
    fold: Fold | None = None
    summary: Summary | None = None
    folded: list[Msg] = field(default_factory=list)
    error: Exception | None = None
    """Why nothing was folded although something should have been."""

    @property
    def parts(self) -> dict[str, int]:
        """The context in tokens: `system_prompt`, `tools`, `summary`, `shown` (recalled memories), `messages`."""
        tokens = self.memory.services.tokens
        summary = self.memory.summary_message()
        return {
            "system_prompt": tokens.text(self.system_prompt) if self.system_prompt else 0,
            "tools": tokens.tools(self.tools),
            "summary": tokens.message(summary) if summary else 0,
            "shown": sum(map(tokens.message, self.memory.shown)),
            "messages": self.memory.total_tokens(),
        }


class ContextKeeper:
    """The steps, and the pipeline that they make: `truncate >> check >> fold >> fit`.

    `pipeline` may be set to another one: `keeper.pipeline = keeper.pipeline.before("check", my_step)`. Each step takes
    a `Turn` and returns it.
    """

    def __init__(self) -> None:
        self.summaries: dict[str | None, Summary] = {}
        """The last summary that was committed, by session."""
        self._warned: set[str | None] = set()
        self._refused: set[str | None] = set()
        """The sessions whose last fold the disk refused: they ask it before they ask a model again."""
        self.pipeline: Flow = step(self.truncate) >> step(self.check) >> step(self.fold) >> step(self.fit)

    async def truncate(self, turn: Turn) -> Turn:
        """Put tool results into files that are no longer recent and longer than old ones may be."""
        turn.memory.verify()
        if not turn.truncate:
            return turn
        services, memory = turn.memory.services, turn.memory
        policy = services.policy
        shortest = min(policy.old_max_bytes, policy.recent_max_bytes)
        long = memory.results(longer_than=shortest)
        if not long:
            return turn
        recent = memory.recent_results(policy.recent_n)
        limits = [(entry, policy.recent_max_bytes if entry.key in recent else policy.old_max_bytes) for entry in long]
        over = [(entry, limit) for entry, limit in limits if entry.result_bytes > limit]
        if over:
            cut = functools.partial(self._cut_results, memory, over, memory.language)
            memory.replace(await anyio.to_thread.run_sync(cut))
        return turn

    async def check(self, turn: Turn) -> Turn:
        """Count, and decide what to fold where it is too much."""
        context = turn.memory.services.context
        parts = turn.parts
        if parts["summary"] > context.summary_budget + turn.memory.guide_tokens():
            await self._condense(turn)
            parts = turn.parts
        turn.memory.overhead = sum(parts.values()) - parts["messages"]
        total = sum(parts.values())
        self._tell_usage(turn, parts, total)
        if total + context.hint_tokens <= context.threshold and not turn.force:
            return turn
        turn.fold = self._plan(turn, parts)
        return turn

    async def fold(self, turn: Turn) -> Turn:
        """Summarize what is to be folded, archive it, commit both, and let it go."""
        if turn.fold is None or not turn.fold.units:
            return turn
        memory, fold = turn.memory, turn.fold
        events = memory.services.events
        before, started, split = sum(turn.parts.values()), time.monotonic(), fold.split is not None
        common: dict[str, Any] = {"session_id": memory.session_id, "tokens_before": before}
        events.emit(EventKind.FOLD_STARTED, messages=len(fold.messages), split_turn=split, **common)
        try:
            if memory.session_id in self._refused:
                await self._try_disk(memory, fold.messages)
            summary = await self._summarize(turn, fold)
            await anyio.to_thread.run_sync(self._prepare, memory, fold.messages)
            self._commit(turn, fold, summary)  # nothing is awaited in here
        except (StorageError, FoldChangedError) as error:
            turn.error = error
            if isinstance(error, StorageError):
                self._refused.add(memory.session_id)
            logger.error("Nothing was folded in session %s: %s", memory.session_id, error)
            stage = "archive" if isinstance(error, StorageError) else "changed"
            events.emit(EventKind.FOLD_FAILED, stage=stage, error=error, **common)
            return turn
        self._refused.discard(memory.session_id)
        if summary.error and summary.source == "extractive":
            fallback: dict[str, Any] = {"attempts": summary.attempts, "error": summary.error}
            events.emit(EventKind.SUMMARY_FALLBACK, session_id=memory.session_id, **fallback)
        events.emit(
            EventKind.FOLDED,
            tokens_after=sum(turn.parts.values()),
            duration=time.monotonic() - started,
            messages=len(turn.folded),
            kept=fold.kept,
            source=summary.source,
            attempts=summary.attempts,
            split_turn=split,
            summary=summary.text,
            error=summary.error,
            **common,
        )
        return turn

    async def fit(self, turn: Turn) -> Turn:
        """Cut the longest of the kept texts where they still do not fit, and say so where nothing helps."""
        if turn.fold is None:
            return turn
        memory, context = turn.memory, turn.memory.services.context
        parts = turn.parts
        memory.overhead = sum(parts.values()) - parts["messages"]
        limit = context.threshold - context.hint_tokens
        if sum(parts.values()) <= limit:
            return turn
        able = [entry for entry, marks in memory.visible() if entry.msg.id not in memory.pins and HINT not in marks]
        try:
            changed = shrink(
                [entry.msg for entry in able],
                sum(parts.values()) - limit,
                tokens=memory.services.tokens,
                results=memory.services.results,
                language=memory.language,
            )
        except StorageError as error:
            self._tell_not_cut(memory, None, error)
            changed = {}
        for at, smaller in changed.items():
            tell_truncated(memory.services, memory.session_id, able[at].msg, smaller)
        memory.replace({able[at].key: smaller for at, smaller in changed.items()})
        parts = turn.parts
        if sum(parts.values()) > limit:
            memory.services.events.emit(
                EventKind.OVER_BUDGET,
                session_id=memory.session_id,
                tokens_after=sum(parts.values()),
                parts=parts,
                error=f"The context needs {sum(parts.values())} of {limit} tokens and nothing more can be folded or "
                "cut: shorten the system prompt, the tools or what is recalled, unpin messages, or enlarge the window.",
            )
        return turn

    # ------------------------------------------------------------------ inside

    def _plan(self, turn: Turn, parts: dict[str, int]) -> Fold | None:
        memory, context = turn.memory, turn.memory.services.context
        entries = [entry for entry, marks in memory.visible(everything=True) if HINT not in marks]
        messages = [entry.msg for entry in entries]
        fixed = parts["system_prompt"] + parts["tools"] + parts["shown"]
        budget = context.summary_budget_beside(fixed)
        room = context.threshold - fixed - budget - memory.guide_tokens() - context.hint_tokens - context.headroom
        pins = memory.pins
        groups = units(messages)
        plan = plan_split(
            [entry.tokens for entry in entries],
            groups,
            [at for at, msg in enumerate(messages) if is_user_request(msg)],
            budget=0 if turn.force else min(context.reserve, max(0, room)),
            always={at for at, msg in enumerate(messages) if msg.id in pins or (at == 0 and is_system_prompt(msg))},
        )
        chosen = set(plan.fold)
        folded = [
            [(entries[at], entries[at].signature) for at in range(unit.start, unit.stop)]
            for unit in groups
            if unit.start in chosen
        ]
        return Fold(folded, plan.turn_start, len(plan.keep), memory.get_compressed_summary(), budget)

    def _still_there(self, memory: ReMeInMemoryMemory, fold: Fold) -> list[Msg]:
        """What of the fold may go now: units of which nothing was edited or pinned since; what was deleted is gone."""
        memory.verify(everything=True)
        stored = {id(msg) for msg, _ in memory.content}
        pins = memory.pins
        going: list[Msg] = []
        for unit in fold.units:
            present = [(entry, signature) for entry, signature in unit if id(entry.msg) in stored]
            if all(entry.signature == signature and entry.msg.id not in pins for entry, signature in present):
                going.extend(entry.msg for entry, _ in present)
        return going

    async def _summarize(self, turn: Turn, fold: Fold) -> Summary:
        compactor = copy(turn.compactor)
        compactor.budget = min(compactor.budget, fold.budget)
        summary = await compactor.summarize(
            fold.messages,
            fold.previous,
            language=turn.language,
            instruction=turn.instruction,
            split=fold.split,
            current_request=self._current_request(turn.memory),
        )
        if parse_checkpoint(summary.text) != Checkpoint():
            return summary
        silent = turn.memory.services.book.text(
            turn.memory.language, "working_memory.silent", count=len(fold.messages), dialog_dir="dialog/"
        )
        text = render_checkpoint(Checkpoint(context=(silent,)), "zh" if turn.memory.language == "zh" else "en")
        return replace(summary, text=text)

    def _prepare(self, memory: ReMeInMemoryMemory, messages: Sequence[Msg]) -> None:
        """What a fold needs of the disk and can have before it, in a thread."""
        services = memory.services
        services.archive.warm({services.archive.day_of(msg) for msg in messages})
        services.results.store.sync({name for msg in messages for name in services.results.references(msg)})

    async def _try_disk(self, memory: ReMeInMemoryMemory, messages: Sequence[Msg]) -> None:
        await anyio.to_thread.run_sync(memory.services.archive.probe, messages)
        if memory.journal_state == "degraded":
            memory.checkpoint()
        if memory.journal_state == "degraded":
            raise StorageError(f"The journal of session {memory.session_id!r} still cannot be written.")

    def _commit(self, turn: Turn, fold: Fold, summary: Summary) -> None:
        memory = turn.memory
        if memory.get_compressed_summary() != fold.previous:
            raise FoldChangedError("the summary was set or cleared while the new one was being written")
        going = self._still_there(memory, fold)
        if not going:
            raise FoldChangedError("what was to be folded was deleted, pinned or edited meanwhile")
        turn.folded = memory.leave(going, op="fold", summary=summary.text)
        turn.summary = self.summaries[memory.session_id] = summary

    async def _condense(self, turn: Turn) -> None:
        """Bring a summary within its budget that somebody set."""
        memory = turn.memory
        before = memory.get_compressed_summary()
        shorter = await anyio.to_thread.run_sync(turn.compactor.extractive, (), before, turn.language)
        if memory.get_compressed_summary() == before:
            await memory.update_compressed_summary(shorter.text)

    def _current_request(self, memory: ReMeInMemoryMemory) -> str:
        requests = (entry.msg for entry, _ in reversed(memory.visible()) if is_user_request(entry.msg))
        request = next(requests, None)
        return (request.get_text_content() or "")[:_QUOTED_REQUEST] if request else ""

    def _cut_results(
        self, memory: ReMeInMemoryMemory, over: Sequence[tuple[Entry, int]], language: str
    ) -> dict[int, Msg]:
        """The cut messages by journal key; one that cannot be cut stays whole and does not stop the others."""
        changed = {}
        for entry, limit in over:
            try:
                smaller = memory.services.results.compact_message(entry.msg, limit, language)
            except StorageError as error:
                self._tell_not_cut(memory, entry.msg.id, error)
                continue
            if smaller is not None:
                tell_truncated(memory.services, memory.session_id, entry.msg, smaller)
                changed[entry.key] = smaller
        return changed

    def _tell_not_cut(self, memory: ReMeInMemoryMemory, message_id: str | None, error: StorageError) -> None:
        logger.error("A text stays whole, for it could not be put into a file: %s", error)
        memory.services.events.emit(
            EventKind.TRUNCATE_FAILED, session_id=memory.session_id, message_id=message_id, error=error
        )

    def _tell_usage(self, turn: Turn, parts: dict[str, int], total: int) -> None:
        memory = turn.memory
        context, session = memory.services.context, memory.session_id
        memory.services.events.emit(EventKind.CHECKED, session_id=session, tokens_before=total, parts=parts)
        if total < context.warn_ratio * context.threshold:
            self._warned.discard(session)
        elif session not in self._warned:
            self._warned.add(session)
            memory.services.events.emit(
                EventKind.USAGE_WARNING, session_id=session, tokens_before=total, ratio=total / context.threshold
            )
