# -*- coding: utf-8 -*-
"""The law of what cannot be: every argument of every method of `ReMe` refuses what it cannot be, with the value and the
cure, before anything is done."""

import asyncio
import inspect
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_reme import ReMe
from agentscope_reme._errors import ConfigError, ReMeError
from agentscope_reme.testing import HashEmbedding


class Odd:
    """What no argument can be."""

    def __repr__(self) -> str:
        return "<odd>"


async def never() -> bool:
    """What nobody awaits."""
    return True


GIVEN: dict[str, Any] = {
    "query": "tea",
    "user_name": "alice",
    "reply": "r",
    "verdict": 1,
    "memories": [],
    "memory_contents": ["green"],
    "memory_content": "black",
    "memory_ids": [],
    "changes": {},
    "profile": {},
    "messages": [],
    "ref_memory_id": "r",
}
"""What a call is complete with."""

ASKED = ("user_name", "query")
"""What methods need although it has a default: there are other ways to say it."""


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every argument of every method, with what its call needs besides."""
    for name, method in inspect.getmembers(ReMe, inspect.iscoroutinefunction):
        if not name.startswith("_"):
            named = [
                each for each in inspect.signature(method).parameters.values() if each.kind is not each.VAR_KEYWORD
            ]
            needed = [each.name for each in named if each.default is each.empty and each.name != "self"]
            for each in named:
                if each.name != "self":
                    yield name, each.name, {key: GIVEN.get(key) for key in (*needed, *ASKED) if _takes(named, key)}


def _takes(named: list[inspect.Parameter], key: str) -> bool:
    return key in [each.name for each in named]


async def refusal(call: Awaitable[Any]) -> str:
    """What a call says where it is refused."""
    try:
        return f"it is taken, and gives {await call!r}"
    except ReMeError as error:
        return str(error)


def test_no_argument_takes_what_it_cannot_be(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None, embedding_model=HashEmbedding()) as reme:
            node = await reme.add_memory("Alice drinks tea", user_name="alice")
            before = (await reme.bank.store.find(), await reme.bank.ledger.find())
            seen = set()
            for name, argument, needed in calls():
                for wrong in (Odd(), [Odd()]):
                    whole = {key: node.memory_id if key == "memory_id" else value for key, value in needed.items()}
                    said = await refusal(getattr(reme, name)(**{**whole, argument: wrong}))
                    assert "<odd>" in said, f"{name}({argument}={wrong}): {said}"
                    seen.add((name, argument))
            assert len(seen) > 100
            assert before == (await reme.bank.store.find(), await reme.bank.ledger.find())

    asyncio.run(main())


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("recall", {"query": None}, "query is None: give a text"),
    ("recall", {"query": ["tea"]}, "query is ['tea']: give a text"),
    ("recall", {"limit": 2.5}, "limit is 2.5: give a whole number of at least 1"),
    ("recall", {"limit": -1}, "limit is -1"),
    ("recall", {"max_tokens": "x"}, "max_tokens is 'x'"),
    ("recall", {"min_score": "x"}, "min_score is 'x': give a number"),
    ("recall", {"min_score": 30}, "min_score is 30: give a number from 0 to 1"),
    ("recall", {"filters": ["a"]}, "filters is ['a']: give a dictionary from fields to values"),
    ("recall", {"filters": 0}, "filters is 0"),
    ("recall", {"filters": {5: "x"}}, "A filter names 5, which is no field"),
    ("recall", {"expand": "yes"}, "expand is 'yes': give 'auto', True or False"),
    ("recall", {"expand": 1}, "expand is 1"),
    ("retrieve_memory", {"filters": ["a"]}, "filters is ['a']"),
    ("list_memory", {"query": None, "filters": ["a"]}, "filters is ['a']"),
    ("review_refined", {"query": None, "number": -1}, "number is -1: give a whole number of at least 1"),
    ("review_refined", {"query": None, "number": "x"}, "number is 'x'"),
    ("note_reply", {"reply": "r", "memories": ["x"]}, "memories has 'x': give memories as they were found"),
    ("note_reply", {"reply": "", "memories": []}, "reply is '': give the reply's message, or its id"),
    ("forget", {"memories": 3}, "memories is 3: give ids, or memories as they were found"),
    ("forget", {"memories": None}, "memories is None: give ids, or memories"),
    ("forget", {"memories": {"a": 1}}, "memories is {'a': 1}"),
    ("forget", {"memories": [], "actor": 3}, "actor is 3: give a text"),
    ("preview_forget", {"limit": "x"}, "limit is 'x'"),
    ("preview_forget", {"limit": 0}, "limit is 0"),
    ("sweep", {"query": None, "should_stop": 3}, "should_stop is 3: give a function that is not async"),
    ("sweep", {"query": None, "should_stop": never}, "give a function that is not async"),
    ("sweep", {"query": None, "progress": 3}, "progress is 3"),
    ("explain", {"query": None, "memory_id": "x"}, "query is None: say what is looked for"),
    ("purge", {"memory_id": "x", "conversations": "no"}, "conversations is 'no': give True or False"),
    ("delete_all", {"query": None, "confirm": "no"}, "confirm is 'no'"),
]


def test_what_is_given_wrongly_is_named_with_the_cure(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None, embedding_model=HashEmbedding()) as reme:
            await reme.add_memory("Alice drinks tea", user_name="alice")
            for name, given, said in WRONG:
                method = getattr(reme, name)
                takes = inspect.signature(method).parameters
                needed = {key: GIVEN[key] for key in ("query", "user_name") if key in takes and key not in given}
                with pytest.raises(ConfigError) as caught:
                    await method(**needed, **{key: value for key, value in given.items() if key in takes})
                assert said in str(caught.value)
            assert len(await reme.list_memory("alice")) == 1

    asyncio.run(main())
