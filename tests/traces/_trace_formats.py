# -*- coding: utf-8 -*-
"""Real agent runs from three public formats, as the messages that an agent of the host would have held."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope.message import Msg

from agentscope_reme.message import as_msgs

FOLDERS = ("swe_agent", "openhands", "tau_bench")

SAMPLE = Path(__file__).parent.parent / "data"

_DAY = "2025-03-04"


@dataclass(frozen=True)
class Trace:
    """One run.

    Attributes:
        name (`str`): the file's, and the run's number in the set.
        source (`str`): one of `FOLDERS`.
        system_prompt (`str`): the agent's own, which the host does not keep in the memory.
        messages (`list[Msg]`): requests, calls and results, in order.
    """

    name: str
    source: str
    system_prompt: str
    messages: list[Msg]

    def states(self) -> list[int]:
        """How many messages there are before each step of the agent, and at the end where a step could follow."""
        before = [at for at, msg in enumerate(self.messages) if msg.role == "assistant" and at]
        return before if self.messages[-1].role == "assistant" else [*before, len(self.messages)]


def load_traces(folder: Path, source: str) -> list[Trace]:
    """All runs of one source.

    Args:
        folder (`Path`):
            The folder that holds a folder per source.
        source (`str`):
            One of `FOLDERS`.
    """
    load = {"swe_agent": _swe_agent, "openhands": _openhands, "tau_bench": _tau_bench}[source]
    runs = [(path.stem, dicts) for path in sorted((folder / source).iterdir()) for dicts in load(path)]
    return [_trace(f"{stem}-{number}", source, dicts) for number, (stem, dicts) in enumerate(runs) if dicts]


def _trace(name: str, source: str, dicts: list[dict[str, Any]]) -> Trace:
    prompts = [each["content"] for each in dicts if each["role"] == "system"]
    rest = [each for each in dicts if each["role"] != "system"]
    timed = [
        {**each, "time_created": f"{_DAY} {at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"}
        for at, each in enumerate(rest)
    ]
    return Trace(name, source, "\n".join(prompts), as_msgs(timed))


# ---------------------------------------------------------------------- SWE-agent: .traj


def _swe_agent(path: Path) -> Iterator[list[dict[str, Any]]]:
    if path.suffix == ".traj":
        yield list(_swe_agent_messages(json.loads(path.read_text(encoding="utf-8"))["history"]))


def _swe_agent_messages(history: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """With function calls a run has them; before those, an action is a command and the next message its output."""
    call_id: str | None = None
    for number, item in enumerate(history):
        role, content = item["role"], item["content"]
        if role == "assistant":
            calls = item.get("tool_calls") or [_command(f"step-{number}", item["action"])]
            call_id = calls[0]["id"]
            yield {"role": role, "content": item.get("thought") or content, "tool_calls": calls}
        elif call_id is not None and role in ("user", "tool"):
            yield _result((item.get("tool_call_ids") or [call_id])[0], content)
            call_id = None
        else:
            yield {"role": role, "content": content}


def _command(call_id: str, action: str) -> dict[str, Any]:
    return _call(call_id, (action.split() or ["nothing"])[0], {"command": action})


# ---------------------------------------------------------------------- OpenHands: .jsonl, a run a line


def _openhands(path: Path) -> Iterator[list[dict[str, Any]]]:
    if path.suffix == ".jsonl":
        for line in path.read_text(encoding="utf-8").splitlines():
            yield list(_openhands_messages(json.loads(line)["history"]))


def _openhands_messages(history: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """An event is an action or an observation; what the framework adds for itself ("recall") is neither here."""
    call_id: str | None = None
    for number, event in enumerate(history):
        kind, arguments = event.get("action"), event.get("args") or event
        if kind == "system":
            yield {"role": "system", "content": event["args"]["content"]}
        elif kind == "finish" or (kind == "message" and event.get("source") == "agent"):
            yield {"role": "assistant", "content": event.get("message") or event.get("thought") or "finished"}
        elif kind == "message":
            yield {"role": "user", "content": arguments["content"]}
        elif kind not in (None, "recall"):
            call_id = f"step-{number}"
            known = event.get("tool_call_metadata") or {}
            called = {key: arguments[key] for key in _ARGUMENTS if arguments.get(key) not in (None, "")}
            calls = [_call(known.get("tool_call_id") or call_id, known.get("function_name") or kind, called)]
            call_id = calls[0]["id"]
            yield {"role": "assistant", "content": arguments.get("thought") or None, "tool_calls": calls}
        elif event.get("observation") not in (None, "recall"):
            yield _result(call_id, event["content"]) if call_id else {"role": "user", "content": event["content"]}
            call_id = None


_ARGUMENTS = ("command", "code", "path", "old_str", "new_str", "file_text", "insert_line", "view_range", "start", "end")


# ---------------------------------------------------------------------- tau-bench: .json, OpenAI's own form


def _tau_bench(path: Path) -> Iterator[list[dict[str, Any]]]:
    if path.suffix == ".json":
        yield from (run["traj"] for run in json.loads(path.read_text(encoding="utf-8")))


def _call(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _result(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}
