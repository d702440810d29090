# -*- coding: utf-8 -*-
"""What a model is told and asked when memories are drawn from a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._errors import ConfigError
from ..message import delimited
from ..text import PromptBook
from ._checks import Checks
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._model_access import ModelAccess
from ._owner import Owner
from ._shown import Shown, profile_text
from ._utterances import Passage, Utterance, passages
from .kinds import MemoryKind

__all__ = ["Assignment", "Prompts", "of_kind", "sections"]

_REPLY_TOKENS = 3_000
_KNOWN_TOKENS = 3_000
_LEAST_CAPACITY = 256
_LARGEST_NUMBER = 9_999
_TARGET_CHARS = 200


@dataclass(frozen=True)
class Assignment:
    """What memories are to be drawn, and from what.

    Args:
        kind (`MemoryKind`): of which kind.
        owner (`Owner`): of whom or about what.
        said (`tuple[Utterance, ...]`): from which conversation.
        language (`str`): the language of the prompts.
        forced (`bool`): memories are written in that language, whatever the conversation's is.
        description (`str`): what the application says about the conversation.
        rules (`KeepingRules`): what may be filled in.
    """

    kind: MemoryKind
    owner: Owner
    said: tuple[Utterance, ...]
    language: str
    forced: bool = False
    description: str = ""
    rules: KeepingRules = AS_DRAWN

    @property
    def target(self) -> str:
        """The target's name on one line."""
        return _one_line(self.owner.target)[:_TARGET_CHARS]


class Prompts:
    """What a model is told and asked for an assignment.

    Args:
        access (`ModelAccess`): the prompts and the window.
        assignment (`Assignment`): what is wanted.
    """

    def __init__(self, access: ModelAccess, assignment: Assignment) -> None:
        self._access, self._assignment = access, assignment
        self.system = self._system()

    def passages(self) -> list[Passage]:
        """The conversation in parts that fit the window beside everything else.

        Raises:
            `ConfigError`: the window has no room.
        """
        count = self._access.count
        empty = Passage(_LARGEST_NUMBER, _LARGEST_NUMBER, (), "")
        frame = count(self.system) + count(self.question(empty, "", {})) + count(self.text("retry"))
        room = self._access.max_input_tokens - frame - _REPLY_TOKENS
        capacity = room - min(_KNOWN_TOKENS, room // 3)
        if capacity < _LEAST_CAPACITY:
            raise ConfigError(
                f"max_input_tokens (max_input_length of ReMe) is {self._access.max_input_tokens}, of which prompts and "
                f"reply take {frame + _REPLY_TOKENS}: give at least {frame + _REPLY_TOKENS + 2 * _LEAST_CAPACITY}.",
            )
        return passages(self._assignment.said, capacity, count)

    def question(self, part: Passage, known: str, profile: Mapping[str, str]) -> str:
        """The request about one part."""
        text, assignment = self.text, self._assignment
        return sections(
            text("description", description=assignment.description) if assignment.description else "",
            text("profile_now", profile=profile_text(profile)) if profile else "",
            text("known", known=known) if known else text("nothing_known"),
            text("part", number=part.number, total=part.total) if part.total > 1 else "",
            text("conversation", conversation=delimited(part.text, "conversation")),
        )

    def checks(self, shown: Shown) -> Checks:
        """What is checked in the answer."""
        kind, assignment = self._assignment.kind, self._assignment
        situation = self.text("situation_of", target=assignment.target) if kind.writes_when_to_use else ""
        return Checks(
            kind, assignment.owner, assignment.said, shown.names, self.system, situation, rules=assignment.rules
        )

    def _rules(self, *, profile: bool) -> str:
        """What is a memory of this kind and what is none."""
        kind, text = self._assignment.kind, self.text
        return sections(
            text("keep_heading", rules=self._of_kind("keep")),
            text("drop_heading", rules=self._of_kind("drop")),
            self._of_kind("situation") if kind.writes_when_to_use else "",
            self._of_kind("profile") if profile and kind.keeps_profile else "",
            text("names_rule", target=self._assignment.target),
            text("always"),
        )

    def agent_system(self) -> str:
        """What an agent is told that takes down memories with tools."""
        steps = self.text("agent_steps", language=self._in_language())
        rules = self._rules(profile=False)
        return sections(self._of_kind("role"), self.text("data"), steps, rules, self._categories(), self._labels())

    def profile_system(self) -> str:
        """What an agent is told that brings the profile up to date."""
        steps = self.text("profile_steps", language=self._in_language())
        profile = self._of_kind("profile")
        target = self.text("names_rule", target=self._assignment.target)
        return sections(self._of_kind("role"), self.text("data"), steps, profile, target, self.text("always"))

    def text(self, name: str, **values: object) -> str:
        """A prompt that all kinds share."""
        return self._access.book.get(self._assignment.language, f"memory_agent.{name}").fill(**values)

    def _system(self) -> str:
        kind = self._assignment.kind
        form = self.text(
            "format",
            tags='"tags": ["..."], ' if self._dimensions() else "",
            situation='"when_to_use": "...", ' if kind.writes_when_to_use else "",
            profile=', "profile": {"...": "..."}' if kind.keeps_profile else "",
            categories=self._named_categories(),
        )
        steps = self.text("steps", language=self._in_language())
        return sections(
            self._of_kind("role"), self.text("data"), steps, self._rules(profile=True), form, self._labels()
        )

    def _in_language(self) -> str:
        return self.text("this_language" if self._assignment.forced else "same_language")

    def _categories(self) -> str:
        return self.text("categories", categories=self._named_categories()) if self._category_names() else ""

    def _named_categories(self) -> str:
        return ", ".join(f'"{each}"' for each in self._category_names()) or '""'

    def _category_names(self) -> Sequence[str]:
        return self._assignment.rules.categories(self._assignment.kind)

    def _dimensions(self) -> Mapping[str, Sequence[str]]:
        labels = self._assignment.rules.labels
        return {} if labels is None else labels.dimensions

    def _labels(self) -> str:
        """What tags are to be filled in; "" where no dimensions were declared."""
        lines = [
            f"- {name}: {', '.join(map(_one_line, allowed)) or self.text('any_value')}"
            for name, allowed in self._dimensions().items()
        ]
        return self.text("tags", dimensions="\n".join(lines)) if lines else ""

    def _of_kind(self, name: str) -> str:
        assignment = self._assignment
        return of_kind(self._access.book, assignment.language, assignment.kind, name, assignment.target)


def of_kind(book: PromptBook, language: str, kind: MemoryKind, name: str, target: str) -> str:
    """A prompt of a kind, with the target's name where it has a place for it."""
    prompt = book.get(language, f"{kind.prompts}.{name}")
    return prompt.fill(**({"target": target} if prompt.placeholders else {}))


def sections(*texts: str) -> str:
    """The texts that are not empty, with an empty line between them."""
    return "\n\n".join(filter(None, texts))


def _one_line(text: str) -> str:
    return " ".join(text.split())
