# -*- coding: utf-8 -*-
"""What is said, taken down as it is said: stored at once where a user asks for it, and drawn from when rules say so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

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
    parsed_time,
    render,
)
from ..record import MemoryNode
from ..vector_memory import MemoryBank, MemorySummarizer, Owner
from ._config import RefinerConfig
from ._enriching import Said, drawn_by_rules, enriched
from ._heard import Heard, HeardMessages
from ._keeping import keeping_rules
from ._lexicon import Lexicon, default_lexicon
from ._schema import TagSchema
from ._settling import Settler
from ._triggers import CaptureState, Trigger, due, parse_triggers, to_store_at_once

__all__ = ["Capture"]

logger = logging.getLogger("agentscope_reme")

_ACTOR = "capture"
_TOO_MANY = 400
"""Messages that wait for a model that fails, from which on rules draw from them."""


class _Obeys(Protocol):
    async def obey(self, text: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        """Forget what a message asks to be forgotten."""


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
        forgetter: _Obeys | None = None,
        schema: TagSchema | None = None,
        lexicon: Lexicon | None = None,
        count: Callable[[str], int] = estimate_tokens,
        told: Callable[[Owner, Sequence[MemoryNode]], object] | None = None,
    ) -> None:
        self.config = config or RefinerConfig()
        self.heard = HeardMessages(bank)
        self._bank, self._summarizer, self._forgetter = bank, summarizer, forgetter
        self._schema, self._lexicon = schema or TagSchema(), lexicon or default_lexicon()
        self._count, self._told = count, told
        self._triggers: tuple[Trigger, ...] = parse_triggers(self.config.trigger_rules)
        self._rules = keeping_rules(self.config, schema, self._lexicon)
        self._settler = Settler(bank, self.config, self._lexicon)
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
            before = [each.message for each in await self.heard.waiting(owner, session_id)]
            fresh = await self.heard.put(owner, session_id, said)
            stored: list[MemoryNode] = []
            for msg in fresh:
                if is_user_request(msg):
                    stored += await self._at_once(owner, msg, _last_words(before))
                    await self._forget(owner, msg)
                before.append(msg)
        if fresh:
            await self._look(owner, session_id)
        return stored

    async def settle(self, node: MemoryNode, *, actor: str = "", cause: str = "") -> MemoryNode:
        """Store a memory beside what is known, as one that is heard; see `Settler.settle`."""
        return await self._settler.settle(node, actor=actor, cause=cause)

    async def end(self, owner: Owner, session_id: str = "") -> None:
        """A session is over: drawn from now, if a rule says so."""
        await self._look(owner, session_id, ended=True)

    async def tick(self) -> None:
        """Look whether anybody has been quiet for as long as a rule says; call it from time to time."""
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

    async def _at_once(self, owner: Owner, msg: Msg, previous: str) -> list[MemoryNode]:
        found = to_store_at_once(self._triggers, _words(msg), self._lexicon, previous=previous)
        stored = []
        for content, rule in found.items():
            node = self._node(owner, content, _time(msg, self._bank.clock()), str(msg.name or ""))
            node = enriched(node, self.config, self._schema, self._lexicon, explicit=True)
            stored.append(await self._settler.settle(node, actor=_ACTOR, cause=rule))
        return stored

    async def _forget(self, owner: Owner, msg: Msg) -> None:
        if self._forgetter is not None:
            await self._forgetter.obey(_words(msg), [owner])

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
        last = _time(messages[-1], self._bank.clock())
        mine = [msg for msg in messages if is_user_request(msg)]
        return CaptureState(
            rounds=len(mine),
            tokens=sum(self._count(render(msg)) for msg in messages),
            idle=max(0.0, (self._bank.clock() - last).total_seconds()),
            ended=ended,
            user_text=_words(mine[-1]) if mine else "",
        )

    async def _draw(self, owner: Owner, session: str, rule: str) -> None:
        """Draw memories from what waits of a session, and note that it was drawn from."""
        async with self._drawing.setdefault(owner, LoopLock()).lock():
            waiting = await self.heard.waiting(owner, session)
            if not waiting:
                return
            try:
                nodes = await self._drawn(owner, waiting, rule)
                await self.heard.drawn(owner, waiting)
            except ReMeError as error:
                logger.warning("Memories of %s could not be drawn now: %s", owner.key, error)
                return
            except Exception:
                logger.exception("Drawing memories of %s failed.", owner.key)
                return
        if self._told and nodes:
            self._told(owner, nodes)

    async def _drawn(self, owner: Owner, waiting: Sequence[Heard], rule: str) -> list[MemoryNode]:
        messages = [each.message for each in waiting]
        if self._summarizer is not None and self._summarizer.access.is_there:
            try:
                return await self._summarizer.summarize(messages, [owner], rules=self._rules)
            except ReMeError:
                if len(waiting) < _TOO_MANY:
                    raise
                logger.warning("A model has failed too long: rules draw memories of %s.", owner.key)
        return await self._by_rules(owner, messages, rule)

    async def _by_rules(self, owner: Owner, messages: Sequence[Msg], rule: str) -> list[MemoryNode]:
        now = self._bank.clock()
        said = [Said(_words(msg), _time(msg, now)) for msg in messages if is_user_request(msg)]
        names = [str(msg.name or "") for msg in messages if is_user_request(msg)]
        stored = []
        for content, time, times in await asyncio.to_thread(drawn_by_rules, said, self._lexicon):
            node = self._node(owner, content, time, names[-1] if names else "")
            node = enriched(node, self.config, self._schema, self._lexicon, times=times)
            stored.append(await self._settler.settle(node, actor=_ACTOR, cause=rule))
        return stored

    def _node(self, owner: Owner, content: str, time: datetime, author: str) -> MemoryNode:
        now = self._bank.clock()
        return MemoryNode(
            content,
            owner.memory_type,
            owner.target,
            message_time=time,
            time_created=now,
            time_modified=now,
            author=author,
        )


def _counts(msg: Msg) -> bool:
    """Whether somebody said it: what was recalled is not remembered again."""
    return not (is_system_prompt(msg) or is_recalled(msg) or is_summary(msg) or is_repair(msg)) and bool(render(msg))


def _words(msg: Msg) -> str:
    return msg.get_text_content() or ""


def _last_words(messages: Sequence[Msg]) -> str:
    return next((_words(msg) for msg in reversed(messages) if is_user_request(msg)), "")


def _time(msg: Msg, now: datetime) -> datetime:
    time = parsed_time(msg.timestamp)
    return (time if time.tzinfo else time.astimezone()) if time else now
