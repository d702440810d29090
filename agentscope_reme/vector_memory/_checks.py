# -*- coding: utf-8 -*-
"""What a model proposes, checked: nothing is stored that does not pass here, whichever way it was proposed."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from ..message import parsed_time
from ._agent_tools import as_texts
from ._claims import plain
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._owner import Owner
from ._proposal import Action, Proposal, Refusal
from ._reply_items import first_text, numbers_in
from ._sources import Sources
from ._utterances import Utterance
from .kinds import MemoryKind

__all__ = ["Checks"]

logger = logging.getLogger("agentscope_reme")

_ACTIONS: dict[str, Action] = {
    "add": "add",
    "create": "add",
    "new": "add",
    "insert": "add",
    "update": "update",
    "merge": "update",
    "edit": "update",
    "supersede": "supersede",
    "replace": "supersede",
    "override": "supersede",
}
_NO_ACTION = frozenset({"none", "noop", "no-op", "no_op", "nothing", "keep", "skip", "ignore"})
_LONGEST = 4_000
_SHOWN = 120
_COPIED_CHARS = 12
_PROFILE_KEY_CHARS, _PROFILE_VALUE_CHARS = 60, 300

_THE_USER = re.compile(
    r"\bthe user\b(?!\s+(?:interface|interfaces|name|names|account|accounts|id|ids|table|tables|guide|manual|agent|"
    r"experience|story|stories|group|groups|model|input|base|service|list|profile|settings?)\b)",
    re.IGNORECASE,
)
_THE_USER_HAN = re.compile(
    r"(?:^|(?<=[，。；、：！？,;:\s]))(?:这位|该|本)?用户(?![名界登注组群体量数端态画标协手权输行故反需])"
)


@dataclass(frozen=True)
class Checks:
    """Turns what a model proposes into proposals, or says why not.

    Args:
        kind (`MemoryKind`): the kind of memory.
        owner (`Owner`): whose memories they become, whatever the model says.
        said (`tuple[Utterance, ...]`): the conversation.
        shown (`frozenset[str]`): the ids that the model was shown.
        prompt (`str`): its instructions, which are no memories.
        situation (`str`): the `when_to_use` of a memory for which it gave none, where the kind has one.
        rules (`KeepingRules`): which categories and tags there are.
    """

    kind: MemoryKind
    owner: Owner
    said: tuple[Utterance, ...]
    shown: frozenset[str] = frozenset()
    prompt: str = ""
    situation: str = ""
    rules: KeepingRules = AS_DRAWN

    def proposals(self, items: Iterable[Any]) -> list[Proposal | Refusal | None]:
        """All items of a reply; see `proposal`."""
        return [self.proposal(item) for item in items]

    def proposal(self, item: Any) -> Proposal | Refusal | None:
        """One item of a reply, or the arguments of a call; `None` where it asks for nothing."""
        fields: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
        given = fields.get("action", fields.get("event"))
        action = _ACTIONS.get(given.strip().lower()) if isinstance(given, str) and given.strip() else None
        if isinstance(given, str) and given.strip().lower() in _NO_ACTION:
            return None
        if isinstance(given, str) and given.strip() and action is None:
            return Refusal("action", given[:_SHOWN])
        content = _encodable(first_text(item))
        target = first_text(fields, ("id", "memory_id", "target_id"))
        action = (action or "update") if target else "add"
        if refusal := self._refusal(content, fields, target, action):
            return refusal
        cited = self._sources.cited(numbers_in(fields.get("from", fields.get("sources"))))
        if self.kind.people_only:
            content = self._named(content)
            if not self._sources.people_said(content, cited):
                return Refusal("source", content[:_SHOWN])
            if not self._sources.is_theirs(content, cited):
                return Refusal("other_person", content[:_SHOWN])
        return Proposal(
            content=content,
            action=action,
            target=target if action != "add" else "",
            when_to_use=self._situation(fields),
            category=self._category(fields.get("category")),
            message_time=self._time(fields, cited),
            author=self._author(cited),
            entities=_entities(fields.get("entities"), content),
            labels=self._labels(fields.get("tags")),
            importance=_importance(fields.get("importance")),
            outdated=first_text(fields, ("no_longer_true", "outdated")),
        )

    def profile(self, given: Any) -> tuple[dict[str, str], list[Refusal]]:
        """The entries of a profile that people said, and those that were turned away. Nothing is taken out of it."""
        kept: dict[str, str] = {}
        refused: list[Refusal] = []
        for name, held in _entries(given):
            key, value = " ".join(_encodable(str(name)).split()), _profile_value(held)
            if value is None:
                continue
            if not key or not value or len(key) > _PROFILE_KEY_CHARS:
                refused.append(Refusal("no_content", f"{key[:_SHOWN]}: {str(held)[:_SHOWN]}"))
            elif self.kind.people_only and not self._sources.may_be_profile(key, value):
                refused.append(Refusal("source", f"{key}: {value[:_SHOWN]}"))
            else:
                kept[key] = value
        return kept, refused

    def _refusal(self, content: str, fields: Mapping[str, Any], target: str, action: Action) -> Refusal | None:
        if not content:
            return Refusal("no_content", str(fields.get("content", ""))[:_SHOWN])
        if len(content) > _LONGEST:
            return Refusal("too_long", str(len(content)))
        other = first_text(fields, ("memory_target", "target", self.kind.argument))
        if other and other != self.owner.target:
            return Refusal("target", other[:_SHOWN])
        if target and action != "add" and target not in self.shown:
            return Refusal("id", target[:_SHOWN])
        if len(plain(content)) >= _COPIED_CHARS and plain(content) in plain(self.prompt):
            return Refusal("prompt", content[:_SHOWN])
        return None

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self.said, self.owner.target)

    def _named(self, content: str) -> str:
        """The real name in the place of "the user"."""
        named = _THE_USER.sub(lambda _: self.owner.target, content)
        return _THE_USER_HAN.sub(lambda _: self.owner.target, named)

    def _situation(self, fields: Mapping[str, Any]) -> str:
        if not self.kind.writes_when_to_use:
            return ""
        return _encodable(first_text(fields, ("when_to_use", "situation"))) or self.situation

    def _author(self, cited: Sequence[Utterance]) -> str:
        """Who said it: the first person among the sources; without sources the only one who spoke, where it is one."""
        people = [each.speaker for each in cited or self.said if each.role == "user"]
        return people[0] if people and (cited or len(set(people)) == 1) else ""

    def _category(self, given: Any) -> str:
        name = given.strip().lower() if isinstance(given, str) else ""
        return next((each for each in self.rules.categories(self.kind) if each.lower() == name), "")

    def _labels(self, given: Any) -> dict[str, tuple[str, ...]]:
        """The tags that are allowed, by their dimensions; without declared ones there are none."""
        if self.rules.labels is None:
            return {}
        valid, faults = self.rules.labels.cleaned(_tag_values(given))
        if faults:  # not which: what was said belongs in no log
            logger.warning("%d tags of a memory of %s are not allowed and left out.", len(faults), self.owner.key)
        return valid

    def _time(self, fields: Mapping[str, Any], cited: Sequence[Utterance]) -> datetime | None:
        """When it was said: the time of its first source; else a time that the model gave, if the conversation reaches
        so far; else the time of the last message of a user."""
        by_people = [each for each in cited if each.role == "user"] or list(cited)
        if times := [each.time for each in by_people if each.time]:
            return min(times)
        times = [each.time for each in self.said if each.time]
        if not times:
            return None
        for name in ("message_time", "time", "date"):
            moment = _aware(parsed_time(fields.get(name)))
            if (
                moment is not None
                and min(times).date() <= moment.astimezone(times[0].tzinfo).date() <= max(times).date()
            ):
                return min(max(moment, min(times)), max(times))
        people = [each.time for each in self.said if each.role == "user" and each.time]
        return max(people or times)


def _aware(moment: datetime | None) -> datetime | None:
    try:
        return None if moment is None else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _entities(given: Any, content: str) -> tuple[str, ...]:
    """The names that are in the content as they are written."""
    if not isinstance(given, (list, tuple)):
        return ()
    names = (" ".join(each.split()) for each in given if isinstance(each, str))
    return tuple(dict.fromkeys(name for name in names if name and name.lower() in content.lower()))


def _tag_values(given: Any) -> dict[str, list[str]]:
    """Values by their dimensions: from a mapping, or from tags such as ``topic:food``; free tags are none."""
    if isinstance(given, Mapping):
        return {str(name): as_texts(value) for name, value in given.items()}
    found: dict[str, list[str]] = {}
    for tag in as_texts(given):
        name, value = (each.strip() for each in (*re.split("[:：]", tag, maxsplit=1), "")[:2])
        if value:
            found.setdefault(name, []).append(value)
    return found


def _importance(given: Any) -> float | None:
    if isinstance(given, str):
        with suppress(ValueError):
            given = float(given)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        return None
    return float(given)


def _entries(given: Any) -> list[tuple[Any, Any]]:
    """The pairs in a profile: a mapping, or a list of objects with key and value."""
    if isinstance(given, Mapping):
        return list(given.items())
    if not isinstance(given, (list, tuple)):
        return []
    return [(each["key"], each.get("value")) for each in given if isinstance(each, Mapping) and "key" in each]


def _profile_value(held: Any) -> str | None:
    """A value as text; `None` where none was given, "" for one that cannot be."""
    if isinstance(held, Mapping) and "value" in held:
        held = held["value"]
    if held is None:
        return None
    if isinstance(held, (list, tuple)):
        held = ", ".join(each for each in held if isinstance(each, str))
    if isinstance(held, (date, bool, int, float)):
        held = str(held)
    text = " ".join(_encodable(held).split()) if isinstance(held, str) else ""
    return text if len(text) <= _PROFILE_VALUE_CHARS else ""


def _encodable(text: str) -> str:
    """The text with half characters replaced: no store can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()
