# -*- coding: utf-8 -*-
"""The data sets through `ReMe`: a text is a memory, added by hand and found by `retrieve_memory`. No model is asked."""

import time
from collections.abc import Iterator
from datetime import timezone
from pathlib import Path
from typing import Any

from agentscope.embedding import EmbeddingModelBase

from agentscope_reme import MemoryNode, ReMe

from ._cases import Conversation, DataSet
from ._scores import ASKED_FOR, Outcome

__all__ = ["run"]

_USER = "somebody"


async def run(data: DataSet, folder: Path, model: EmbeddingModelBase | None) -> tuple[list[Outcome], list[float]]:
    """Answer every question of a data set.

    Args:
        data (`DataSet`): the data.
        folder (`Path`): a folder for the stores.
        model (`EmbeddingModelBase | None`): the embedding model; None for search by words.

    Returns:
        `tuple[list[Outcome], list[float]]`: what was found for each question, and the seconds that each took.
    """
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    for number, conversation in enumerate(data.conversations):
        asked_at = conversation.asked_at.replace(tzinfo=timezone.utc)
        place = folder / f"{data.name}_{number}"
        async with ReMe(place, model=None, embedding_model=model, timezone=timezone.utc) as reme:
            reme.bank.clock = lambda at=asked_at: at
            ids = await _added(reme, conversation)
            count = min(100, ASKED_FOR * max(len(memory.said) for memory in conversation.memories))
            for question in conversation.questions:
                began = time.perf_counter()
                nodes = await reme.retrieve_memory(question.text, user_name=_USER, limit=count)
                seconds.append(time.perf_counter() - began)
                found = list(dict.fromkeys(each for node in nodes for each in ids[node.memory_id]))
                outcomes.append(Outcome(found, question.gold, question.category, conversation.sizes))
    return outcomes, seconds


async def _added(reme: ReMe, conversation: Conversation) -> dict[str, list[str]]:
    """By the id of a memory, the texts that it is: equal ones are one memory."""
    ids: dict[str, list[str]] = {}
    nodes = []
    for text_id, node in _nodes(conversation):
        ids.setdefault(node.memory_id, []).append(text_id)
        nodes.append(node)
    await reme.bank.add(nodes)
    return ids


def _nodes(conversation: Conversation) -> Iterator[tuple[str, MemoryNode]]:
    """What `add_memory` makes of each text, all at once."""
    for memory in conversation.memories:
        for at, (role, name, text) in enumerate(memory.said):
            moment = memory.time.replace(microsecond=1000 * at, tzinfo=timezone.utc)
            told: dict[str, Any] = {"author": name or role, "ref_memory_id": memory.session} if memory.session else {}
            if text.strip():
                yield memory.id, MemoryNode(text, "personal", _USER, message_time=moment, **told)
