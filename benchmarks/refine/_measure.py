# -*- coding: utf-8 -*-
"""A conversation as memories, asked before and after a refinement run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timezone
from pathlib import Path
from typing import Any

from agentscope.embedding import EmbeddingModelBase

from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.message import estimate_tokens
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinedRetriever, Refiner, RefinerConfig, is_refined
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever, Owner
from agentscope_reme.vector_store import LocalVectorStore

from ..retrieval._cases import Conversation, Memory

__all__ = ["Measured", "joined", "measure"]

_OWNER = Owner("personal", "somebody")
_BUDGET = 1_000
_ASKED_FOR = 60


@dataclass
class Measured:
    """What was measured.

    Args:
        before (`list[float]`), after (`list[float]`): for each question, the share of its evidence whose own text is
            inside the first thousand tokens that were returned.
        recoverable (`list[float]`): for each question, the share of its evidence that is found, or reached from what
            is found by `expand`.
        tokens_before (`int`): of all texts.
        tokens_after (`int`): of all texts that are found, with the words kept for search.
        shown_after (`int`): the same without these words.
        memories_before (`int`), memories_after (`int`): how many are found.
        refine_seconds (`float`): of the run.
        asked_before (`list[float]`), asked_after (`list[float]`): seconds of each question.
    """

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    recoverable: list[float] = field(default_factory=list)
    tokens_before: int = 0
    tokens_after: int = 0
    shown_after: int = 0
    memories_before: int = 0
    memories_after: int = 0
    refine_seconds: float = 0.0
    asked_before: list[float] = field(default_factory=list)
    asked_after: list[float] = field(default_factory=list)


async def measure(
    conversation: Conversation, folder: Path, model: EmbeddingModelBase | None, config: RefinerConfig, into: Measured
) -> None:
    """Measure one conversation, and add what came of it.

    Args:
        conversation (`Conversation`): what was said, and what is asked.
        folder (`Path`): a folder for the store.
        model (`EmbeddingModelBase | None`): the embedding model; None for search by words.
        config (`RefinerConfig`): how memories are condensed.
        into (`Measured`): where the figures go.
    """
    asked_at = conversation.asked_at.replace(tzinfo=timezone.utc)
    embedder = BatchEmbedder(model) if model else None
    store = LocalVectorStore(folder / "memories.db")
    async with MemoryBank(store, embedder, clock=lambda: asked_at, timezone=timezone.utc) as bank:
        texts = {memory.id: [node.content for node in _nodes(memory)] for memory in conversation.memories}
        await bank.add([node for memory in conversation.memories for node in _nodes(memory)])
        plain = MemoryRetriever(bank)
        for question in conversation.questions:
            began = time.perf_counter()
            found = await plain.retrieve(question.text, [_OWNER], limit=_ASKED_FOR, record_access=False)
            into.asked_before.append(time.perf_counter() - began)
            into.before.append(_share(question.gold, texts, _within(found)))
        there = await bank.list([_OWNER])
        into.memories_before += len(there)
        into.tokens_before += sum(estimate_tokens(node.content) for node in there)
        began = time.perf_counter()
        await Refiner(bank, config).run([_OWNER])
        into.refine_seconds += time.perf_counter() - began
        retriever = RefinedRetriever(bank, plain, cache_seconds=0)
        reached = await _reached(bank, retriever)
        for question in conversation.questions:
            began = time.perf_counter()
            recall = await retriever.recall(question.text, [_OWNER], limit=_ASKED_FOR, record_access=False)
            into.asked_after.append(time.perf_counter() - began)
            into.after.append(_share(question.gold, texts, _within(recall.nodes)))
            into.recoverable.append(_share(question.gold, texts, reached))
        there = await bank.list([_OWNER])
        into.memories_after += len(there)
        into.shown_after += sum(estimate_tokens(node.content) for node in there)
        into.tokens_after += sum(estimate_tokens(node.searched_text) for node in there)


def joined(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Several conversations as one person's: so many memories that not all sources can be looked through."""
    memories, questions = [], []
    for number, each in enumerate(conversations):
        for memory in each.memories:
            session = f"{number}/{memory.session}" if memory.session else ""
            memories.append(replace(memory, id=f"{number}/{memory.id}", session=session))
        for question in each.questions:
            questions.append(replace(question, gold=frozenset(f"{number}/{one}" for one in question.gold)))
    asked_at = max(each.asked_at for each in conversations)
    return [Conversation("together", memories, questions, asked_at)]


async def _reached(bank: MemoryBank, retriever: RefinedRetriever) -> list[str]:
    """Every text that is found, or that `expand` leads to from one that is."""
    reached = []
    for node in await bank.list([_OWNER]):
        reached.append(node.content)
        if is_refined(node):
            reached += [source.content for source in await retriever.expand(node)]
    return reached


def _nodes(memory: Memory) -> list[MemoryNode]:
    nodes = []
    for at, (role, name, text) in enumerate(memory.said):
        moment = memory.time.replace(microsecond=1000 * at, tzinfo=timezone.utc)
        told: dict[str, Any] = {"author": name or role, "ref_memory_id": memory.session} if memory.session else {}
        if text.strip():
            nodes.append(MemoryNode(text, *_OWNER, message_time=moment, **told))
    return nodes


def _within(nodes: Sequence[MemoryNode]) -> list[str]:
    """The contents of the first memories that fit the budget together."""
    room, kept = _BUDGET, []
    for node in nodes:
        room -= estimate_tokens(node.content)
        if room < 0:
            break
        kept.append(node.content)
    return kept


def _share(gold: frozenset[str], texts: dict[str, list[str]], shown: Sequence[str]) -> float:
    """The share of the evidence that has a text of its own in what is shown, whole."""
    return sum(any(text in each for text in texts[one] for each in shown) for one in gold) / len(gold)
