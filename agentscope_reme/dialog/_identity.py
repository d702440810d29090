# -*- coding: utf-8 -*-
"""When two archive lines are the same message, however much of its texts each of them shows."""

import hashlib
import json
from typing import Any

from ..message import MARK_KEY, UNTIMED_ID, output_text

__all__ = ["message_digest"]


def message_digest(line: bytes) -> bytes:
    """What makes two lines the same message: everything but the session and how much of each text is shown. A text that
    was cut counts as the whole that lies in a file."""
    value = json.loads(line)
    value.pop("session_id", None)
    if str(value.get("id")).startswith(UNTIMED_ID):
        del value["timestamp"]  # it says when the message was handed over, and that happens more than once
    value["metadata"], known = _without_offloads(value.get("metadata"))
    value["content"] = _whole(value.get("content"), known)
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).digest()


def _without_offloads(metadata: Any) -> tuple[Any, dict[str, Any]]:
    mark = metadata.get(MARK_KEY) if isinstance(metadata, dict) else None
    if not isinstance(mark, dict) or not isinstance(mark.get("offloaded"), dict):
        return metadata or None, {}
    kept = {key: value for key, value in metadata.items() if key != MARK_KEY}
    rest = {key: value for key, value in mark.items() if key != "offloaded"}
    return ({**kept, MARK_KEY: rest} if rest else kept) or None, mark["offloaded"]


def _whole(content: Any, known: dict[str, Any]) -> Any:
    """A message's content with each text that may be cut as a hash of the whole."""
    if isinstance(content, str):
        return _sha256(known.get("text"), content)
    if not isinstance(content, list):
        return content
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [str(block.get("text")) for block in blocks if block.get("type") == "text"]
    calls_cut = any(key.startswith("input/") for key in known)
    rest = [_whole_block(block, calls_cut) for block in blocks if block.get("type") != "text"]
    return [*([_sha256(known.get("text"), "\n".join(texts))] if texts else ()), *rest]


def _whole_block(block: dict[str, Any], calls_cut: bool) -> dict[str, Any]:
    if block.get("type") == "tool_result":
        kept = {key: value for key, value in block.items() if key not in ("output", MARK_KEY)}
        return {**kept, "sha256": _sha256(block.get(MARK_KEY), output_text(block))}
    if block.get("type") == "tool_use" and calls_cut:
        return {key: value for key, value in block.items() if key not in ("input", "raw_input")}
    return block


def _sha256(record: Any, text: str) -> str:
    if isinstance(record, dict) and isinstance(record.get("sha256"), str):
        return record["sha256"]
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
