# -*- coding: utf-8 -*-
"""Banks and conversations for the tests of refinement."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from agentscope.formatter import OpenAIChatFormatter

from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinerConfig
from agentscope_reme.refine._refiner import Refiner
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel
from agentscope_reme.vector_memory import MemoryBank, Owner
from agentscope_reme.vector_store import LocalVectorStore

__all__ = ["ALICE", "BOB", "CHAT", "NOW", "Clock", "active", "bank_in", "chat", "draft", "note", "refiner_of", "texts"]

ALICE, BOB = Owner("personal", "alice"), Owner("personal", "bob")
NOW = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)  # a Monday

CHAT = [
    "你好呀！",
    "昨天我和李雷去了上海出差，住在外滩边上的酒店，花了一千二百元。",
    "我对青霉素过敏，去医院的时候一定要告诉医生。",
    "好的，谢谢。",
    "我最近在学弹钢琴，老师姓王，每周三下午3点上课，地点在少年宫二楼。",
    "我打算下个月10号参加钢琴比赛，曲目是《月光》，还在犹豫要不要请假。",
    "代码在 src/app/main.py，端口是8443，部署在北京机房。",
    "我不吃辣，不过喜欢川菜馆的气氛，周末常和同事去聚餐聊天。",
    "今天好累啊",
    "公司换了新的办公楼，在地铁口旁边，上班路上只要二十分钟。",
]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, **time: float) -> None:
        """Later by a `timedelta`."""
        self.now += timedelta(**time)


@asynccontextmanager
async def bank_in(folder: Path, clock: Clock | None = None, *, vectors: bool = False) -> AsyncIterator[MemoryBank]:
    """An open bank over a file."""
    embedder = BatchEmbedder(HashEmbedding(64), retries=0, backoff=0.0) if vectors else None
    bank = MemoryBank(LocalVectorStore(folder / "memories.db"), embedder, clock=clock or Clock(), timezone=timezone.utc)
    async with bank:
        yield bank


def note(content: str, owner: Owner = ALICE, **fields: Any) -> MemoryNode:
    """A memory of a person."""
    times = {"message_time": NOW, "time_created": NOW, "time_modified": NOW}
    return MemoryNode(content, owner.memory_type, owner.target, **{**times, **fields})


def chat(
    said: Sequence[str] = CHAT, owner: Owner = ALICE, session: str = "s1", start: datetime = NOW, **fields: Any
) -> list[MemoryNode]:
    """What was said in a session, half a minute apart."""
    return [
        note(text, owner, ref_memory_id=session, message_time=start + timedelta(seconds=30 * at), **fields)
        for at, text in enumerate(said)
    ]


def refiner_of(bank: MemoryBank, replies: Any = None, *, sift: Any = None, **config: Any) -> Refiner:
    """A refiner, with a scripted model where there are replies."""
    return Refiner(
        bank,
        RefinerConfig(**config),
        refine_model=None if replies is None else ScriptedChatModel(replies, model_name="scripted"),
        filter_model=None if sift is None else ScriptedChatModel(sift, model_name="sieve"),
        formatter=OpenAIChatFormatter() if replies is not None or sift is not None else None,
    )


def draft(**parts: Any) -> str:
    """A model's answer."""
    return json.dumps(parts, ensure_ascii=False)


async def active(bank: MemoryBank, owner: Owner = ALICE) -> list[MemoryNode]:
    """An owner's memories that are found, in the order of time."""
    return await bank.list([owner], sort_key="message_time", reverse=False)


def texts(nodes: Sequence[MemoryNode]) -> list[str]:
    """The contents of memories."""
    return [node.content for node in nodes]
