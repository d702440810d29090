# -*- coding: utf-8 -*-
"""Which groups a refinement run condenses: those with something new in them, together with what it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ..record import Condition, MemoryNode
from ._config import RefinerConfig
from ._forgetting import is_protected
from ._grouping import Group, Member, session_of
from ._refined import CONSIDERED, REFINED, is_refined, source_keys

__all__ = ["Catalog", "Selected", "active", "new", "select"]


def active(config: RefinerConfig) -> list[Condition]:
    """What the memories meet that a run is about."""
    found = [Condition("is_active", "equal", (True,))]
    if config.memory_types is not None:
        found.append(Condition("memory_type", "any_of", tuple(config.memory_types)))
    return found


def new(config: RefinerConfig) -> list[Condition]:
    """What those of them meet that no run has looked at."""
    return [
        *active(config),
        Condition(f"metadata.{REFINED}", "equal", (None,)),
        Condition(f"metadata.{CONSIDERED}", "equal", (None,)),
    ]


_ENOUGH = 400
"""Tokens from which on a memory alone is condensed."""


@dataclass(frozen=True)
class _Refined:
    key: str
    session: str
    label: str
    started: float
    ended: float
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Selected:
    """A group to condense.

    Args:
        group (`Group`): its memories.
        touched (`tuple[str, ...]`): keys of the refined memories that are made anew with it.
        sources (`tuple[str, ...]`): keys of their sources, which take part again.
    """

    group: Group
    touched: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass
class Catalog:
    """What a run knows of all active memories of some owners: a little of each.

    Args:
        members (`list[Member]`): those that may be condensed.
        new (`set[str]`): the keys of those among them that no run has looked at.
        protected (`set[str]`): the keys of those that no run has looked at, and that stay as they are.
        refined (`dict[str, list]`): by owner, the refined memories.
    """

    members: list[Member] = field(default_factory=list)
    new: set[str] = field(default_factory=set)
    protected: set[str] = field(default_factory=set)
    refined: dict[str, list[_Refined]] = field(default_factory=dict)

    def add(self, node: MemoryNode, member: Member, config: RefinerConfig) -> None:
        """Take down one active memory."""
        if is_refined(node):
            started, ended = (_seconds(node.metadata.get(name)) for name in ("started", "ended"))
            label = node.metadata.get("label")
            entry = _Refined(
                node.key,
                session_of(node),
                label if isinstance(label, str) else "",
                started,
                ended,
                tuple(source_keys(node)),
            )
            self.refined.setdefault(node.owner, []).append(entry)
            return
        protected = is_protected(node, config)
        if not protected:
            self.members.append(member)
        if not node.metadata.get(CONSIDERED):
            (self.protected if protected else self.new).add(node.key)


def select(groups: Sequence[Group], catalog: Catalog, config: RefinerConfig) -> list[Selected]:
    """The groups that are worth condensing and have something new in them, each with what it touches.

    A refined memory is touched by new memories of its session within a window of time, or of the same entity. A run
    touches it once.

    Args:
        groups (`Sequence[Group]`): all groups.
        catalog (`Catalog`): what is new, and what is refined already.
        config (`RefinerConfig`): the window.
    """
    taken: set[str] = set()
    selected = []
    for group in groups:
        if not any(key in catalog.new for key in group.keys):
            continue
        touched = [each for each in _touched(group, catalog.refined, config) if each.key not in taken]
        if len(group.members) < 2 and group.tokens < _ENOUGH and not touched:
            continue
        taken.update(each.key for each in touched)
        sources = tuple(key for each in touched for key in each.sources)
        selected.append(Selected(group, tuple(each.key for each in touched), sources))
    return selected


def _touched(group: Group, refined: Mapping[str, Sequence[_Refined]], config: RefinerConfig) -> list[_Refined]:
    window = timedelta(minutes=min(config.window_minutes, 60_000_000)).total_seconds()
    first, last = group.members[0].time.timestamp(), group.members[-1].time.timestamp()
    session = group.members[0].session
    found = []
    for each in refined.get(group.owner, ()):
        if group.label.startswith("entity "):
            near = each.label == group.label
        elif session and config.group_by in ("two_level", "session"):
            near = each.session == session and (
                config.group_by == "session" or (first - each.ended < window and each.started - last < window)
            )
        else:
            near = False
        if near:
            found.append(each)
    return found[:1]


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
