# -*- coding: utf-8 -*-
"""The run itself: a real agent with a real memory, watched, and counted afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg
from agentscope.tool import Toolkit

from ... import ContextConfig, MemoryManager
from ...message import MessageTokens
from ...testing import ScriptedChatModel
from ._census import Census
from ._dialogue import DIALOGUES
from ._facts import Finding
from ._project import SampleProject
from ._project_tools import ProjectTools
from ._script import Investigation
from ._warnings import warnings_to
from ._weighing import WeighingFormatter
from ._witness import Spectacle, Tally, Witness

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["DemoRun", "Outcome"]

_MOST_STEPS = 60
_PATIENCE = 120.0
"""Seconds for the notes of a live model; what is not written then is written at the next start."""


@dataclass(frozen=True)
class Outcome:
    """How it went.

    Args:
        answer (`str`):
            The agent's last answer.
        tally (`Tally`), census (`Census`):
            The numbers.
        requests (`Sequence[int]`):
            Tokens of each request to the model.
        right (`Sequence[str]`), missing (`Sequence[str]`):
            Names of the values that the answer has, and has not.
        findings (`Sequence[Finding]`):
            Where the script found what it reported; empty with a live model.
    """

    answer: str
    tally: Tally
    census: Census
    requests: Sequence[int]
    right: Sequence[str]
    missing: Sequence[str]
    findings: Sequence[Finding]

    @property
    def sound(self) -> bool:
        """Whether the memory kept its promises."""
        census = self.census
        return not (census.lost or census.doubled or census.altered) and max(self.requests) <= self.tally.window


class DemoRun:
    """One run in a folder: `project/` is the copy that the agent works on, `memory/` its memory.

    Args:
        folder (`Path`):
            The folder.
        language (`str`):
            `"en"` or `"zh"`.
        window (`int`):
            The agent's window in tokens.
        live (`tuple[ChatModelBase, FormatterBase] | None`):
            The model that drives the agent and writes the summaries; a script does, and summaries are extractive,
            where left out.
        pace (`float`):
            Seconds that each scripted decision takes, so that a person can follow.
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
        self.script = Investigation(language)
        self.model: ChatModelBase = live[0] if live else ScriptedChatModel(self.script, delay=pace)
        self.context = ContextConfig(window, memory_compact_reserve=window // 5)
        self._formatter: FormatterBase = live[1] if live else OpenAIChatFormatter()
        self._folder = folder
        self._language = language
        # A live model's own formatter: what the memory asks for is not the agent's, and is not weighed with it.
        options: dict[str, Any] = {"model": live[0], "formatter": live[1]} if live else {"model": None}
        self.manager = MemoryManager(
            folder / "memory",
            language=language,
            max_input_length=window,
            memory_compact_reserve=self.context.reserve,
            tool_result_compact_keep_n=1,
            old_max_bytes=window // 8,
            **options,
        )

    async def play(
        self, view: Spectacle, tally: Tally, reported: Callable[[Outcome], None] = lambda _: None
    ) -> Outcome:
        """Let the agent work, show it, and end the session.

        Args:
            view (`Spectacle`):
                Shows it.
            tally (`Tally`):
                Is kept up to date.
            reported (`Callable[[Outcome], None]`):
                Is told how it went, before the session ends and is noted down.

        Raises:
            `KeyboardInterrupt`: the person stopped it.
        """
        project = SampleProject.write(self._folder / "project", self._language)
        toolkit = Toolkit()
        for tool in ProjectTools(project.root).functions():
            toolkit.register_tool_function(tool)
        agent = ReActAgent(
            "detective",
            self.words.system_prompt,
            self.model,
            self._formatter,
            toolkit,
            InMemoryMemory(),
            max_iters=_MOST_STEPS,
            parallel_tool_calls=True,
        )
        agent.set_console_output_enabled(False)
        with warnings_to(view):
            await self.manager.start()
            try:
                outcome = await self._watched(agent, project, view, tally)
                reported(outcome)
                await self._leave(view)
                return outcome
            finally:
                await self.manager.close()

    async def _watched(self, agent: ReActAgent, project: SampleProject, view: Spectacle, tally: Tally) -> Outcome:
        memory = self.manager.attach(agent)
        count = memory.services.tokens.count_text
        witness = Witness(view, MessageTokens(count), tally, memory)
        agent.formatter = weighing = WeighingFormatter(self._formatter, count, agent.toolkit.get_json_schemas)
        agent.register_instance_hook("pre_print", "witness", witness.heard)
        tally.window, tally.threshold = self.context.max_input_length, self.context.threshold
        self.manager.subscribe(witness.told)
        for text in (self.words.task, self.words.follow_up):
            request = Msg("user", text, "user")
            witness.asked(request)
            reply = await agent(request)
            if (reply.metadata or {}).get("_is_interrupted"):
                raise KeyboardInterrupt
            if text is not self.words.follow_up:
                view.said(reply.get_text_content() or "")
        answer = reply.get_text_content() or ""
        names: dict[bool, list[str]] = {True: [], False: []}
        for name, value in project.answers.items():
            names[value in answer].append(name)
        return Outcome(
            answer=answer,
            tally=tally,
            census=Census.take(memory, witness.messages),
            requests=weighing.weights,
            right=names[True],
            missing=names[False],
            findings=self.script.findings,
        )

    async def _leave(self, view: Spectacle) -> None:
        """End the session as a person would, and wait for the notes."""
        view.asked("/new")
        view.said(await self.manager.command("/new") or "")
        with anyio.move_on_after(_PATIENCE):
            await self.manager.await_summary_tasks()
