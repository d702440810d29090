# -*- coding: utf-8 -*-
"""Memories as a model is shown them: as data, each under a short id that it can copy without a slip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..message import delimited
from ..record import MemoryNode
from ._data_tags import escaped
from ._proposal import Proposal

__all__ = ["Shown", "profile_text"]


class Shown:
    """The memories that a model was shown, and what it proposed meanwhile, by their short ids.

    Memories are ``m1``, ``m2``...; proposals that are not stored yet are ``n1``, ``n2``.... A memory's own id is
    understood as well.

    Args:
        refs (`bool`): memories are shown with the ref of the conversation that they come from, for who can read it.
    """

    def __init__(self, *, refs: bool = False) -> None:
        self._refs = refs
        self.memories: dict[str, MemoryNode] = {}
        self.proposals: dict[str, Proposal] = {}
        self._by_key: dict[str, str] = {}

    def ids(self, nodes: Iterable[MemoryNode]) -> list[str]:
        """The short ids of memories, each given once."""
        found: list[str] = []
        for node in nodes:
            if node.key not in self._by_key:
                self._by_key[node.key] = f"m{len(self._by_key) + 1}"
                self.memories[self._by_key[node.key]] = node
            found.append(self._by_key[node.key])
        return found

    def propose(self, proposal: Proposal) -> str:
        """Take down a proposal; its short id comes back. One that is aimed at an earlier one takes its place."""
        name = proposal.target if proposal.target in self.proposals else f"n{len(self.proposals) + 1}"
        self.proposals[name] = _in_place_of(proposal, self.proposals.get(name))
        return name

    def resolve(self, name: str) -> str:
        """The short id for a short id or a memory's own one; "" for one that was not shown."""
        if name in self.memories or name in self.proposals:
            return name
        return next((short for short, node in self.memories.items() if node.memory_id == name), "")

    @property
    def names(self) -> frozenset[str]:
        """All that may be named."""
        own = (node.memory_id for node in self.memories.values())
        return frozenset([*self.memories, *self.proposals, *own])

    def text(self, nodes: Iterable[MemoryNode]) -> str:
        """Memories as data, with their ids."""
        nodes = list(nodes)
        return "\n".join(_memory(name, node, self._refs) for name, node in zip(self.ids(nodes), nodes, strict=True))

    def known_text(self, nodes: Iterable[MemoryNode]) -> str:
        """Memories and the proposals so far, in one element; "" where there are none."""
        pending = [_element(name, each.content, each.when_to_use) for name, each in self.proposals.items()]
        inside = "\n".join(filter(None, [self.text(nodes), *pending]))
        return f"<known_memories>\n{inside}\n</known_memories>" if inside else ""


def profile_text(profile: Mapping[str, str], of: str | None = None) -> str:
    """A profile as data, with whose it is where that is given; "" for an empty one."""
    if not profile:
        return ""
    return delimited(escaped("\n".join(f"{key}: {value}" for key, value in profile.items())), "profile", of=of)


def _memory(name: str, node: MemoryNode, with_ref: bool) -> str:
    time = f"{node.message_time.astimezone():%Y-%m-%d %H:%M}" if node.message_time else None
    ref = node.ref_memory_id or None if with_ref else None
    return _element(name, node.content, node.when_to_use, time=time, ref=ref)


def _element(name: str, content: str, when_to_use: str, **attributes: str | None) -> str:
    return delimited(escaped(content), "memory", id=name, when_to_use=when_to_use or None, **attributes)


def _in_place_of(proposal: Proposal, before: Proposal | None) -> Proposal:
    """A proposal that completes or replaces an earlier one is done to what that one was to be done to."""

    if before is None:
        return proposal
    return replace(proposal, action=before.action, target=before.target, outdated=before.outdated)
