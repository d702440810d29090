# -*- coding: utf-8 -*-
"""What is said, taken down as it is said: stored at once where a user asks for it, and drawn from when rules say so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from agentscope.message import Msg

from .._errors import ReMeError
from .._loop_lock import LoopLock
from ..message import (
    as_msgs,
    estimate_tokens,
    is_recalled,
    is_repair,
    is_summary,
    is_system_prompt,
    is_user_request,
    render,
)
from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, MemorySummarizer, Owner, owned_by
from ._at_once import AtOnce, Obeys, last_words, new_memory, said_at, words_in
from ._config import RefinerConfig
from ._cutting import said_in, without
from ._enriching import Said, drawn_by_rules, enriched
from ._heard import Heard, HeardMessages
from ._keeping import keeping_rules
from ._lexicon import Lexicon, default_lexicon
from ._schema import TagSchema
from ._settling import Settler
from ._triggers import CaptureState, Trigger, due, parse_triggers

__all__ = ["Capture"]

logger = logging.getLogger("agentscope_reme")

_TOO_MANY = 400
"""Messages that wait for a model that fails, from which on rules draw from them."""
_FORGOTTEN_AT = "forgotten_at"
"""The key of the metadata of a forgotten memory that says when."""


class Capture:
    """Listens to conversations, one user at a time.

    What a user asks to be remembered is stored at once, with high importance; "忘掉…" is obeyed, where there is a
    forgetter. Everything else waits, on disk, until a rule says that it is time (see `parse_triggers`); then memories
    are drawn from it in the background, by the summarizer's model or, without one, by rules. Each message counts once,
    whoever hands it in and however often, also after a crash.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig`): the rules, and how contradictions are settled.
        summarizer (`MemorySummarizer | None`): draws memories with a model, where it has one.
        forgetter (`Forgetter | None`): obeys requests to forget.
        schema (`TagSchema | None`): the dimensions of tags, and the categories.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        count (`Callable[[str], int]`): counts tokens.
        told (`Callable[[Owner, Sequence[MemoryNode]], object] | None`): told of memories that were drawn.
    """

    def __init__(
        self,
        bank: MemoryBank,
        config: RefinerConfig | None = None,
        *,
        summarizer: MemorySummarizer | None = None,
        forgetter: Obeys | None = None,
        schema: TagSchema | None = None,
        lexicon: Lexicon | None = None,
        count: Callable[[str], int] = estimate_tokens,
        told: Callable[[Owner, Sequence[MemoryNode]], object] | None = None,
    ) -> None:
        self.config = config or RefinerConfig()
        self.heard = HeardMessages(bank)
        self._bank, self._summarizer = bank, summarizer
        self._schema, self._lexicon = schema or TagSchema(), lexicon or default_lexicon()
        self._count, self._told = count, told
        self._triggers: tuple[Trigger, ...] = parse_triggers(self.config.trigger_rules)
        self._rules = keeping_rules(self.config, schema, self._lexicon)
        self._settler = Settler(bank, self.config, self._lexicon)
        self._at_once = AtOnce(
            bank, self.heard, self._settler, forgetter, self._triggers, self.config, self._schema, self._lexicon
        )
        self._hearing: dict[Owner, LoopLock] = {}
        self._drawing: dict[Owner, LoopLock] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    # ------------------------------------------------------------------ listening

    async def hear(
        self, owner: Owner, messages: Sequence[Msg | dict[str, Any]], session_id: str = ""
    ) -> list[MemoryNode]:
        """Take down what was said; may be handed in again.

        Args:
            owner (`Owner`): the user.
            messages (`Sequence[Msg | dict]`): what was said, by the user and to them, oldest first.
            session_id (`str`): the session.

        Returns:
            `list[MemoryNode]`: what was stored at once.
        """
        async with self._hearing.setdefault(owner, LoopLock()).lock():
            said = [msg for msg in as_msgs(messages) if _counts(msg)]
            fresh = await self.heard.put(owner, session_id, said, self._at_once.asks)
            stored = await self._obey(owner)
        if fresh:
            await self._look(owner, session_id)
        return stored

    async def settle(self, node: MemoryNode, *, actor: str = "", cause: str = "") -> MemoryNode:
        """Store a memory beside what is known, as one that is heard; see `Settler.settle`."""
        return await self._settler.settle(node, actor=actor, cause=cause)

    async def resume(self) -> None:
        """Do what was asked for outright and could not be done before the process ended."""
        for owner in await self.heard.owners(unobeyed=True):
            async with self._hearing.setdefault(owner, LoopLock()).lock():
                await self._obey(owner)

    async def end(self, owner: Owner, session_id: str = "") -> None:
        """A session is over: drawn from now, if a rule says so."""
        async with self._hearing.setdefault(owner, LoopLock()).lock():
            await self._obey(owner)
        await self._look(owner, session_id, ended=True)

    async def tick(self) -> None:
        """Look whether anybody has been quiet for as long as a rule says; call it from time to time."""
        await self.resume()
        for owner in await self.heard.owners():
            for session in dict.fromkeys(each.session for each in await self.heard.waiting(owner)):
                await self._look(owner, session)

    async def drain(self) -> None:
        """Wait for what is being drawn."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Wait for what is being drawn; what waits is taken up by the next one over the same bank."""
        await self.drain()

    # ------------------------------------------------------------------ at once

    async def _obey(self, owner: Owner) -> list[MemoryNode]:
        """Do what messages ask for outright and is not done yet, in the order in which they came."""
        stored: list[MemoryNode] = []
        for each in await self.heard.unobeyed(owner):
            waiting = await self.heard.waiting(owner, each.session)
            previous = last_words([other.message for other in waiting if other.position < each.position])
            msg: Msg | None = each.message
            if self._at_once.asks_to_forget(each.message):
                async with self._drawing.setdefault(owner, LoopLock()).lock():  # what is being drawn goes, too
                    msg = await self._at_once.forget(owner, each)
            if msg is not None:
                stored += await self._at_once.store(owner, msg, previous)
            await self.heard.obeyed(owner, each)
        return stored

    # ------------------------------------------------------------------ later

    async def _look(self, owner: Owner, session: str, *, ended: bool = False) -> None:
        """Begin to draw from what waits of a session, if a rule says so."""
        waiting = await self.heard.waiting(owner, session)
        if not waiting:
            return
        rule = due(self._triggers, self._state([each.message for each in waiting], ended))
        if rule is not None:
            task = asyncio.get_running_loop().create_task(self._draw(owner, session, rule.name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _state(self, messages: Sequence[Msg], ended: bool) -> CaptureState:
        last = said_at(messages[-1], self._bank.clock())
        mine = [msg for msg in messages if is_user_request(msg)]
        return CaptureState(
            rounds=len(mine),
            tokens=sum(self._count(render(msg)) for msg in messages),
            idle=max(0.0, (self._bank.clock() - last).total_seconds()),
            ended=ended,
            user_text=words_in(mine[-1]) if mine else "",
        )

    async def _draw(self, owner: Owner, session: str, rule: str) -> None:
        """Draw memories from what waits of a session, and note that it was drawn from."""
        async with self._drawing.setdefault(owner, LoopLock()).lock():
            waiting = [each for each in await self.heard.waiting(owner, session) if each.obeyed]
            if not waiting:
                return
            try:
                nodes = await self._drawn(owner, await self._unforgotten(owner, waiting), rule)
                await self.heard.drawn(owner, waiting)
            except ReMeError as error:
                logger.warning("Memories of %s could not be drawn now: %s", owner.key, error)
                return
            except Exception:
                logger.exception("Drawing memories of %s failed.", owner.key)
                return
        if self._told and nodes:
            self._told(owner, nodes)

    async def _unforgotten(self, owner: Owner, waiting: Sequence[Heard]) -> list[Msg]:
        """What waits, without what was forgotten since it was said, by whichever way."""
        conditions = [
            *owned_by([owner]),
            Condition("is_active", "equal", (False,)),
            Condition(f"metadata.{_FORGOTTEN_AT}", "range", (waiting[0].time.timestamp(), None)),
        ]
        gone = await self._bank.store.find(conditions)
        left = [
            without(each.message, said_in([node for node in gone if _forgotten_at(node) > each.time.timestamp()]))
            for each in waiting
        ]
        return [msg for msg in left if msg is not None]

    async def _drawn(self, owner: Owner, messages: Sequence[Msg], rule: str) -> list[MemoryNode]:
        if not messages:
            return []
        if self._summarizer is not None and self._summarizer.access.is_there:
            try:
                return await self._summarizer.summarize(messages, [owner], rules=self._rules)
            except ReMeError:
                if len(messages) < _TOO_MANY:
                    raise
                logger.warning("A model has failed too long: rules draw memories of %s.", owner.key)
        return await self._by_rules(owner, messages, rule)

    async def _by_rules(self, owner: Owner, messages: Sequence[Msg], rule: str) -> list[MemoryNode]:
        now = self._bank.clock()
        said = [Said(words_in(msg), said_at(msg, now)) for msg in messages if is_user_request(msg)]
        names = [str(msg.name or "") for msg in messages if is_user_request(msg)]
        stored = []
        for content, time, times in await asyncio.to_thread(drawn_by_rules, said, self._lexicon):
            node = new_memory(owner, content, time, names[-1] if names else "", now)
            node = enriched(node, self.config, self._schema, self._lexicon, times=times)
            stored.append(await self._at_once.settle(node, rule))
        return stored


def _counts(msg: Msg) -> bool:
    """Whether somebody said it: what was recalled is not remembered again."""
    return not (is_system_prompt(msg) or is_recalled(msg) or is_summary(msg) or is_repair(msg)) and bool(render(msg))


def _forgotten_at(node: MemoryNode) -> float:
    return float(node.metadata[_FORGOTTEN_AT])
