# -*- coding: utf-8 -*-
"""The methods of `ReMe` by which memories come from what is said and are condensed: capture, refinement, recall."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentscope.message import Msg

from ._errors import ConfigError, ReMeError
from ._events import EventKind
from ._memory_arguments import Names, count_of, number_of, one_owner, owners, step_of, text_of
from .message import as_msgs, is_user_request
from .record import MemoryNode
from .vector_memory import Filters, KeepingRules, MemoryBank, MemoryRetriever, MemorySummarizer, Owner
from .vector_store import Progress

if TYPE_CHECKING:  # imported where a `ReMe` is made: who has none does not pay for it
    from .refine import (
        Capture,
        Expand,
        Forgetter,
        Recall,
        RefinedRetriever,
        Refiner,
        RefinerConfig,
        RefineSchedule,
        Review,
        RunReport,
        TagSchema,
    )

__all__ = ["Refinement"]

logger = logging.getLogger("agentscope_reme")

_TYPES = ("personal", "procedural", "tool", "history")
_LOOK_EVERY = 60.0
_RECENT = 4
_RECENT_CHARS = 300


class Refinement:
    """What `ReMe` does with conversations as they go on, and with many memories."""

    bank: MemoryBank
    retriever: MemoryRetriever
    summarizer: MemorySummarizer
    forgetter: "Forgetter"
    capture: "Capture"
    """Listens to conversations."""
    refiner: "Refiner"
    """Condenses memories."""
    recaller: "RefinedRetriever"
    """Recalls condensed memories and goes back to their sources; its settings can be changed at any time."""
    schedule: "RefineSchedule"
    """Refines in the background, where a configuration was given."""

    @staticmethod
    def _check_refinement(config: object, schema: object, kinds: Iterable[str]) -> None:
        """Refuse a configuration or a schema that is none, and types of memories that there are not.

        Raises:
            `ConfigError`: with the cure.
        """
        from .refine import RefinerConfig, TagSchema

        if not isinstance(config, (RefinerConfig, type(None))):
            raise ConfigError(f"refiner is {config!r}: give a RefinerConfig, or None to refine by hand.")
        if not isinstance(schema, (TagSchema, Mapping, type(None))):
            cure = "give a TagSchema, or a mapping such as {'topic': ['food', 'work']}"
            raise ConfigError(f"schema is {schema!r}: {cure}.")
        there = {*_TYPES, *kinds}
        for name in (config.memory_types or ()) if config else ():
            if name not in there:
                raise ConfigError(f"memory_types has {name!r}: there are {', '.join(sorted(there))}.")

    def _set_up_refinement(
        self,
        config: "RefinerConfig | None",
        schema: "TagSchema | Mapping[str, Sequence[str]] | None",
        count: Callable[[str], int],
        max_input_length: int,
        refine_model: Any,
        filter_model: Any,
    ) -> None:
        from .refine import (
            Capture,
            RefinedRetriever,
            Refiner,
            RefinerConfig,
            RefineSchedule,
            TagSchema,
            keeping_rules,
        )

        if schema is not None and not isinstance(schema, TagSchema):
            schema = TagSchema.of(schema)
        self._by_itself = config is not None
        config = config or RefinerConfig()
        if config.max_input_length is None:
            config = replace(config, max_input_length=max_input_length)
        self._schema = schema
        self._rules: KeepingRules = keeping_rules(config, schema)
        self.capture = Capture(
            self.bank, config, summarizer=self.summarizer, forgetter=self.forgetter, schema=schema, count=count
        )
        self.refiner = Refiner(
            self.bank,
            config,
            refine_model=refine_model,
            filter_model=filter_model,
            schema=schema,
            count=count,
        )
        self.recaller = RefinedRetriever(self.bank, self.retriever, schema=schema, count=count)
        self.schedule = RefineSchedule(self.refiner)
        self._looking: asyncio.Task[None] | None = None

    @abstractmethod
    async def _ensure_started(self) -> None: ...

    # ------------------------------------------------------------------ capture

    async def add_interaction(
        self, messages: "Sequence[Msg | dict[str, Any]]", user_name: str, session_id: str = ""
    ) -> list[MemoryNode]:
        """Listen to a conversation as it goes on. Each message counts once, however often it is handed in.

        What the user asks to be remembered ("记住…", "remember that ...") is stored at once, what is to be forgotten is
        forgotten, and from the rest memories are drawn in the background when a rule of
        `RefinerConfig.trigger_rules` says so: by the model, or without one by rules.

        Of a request to forget, `EventKind.FORGET_ASKED` tells what was done. Memories of health and safety wait for
        `preview_forget` and `forget`, unless they are what the request names; "forget everything" is not obeyed, for
        that there are `delete_all` and `purge_all`.

        Args:
            messages (`Sequence[Msg | dict]`):
                What was said, by the user and to them, oldest first.
            user_name (`str`):
                The user.
            session_id (`str`):
                The session.

        Returns:
            `list[MemoryNode]`: what was stored at once.
        """
        owner = one_owner(user_name, "", "")
        text_of("session_id", session_id)
        await self._ensure_started()
        stored = await self.capture.hear(owner, as_msgs(messages), session_id)
        if self._by_itself:
            self.schedule.heard(owner)
        return stored

    async def end_session(
        self, user_name: Names = "", session_id: str = "", *, task_name: Names = "", tool_name: Names = ""
    ) -> None:
        """Say that a session or a task is over: memories are drawn from what waits, if a rule says so, and this is
        waited for. With `RefinerConfig.after_session` they are condensed soon after.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose session it was, and which tasks are done; together at least one.
            session_id (`str`):
                The session.
        """
        named = owners(user_name, task_name, tool_name)
        text_of("session_id", session_id)
        await self._ensure_started()
        for owner in named:
            await self.capture.end(owner, session_id)
        await self.capture.drain()
        if self._by_itself:
            for owner in named:
                self.schedule.ended(owner)

    async def await_capture(self) -> None:
        """Wait for memories that are being drawn in the background."""
        await self._ensure_started()
        await self.capture.drain()

    # ------------------------------------------------------------------ refinement

    async def refine(
        self,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        goal: str | None = None,
        progress: Progress | None = None,
    ) -> "RunReport":
        """Condense memories that belong together; their sources stay behind them, linked, and can be had back.

        Only what is new is taken up: with nothing new no model is asked. Without a model the sources' own most telling
        sentences are kept. A run can be broken off at any time, and the next one goes on there.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; everybody's where nobody is named.
            goal (`str | None`):
                What the memory is for.
            progress (`Callable[[int, int], object] | None`):
                Told how many steps of how many are done: one for each memory that is read, and one for each that is
                condensed or left.

        Returns:
            `RunReport`: what was done.

        Raises:
            `ConfigError`: an argument cannot work.
        """
        named = owners(user_name, task_name, tool_name) if user_name or task_name or tool_name else None
        if goal is not None:
            text_of("goal", goal)
        step_of("progress", progress)
        await self._ensure_started()
        return await self.refiner.run(named, goal, progress)

    async def review_refined(
        self, number: int = 5, user_name: Names = "", task_name: Names = "", tool_name: Names = "", *, seed: int = 0
    ) -> "list[Review]":
        """A sample of condensed memories beside their sources, for a person to judge; `str()` of one is for reading."""
        from .refine import review

        named = owners(user_name, task_name, tool_name) if user_name or task_name or tool_name else None
        count = count_of("number", number) or 5
        number_of("seed", seed)
        await self._ensure_started()
        return await review(self.bank, count, named, seed=seed)

    # ------------------------------------------------------------------ recall

    async def recall(
        self,
        query: str,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        messages: "Sequence[Msg | dict[str, Any]] | None" = None,
        limit: int = 20,
        filters: Filters = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        expand: "Expand" = "auto",
    ) -> "Recall":
        """Recall on two levels: condensed memories first, then what of their sources the request asks for.

        Several queries are made of the request and of what was said before; days and topics that it names are looked
        for, unless nothing is found with them; if little is found, the names in it start a second search. No model is
        asked, unless `recaller.rerank` or `recaller.write_queries` is set. `recaller.knowledge` is asked where the
        memories are weak, and its passages stand apart.

        Args:
            query (`str`):
                What the user says or asks.
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one.
            messages (`Sequence[Msg | dict] | None`):
                What was said before.
            limit (`int`):
                How many memories at most.
            filters (`Mapping[str, Any] | None`):
                By field, what memories must meet; see `agentscope_reme.record.parse_filters`.
            min_score (`float`):
                The least score, 0 to 1.
            max_tokens (`int | None`):
                The most tokens of the memories together.
            expand (`"auto" | bool`):
                Whether sources are looked through: as the request asks for it, always, or never.

        Returns:
            `Recall`: the memories (`nodes`), and passages of knowledge bases.

        Raises:
            `ConfigError`: nobody is named, or an argument cannot work.
        """
        named, said = owners(user_name, task_name, tool_name), _said(as_msgs(messages))
        count = count_of("limit", limit) or 20
        count_of("max_tokens", max_tokens)
        number_of("min_score", min_score, 0, 1)
        if expand != "auto" and not isinstance(expand, bool):
            raise ConfigError(f"expand is {expand!r:.200}: give 'auto', True or False.")
        await self._ensure_started()
        return await self.recaller.recall(
            text_of("query", query),
            named,
            recent=said,
            limit=count,
            filters=filters,
            min_score=min_score or 0.0,
            max_tokens=max_tokens,
            expand=expand,
        )

    # ------------------------------------------------------------------ inside

    def _fitted(self, owner: Owner, fields: Mapping[str, Any], before: MemoryNode | None = None) -> dict[str, Any]:
        """Fields of a memory, with a category and tags that the schema allows, where one was declared.

        Raises:
            `ConfigError`: it does not allow them.
        """
        if self._schema is None:
            return dict(fields)
        kind = self.summarizer.kinds.get(owner.memory_type)
        own = () if kind is None or kind.people_only else kind.categories
        return self._schema.fitted(fields, before, (*own, *self._schema.categories))

    async def _settled(self, node: MemoryNode) -> MemoryNode:
        return await self.capture.settle(node)

    def _look(self) -> None:
        """Begin to look now and then, in the running loop, where a configuration was given: for quiet users, for runs
        that are due, for a sweep."""
        loop = asyncio.get_running_loop()
        task = self._looking
        if self._by_itself and (task is None or task.done() or task.get_loop() is not loop):
            self._looking = loop.create_task(self._watch())

    async def _resume_capture(self) -> None:
        """Do what users asked for outright before the process ended; what cannot be done yet is told and waits."""
        try:
            await self.capture.resume()
        except ReMeError as error:
            logger.warning("What users asked to be remembered or forgotten cannot be done now: %s", error)

    async def _watch(self) -> None:
        stages = {"capture": self.capture.tick, "refine": self.schedule.look, "sweep": self._swept}
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            for stage, work in stages.items():
                try:
                    await work()
                except Exception as error:
                    level = logging.WARNING if isinstance(error, ReMeError) else logging.ERROR
                    logger.log(level, "Memories could not be looked after now (%s): %s", stage, error, exc_info=True)
                    self.bank.events.emit(EventKind.MEMORY_UPKEEP_FAILED, error=error, stage=stage)

    async def _swept(self) -> None:
        if await self.forgetter.is_due():
            await self.forgetter.sweep(None)

    async def _end_refinement(self) -> None:
        """Wait for what is being drawn, and end the work in the background."""
        task, self._looking = self._looking, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self.schedule.close()
        await self.capture.close()


def _said(messages: Sequence[Msg]) -> list[str]:
    """The last requests, briefly."""
    texts = [msg.get_text_content() or "" for msg in messages if is_user_request(msg)]
    return [text[:_RECENT_CHARS] for text in texts[-_RECENT:] if text.strip()]
