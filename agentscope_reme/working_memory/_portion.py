# -*- coding: utf-8 -*-
"""A run of messages that becomes one summary: what a model is asked about it, and in how many parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from agentscope.message import Msg

from ..chat import pack_parts
from ..message import blocks_of, delimited, escape_data, is_user_request, render, tool_results
from ..text import PromptBook

__all__ = ["Part", "Portion", "says_something", "spoken_text"]

_SEPARATOR = "\n\n"
_ROLES = ("user", "agent", "tool", "other")
_TAGS = ("transcript", "message", "previous_summary", "current_request")
_REQUEST_CHARS = 1_000
_LARGEST_NUMBER = 9_999
_RETRY_TOKENS = 250
_MOST_PROBLEMS = 3
_LEAST_CAPACITY = 64
_SAMPLE_CHARS = 4_000
_LIMIT_SHARE = 0.8
_THINKING_SHARE = 0.5
_CHARS_PER_TOKEN = (0.5, 4.0)

Count = Callable[[str], int]


@dataclass(frozen=True)
class Part:
    """As much of a portion as is shown to the model at once.

    Args:
        first (`int`): The index in the portion of the message that the part begins in.
        text (`str`): The messages, or pieces of messages that are too long, each in a tag that says who wrote it.
        agent_text (`str`): What in it the agent said.
        other_text (`str`): What in it neither a user nor the agent said.
    """

    first: int
    text: str
    agent_text: str
    other_text: str


@dataclass(frozen=True)
class Portion:
    """Messages to be summarized together, and how.

    Args:
        messages (`tuple[Msg, ...]`): The messages, oldest first.
        previous (`str`): The summary of what came before them.
        book (`PromptBook`): The prompts.
        language (`str`): The language of the prompts and of the summary.
        budget (`int`): The most tokens of the summary.
        instruction (`str`): What the user wants of the summary.
        request (`str`): What the user is waiting for now.
        think (`bool`): Whether the model writes down its reasoning first.
        turn (`bool`): Whether the messages are the beginning of a turn whose request and end stay with the agent.
        trusted (`str`): What else users said, from which goals and constraints may come.
    """

    messages: tuple[Msg, ...]
    previous: str
    book: PromptBook
    language: str
    budget: int
    instruction: str = ""
    request: str = ""
    think: bool = True
    turn: bool = False
    trusted: str = ""

    @cached_property
    def user_text(self) -> str:
        """Where goals and constraints may come from: what users said, and the previous summary."""
        said = (_plain_text(msg) for msg in self.messages if is_user_request(msg))
        return "\n".join([*said, self.previous, self.request, self.instruction, self.trusted])

    def parts(self, window: int, count: Count) -> list[Part]:
        """The portion in parts that fit a model's input window together with everything else in the request.

        Args:
            window (`int`): Tokens that a request and its reply may have together.
            count (`Callable[[str], int]`): Tokens in a text.

        Returns:
            `list[Part]`: Parts that hold every character of every message; none where the window has no room.
        """
        capacity = window - self._overhead(count)
        if capacity < _LEAST_CAPACITY:
            return []
        frame = count(_message("", "other"))
        return _parts(self.messages, capacity, cache(lambda text: count(_escaped(text)) + frame))

    def system(self, sample: str, count: Count) -> str:
        """The system prompt; the sample's beginning tells how many characters the budget is worth."""
        sample = sample[:_SAMPLE_CHARS]
        least, most = _CHARS_PER_TOKEN
        ratio = min(most, max(least, len(sample) / max(1, count(sample))))
        thinking = self._text("thinking" if self.think else "no_thinking")
        return self._text("system", thinking=thinking, limit=int(self.budget * ratio * _LIMIT_SHARE))

    def question(self, text: str, previous: str, number: int = 1, total: int = 1, problems: Sequence[str] = ()) -> str:
        """The request for a summary of one part."""
        transcript = delimited(text, "transcript")
        if previous:
            sections = [
                self._text("update", previous=delimited(_escaped(previous), "previous_summary"), transcript=transcript)
            ]
        else:
            sections = [self._text("turn" if self.turn else "create", transcript=transcript)]
        if self.request:
            sections.append(
                self._text("request", request=delimited(_escaped(_shortened(self.request)), "current_request"))
            )
        if self.instruction:
            sections.append(self._text("instruction", instruction=self.instruction))
        if total > 1:
            sections.append(self._text("part", number=number, total=total))
        if problems:
            sections.append(self._text("retry", problems="\n".join(f"- {each}" for each in problems[:_MOST_PROBLEMS])))
        return _SEPARATOR.join(sections)

    def _overhead(self, count: Count) -> int:
        """Tokens of a request's fixed texts, the summary it starts from, and its reply."""
        question = self.question("", self.previous or "-", _LARGEST_NUMBER, _LARGEST_NUMBER, ["-"])
        reply = self.budget + (int(self.budget * _THINKING_SHARE) if self.think else 0)
        later = max(0, self.budget - count(self.previous))
        return count(self.system("", count)) + count(question) + later + reply + _RETRY_TOKENS

    def _text(self, name: str, **values: object) -> str:
        return self.book.text(self.language, f"compactor.{name}", **values)


def says_something(msg: Msg) -> bool:
    """Whether there is anything in a message to summarize; blank texts and reasoning alone are nothing."""
    return any(
        bool(_string(block.get("text")).strip()) if block["type"] == "text" else block["type"] != "thinking"
        for block in blocks_of(msg)
    )


def spoken_text(messages: Sequence[Msg]) -> list[str]:
    """What users and the agent said, a text a message, without what tools returned."""
    return [text for msg in messages if msg.role != "system" and (text := _plain_text(msg))]


def _parts(messages: Sequence[Msg], capacity: int, measure: Count) -> list[Part]:
    texts = [render(msg) for msg in messages]
    parts, at, rest = [], 0, len(texts[0])
    for pieces in pack_parts(texts, capacity, measure, separator=_SEPARATOR):
        first, shown = at, []
        said: dict[str, list[str]] = {role: [] for role in _ROLES}
        for piece in pieces:
            role = _role(messages[at])
            said[role].append(piece)
            shown.append(_message(piece, role))
            rest -= len(piece)
            if not rest and at + 1 < len(texts):
                at += 1
                rest = len(texts[at])
        others = [*said["tool"], *said["other"]]
        parts.append(Part(first, _SEPARATOR.join(shown), "\n".join(said["agent"]), "\n".join(others)))
    return parts


def _message(text: str, role: str) -> str:
    """A message, or a piece of one, in a tag that says who wrote it, whatever the text itself pretends."""
    return delimited(_escaped(text), "message", role=role)


def _escaped(text: str) -> str:
    for tag in _TAGS:
        text = escape_data(text, tag)
    return text


def _role(msg: Msg) -> str:
    if tool_results(msg):
        return "tool"
    if is_user_request(msg):
        return "user"
    return "agent" if msg.role == "assistant" else "other"


def _plain_text(msg: Msg) -> str:
    """The text blocks of a message."""
    return "\n".join(_string(block.get("text")) for block in blocks_of(msg) if block["type"] == "text")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _shortened(request: str) -> str:
    """The beginning and the end of a long request, which stays with the agent in full."""
    if len(request) <= _REQUEST_CHARS:
        return request
    half = _REQUEST_CHARS // 2
    return f"{request[:half]}\n[...]\n{request[-half:]}"
