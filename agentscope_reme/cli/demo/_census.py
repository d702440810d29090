# -*- coding: utf-8 -*-
"""After the run: where each message that was said is now, and whether it comes back as it was said."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope.message import Msg

from ...message import MessageTokens, as_msgs, output_text, tool_results
from ...working_memory import ReMeInMemoryMemory

__all__ = ["Census"]


@dataclass(frozen=True)
class Census:
    """What was counted. Sizes are in tokens.

    Args:
        said, said_tokens (`int`):
            All messages, as the witness heard them.
        kept, kept_tokens (`int`):
            Those in the memory, as they are there.
        archived, archived_tokens (`int`):
            Those in the archive, as they were said.
        summary_tokens (`int`):
            The summary.
        lost (`int`), doubled (`int`), altered (`int`):
            In neither place; more than once; other words than were said.
        cut (`int`):
            Messages of which the context held only head and tail.
        files (`int`), file_bytes (`int`):
            Full texts on disk.
    """

    said: int
    said_tokens: int
    kept: int
    kept_tokens: int
    archived: int
    archived_tokens: int
    summary_tokens: int
    lost: int
    doubled: int
    altered: int
    cut: int
    files: int
    file_bytes: int

    @property
    def now_tokens(self) -> int:
        """What stands in the context for all that was said."""
        return self.kept_tokens + self.summary_tokens

    @property
    def ratio(self) -> float:
        """Tokens said for each token in the context."""
        return self.said_tokens / max(1, self.now_tokens)

    @classmethod
    def take(cls, memory: ReMeInMemoryMemory, said: Mapping[str, Msg]) -> "Census":
        """Count, from the disk and the memory.

        Args:
            memory (`ReMeInMemoryMemory`):
                The session's memory.
            said (`Mapping[str, Msg]`):
                What was said, by message id, from somebody who does not know the memory.
        """
        tokens, results = memory.services.tokens, memory.services.results
        as_said = MessageTokens(tokens.count_text)  # a ledger knows one content for an id, and these are others
        kept = [msg for msg, _ in memory.content]
        archived = list(_archived(memory.services.workspace.dialog_dir, memory.session_id))
        places = Counter(msg.id for msg in [*kept, *archived])
        back = {msg.id: results.original(msg) for msg in [*kept, *archived]}
        files = [path.stat().st_size for path in memory.services.workspace.tool_result_dir.glob("*.txt")]
        summary = memory.summary_message()
        return cls(
            said=len(said),
            said_tokens=sum(map(as_said.message, said.values())),
            kept=len(kept),
            kept_tokens=sum(map(tokens.message, kept)),
            archived=len(archived),
            archived_tokens=sum(as_said.message(said[msg.id]) for msg in archived if msg.id in said),
            summary_tokens=tokens.message(summary) if summary else 0,
            lost=sum(not places[each] for each in said),
            doubled=sum(places[each] > 1 for each in said),
            altered=sum(_spoken(msg) != _spoken(back[each]) for each, msg in said.items() if each in back),
            cut=sum(bool(results.references(msg)) for msg in [*kept, *archived]),
            files=len(files),
            file_bytes=sum(files),
        )


def _archived(folder: Path, session_id: str | None) -> Iterable[Msg]:
    for path in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        yield from as_msgs([line for line in lines if line.get("session_id") == session_id])


def _spoken(msg: Msg) -> Any:
    """The words of a message: who said it, the texts and calls, and the results as one text each."""
    results = [(block["id"], block["name"], output_text(block)) for block in tool_results(msg)]
    rest = [block for block in msg.get_content_blocks() if block["type"] != "tool_result"]
    return msg.role, msg.name, rest, results
