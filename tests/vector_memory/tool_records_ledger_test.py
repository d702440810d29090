# -*- coding: utf-8 -*-
"""Records of tool calls: the latest of each tool, each call once, with the verdicts on them."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import SEARCH, bank_in, run, tool_call, tool_result, user
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import ToolCallRecord
from agentscope_reme.vector_memory import Owner, ToolRecords
from agentscope_reme.vector_memory._calls_in import calls_in

START = datetime(2026, 9, 15, 8, 0, tzinfo=timezone.utc)


def record(number: int, tool: str = "search_web", **fields: Any) -> ToolCallRecord:
    given: dict[str, Any] = {"input": {"q": f"query {number}"}, "output": f"answer {number}"}
    return ToolCallRecord(tool, create_time=START + timedelta(minutes=number), **{**given, **fields})


def test_the_latest_are_kept_and_come_first(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            records = ToolRecords(bank, keep=5)
            await records.record([record(number) for number in (3, 1, 2)])
            await records.record([record(number) for number in range(4, 9)])
            await records.record([record(0), record(1, "other")])
            assert [each.output for each in await records.of("search_web")] == [f"answer {n}" for n in (8, 7, 6, 5, 4)]
            assert [each.output for each in await records.of("search_web", limit=2)] == ["answer 8", "answer 7"]
            assert len(await records.of("other")) == 1
            assert await bank.ledger.count() == 6
            assert await records.of("nothing") == []

    run(scene)


def test_a_record_comes_back_as_it_went_in(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            given = ToolCallRecord(
                "search_web",
                {"q": "天气", "n": 3, "deep": {"a": [1, None]}},
                "晴",
                success=False,
                time_cost=1.5,
                token_cost=17,
                create_time=START,
                summary="looked up",
                evaluation="vague",
                score=0.25,
                metadata={"session_id": "s1", "agent": "Friday"},
            )
            [stored] = await ToolRecords(bank).record([given])
            [read] = await ToolRecords(bank).of("search_web")
            assert stored.to_dict() == read.to_dict() == given.to_dict()
            assert read.call_hash == given.call_hash

    run(scene)


records_given = st.lists(
    st.builds(
        lambda number, tool, again: (record(number, tool), again),
        st.integers(0, 30),
        st.sampled_from(["a", "b/c", "搜索"]),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=15)
@given(records_given, st.integers(1, 6))
def test_each_call_is_one_record_whatever_the_order(tmp_path_factory: Any, given: list[Any], keep: int) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path_factory.mktemp("records"), embed=False) as bank:
            records = ToolRecords(bank, keep=keep)
            for each, again in given:
                await records.record([each, each] if again else [each])
            for tool in ("a", "b/c", "搜索"):
                times = {each.create_time for each, _ in given if each.tool_name == tool}
                expected = sorted(times, reverse=True)[:keep]
                assert [each.create_time for each in await records.of(tool, limit=100)] == expected

    run(scene)


def test_recorded_by_several_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            records = ToolRecords(bank, keep=10)
            await asyncio.gather(*(records.record([record(n), record(n + 1)]) for n in range(20)))
            assert [each.output for each in await records.of("search_web", 99)] == [
                f"answer {n}" for n in range(20, 10, -1)
            ]

    run(scene)


def test_a_call_seen_as_it_was_made_and_in_the_conversation_is_one(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            records = ToolRecords(bank)
            made = datetime(2026, 9, 15, 10, 33, 0, 400_000).astimezone()
            await records.record([ToolCallRecord("search_web", {"q": "x"}, "found", create_time=made)])
            talk = [user("look"), tool_call(q="x"), tool_result("found")]
            for _ in range(2):
                await records.record(calls_in(talk, "search_web", len))
            assert len(await records.of("search_web")) == 1
            later = [tool_call(q="x", time="2026-09-15 11:00:00", call_id="c2"), tool_result("found", call_id="c2")]
            await records.record(calls_in(later, "search_web", len))
            assert len(await records.of("search_web")) == 2

    run(scene)


def test_what_is_long_keeps_its_ends(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            given = record(1, input={"code": "b" * 20_000 + "E"}, output="a" * 50_000 + "Z")
            [stored] = await ToolRecords(bank).record([given])
            assert len(stored.output) < 5_000
            assert stored.output[0] + stored.output[-1] == "aZ"
            assert isinstance(stored.input, str)
            assert len(stored.input) < 5_000
            assert (await ToolRecords(bank).of("search_web"))[0].to_dict() == stored.to_dict()

    run(scene)


def test_redaction_reaches_every_text_and_breaks_none(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path, redact=lambda text: text.replace('"', "").replace("secret", "***")) as bank:
            given = record(
                1, input={"q": 'a "secret" thing', "n": 1}, output="the secret", evaluation="secret", score=0.5
            )
            [stored] = await ToolRecords(bank).record([given])
            assert stored.input == {"q": "a *** thing", "n": 1}
            assert (stored.output, stored.evaluation, stored.score) == ("the ***", "***", 0.5)

    run(scene)


def test_verdicts_stay_with_their_calls(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            records = ToolRecords(bank)
            await records.record([record(n) for n in range(3)])
            latest = await records.of("search_web")
            verdicts = {0: {"score": 0.9, "evaluation": "good", "summary": "s"}, 2: {"score": 0.1}, 7: {"score": 1.0}}
            assert await records.judge("search_web", verdicts, latest) == 2
            judged = await records.of("search_web")
            assert [each.score for each in judged] == [0.9, None, 0.1]
            assert (judged[0].evaluation, judged[0].summary) == ("good", "s")
            await records.record([record(n) for n in range(3)])
            assert [each.score for each in await records.of("search_web")] == [0.9, None, 0.1], "recorded again"

    run(scene)


def test_the_deletion_of_a_tool_takes_its_records_along(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            records = ToolRecords(bank)
            await records.record([record(1), record(1, "other")])
            await bank.delete_all([SEARCH])
            assert await records.of("search_web") == []
            assert len(await records.of("other")) == 1
            await bank.delete_all([Owner("tool", "other")])
            assert await records.of("other") == []

    run(scene)


@pytest.mark.parametrize("keep", [0, -1, 2.5, "5"])
def test_a_number_that_cannot_be_kept_is_refused(keep: Any) -> None:
    with pytest.raises(ConfigError, match="keep"):
        ToolRecords(None, keep=keep)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- calls in a conversation


def test_calls_are_read_from_messages() -> None:
    talk = [
        user("look it up"),
        tool_call(q="x", call_id="call_0"),
        tool_result("Error: no network", call_id="call_0"),
        tool_call("other", call_id="call_0"),
        tool_result("fine", "other", call_id="call_0"),
        tool_call(q="y", call_id="call_0", time="2026-09-15 10:40:00"),
        tool_result("found it", call_id="call_0", time="2026-09-15 10:40:03"),
        tool_call(q="never answered", call_id="c9"),
    ]
    calls = calls_in(talk, "search_web", len)
    assert [(each.input, each.output, each.success, each.time_cost) for each in calls] == [
        ({"q": "x"}, "Error: no network", False, 2.0),
        ({"q": "y"}, "found it", True, 3.0),
    ]
    assert calls[1].create_time == datetime(2026, 9, 15, 10, 40).astimezone()
    assert calls[1].token_cost == len('{"q": "y"}') + len("found it")


@pytest.mark.parametrize(
    ("output", "success"),
    [
        ("Error: x", False),
        ("ValueError: x", False),
        ("Traceback (most recent call last):\n  x", False),
        ("<returncode>1</returncode>", False),
        ("<returncode>0</returncode>", True),
        ("<system-info>The tool call has been interrupted by the user.</system-info>", False),
        ("FunctionNotFoundError: Cannot find it", False),
        ("No errors found", True),
        ("The error rate is 3 %", True),
        ("", True),
    ],
)
def test_whether_a_call_worked_is_told_by_how_hosts_say_it(output: str, success: bool) -> None:
    [made] = calls_in([tool_call(), tool_result(output)], "search_web", len)
    assert made.success is success
