# -*- coding: utf-8 -*-
"""Where to cut a history: which messages a compaction folds and which it keeps. Plain values in, plain values out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..message import Unit

__all__ = ["SplitPlan", "plan_split"]


@dataclass(frozen=True)
class SplitPlan:
    """A cut.

    Args:
        fold (`tuple[int, ...]`):
            Indices of the messages to fold, in order.
        keep (`tuple[int, ...]`):
            Indices of the messages to keep, in order.
        turn_start (`int | None`):
            Where in `fold` the turn begins that the cut falls into; `None` where it falls between two turns.
        kept_tokens (`int`):
            The size of what is kept.
    """

    fold: tuple[int, ...]
    keep: tuple[int, ...]
    turn_start: int | None
    kept_tokens: int


def plan_split(
    sizes: Sequence[int],
    units: Sequence[Unit],
    requests: Sequence[int],
    *,
    budget: int,
    always: Collection[int] = (),
    never: Collection[int] = (),
) -> SplitPlan:
    """Keep what must be kept and as many of the latest whole units as fit.

    Kept are, in the original order: the units of `always`, the last request of the user, the last unit, and before it a
    contiguous run of units while all of that is within the budget. What lies between the last request and that run is
    folded too, so that one request with a hundred rounds of tool calls goes on for ever.

    Args:
        sizes (`Sequence[int]`):
            The messages' sizes in tokens; asked for only where they matter: what must be kept, and from the end on.
        units (`Sequence[Unit]`):
            The messages' units: a message, or calls with all their results.
        requests (`Sequence[int]`):
            Indices of the messages in which the user asks for something, in order.
        budget (`int`):
            Tokens that the kept messages may take; what must be kept is kept above it too.
        always (`Collection[int]`):
            Messages that are never folded.
        never (`Collection[int]`):
            Messages that are not kept, for they could not be sent to a model: half of a pair.

    Returns:
        `SplitPlan`: the cut. No unit lies on both sides of it.
    """

    def weight(number: int) -> int:
        return sum(sizes[units[number].start : units[number].stop])

    unit_of = {at: number for number, unit in enumerate(units) for at in range(unit.start, unit.stop)}
    dropped = {unit_of[at] for at in never}
    usable = [number for number in range(len(units)) if number not in dropped]
    kept = {unit_of[at] for at in always} - dropped
    if requests and unit_of[requests[-1]] not in dropped:
        kept.add(unit_of[requests[-1]])
    if usable:
        kept.add(usable[-1])
    total = sum(map(weight, kept))
    suffix = usable[-1] if usable else len(units)
    for number in reversed(usable[:-1]):
        if number not in kept:
            if (more := total + weight(number)) > budget:
                break
            total = more
            kept.add(number)
        suffix = number
    fold = [at for number, unit in enumerate(units) if number not in kept for at in range(unit.start, unit.stop)]
    keep = [at for number, unit in enumerate(units) if number in kept for at in range(unit.start, unit.stop)]
    turn_start = _turn_start(fold, requests, units[suffix].start) if suffix < len(units) else None
    return SplitPlan(tuple(fold), tuple(keep), turn_start, total)


def _turn_start(fold: Sequence[int], requests: Sequence[int], first_kept: int) -> int | None:
    """Where in `fold` the cut turn begins: the turn that the first message of the kept run belongs to."""
    if first_kept in requests:
        return None
    begun = [at for at in requests if at < first_kept]
    if not begun:
        return None
    inside = [place for place, at in enumerate(fold) if begun[-1] <= at < first_kept]
    return inside[0] if inside else None
