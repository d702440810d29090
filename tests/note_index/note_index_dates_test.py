# -*- coding: utf-8 -*-
"""A question that asks for a time and nothing else finds what is of that time."""

import datetime as dt
from pathlib import Path

import pytest
from _note_world import embedder, found, make_workspace, places, put, run, turn

from agentscope_reme.note_index import NoteIndex

NOW = dt.datetime(2026, 3, 10, 12, tzinfo=dt.timezone.utc)  # a Tuesday
ASKED = [
    "what did we talk about last Wednesday",
    "What was said on March 4th?",
    "上周三我们聊了什么",
    "3月4日发生了什么事",
    "what happened on 2026-03-04",
    "2026-03-04",
    "2026年3月4日的聊天内容",
]


def world(tmp_path: Path, **options: object) -> tuple[NoteIndex, Path]:
    workspace = make_workspace(tmp_path)
    put(workspace, "memory/2026-03-04.md", "- ordered green tea\n")
    put(workspace, "memory/2026-03-05.md", "- we talked about the last kitten 聊了小猫\n")
    put(workspace, "MEMORY.md", "- what happened: talk about anything, last week\n")
    said = ["a violin for Tom", "买了一把小提琴", "the lessons are on Fridays"]
    for day in (3, 4, 5):
        lines = [
            turn(10 * day + n, text, name=["Anna", "Tom"][n % 2], time=f"2026-03-{day:02d} 10:0{n}:00.000")
            for n, text in enumerate(said)
        ]
        put(workspace, f"dialog/2026-03-{day:02d}.jsonl", b"".join(lines))
    return NoteIndex(workspace, clock=lambda: NOW, timezone=dt.timezone.utc, **options), workspace.root  # type: ignore[arg-type]


@pytest.mark.parametrize("has_vectors", [False, True])
def test_what_is_of_the_day_is_found_and_nothing_else(tmp_path: Path, has_vectors: bool) -> None:
    async def work() -> None:
        index, _ = world(tmp_path, embedder=embedder() if has_vectors else None)
        await index.sync()
        for query in ASKED:
            hits = await index.search(query, 20)
            expected = [("dialog/2026-03-04.jsonl", n) for n in (1, 2, 3)] + [("memory/2026-03-04.md", 1)]
            assert sorted(places(hits)) == expected, query
            assert all(0.5 < hit.score <= 1 for hit in hits)
        for query in ("what did we talk about on 2026-03-08", "上上周三我们聊了什么", "2026-02-30"):
            assert await found(index, query) == [], query
        assert await found(index, "what did we talk about last Wednesday", until="2026-03-03") == []
        hits = await index.search("昨天和上周三说了什么", 20, sources="dialog")
        assert {hit.chunk.path for hit in hits} == {"dialog/2026-03-04.jsonl"}
        await index.close()

    run(work())


def test_of_a_long_time_the_latest_come_first_and_whom_a_query_names(tmp_path: Path) -> None:
    async def work() -> None:
        index, root = world(tmp_path)
        lines = [
            turn(100 + n, f"number {n} of it", time=f"2026-02-{n + 1:02d} 10:00:00.000", session=f"s{n}")
            for n in range(20)
        ]
        (root / "dialog/2026-02-01.jsonl").write_bytes(b"".join(lines))
        hits = await index.search("上个月聊了什么", 5)
        assert [hit.chunk.start_line for hit in hits] == [20, 19, 18, 17, 16]
        first, *rest = await index.search("what did Tom say last Wednesday", 20, sources="dialog")
        assert first.chunk.speaker == "Tom"
        assert {hit.chunk.path for hit in (first, *rest)} == {"dialog/2026-03-04.jsonl"}
        await index.close()

    run(work())


def test_other_words_of_a_query_have_to_match_as_ever(tmp_path: Path) -> None:
    async def work() -> None:
        index, _ = world(tmp_path)
        assert await found(index, "what did we say about saxophones last Wednesday", sources="dialog") == []
        hits = await index.search("violin last Wednesday", 3, sources="dialog")
        assert hits[0].chunk.path == "dialog/2026-03-04.jsonl"
        assert len({hit.chunk.path for hit in await index.search("violin", 20, sources="dialog")}) == 3
        assert await found(index, "what did we talk about") == ["MEMORY.md", "memory/2026-03-05.md"]
        await index.close()

    run(work())


def test_a_text_that_names_the_day_in_the_same_words_is_found_too(tmp_path: Path) -> None:
    async def work() -> None:
        index, root = world(tmp_path)
        (root / "MEMORY.md").write_text("- The contract ends on 2026-03-04.\n- 2026 is the year of the horse.\n")
        (root / "memory/2026-02-01.md").write_text("- it was 2026\n")
        assert set(await found(index, "what happened on 2026-03-04", sources="notes")) == {
            "memory/2026-03-04.md",
            "MEMORY.md",
        }
        assert (await index.search("2026-03-04"))[0].chunk.path != "MEMORY.md"
        await index.close()

    run(work())
