# -*- coding: utf-8 -*-
"""The living usage guide of a tool: one memory, brought up to date with each round of calls."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._errors import MemoryNotFound, ModelReplyError
from ..chat import ask, parse_json
from ..record import MemoryNode, ToolCallRecord
from ..text import detect_language
from ._bank import MemoryBank
from ._guide_text import GuideText
from ._model_access import ModelAccess
from ._owner import Owner
from ._owner_locks import OwnerLocks
from ._reply_items import numbers_in
from ._tool_records import ToolRecords
from ._tool_statistics import LATEST, statistics_of
from .kinds import MemoryKind

__all__ = ["ToolGuides"]

logger = logging.getLogger("agentscope_reme")

_GUIDE = "guide"
_ATTEMPTS = 2
_LONGEST = 8_000
_SAMPLE_CHARS = 400
_CAUSE = "tool calls"


@dataclass(frozen=True)
class _Review:
    """What a model wrote: the guide, when it is of use, and verdicts by the numbers of the calls."""

    prose: str
    situation: str
    verdicts: dict[int, dict[str, Any]]


class ToolGuides:
    """Keeps a guide for each tool. Without a model it consists of figures and the commonest errors.

    Args:
        bank (`MemoryBank`): where the guides are.
        records (`ToolRecords`): the calls.
        access (`ModelAccess`): the model, where there is one, and the texts.
    """

    def __init__(self, bank: MemoryBank, records: ToolRecords, access: ModelAccess) -> None:
        self._bank, self._records, self._access = bank, records, access
        self._locks = OwnerLocks()

    async def update(
        self,
        kind: MemoryKind,
        owner: Owner,
        *,
        language: str | None = None,
        forced: bool = False,
        by_model: bool = True,
        actor: str = "",
    ) -> MemoryNode | None:
        """Bring the guide of a tool up to date.

        Args:
            kind (`MemoryKind`): the kind of memory that guides are.
            owner (`Owner`): the tool.
            language (`str | None`): of a guide that is new; `None` is that of the calls.
            forced (`bool`): it is the language of a guide that there is, too.
            by_model (`bool`): let the model, if there is one, judge the calls and write the guide; else only the
                figures are brought up to date, and the next time the model reads what it has not read.
            actor (`str`): who does it, for the record.

        Returns:
            `MemoryNode | None`: the guide, where something in it is new.

        Raises:
            `ModelReplyError`: the model failed twice; the guide stays as it was.
        """
        async with self._locks.of(owner):
            records = await self._records.of(owner.target, LATEST)
            old = await self._guide(owner)
            seen = _digest(records)
            by_model = by_model and self._access.is_there
            told = dict(old.metadata) if old else {}
            if not records or (told.get("seen") == seen and (told.get("read") == seen or not by_model)):
                return None
            if not forced or language is None:
                written = [old.content] if old else _texts(records)
                language = detect_language(written) if old or language is None else language
            text = GuideText(self._access.book, language, kind.prompts, owner.target)
            prose = _prose(old) if old else ""
            situation = old.when_to_use if old else ""
            if by_model:
                review = await self._reviewed(text, owner, records, prose)
                await self._records.judge(owner.target, review.verdicts, records)
                records = [replace(each, **review.verdicts.get(at, {})) for at, each in enumerate(records)]
                prose, situation = review.prose, review.situation or situation
            lead, figures = prose or text.about("plain_guide"), text.figures(statistics_of(owner.target, records))
            new = MemoryNode(
                f"{lead}\n\n{figures}",
                owner.memory_type,
                owner.target,
                when_to_use=situation or text.about("plain_situation"),
                category=_GUIDE,
                message_time=records[0].create_time,
                author=actor,
                metadata={
                    "prose": prose,
                    "lead": lead,
                    "figures": figures,
                    "seen": seen,
                    "read": seen if by_model else told.get("read"),
                },
            )
            return await self._stored(owner, old, new, actor)

    async def _guide(self, owner: Owner) -> MemoryNode | None:
        found = await self._bank.list([owner], {"category": _GUIDE}, limit=1)
        return found[0] if found else None

    async def _stored(self, owner: Owner, old: MemoryNode | None, new: MemoryNode, actor: str) -> MemoryNode:
        if old is not None:
            try:
                return await self._bank.update(
                    old.memory_id,
                    owner,
                    content=new.content,
                    when_to_use=new.when_to_use,
                    actor=actor,
                    cause=_CAUSE,
                    message_time=new.message_time,
                    metadata={**old.metadata, **new.metadata},
                )
            except MemoryNotFound:
                logger.info("The guide of %s was deleted while it was written anew.", owner.target)
        return (await self._bank.add([new], actor=actor, cause=_CAUSE))[0]

    async def _reviewed(self, text: GuideText, owner: Owner, records: Sequence[ToolCallRecord], prose: str) -> _Review:
        model, formatter = self._access.pair(f"A guide to {owner.target!r}")
        judged = frozenset(at for at, each in enumerate(records, 1) if each.score is not None)
        system = self._system(text)
        request = text.request(records, judged, statistics_of(owner.target, records), prose)
        problem: ModelReplyError | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            asked = request if problem is None else f"{request}\n\n{self._shared(text, 'retry')}"
            try:
                reply = await ask(
                    model, formatter, system, asked, timeout=self._access.timeout, temperature=self._access.temperature
                )
                return _review(reply.text, len(records), judged)
            except ModelReplyError as error:
                logger.warning("The guide of %s, attempt %d: %s", owner.target, attempt, error)
                problem = error
        raise ModelReplyError(
            f"The guide of the tool {owner.target!r} stays as it is, since no reply of the model could be used in "
            f"{_ATTEMPTS} attempts: {problem}",
        ) from problem

    def _system(self, text: GuideText) -> str:
        language = self._shared(text, "this_language")  # that of the figures below
        return "\n\n".join(
            [
                text.about("role"),
                text.text("data"),
                text.text("steps", language=language),
                self._shared(text, "keep_heading", rules=text.about("keep")),
                self._shared(text, "drop_heading", rules=text.about("drop")),
                text.about("situation"),
                self._shared(text, "always"),
                text.text("format"),
            ],
        )

    def _shared(self, text: GuideText, name: str, **values: object) -> str:
        return self._access.book.get(text.language, f"memory_agent.{name}").fill(**values)


def _prose(guide: MemoryNode) -> str:
    """What a model wrote of a guide, or whoever has changed it by hand since; "" for figures alone."""
    told = guide.metadata
    lead = guide.content.removesuffix(str(told.get("figures") or "")).strip()
    return str(told.get("prose") or "") if lead == told.get("lead") else lead


def _texts(records: Sequence[ToolCallRecord]) -> list[str]:
    """What the language of calls is told by."""
    given = [each.input if isinstance(each.input, str) else " ".join(map(str, each.input.values())) for each in records]
    return [*given, *(each.output[:_SAMPLE_CHARS] for each in records)]


def _review(reply: str, calls: int, judged: frozenset[int]) -> _Review:
    """Read a review: leniently in form, strictly in what is taken.

    Raises:
        `ModelReplyError`: there is no guide in it.
    """
    value = parse_json(reply)
    fields: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    prose = fields.get("guide")
    if not isinstance(prose, str) or not prose.strip():
        raise ModelReplyError(f"There is no guide in the model's reply: {reply[:200]!r}")
    if len(prose) > _LONGEST:
        raise ModelReplyError(f"The guide in the model's reply has {len(prose)} characters: {_LONGEST} are the most.")
    situation = fields.get("when_to_use")
    verdicts: dict[int, dict[str, Any]] = {}
    given = fields.get("verdicts")
    for each in given if isinstance(given, list) else ():
        number = next(iter(numbers_in(each.get("call", each.get("number")))), 0) if isinstance(each, Mapping) else 0
        if 1 <= number <= calls and number not in judged and (verdict := _verdict(each)):
            verdicts[number - 1] = verdict
    return _Review(prose.strip(), situation.strip() if isinstance(situation, str) else "", verdicts)


def _verdict(given: Mapping[str, Any]) -> dict[str, Any]:
    verdict: dict[str, Any] = {
        name: given[name].strip()
        for name in ("summary", "evaluation")
        if isinstance(given.get(name), str) and given[name].strip()
    }
    score = given.get("score")
    if isinstance(score, (int, float)) and not isinstance(score, bool) and 0 <= score <= 1:
        verdict["score"] = float(score)
    return verdict


def _digest(records: Sequence[ToolCallRecord]) -> str:
    """Tells whether calls have been made since: of the calls, without what was thought of them."""
    told = "\n".join(f"{each.create_time.isoformat()} {each.call_hash} {each.success}" for each in records)
    return hashlib.sha256(told.encode("utf-8")).hexdigest()[:16]
