# -*- coding: utf-8 -*-
"""What models are asked about a group of memories, and how much of their window that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..message import delimited
from ..record import MemoryNode
from ._config import RefinerConfig
from ._fidelity import must_keep
from ._grouping import speaker_of, time_of
from ._lexicon import Lexicon

__all__ = ["CondensePrompts"]

_FORM = 160
"""Tokens that a reply takes besides what it says, and the host for each request: names of fields, roles, brackets."""
_CLAIMS = 200
"""Tokens for what was wrong with an answer, where it is asked for once more."""
_NUMBER = 6
"""Tokens of a number in a list."""
_HIGHEST = 10_000
_MARGIN = 0.97
"""Counts of parts do not quite add up to that of the whole."""


class CondensePrompts:
    """Writes the requests of a run and measures them, so that none takes more than `RefinerConfig.request_limit`.

    What counts is all of it: the instructions, the memories as they are shown, what must be kept word for word, and
    room for the reply.

    Args:
        config (`RefinerConfig`): the window, ratios, and what protects.
        lexicon (`Lexicon`): the prompts, and the words that tell what must be kept.
        count (`Callable[[str], int]`): counts tokens.
    """

    def __init__(self, config: RefinerConfig, lexicon: Lexicon, count: Callable[[str], int]) -> None:
        self._config, self._lexicon, self._count = config, lexicon, count

    # ------------------------------------------------------------------ texts

    def sifting(self, language: str, nodes: Sequence[MemoryNode]) -> tuple[str, str]:
        """The instructions and the question which memories are of no use."""
        system = self.text(language, "filter_system", drop=self._listed(language, "drop"))
        return system, self.text(language, "filter_request", memories=_shown(nodes))

    def condensing(
        self, language: str, nodes: Sequence[MemoryNode], statements: Sequence[str], wanted: int, goal: str
    ) -> tuple[str, str]:
        """The instructions and the request to condense memories.

        Args:
            language (`str`): of the prompts.
            nodes (`Sequence[MemoryNode]`): the memories, in the order of time.
            statements (`Sequence[str]`): what must be kept word for word.
            wanted (`int`): about how many tokens the text may have.
            goal (`str`): what the memory is for; "" where nobody said so.
        """
        system = self.text(
            language,
            "system",
            goal=self.text(language, "goal", goal=goal) if goal else self.text(language, "no_goal"),
            keep=self._listed(language, "keep"),
            drop=self._listed(language, "drop"),
        )
        must = self.text(language, "must", statements=_bullets(statements)) if statements else ""
        return system, self.text(language, "request", memories=_shown(nodes), tokens=wanted, must=must)

    def again(self, language: str, request: str, problem: str) -> str:
        """A request once more, with what was wrong with the answer."""
        return f"{request}\n\n{self.text(language, 'retry', faults=problem)}"

    def text(self, language: str, name: str, **values: object) -> str:
        """A prompt of refinement."""
        return self._lexicon.book.text(language, f"refine.{name}", **values)

    # ------------------------------------------------------------------ sizes

    def fits_sifting(self, system: str, question: str, number: int) -> bool:
        """Whether a request to sift so many memories is within the limit, with its reply."""
        return self._taken(system, question) + _NUMBER * number <= self._config.request_limit

    def fits_condensing(self, system: str, request: str, statements: Sequence[str], wanted: int) -> bool:
        """Whether a request to condense is within the limit, with its reply."""
        reply = wanted + self._count(_bullets(statements))
        return self._taken(system, request) + reply <= self._config.request_limit

    def size(self, node: MemoryNode) -> int:
        """What a memory takes of a request and its reply: itself as it is shown, and what of it must be kept."""
        shown = self._count(_shown([node], _HIGHEST))
        musts = self._count(_bullets(must_keep(node, self._config, self._lexicon)))
        return shown + 2 * musts + int(self._count(node.content) * self._config.target_ratio) + _NUMBER

    def room(self, goal: str) -> int:
        """What the memories of a group may take together, whatever the language: less than 1 where nothing fits."""
        frame = max(self._frame(language, goal) for language in self._lexicon.book.languages())
        return int((self._config.request_limit - frame) * _MARGIN)

    def _frame(self, language: str, goal: str) -> int:
        sifting = self._taken(*self.sifting(language, []))
        system, request = self.condensing(language, [], ["-"], _HIGHEST, goal)
        least = self._config.content_budget(3 * _HIGHEST) - int(3 * _HIGHEST * self._config.target_ratio)
        return max(sifting, self._taken(system, self.again(language, request, "")) + _CLAIMS + least)

    def _taken(self, system: str, question: str) -> int:
        return self._count(system) + self._count(question) + _FORM

    def _listed(self, language: str, name: str) -> str:
        return _bullets(self._lexicon.book.list(language, f"refine.{name}"))


def _bullets(texts: Sequence[str]) -> str:
    return "\n".join(f"- {each}" for each in texts)


def _shown(nodes: Sequence[MemoryNode], first: int = 1) -> str:
    """Memories as data for a prompt, numbered."""
    return "\n".join(
        delimited(
            node.content,
            "memory",
            number=number,
            time=f"{time_of(node).astimezone():%Y-%m-%d %H:%M (%a)}",
            speaker=speaker_of(node) or None,
        )
        for number, node in enumerate(nodes, first)
    )
