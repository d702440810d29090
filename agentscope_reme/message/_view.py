# -*- coding: utf-8 -*-
"""The messages as a model API accepts them: every call followed at once by its results, every block readable."""

import copy
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from agentscope.message import Msg

from ._blocks import raw_blocks
from ._marks import MARK_KEY
from ._pairs import Pairing, ResultRef, pair_calls
from ._sound import is_sendable, is_sound, mended, sendable

__all__ = ["REPAIR_TEXT", "needs_view", "provider_view"]

REPAIR_TEXT = "[interrupted] No result was recorded for this call. 调用被中断，没有留下结果。"
"""What the model reads in place of the result of an interrupted call."""


def needs_view(messages: Iterable[Msg]) -> bool:
    """Whether `provider_view` would change anything: one pass over the blocks, nothing is built."""
    awaited: list[Any] = []
    for msg in messages:
        content: Any = msg.content
        if isinstance(content, str):
            if awaited or not is_sendable(content):
                return True
            continue
        if not isinstance(content, list) or not all(map(is_sound, content)):
            return True
        kinds = {block["type"] for block in content}
        if kinds == {"tool_result"}:
            if not all(_take(awaited, block["id"]) for block in content):
                return True
        elif awaited or "tool_result" in kinds:
            return True
        elif "tool_use" in kinds:
            awaited = [block["id"] for block in content if block["type"] == "tool_use"]
    return bool(awaited)


def provider_view(messages: Sequence[Msg]) -> list[Msg]:
    """The messages as a model API accepts them. Memory and archive keep them as they were.

    Results move up to directly after the message of their calls. A call without a result gets a synthetic one, marked
    `"repair"`; results without a call are left out. Blocks are mended where they can be read (`input` that is not a
    dictionary, a missing name, an output of another type, half a surrogate pair) and left out where not; a message of
    which nothing is left goes too. Ids that repeat from round to round stay as they are.

    Args:
        messages (`Sequence[Msg]`):
            The messages, in order; none is changed.

    Returns:
        `list[Msg]`: the same objects where nothing had to change, else shallow copies with the same id, timestamp and
        metadata. Where a message is split, the part that stays at its place keeps the id and the others get derived
        ones. The view of a view is the same.
    """
    if not needs_view(messages):
        return list(messages)
    pairing = pair_calls(messages)
    answers, interrupted = _by_calling_message(pairing)
    view: list[Msg] = []
    split: set[int] = set()
    for index, msg in enumerate(messages):
        view.extend(_own_part(msg))
        for source, refs in groupby(answers[index], key=lambda ref: ref[0]):
            view.append(_answer_part(messages[source], [position for _, position in refs], source not in split))
            split.add(source)
        view.extend(_repairs(msg, interrupted[index]))
    return view


def _take(awaited: list[Any], call_id: str) -> bool:
    if call_id not in awaited:
        return False
    awaited.remove(call_id)
    return True


def _by_calling_message(pairing: Pairing) -> tuple[dict[int, list[ResultRef]], dict[int, list[int]]]:
    """For each message with calls: where its results stand, and the positions of its calls that have none."""
    answers: dict[int, list[ResultRef]] = defaultdict(list)
    interrupted: dict[int, list[int]] = defaultdict(list)
    for call, result in sorted(pairing.result_of.items(), key=lambda pair: pair[1]):
        answers[call[0]].append(result)
    for message, position in pairing.dangling:
        interrupted[message].append(position)
    return answers, interrupted


def _own_part(msg: Msg) -> Iterator[Msg]:
    """The message without its results, if anything is left of it."""
    content: Any = msg.content
    if isinstance(content, str):
        yield msg if is_sendable(content) else _with_content(msg, sendable(content))
        return
    if content == []:
        yield msg
        return
    blocks = [mended(block) for block in raw_blocks(msg) if not _is_result(block)]
    blocks = [block for block in blocks if block is not None]
    if blocks:
        yield _with_blocks(msg, blocks)


def _answer_part(msg: Msg, positions: list[int], is_first: bool) -> Msg:
    """The results at these positions of a message, which all answer one other message."""
    raw = raw_blocks(msg)
    part = _with_blocks(msg, [mended(raw[position]) for position in positions])
    if part is not msg and not (is_first and next(_own_part(msg), None) is None):
        part.id = _derived_id(msg, positions[0], "results")
    return part


def _repairs(msg: Msg, positions: list[int]) -> Iterator[Msg]:
    for position in positions:
        call = mended(raw_blocks(msg)[position])
        if call is None:
            continue
        result: Any = {"type": "tool_result", "id": call["id"], "name": call["name"], "output": REPAIR_TEXT}
        repair = Msg("system", [result], "system", metadata={MARK_KEY: "repair"}, timestamp=msg.timestamp)
        repair.id = _derived_id(msg, position, "repair")
        yield repair


def _with_blocks(msg: Msg, blocks: list[Any]) -> Msg:
    content: Any = msg.content
    if isinstance(content, list) and len(content) == len(blocks) and all(map(_is_same, content, blocks)):
        return msg
    return _with_content(msg, blocks)


def _with_content(msg: Msg, content: Any) -> Msg:
    changed = copy.copy(msg)
    changed.content = content
    return changed


def _is_same(one: Any, other: Any) -> bool:
    return one is other


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _derived_id(msg: Msg, position: int, purpose: str) -> str:
    return hashlib.sha256(f"{msg.id}/{position}/{purpose}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
