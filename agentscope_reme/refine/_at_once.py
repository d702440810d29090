# -*- coding: utf-8 -*-
"""What a user asks outright, done at once: stored, or forgotten wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from agentscope.message import Msg

from ..message import is_user_request, parsed_time
from ..record import MemoryNode
from ..text import split_sentences
from ..vector_memory import MemoryBank, Owner
from ._asked import InWaiting
from ._config import RefinerConfig
from ._cutting import Choice, about, asked_until, kept_of, without
from ._enriching import enriched
from ._heard import Heard, HeardMessages
from ._lexicon import Lexicon
from ._requests import asks_to_forget, asks_to_forget_all
from ._schema import TagSchema
from ._settling import Settler
from ._triggers import Trigger, to_store_at_once

__all__ = ["ACTOR", "AtOnce", "Obeys", "last_words", "new_memory", "said_at", "words_in"]

ACTOR = "capture"
"""Who stores what is captured, for the record."""


class Obeys(Protocol):
    """What is needed of a `Forgetter`."""

    async def obey(self, text: str, owners: Sequence[Owner], *, waiting: InWaiting | None = None) -> list[MemoryNode]:
        """Forget what a message asks to be forgotten, and tell of it with what waits."""


class AtOnce:
    """Does what messages ask for. Each step can be made again, so that one that was cut off is.

    Args:
        bank (`MemoryBank`): the memories.
        heard (`HeardMessages`): what waits to be drawn from.
        settler (`Settler`): stores memories beside those that there are.
        forgetter (`Forgetter | None`): obeys requests to forget.
        triggers (`Sequence[Trigger]`): the rules.
        config (`RefinerConfig`), schema (`TagSchema`), lexicon (`Lexicon`): what a memory is worth and is about.
    """

    def __init__(
        self,
        bank: MemoryBank,
        heard: HeardMessages,
        settler: Settler,
        forgetter: Obeys | None,
        triggers: Sequence[Trigger],
        config: RefinerConfig,
        schema: TagSchema,
        lexicon: Lexicon,
    ) -> None:
        self._bank, self._heard, self._settler, self._forgetter = bank, heard, settler, forgetter
        self._triggers, self._config, self._schema, self._lexicon = triggers, config, schema, lexicon

    def asks(self, msg: Msg) -> bool:
        """Whether a message asks for something outright."""
        if not is_user_request(msg):
            return False
        if self.asks_to_forget(msg):
            return True
        return bool(to_store_at_once(self._triggers, words_in(msg), self._lexicon, previous="whatever was said"))

    def asks_to_forget(self, msg: Msg) -> bool:
        """Whether a message asks to forget something, or everything, and there is somebody to obey."""
        if self._forgetter is None or not is_user_request(msg):
            return False
        words = words_in(msg)
        return bool(asks_to_forget(words, self._lexicon)) or asks_to_forget_all(words, self._lexicon)

    async def store(self, owner: Owner, msg: Msg, previous: str) -> list[MemoryNode]:
        """Store what a message asks to be remembered; `previous` is what the user said before it."""
        now = self._bank.clock()
        found = to_store_at_once(self._triggers, words_in(msg), self._lexicon, previous=previous)
        stored = []
        for content, rule in found.items():
            node = new_memory(owner, content, said_at(msg, now), str(msg.name or ""), now)
            node = enriched(node, self._config, self._schema, self._lexicon, explicit=True)
            stored.append(await self.settle(node, rule))
        return stored

    async def settle(self, node: MemoryNode, cause: str) -> MemoryNode:
        """Store what was said at one time once, also where this is done again after a crash."""
        there = (await self._bank.store.get([node.key])).get(node.key)
        if there is not None and there.is_active and there.message_time == node.message_time:
            return there
        return await self._settler.settle(node, actor=ACTOR, cause=cause)

    async def forget(self, owner: Owner, each: Heard) -> Msg | None:
        """Forget what a message asks to be forgotten: memories, and what waits and was said until then.

        Returns:
            `Msg | None`: what is left of the message; None for nothing.
        """
        if self._forgetter is None or not self.asks_to_forget(each.message):
            return each.message
        subjects = asks_to_forget(words_in(each.message), self._lexicon)
        goes, stays = about(subjects, self._lexicon), kept_of(subjects, self._lexicon)
        own_goes, own_stays = (asked_until(choice, self._lexicon) for choice in (goes, stays))
        cuts, withheld = [], 0
        for other in await self._heard.waiting(owner):
            if other.position <= each.position:
                is_own = other.key == each.key
                left = without(other.message, own_goes if is_own else goes)
                if left is not other.message:
                    cuts.append((other, left))
                withheld += without(other.message, own_stays if is_own else stays) is not other.message
        cut = sum(other.key != each.key or self._says_it_too(each.message, own_goes) for other, _ in cuts)
        await self._forgetter.obey(words_in(each.message), [owner], waiting=InWaiting(cut, withheld))
        if cuts:  # last, for the request is among them
            await self._heard.cut(owner, cuts)
        return next((left for other, left in cuts if other.key == each.key), each.message)

    def _says_it_too(self, msg: Msg, goes: Choice) -> bool:
        """Whether a request also says something that it asks to forget."""
        sentences = split_sentences(words_in(msg))
        return any(not asks_to_forget(sentences[at], self._lexicon) for at in goes(sentences))


def new_memory(owner: Owner, content: str, time: datetime, author: str, now: datetime) -> MemoryNode:
    """A memory of something that was said."""
    return MemoryNode(
        content,
        owner.memory_type,
        owner.target,
        message_time=time,
        time_created=now,
        time_modified=now,
        author=author,
    )


def words_in(msg: Msg) -> str:
    """What a message says."""
    return msg.get_text_content() or ""


def last_words(messages: Sequence[Msg]) -> str:
    """What a user said last; "" where they said nothing."""
    return next((words_in(msg) for msg in reversed(messages) if is_user_request(msg)), "")


def said_at(msg: Msg, now: datetime) -> datetime:
    """When a message was said: now, where it says nothing about that."""
    time = parsed_time(msg.timestamp)
    return (time if time.tzinfo else time.astimezone()) if time else now
