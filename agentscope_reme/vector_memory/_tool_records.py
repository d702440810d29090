# -*- coding: utf-8 -*-
"""The latest calls of each tool, kept in the ledger."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._errors import ConfigError
from .._loop_lock import LoopLock
from ..record import MemoryNode, ToolCallRecord, owner_of, parse_filters
from ._bank import MemoryBank
from ._cleaning import cleaned_fields
from ._owner import Owner

__all__ = ["TOOL_TYPE", "ToolRecords"]

TOOL_TYPE = "tool"
"""The type of the memories that are learned from calls."""

_ROW = "tool_call"
_VERDICT = ("summary", "evaluation", "score")
_CHARS = 4_000
_CALL_ID = "call_id"
_COMPARED_CHARS = 200
_MOMENT_SECONDS = 5.0


class ToolRecords:
    """Records of tool calls. A call that is recorded twice is one record.

    Args:
        bank (`MemoryBank`): where they are.
        keep (`int`): calls of each tool that are kept; of more the oldest go.

    Raises:
        `ConfigError`: a number that cannot work.
    """

    def __init__(self, bank: MemoryBank, *, keep: int = 100) -> None:
        if not isinstance(keep, int) or keep < 1:
            raise ConfigError(f"keep is {keep!r}: give a whole number of at least 1.")
        self._bank, self.keep = bank, keep
        self._lock = LoopLock()

    async def record(self, records: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
        """Keep calls.

        Args:
            records (`Sequence[ToolCallRecord]`): the calls, of any tools.

        Returns:
            `list[ToolCallRecord]`: them as they are stored, in the same order: cleaned by `redact`, long texts with
            their beginning and end only.
        """
        stored = [_bounded(record) for record in records]
        rows = [self._node(record) for record in stored]
        by_tool: dict[str, list[MemoryNode]] = defaultdict(list)
        for record, row in zip(stored, rows, strict=True):
            by_tool[record.tool_name].append(row)
        async with self._lock.lock():
            for name, of_tool in by_tool.items():
                await self._keep(name, of_tool)
        return [_record(row) for row in rows]

    async def of(self, tool_name: str, limit: int = 20) -> list[ToolCallRecord]:
        """The latest calls of a tool, the latest first."""
        return [_record(node) for node in await self._rows(tool_name, limit)]

    async def judge(
        self, tool_name: str, verdicts: Mapping[int, Mapping[str, Any]], records: Sequence[ToolCallRecord]
    ) -> int:
        """Keep verdicts on calls.

        Args:
            tool_name (`str`): the tool.
            verdicts (`Mapping[int, Mapping[str, Any]]`): by the place in `records`: `summary`, `evaluation`, `score`.
            records (`Sequence[ToolCallRecord]`): calls from `of`.

        Returns:
            `int`: how many of them there still were.
        """
        rows = {at: self._node(records[at]) for at in verdicts if 0 <= at < len(records)}
        async with self._lock.lock():
            there = await self._bank.ledger.get([node.key for node in rows.values()])
            changes = {
                node.key: {"metadata": {**there[node.key].metadata, **self._cleaned(verdicts[at])}}
                for at, node in rows.items()
                if node.key in there
            }
            return await self._bank.ledger.patch(changes) if changes else 0

    async def remove(self, sessions: Collection[str]) -> int:
        """Remove the calls that were made in some sessions, by the ``session_id`` of their metadata; how many there
        were comes back."""
        if not sessions:
            return 0
        gone: list[str] = []
        async for page in self._bank.ledger.pages(parse_filters({"memory_type": _ROW})):
            gone += [row.key for row in page if (row.metadata.get("record") or {}).get("session_id") in sessions]
        async with self._lock.lock():
            await self._bank.ledger.write(delete=gone)
        return len(gone)

    async def _keep(self, name: str, nodes: Sequence[MemoryNode]) -> None:
        """Write the rows that are new, and take out what is beyond those to keep."""
        ledger = self._bank.ledger
        there = await self._rows(name, None)
        known = {node.key for node in there}
        seen = [_record(node) for node in there]
        new: dict[str, MemoryNode] = {}
        for node in nodes:
            record = _record(node)
            if node.key not in known and not any(_are_one(record, other) for other in seen):
                new[node.key] = node
                seen.append(record)
        ordered = sorted([*there, *new.values()], key=_moment, reverse=True)
        gone = [node.key for node in ordered[self.keep :]]
        inserted = [node for node in new.values() if node.key not in set(gone)]
        stale = [key for key in gone if key in known]
        if inserted or stale:
            await ledger.write(inserted, stale)

    async def _rows(self, tool_name: str, limit: int | None) -> list[MemoryNode]:
        owner = owner_of(TOOL_TYPE, tool_name)
        conditions = parse_filters({"memory_type": _ROW, "memory_target": owner})
        return await self._bank.ledger.find(conditions, sort_key="message_time", reverse=True, limit=limit)

    def _node(self, record: ToolCallRecord) -> MemoryNode:
        """A call as a row: what happened is its content, what was thought of it can change."""
        told = {name: value for name, value in record.to_dict().items() if name not in (*_VERDICT, "metadata")}
        plain = json.loads(json.dumps({"call": told, "record": dict(record.metadata)}, default=str))
        clean = cleaned_fields({"metadata": plain}, self._bank.clean)["metadata"]
        clean["call"]["tool_name"] = record.tool_name
        return MemoryNode(
            json.dumps(clean["call"], ensure_ascii=False, sort_keys=True),
            _ROW,
            Owner(TOOL_TYPE, record.tool_name).key,
            category="success" if record.success else "failure",
            message_time=record.create_time,
            metadata={
                **self._cleaned({name: getattr(record, name) for name in _VERDICT}),
                "record": clean["record"],
            },
        )

    def _cleaned(self, verdict: Mapping[str, Any]) -> dict[str, Any]:
        taken = {name: verdict[name] for name in _VERDICT if verdict.get(name) is not None}
        return {name: self._bank.clean(value) if isinstance(value, str) else value for name, value in taken.items()}


def _record(node: MemoryNode) -> ToolCallRecord:
    verdict = {name: node.metadata[name] for name in _VERDICT if node.metadata.get(name) is not None}
    return ToolCallRecord.from_dict(
        {**json.loads(node.content), **verdict, "metadata": node.metadata.get("record") or {}},
    )


def _bounded(record: ToolCallRecord) -> ToolCallRecord:
    """A call with the beginning and the end of what is long in it."""
    given = record.input
    written = given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False, default=str)
    return replace(record, input=given if len(written) <= _CHARS else _ends(written), output=_ends(record.output))


def _ends(text: str) -> str:
    if len(text) <= _CHARS:
        return text
    half = _CHARS // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def _moment(node: MemoryNode) -> tuple[float, str]:
    return (node.message_time.timestamp() if node.message_time else 0.0, node.key)


def _are_one(one: ToolCallRecord, other: ToolCallRecord) -> bool:
    """Whether two records are of one call: recorded from the conversation and, moments apart, as it was made; or twice
    from the conversation."""
    if one.call_hash != other.call_hash or one.output[:_COMPARED_CHARS] != other.output[:_COMPARED_CHARS]:
        return False
    ids = [record.metadata.get(_CALL_ID) for record in (one, other)]
    if all(ids):
        return ids[0] == ids[1]
    return any(ids) and abs((one.create_time - other.create_time).total_seconds()) <= _MOMENT_SECONDS
