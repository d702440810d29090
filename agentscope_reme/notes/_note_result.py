# -*- coding: utf-8 -*-
"""What became of the messages that a note was to be made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["NoteResult"]


@dataclass(frozen=True)
class NoteResult:
    """What was written, and by whom.

    Args:
        files (`tuple[str, ...]`): The day files that were changed, as seen from the workspace.
        memory_md (`bool`): Whether MEMORY.md was changed.
        text (`str`): What the model answered, or what was extracted; "" where there was nothing to do.
        source (`str`): "model", "extractive" where the notes (or a part of them) are extracted, or "nothing" where
            nothing was changed.
        error (`str | None`): What went wrong on the way, also where the notes were written in the end.
        duration (`float`): Seconds.
        foreign (`tuple[str, ...]`): Lines that were meant for MEMORY.md, which no user had said; they stand in the
            journal.
    """

    files: tuple[str, ...] = ()
    memory_md: bool = False
    text: str = ""
    source: Literal["model", "extractive", "nothing"] = "nothing"
    error: str | None = None
    duration: float = 0.0
    foreign: tuple[str, ...] = ()

    @classmethod
    def joined(cls, results: Iterable[NoteResult], duration: float) -> NoteResult:
        """Several results as one."""
        results = list(results)
        sources = {result.source for result in results}
        return cls(
            files=tuple(dict.fromkeys(path for result in results for path in result.files)),
            memory_md=any(result.memory_md for result in results),
            text="\n\n".join(result.text for result in results if result.text),
            source="extractive" if "extractive" in sources else "model" if "model" in sources else "nothing",
            error="; ".join(dict.fromkeys(result.error for result in results if result.error)) or None,
            duration=duration,
            foreign=tuple(line for result in results for line in result.foreign),
        )
