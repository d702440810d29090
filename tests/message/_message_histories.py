# -*- coding: utf-8 -*-
"""Generated histories, tidy and torn, for the properties of pairing and of the view."""

from typing import Any

from agentscope.message import Msg
from hypothesis import strategies as st

_IDS = ["call_0", "call_1"]

_GARBAGE: list[Any] = [
    None,
    [],
    {},
    7,
    "loose text",
    {"type": "text"},
    {"type": ["text"]},
    {"type": "image", "source": None},
    {"type": "tool_use", "id": None, "name": "f", "input": {}},
    {"type": "tool_use", "name": "f", "input": {}},
    {"type": "tool_result", "id": 3, "output": "x"},
]


def call(call_id: str, **changes: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "search", "input": {"q": "天气"}, **changes}


def result(call_id: str, output: Any = "晴 sunny", **changes: Any) -> dict[str, Any]:
    return {"type": "tool_result", "id": call_id, "name": "search", "output": output, **changes}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def said(role: str, content: Any) -> Msg:
    """A message; unlike the host's constructor this lets any content through."""
    msg = Msg({"system": "system", "user": "Alice"}.get(role, "Friday"), [], role)  # type: ignore[arg-type]
    msg.content = content
    return msg


def user(content: Any) -> Msg:
    return said("user", content)


def assistant(*blocks: Any) -> Msg:
    return said("assistant", list(blocks))


def results(*blocks: Any) -> Msg:
    return said("system", list(blocks))


def _blocks(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    broken = st.sampled_from(
        [
            {"input": None},
            {"input": '{"q": "a'},
            {"name": None},
            {"input": [], "raw_input": "{"},
            {"input": {"p": ["\udcff"]}},
        ]
    )
    outputs = st.sampled_from(
        ["ok", None, 5, "\ud83c", [text("a\udcff"), None, {"type": "json"}], [{"type": "text"}], [text("b")]]
    )
    return st.one_of(
        ids.map(call),
        ids.map(result),
        st.sampled_from(["好的", "done", "half \ud83c a pair"]).map(text),
        st.builds(lambda i, changes: call(i, **changes), ids, broken),
        st.builds(result, ids, outputs),
        st.sampled_from(_GARBAGE),
    )


def _torn_message() -> st.SearchStrategy[Msg]:
    blocks = st.lists(_blocks(st.sampled_from(_IDS)), max_size=4)
    content = st.one_of(blocks, st.sampled_from(["hello 你好", "", "\udcff", None]))
    return st.builds(said, st.sampled_from(["user", "assistant", "system"]), content)


def _plain_message() -> st.SearchStrategy[Msg]:
    ids = st.sampled_from(_IDS)
    return st.one_of(
        st.just("问 question").map(user),
        st.lists(ids.map(call), min_size=1, max_size=3).map(lambda blocks: assistant(*blocks)),
        st.lists(ids.map(result), min_size=1, max_size=2).map(lambda blocks: results(*blocks)),
    )


def _dense_message() -> st.SearchStrategy[Msg]:
    """Calls and results of one id side by side, so that position alone decides."""
    block = st.sampled_from([call("call_0"), call("call_0"), result("call_0"), result("call_0"), result("call_1")])
    return st.lists(block, min_size=1, max_size=3).map(lambda blocks: assistant(*blocks))


@st.composite
def _unique_ids(draw: st.DrawFn) -> list[Msg]:
    """Calls with ids of their own; their results in any place, any number of times, or missing."""
    messages: list[Msg] = []
    pool: list[str] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["user", "calls", "results", "results"]))
        if kind == "user" or (kind == "results" and not pool):
            messages.append(user("问"))
        elif kind == "calls":
            fresh = [f"c{number}_{i}" for i in range(draw(st.integers(1, 4)))]
            messages.append(assistant(text("calling"), *map(call, fresh)))
            pool += fresh
        else:
            chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
            messages.append(results(*map(result, chosen)))
            pool = [call_id for call_id in pool if call_id not in chosen or draw(st.booleans())]
    return draw(st.permutations(messages)) if draw(st.booleans()) else messages


def tidy_histories() -> st.SearchStrategy[list[Msg]]:
    """What an agent that is never interrupted leaves: rounds of parallel calls, `call_0` in every round."""
    rounds = st.integers(1, 4).map(
        lambda n: (
            [assistant(text("x"), *(call(f"call_{i}") for i in range(n)))]
            + [results(result(f"call_{i}")) for i in range(n)]
        )
    )
    turns = st.one_of(rounds, st.just("问").map(lambda words: [user(words)]))
    return st.lists(turns, max_size=6).map(lambda parts: [_fresh(msg) for part in parts for msg in part])


def histories() -> st.SearchStrategy[list[Msg]]:
    """Any interleaving of calls, results and texts: unique ids, repeated ids, malformed blocks."""
    plain = st.lists(_plain_message(), max_size=10).map(lambda messages: [_fresh(msg) for msg in messages])
    torn = st.lists(_torn_message(), max_size=8).map(lambda messages: [_fresh(msg) for msg in messages])
    dense = st.lists(_dense_message(), min_size=3, max_size=6).map(lambda messages: [_fresh(msg) for msg in messages])
    return st.one_of(_unique_ids(), plain, dense, torn, tidy_histories())


def _fresh(msg: Msg) -> Msg:
    return said(msg.role, msg.content)
