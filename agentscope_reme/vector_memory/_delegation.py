# -*- coding: utf-8 -*-
"""One conversation, several targets: an agent says which of them are concerned, and each is seen to by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import anyio

from .._errors import ModelReplyError, ReMeError
from ._agent_tools import Say, as_texts, toolkit_of
from ._memory_agent import run_agent
from ._model_access import ModelAccess
from ._owner import Owner
from ._reply_items import says_nothing

__all__ = ["DelegateTask", "delegate", "targets_text"]

logger = logging.getLogger("agentscope_reme")

Job = Callable[[Owner], Coroutine[Any, Any, None]]
"""Sees to one target; keeps its failures to itself."""


class DelegateTask:
    """The tool that hands a conversation on. Its targets are those that the caller named; there are no others.

    Args:
        owners (`Sequence[Owner]`): the targets.
        start (`Callable[[Owner], object]`): sets one of them going, without waiting for it.
        say (`Say`): the texts of the answers.
        parts (`Mapping[Owner, Sequence[Owner]] | None`): of a target that stands for several, which: naming one of them
            names it.
    """

    def __init__(
        self,
        owners: Sequence[Owner],
        start: Callable[[Owner], object],
        say: Say,
        parts: Mapping[Owner, Sequence[Owner]] | None = None,
    ) -> None:
        self.delegated: list[Owner] = []
        self._owners: dict[str, list[Owner]] = {}
        for owner in owners:
            self._owners.setdefault(_one_line(owner.key), []).append(owner)
        self._wholes = {
            _one_line(part.key): _one_line(owner.key) for owner, some in (parts or {}).items() for part in some
        }
        self._start, self._say = start, say

    async def delegate_task(self, targets: list[str]) -> str:
        """Hand the whole conversation on to an agent for each of these targets. They work at the same time.

        Args:
            targets (`list[str]`):
                The targets, exactly as they are listed.
        """
        named = map(_one_line, as_texts(targets))
        wanted = [each if each in self._owners else self._wholes.get(each, each) for each in named]
        if not wanted:
            return self._say("missing_argument", argument="targets")
        if unknown := [each for each in wanted if each not in self._owners]:
            known = ", ".join(self._owners)
            answers = [self._say("no_such_target", target=each, targets=known) for each in unknown]
        else:
            answers = []
        fresh = dict.fromkeys(
            owner for each in wanted for owner in self._owners.get(each, ()) if owner not in self.delegated
        )
        for owner in fresh:
            self.delegated.append(owner)
            self._start(owner)
        if fresh:
            answers.insert(0, self._say("delegated", targets=", ".join(_one_line(owner.key) for owner in fresh)))
        return "\n".join(answers) or self._say("delegated_before")

    def narrow(self, parameters: dict[str, Any]) -> None:
        """Leave the model no other targets to name."""
        items = {"type": "string", "enum": list(self._owners)}
        described = parameters["properties"]["targets"].get("description", "")
        parameters["properties"]["targets"] = {"type": "array", "items": items, "description": described}


async def delegate(
    access: ModelAccess,
    owners: Sequence[Owner],
    job: Job,
    *,
    language: str,
    system: str,
    request: str,
    parts: Mapping[Owner, Sequence[Owner]] | None = None,
) -> list[Owner]:
    """Have an agent choose among the targets; jobs start as they are chosen and run in parallel.

    Args:
        access (`ModelAccess`): the model and the bounds of the choosing agent.
        owners (`Sequence[Owner]`): the targets.
        job (`Callable[[Owner], Coroutine]`): what is done for each that is chosen.
        language (`str`): of the answers of the tool.
        system (`str`), request (`str`): what the agent is told and asked.
        parts (`Mapping[Owner, Sequence[Owner]] | None`): see `DelegateTask`.

    Returns:
        `list[Owner]`: the targets that were chosen; all their jobs have ended.

    Raises:
        `ModelReplyError`: the model failed before it chose any, or chose none and did not say that there is nothing.
    """
    say = Say(access.book, language)
    failure: ReMeError | None = None
    answer = ""
    async with anyio.create_task_group() as group:
        tool = DelegateTask(owners, lambda owner: group.start_soon(job, owner), say, parts)
        toolkit = toolkit_of(
            [tool.delegate_task],
            say,
            thinking=access.enable_thinking_params,
            narrow={"delegate_task": tool.narrow},
        )
        try:
            answer = await run_agent(access, "memory delegation", system, request, toolkit)
        except ReMeError as error:
            failure = error
    if failure is not None:
        if not tool.delegated:
            raise failure
        logger.warning("The delegating agent failed after it had delegated: %s", failure)
    if not tool.delegated and not says_nothing(answer, access.nothing_patterns()):
        raise ModelReplyError(
            f"Nothing was delegated: the model called no tool that chose a target, and answered {answer[:80]!r}.",
        )
    return tool.delegated


def targets_text(owners: Sequence[Owner]) -> str:
    """The targets as a list."""
    return "\n".join(f"- {_one_line(owner.key)}" for owner in owners)


def _one_line(key: str) -> str:
    """A target as a model reads and writes it: a name may hold blanks and line ends of any kind."""
    return " ".join(key.split())
