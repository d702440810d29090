# -*- coding: utf-8 -*-
"""The second session: a new agent over the same folder, which knows what its memory tells it and nothing else."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg

from ... import ContextConfig, MemoryManager, RecallConfig
from ...message import MessageTokens
from ...testing import ScriptedChatModel
from ._dialogue import DIALOGUES
from ._passages import Passage, holds, line_of
from ._project import SampleProject
from ._recollection import TICKET_FIRST, Recollection
from ._warnings import warnings_to
from ._weighing import WeighingFormatter
from ._witness import Spectacle, Tally, Witness

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["Citation", "Remembered", "SecondSession"]

_MOST_STEPS = 12
_MOST_MEMORIES = 2
_ASKED = ("ticket", "extension", "author")
_NAMES = (*_ASKED, "before", "after", "setting")


@dataclass(frozen=True)
class Citation:
    """Where values of the answer stand: how the passage reached the model, its file, and the line there."""

    values: tuple[str, ...]
    how: str
    path: str
    line: int


@dataclass(frozen=True)
class Remembered:
    """How the second session went.

    Args:
        answer (`str`):
            The agent's answer.
        tally (`Tally`), requests (`Sequence[int]`):
            The numbers, and the tokens of each request to the model.
        citations (`Sequence[Citation]`):
            Where the values of the answer stand, looked up in what the model was shown, and in the files.
        unfounded (`Sequence[str]`):
            Values of the answer that the memory did not show, or that its files do not have.
        missing (`Sequence[str]`):
            Names of values that the answer should have and has not; the script's answer should have them all.
        wish (`Citation | None`):
            The person's standing wish, where MEMORY.md showed it and the answer keeps to it.
    """

    answer: str
    tally: Tally
    requests: Sequence[int]
    citations: Sequence[Citation]
    unfounded: Sequence[str]
    missing: Sequence[str]
    wish: Citation | None

    @property
    def fits(self) -> bool:
        """Whether no request was above the window."""
        return max(self.requests) <= self.tally.window

    @property
    def sound(self) -> bool:
        """Whether the memory gave what the answer needed."""
        return self.fits and self.wish is not None and not (self.unfounded or self.missing)


class SecondSession:
    """A session in a folder where a `DemoRun` was, meant for another process.

    Args:
        folder (`Path`):
            The folder: its `memory/` is all that the agent has.
        language (`str`), window (`int`), live (`tuple[ChatModelBase, FormatterBase] | None`), pace (`float`):
            As for `DemoRun`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        language: str = "en",
        window: int = 10_000,
        live: "tuple[ChatModelBase, FormatterBase] | None" = None,
        pace: float = 0.0,
    ) -> None:
        self.words = DIALOGUES[language]
        self.script = Recollection(language)
        self.model: ChatModelBase = live[0] if live else ScriptedChatModel(self.script, delay=pace)
        self.context = ContextConfig(window, memory_compact_reserve=window // 5)
        self._formatter: FormatterBase = live[1] if live else OpenAIChatFormatter()
        self._asked = _ASKED if live else (*_NAMES, "rule")
        self._project = SampleProject.at(folder / "project")
        options: dict[str, Any] = {"model": live[0], "formatter": live[1]} if live else {"model": None}
        self.manager = MemoryManager(
            folder / "memory",
            language=language,
            max_input_length=window,
            memory_compact_reserve=self.context.reserve,
            recall=RecallConfig(max_memories=_MOST_MEMORIES),
            **options,
        )

    async def play(self, view: Spectacle, tally: Tally) -> Remembered:
        """Ask the agent, and show what its memory gives it.

        Args:
            view (`Spectacle`):
                Shows it.
            tally (`Tally`):
                Is kept up to date.

        Raises:
            `KeyboardInterrupt`: the person stopped it.
        """
        agent = ReActAgent(
            "detective", self.words.desk_prompt, self.model, self._formatter, max_iters=_MOST_STEPS
        )  # no toolkit: the tools are those of the memory
        agent.set_console_output_enabled(False)
        with warnings_to(view):
            async with self.manager:
                await self.manager.sync()  # a search waits for new files and their vectors, but not for long
                return await self._watched(agent, view, tally)

    async def _watched(self, agent: ReActAgent, view: Spectacle, tally: Tally) -> Remembered:
        memory = self.manager.attach(agent)
        count = memory.services.tokens.count_text
        witness = Witness(view, MessageTokens(count), tally, memory)
        agent.formatter = weighing = WeighingFormatter(self._formatter, count, agent.toolkit.get_json_schemas)
        agent.register_instance_hook("pre_print", "witness", witness.heard)
        tally.window, tally.threshold = self.context.max_input_length, self.context.threshold
        self.manager.subscribe(witness.told)
        request = Msg("user", self.words.question, "user")
        witness.asked(request)
        reply = await agent(request)
        if (reply.metadata or {}).get("_is_interrupted"):
            raise KeyboardInterrupt
        return self._checked(reply.get_text_content() or "", weighing, tally)

    def _checked(self, answer: str, weighing: WeighingFormatter, tally: Tally) -> Remembered:
        values = {name: self._project.answers[name] for name in _NAMES}
        values.update({name: text for name, text in self.script.values.items() if name == "rule"})
        passages = list(dict.fromkeys(weighing.passages))
        said = [value for value in values.values() if holds(answer, value)]
        places = {value: self._place(value, passages) for value in said}
        return Remembered(
            answer=answer,
            tally=tally,
            requests=weighing.weights,
            citations=list(_gathered(places)),
            unfounded=[value for value, place in places.items() if place is None],
            missing=[name for name in self._asked if values.get(name) not in said],
            wish=self._wish(answer, values["ticket"], passages),
        )

    def _place(self, value: str, passages: Sequence[Passage]) -> Citation | None:
        """The first passage that shows a value which its file has, too."""
        for passage in passages:
            if holds(" ".join(passage.text.split()), value):
                line = line_of(self.manager.workspace, passage, value)
                if line is not None:
                    return Citation((value,), passage.how, passage.path, line)
        return None

    def _wish(self, answer: str, ticket: str, passages: Sequence[Passage]) -> Citation | None:
        """Where MEMORY.md has the wish, if it was shown and the answer begins as it asks."""
        for passage in passages:
            found = re.search(TICKET_FIRST, passage.text) if passage.how == "shown" else None
            if found and answer.lstrip("*#[( ").startswith(ticket):
                line = line_of(self.manager.workspace, passage, found[0])
                return None if line is None else Citation((found[0],), passage.how, passage.path, line)
        return None


def _gathered(places: Mapping[str, Citation | None]) -> Iterator[Citation]:
    """One citation for all values that stand in the same line."""
    values: defaultdict[tuple[str, str, int], list[str]] = defaultdict(list)
    for value, place in places.items():
        if place is not None:
            values[place.how, place.path, place.line].append(value)
    for (how, path, line), held in values.items():
        yield Citation(tuple(held), how, path, line)
