# -*- coding: utf-8 -*-
"""What becomes of proposals beside what is known: decided by plain values, without a model and without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..record import MemoryNode
from ._claims import Claim, contradicts, likeness, plain
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._proposal import Action, Proposal, Refusal

__all__ = ["Change", "Plan", "Similarity", "reconcile"]

_SAME_WORDS = 0.5
"""The share of words that a statement has in common with itself where only a value in it differs."""
_SOME_WORDS = 0.2
"""The least share of words that a memory has in common with what completes it, since that holds all of it."""

Similarity = Callable[[str, str], float]
"""How near two texts are: a cosine, or a share of words."""


@dataclass(frozen=True)
class Change:
    """One step.

    Args:
        action (`"add" | "update" | "supersede"`): what is done.
        proposal (`Proposal`): what is stored.
        old (`MemoryNode | None`): what is completed or replaced.
    """

    action: Action
    proposal: Proposal
    old: MemoryNode | None = None


@dataclass
class Plan:
    """What is to be done.

    Args:
        changes (`list[Change]`): the steps; no memory is the `old` of two.
        known (`list[MemoryNode]`): memories that say already what was proposed.
        refusals (`list[Refusal]`): proposals that are dropped, and why.
    """

    changes: list[Change] = field(default_factory=list)
    known: list[MemoryNode] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def reconcile(
    proposals: Iterable[Proposal],
    shown: Mapping[str, MemoryNode],
    others: Sequence[MemoryNode] = (),
    *,
    similarity: Similarity,
    about: str = "",
    related: float = 0.0,
    rules: KeepingRules = AS_DRAWN,
) -> Plan:
    """Decide what becomes of each proposal.

    - What is known word for word is dropped, and so is what another proposal says.
    - A near copy (`KeepingRules.near_copy`, the same yes or no, the same numbers, and all words of one in the other)
      completes the memory it copies if it says more; otherwise it is dropped. Two statements that each have words of
      their own stay two, however near they are: "her brother is a doctor" is no copy of "her sister is a doctor".
    - A memory is retired only by one that is related to it and about which one of these holds: the proposal quotes the
      words of it that do not hold any more; it denies what the memory affirms, or the reverse; it says the same with
      another value. A proposal that asks for more than that is added beside it, and so is each with
      `KeepingRules.keeps_both`.
    - A memory is completed only by one that is related to it and does not contradict it.
    - Of two statements, the later one holds. Each memory is changed once at most.

    Args:
        proposals (`Iterable[Proposal]`):
            The proposals, in the order of the conversation.
        shown (`Mapping[str, MemoryNode]`):
            Active memories of the owner by the ids that proposals may name.
        others (`Sequence[MemoryNode]`):
            More active memories of the owner that are like some proposal.
        similarity (`Callable[[str, str], float]`):
            How near two texts are.
        about (`str`):
            The target's name, which does not count when words are compared.
        related (`float`):
            The least similarity of two texts that have to do with each other.
        rules (`KeepingRules`):
            What a near copy is, and whether anything is retired.
    """
    return _Reconciliation(shown, others, similarity, about, related, rules).run(proposals)


class _Reconciliation:
    def __init__(
        self,
        shown: Mapping[str, MemoryNode],
        others: Sequence[MemoryNode],
        similarity: Similarity,
        about: str,
        related: float,
        rules: KeepingRules,
    ) -> None:
        self._shown, self._similarity, self._about, self._related = shown, similarity, about, related
        self._rules = rules
        self._left = {node.key: node for node in (*shown.values(), *others)}
        self._claims: dict[str, Claim] = {}
        self._plan = Plan()

    def run(self, proposals: Iterable[Proposal]) -> Plan:
        for proposal in self._settled(proposals):
            self._place(proposal)
        return self._plan

    # ------------------------------------------------------------------ among the proposals

    def _settled(self, proposals: Iterable[Proposal]) -> list[Proposal]:
        """The proposals without those that others repeat or take back."""
        kept: list[Proposal] = []
        for proposal in proposals:
            rivals = [at for at, each in enumerate(kept) if self._are_rivals(each, proposal)]
            if not rivals:
                kept.append(proposal)
                continue
            at = rivals[0]
            before = kept[at]
            if self._contradict(before.content, proposal.content):
                loser, winner = (proposal, before) if _is_older(proposal, before) else (before, proposal)
                self._refuse("taken_back", loser)
            else:
                loser, winner = (proposal, before) if self._says_no_more(proposal, before) else (before, proposal)
                self._refuse("repeated", loser)
            kept[at] = winner if winner.target or not loser.target else _aimed_like(winner, loser)
        return kept

    def _are_rivals(self, one: Proposal, other: Proposal) -> bool:
        return (
            plain(one.content) == plain(other.content)
            or (not self._rules.keeps_both and self._contradict(one.content, other.content))
            or self._is_near_copy(one.content, other.content)
        )

    def _says_no_more(self, one: Proposal, other: Proposal) -> bool:
        return self._claim(one.content).subject <= self._claim(other.content).subject

    # ------------------------------------------------------------------ beside what is known

    def _place(self, proposal: Proposal) -> None:
        same = [node for node in self._left.values() if plain(node.content) == plain(proposal.content)]
        if same:
            self._plan.known.append(same[0])
            return
        if proposal.action != "add":
            old = self._shown.get(proposal.target)
            if old is None:
                self._refuse("id", proposal, proposal.target)
                return
            if old.key in self._left and self._replaced(proposal, old):
                return
        self._added(proposal)

    def _replaced(self, proposal: Proposal, old: MemoryNode) -> bool:
        """Complete or retire the memory that a proposal names; False where that is not warranted."""
        if self._similarity(proposal.content, old.content) < self._related:
            return False
        denies = self._contradict(proposal.content, old.content)
        if proposal.action == "supersede" or denies:
            if not (denies or self._outdates(proposal, old)):
                return False
            return self._retired(proposal, old)
        if likeness(self._claim(proposal.content), self._claim(old.content)) < _SOME_WORDS:
            return False
        self._change("update", proposal, old)
        return True

    def _outdates(self, proposal: Proposal, old: MemoryNode) -> bool:
        quoted = plain(proposal.outdated)
        if quoted and quoted in plain(old.content) and quoted not in plain(proposal.content):
            return True
        one, other = self._claim(proposal.content), self._claim(old.content)
        return likeness(one, other) >= _SAME_WORDS and (one.numbers != other.numbers or not one.agrees_with(other))

    def _retired(self, proposal: Proposal, old: MemoryNode) -> bool:
        """Retire a memory, unless it is the later one; False where none is ever retired."""
        if self._rules.keeps_both:
            return False
        if proposal.message_time and old.message_time and proposal.message_time < old.message_time:
            self._refuse("older", proposal)
        else:
            self._change("supersede", proposal, old)
        return True

    def _added(self, proposal: Proposal) -> None:
        for old in list(self._left.values()):
            if self._contradict(proposal.content, old.content) and self._retired(proposal, old):
                return
        copied = [old for old in self._left.values() if self._is_near_copy(proposal.content, old.content)]
        if not copied:
            self._change("add", proposal)
            return
        old = max(copied, key=lambda node: self._similarity(proposal.content, node.content))
        if self._claim(proposal.content).subject <= self._claim(old.content).subject:
            self._plan.known.append(old)
        else:
            self._change("update", proposal, old)

    def _is_near_copy(self, one: str, other: str) -> bool:
        claims = self._claim(one), self._claim(other)
        return (
            claims[0].agrees_with(claims[1])
            and (claims[0].subject <= claims[1].subject or claims[0].subject >= claims[1].subject)
            and self._similarity(one, other) >= self._rules.near_copy
        )

    def _contradict(self, one: str, other: str) -> bool:
        return contradicts(self._claim(one), self._claim(other))

    # ------------------------------------------------------------------ small steps

    def _claim(self, text: str) -> Claim:
        if text not in self._claims:
            self._claims[text] = Claim(text, self._about)
        return self._claims[text]

    def _change(self, action: Action, proposal: Proposal, old: MemoryNode | None = None) -> None:
        if old is not None:
            del self._left[old.key]
        self._plan.changes.append(Change(action, proposal, old))

    def _refuse(self, reason: str, proposal: Proposal, value: str = "") -> None:
        self._plan.refusals.append(Refusal(reason, value or proposal.content[:120]))


def _is_older(one: Proposal, other: Proposal) -> bool:
    return bool(one.message_time and other.message_time and one.message_time < other.message_time)


def _aimed_like(one: Proposal, other: Proposal) -> Proposal:
    """A proposal that takes over what another one was to be done to."""
    return replace(one, action=other.action, target=other.target, outdated=other.outdated)
