# -*- coding: utf-8 -*-
"""The data sets through the product: archived or written as it would be, found by its own search tool."""

import json
import time
from collections.abc import Callable
from datetime import timezone
from pathlib import Path

from agentscope.message import Msg

from agentscope_reme.dialog import DialogArchive
from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.notes import SearchTools
from agentscope_reme.workspace import Workspace

from ._cases import Conversation, DataSet, Memory
from ._scores import ASKED_FOR, Outcome

__all__ = ["run"]


async def run(
    data: DataSet,
    folder: Path,
    embedder: BatchEmbedder | None,
    make: Callable[..., NoteIndex] = NoteIndex,
) -> tuple[list[Outcome], list[float]]:
    """Answer every question of a data set.

    Args:
        data (`DataSet`): the data.
        folder (`Path`): a folder for the workspaces.
        embedder (`BatchEmbedder | None`): the embedding model; None for search by words.
        make (`Callable[..., NoteIndex]`): makes the index of a workspace.

    Returns:
        `tuple[list[Outcome], list[float]]`: what was found for each question, and the seconds that each took.
    """
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    for number, conversation in enumerate(data.conversations):
        workspace = Workspace(folder / f"{data.name}_{number}")
        workspace.create()
        (_archive if data.kind == "dialog" else _write)(workspace, conversation)
        asked_at = conversation.asked_at.replace(tzinfo=timezone.utc)
        index = make(workspace, embedder=embedder, timezone=timezone.utc, clock=lambda at=asked_at: at)
        await index.sync()
        for question in conversation.questions:
            began = time.perf_counter()
            found = await _found(index, question.text, min(100, _parts(conversation) * ASKED_FOR))
            seconds.append(time.perf_counter() - began)
            outcomes.append(Outcome(found, question.gold, question.category, conversation.sizes))
        await index.close()
    return outcomes, seconds


def _parts(conversation: Conversation) -> int:
    """How many hits one memory may take."""
    return max(len(memory.said) for memory in conversation.memories)


async def _found(index: NoteIndex, query: str, count: int) -> list[str]:
    response = await SearchTools(index, max_bytes=1_000_000).memory_search(query, max_results=count)
    hits = json.loads(response.content[0]["text"])
    return [hit["id"].partition("|")[0] if "id" in hit else Path(hit["path"]).stem.partition("_")[2] for hit in hits]


def _archive(workspace: Workspace, conversation: Conversation) -> None:
    archive = DialogArchive(workspace.dialog_dir, workspace.state_dir / "dialog.lock", timezone=timezone.utc)
    sessions: dict[str, list[Msg]] = {}
    for memory in conversation.memories:
        sessions.setdefault(memory.session, []).extend(_messages(memory))
    for session, messages in sessions.items():
        archive.append(messages, session)
    archive.close()


def _messages(memory: Memory) -> list[Msg]:
    messages = []
    for at, (role, name, text) in enumerate(memory.said):
        moment = memory.time.replace(microsecond=1000 * at, tzinfo=timezone.utc).astimezone()
        stamp = moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        msg = Msg(name or role, text, role if role in ("user", "assistant") else "user", timestamp=stamp)
        msg.id = f"{memory.id}|{at}"
        messages.append(msg)
    return messages


def _write(workspace: Workspace, conversation: Conversation) -> None:
    for memory in conversation.memories:
        path = workspace.notes_dir / f"{memory.time:%Y-%m-%d}_{memory.id}.md"
        path.write_text(f"{memory.text}\n", encoding="utf-8")
