# -*- coding: utf-8 -*-
"""What was said in a conversation, sentence by sentence, sorted into the sections of a summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..text import split_sentences
from . import _cues as cues
from ._one_line import as_statement, clipped, joined, width

__all__ = ["PASTED_RULE", "Statement", "assistant_statements", "user_statements"]

PASTED_RULE = 0.6
"""The weight of a rule in a long message."""

_SENTENCE_WIDTH = 600
_ENDS = 30  # sentences at either end of a message; what lies between was pasted
_LONG_MESSAGE = 12  # sentences; rules in what is longer are as likely instructions that were pasted
_ITEM_WIDTH = 240
_REPLY_WIDTH = 160
_GOAL_WIDTH = 900
_MOST_OF_A_KIND = 6
_LIST_ITEM = re.compile(r"\s*(?:[-*+•·]\s|\d{1,2}[.)、．]\s*\S)")


@dataclass
class Statement:
    """One line for the summary: the field it belongs to, how much it tells, when it was said, and what kind it is."""

    field: str
    text: str
    weight: float
    order: int
    kind: str = ""


def user_statements(text: str, order: int, is_talk: bool) -> list[Statement]:
    """What a message of the user asks for, demands, decides and tells.

    Args:
        text (`str`):
            The words of one real request.
        order (`int`):
            The place of the message in the conversation.
        is_talk (`bool`):
            Whether it may well be no request: an answer to a question of the agent, or one voice of several.
    """
    said = _sentences(text)
    if all(map(cues.is_courtesy, said)):
        return [Statement("goal", clipped(said[0], _ITEM_WIDTH), 0.0, order)] if said else []
    rules = [each for each in said if cues.states_rule(each)]
    rest = [each for each in said if each not in rules]
    asks = any(map(cues.requests, rest))
    is_talk = is_talk or cues.closes(text)
    is_request = asks or bool(rest and not is_talk)
    goal = _condensed(rest if is_request else said)
    weight = 0.6 + 0.4 * asks if is_request else 0.1 if is_talk else 0.3
    found = [Statement("goal", goal, weight, order)]
    stress = 1.0 if len(said) <= _LONG_MESSAGE else PASTED_RULE
    found += [Statement("constraints", clipped(each, _ITEM_WIDTH), stress, order) for each in rules]
    told = (_told_by_user(each, order, is_request, each in goal) for each in rest)
    return found + [each for each in told if each]


def _told_by_user(sentence: str, order: int, is_request: bool, in_goal: bool) -> Statement | None:
    """A sentence of the user as a decision, a report or information; beside a request, where that does not hold it."""
    text = clipped(sentence, _ITEM_WIDTH)
    if cues.decides(sentence) or cues.chooses(sentence):
        return Statement("decisions", text, 1.5, order)
    if is_request and (in_goal or not cues.names_particulars(sentence)):
        return None
    if cues.reports_completion(sentence) and not cues.requests(sentence):
        return Statement("progress_done", text, 1.0, order)
    return Statement("context", text, 0.8 + cues.names_particulars(sentence), order, "user")


def assistant_statements(text: str, order: int, is_reply: bool) -> list[Statement]:
    """What the agent reports, decides, plans and asks.

    Args:
        text (`str`):
            The words of one message, without its reasoning.
        order (`int`):
            The place of the message in the conversation.
        is_reply (`bool`):
            Whether the message ends a turn: it calls no tool.
    """
    said = _sentences(_with_lists_joined(text))
    found: list[Statement] = []
    for each in said:
        field, weight, kind = _part_of(each, is_reply)
        if field:
            found.append(Statement(field, clipped(each, _ITEM_WIDTH), weight, order, kind))
    if is_reply and not any(each.field == "progress_done" for each in found):
        gist = _gist(said, {each.text for each in found})
        found += [Statement("progress_done", gist, 0.4, order, "reply")] if gist else []
    return _few_of_each(found)


_AGENT_CUES: tuple[tuple[Callable[[str], bool], str, float, str], ...] = (
    (cues.asks, "next_steps", 1.0, "question"),
    (lambda sentence: cues.reports_completion(sentence) and not _is_bare(sentence), "progress_done", 1.5, ""),
    (cues.decides, "decisions", 1.0, ""),
    (cues.plans, "next_steps", 1.0, ""),
    (cues.intends, "progress_doing", 0.5, "intent"),
    (cues.reports_trouble, "progress_blocked", 0.8, "finding"),
    (lambda sentence: bool(cues.identifiers(sentence)), "context", 0.5, ""),
)


def _is_bare(sentence: str) -> bool:
    """Whether it is a single word, such as "Done!"."""
    return sentence.isascii() and " " not in sentence.strip()


def _part_of(sentence: str, is_reply: bool) -> tuple[str, float, str]:
    for tells, field, weight, kind in _AGENT_CUES:
        if tells(sentence):
            is_passing = kind == "finding" and not is_reply
            return ("context", 0.6, "") if is_passing else (field, weight, kind)
    return "", 0.0, ""


def _gist(said: list[str], known: set[str]) -> str:
    """What a reply says first beside questions and what is known already; `""` if there is nothing."""
    telling = [each for each in said if not cues.asks(each) and each not in known]
    return clipped(joined(telling[: 2 if width(telling[0]) < 40 else 1]), _REPLY_WIDTH) if telling else ""


def _with_lists_joined(text: str) -> str:
    """The text with each list on the line that leads in to it, since its items say little alone."""
    lines: list[str] = []
    in_list = False
    for line in text.splitlines():
        is_item = bool(_LIST_ITEM.match(line))
        if (
            is_item
            and lines
            and (in_list or lines[-1].rstrip(" *").endswith((":", "：")))
            and len(lines[-1]) < _SENTENCE_WIDTH
        ):
            lines[-1] += ("; " if in_list else " ") + line.strip().lstrip("-*+•· ")
            in_list = True
        elif line.strip() or not in_list:
            in_list = is_item
            lines += [line] if line.strip() else []
    return "\n".join(lines)


def _sentences(text: str) -> list[str]:
    """The statements of a text on one line each, without code and pleasantries, the same one only once."""
    pieces = split_sentences(text)
    if len(pieces) > 2 * _ENDS:
        pieces = pieces[:_ENDS] + pieces[-_ENDS:]
    prose, fenced = [], False
    for piece in pieces:
        if piece.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not cues.looks_like_code(piece[:_SENTENCE_WIDTH]):
            prose.append(_statement(piece))
    telling = [each for each in prose if not cues.is_courtesy(each)] or prose
    kept = telling or [_statement(piece) for piece in pieces[:3]]
    return [each for each in dict.fromkeys(kept) if any(map(str.isalnum, each))]


def _statement(piece: str) -> str:
    return clipped(as_statement(piece[: 2 * _SENTENCE_WIDTH]), _SENTENCE_WIDTH)


def _condensed(sentences: list[str]) -> str:
    """A request on one line: all of it, or else how it begins, what it asks, and how it ends."""
    if width(joined(sentences)) <= _GOAL_WIDTH:
        return joined(sentences)
    asking = [at for at, each in enumerate(sentences) if cues.requests(each)]
    lead = range(min(4, len(sentences)))
    room, keep = _GOAL_WIDTH, set()
    for at in dict.fromkeys([*lead, *asking[:2], *asking[-2:], len(sentences) - 1, *range(len(sentences))]):
        room -= min(width(sentences[at]), _ITEM_WIDTH) + 1
        if room < 0:
            break
        keep.add(at)
    return joined([clipped(sentences[at], _ITEM_WIDTH) for at in sorted(keep)])


def _few_of_each(statements: list[Statement]) -> list[Statement]:
    counts: dict[str, int] = {}
    kept = []
    for each in statements:
        counts[each.field] = counts.get(each.field, 0) + 1
        if counts[each.field] <= _MOST_OF_A_KIND:
            kept.append(each)
    return kept
