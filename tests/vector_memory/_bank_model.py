# -*- coding: utf-8 -*-
"""The dictionary that a bank has to agree with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from agentscope_reme import AmbiguousMemoryId, MemoryNotFound
from agentscope_reme.record import MemoryNode, memory_id_of
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever, Owner

__all__ = ["OWNERS", "TEXTS", "Key", "Model", "agrees", "node"]

OWNERS = [Owner("personal", "alice"), Owner("personal", "a/b"), Owner("personal", "a"), Owner("procedural", "alice")]
TEXTS = [
    "喜欢喝绿茶，不喝咖啡",
    "The staging server listens on port 8443.",
    "每周三晚上打羽毛球",
    "Her sister lives in Toronto.",
    "对花生过敏",
]

Key = tuple[Owner, str]


@dataclass
class Model:
    """What there ought to be.

    Args:
        live (`dict`): by owner and content, whether a memory is active, and its importance.
        became (`dict`): what took the place of a memory that is not there any more; None for one that was deleted.
    """

    live: dict[Key, tuple[bool, float]] = field(default_factory=dict)
    became: dict[Key, str | None] = field(default_factory=dict)

    def resolved(self, owner: Owner, content: str) -> str | None:
        """The content of the memory that an id stands for; None for one that was deleted.

        Raises:
            `KeyError`: there never was one.
        """
        now: str | None = content
        while now is not None and (owner, now) not in self.live:
            now = self.became[owner, now]
        return now

    def add(self, owner: Owner, text: str) -> None:
        _, importance = self.live.get((owner, text), (True, 0.5))
        self.live[owner, text] = (True, importance)

    def update(self, owner: Owner, old: str, new: str, importance: float | None = None) -> bool:
        """False where there is nothing to update."""
        found = self.found(owner, old)
        if found is None:
            return False
        was_active, had = self.live.pop((owner, found))
        if found != new:
            self.became[owner, found] = new
            was_active, had = (True, self.live[owner, new][1]) if (owner, new) in self.live else (was_active, had)
        self.live[owner, new] = (was_active, had if importance is None else importance)
        return True

    def supersede(self, owner: Owner, old: str, new: str) -> None:
        found = self.found(owner, old)
        importance = self.live.get((owner, new), (True, 0.5))[1]
        if found is not None and found != new:
            self.live[owner, found] = (False, self.live[owner, found][1])
        self.live[owner, new] = (True, importance)

    def delete(self, owner: Owner, text: str) -> bool:
        """False where what there was is gone already.

        Raises:
            `KeyError`: there never was one.
        """
        found = self.resolved(owner, text)
        if found is not None:
            del self.live[owner, found]
            self.became[owner, found] = None
        return found is not None

    def delete_all(self, owner: Owner) -> int:
        count = len(self.of(owner, active=False))
        for held in (self.live, self.became):
            for key in [key for key in held if key[0] == owner]:
                del held[key]
        return count

    def found(self, owner: Owner, content: str) -> str | None:
        """The same as `resolved`, None also for what never was."""
        try:
            return self.resolved(owner, content)
        except KeyError:
            return None

    def of(self, owner: Owner, *, active: bool) -> set[str]:
        return {text for (whose, text), (is_active, _) in self.live.items() if whose == owner and is_active >= active}


def node(owner: Owner, text: str, **fields: Any) -> MemoryNode:
    """A memory of an owner."""
    return MemoryNode(text, owner.memory_type, owner.target, **fields)


async def agrees(bank: MemoryBank, model: Model, *, search: bool = True) -> None:
    """The bank holds, names and finds what the dictionary does."""
    for owner in OWNERS:
        assert {each.content for each in await bank.list([owner])} == model.of(owner, active=True)
        every = await bank.list([owner], include_inactive=True)
        assert {each.content: (each.is_active, each.importance) for each in every} == {
            text: state for (whose, text), state in model.live.items() if whose == owner
        }
        for text in TEXTS:
            await _check_id(bank, model, owner, text)
    for text in TEXTS:
        await _check_bare_id(bank, model, text)
        if search:
            await _check_search(bank, model, text)


async def _check_id(bank: MemoryBank, model: Model, owner: Owner, text: str) -> None:
    try:
        wanted = model.resolved(owner, text)
    except KeyError:
        wanted = None
    if wanted is None:
        with pytest.raises(MemoryNotFound):
            await bank.get(memory_id_of(text), owner)
    else:
        assert (await bank.get(memory_id_of(text), owner)).content == wanted


async def _check_bare_id(bank: MemoryBank, model: Model, text: str) -> None:
    named = set()
    for owner in OWNERS:
        try:
            wanted = model.resolved(owner, text)
        except KeyError:
            continue
        named |= {(owner, wanted)} if wanted is not None else set()
    if len(named) == 1:
        [(owner, wanted)] = named
        found = await bank.get(memory_id_of(text))
        assert (found.owner, found.content) == (owner.key, wanted)
    else:
        with pytest.raises(AmbiguousMemoryId if named else MemoryNotFound):
            await bank.get(memory_id_of(text))


async def _check_search(bank: MemoryBank, model: Model, text: str) -> None:
    retriever = MemoryRetriever(bank)
    for owner in OWNERS:
        active = model.of(owner, active=True)
        found = await retriever.retrieve(text, [owner], record_access=False)
        assert {each.owner for each in found} <= {owner.key}
        assert {each.content for each in found} <= active
        assert [each.content for each in found[:1]] == ([text] if text in active else []) or text not in active
