# -*- coding: utf-8 -*-
"""What is let go and had back: the sweep, requests to forget, cold storage, and the law that restoring undoes it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from _refine_world import ALICE, BOB, NOW, Clock, active, bank_in, chat, note, refiner_of, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import AmbiguousMemoryId, ConfigError, EventKind, MemoryNotFound
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import Forgetter, RefinedRetriever, RefinerConfig, is_forgotten
from agentscope_reme.refine import _sweeper as sweeper
from agentscope_reme.refine._cold_storage import ColdStorage
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever

DAY = timedelta(days=1)
PLAN = {"category": "plan"}


def forgetter_of(bank: MemoryBank, folder: Path | None = None, **config: Any) -> Forgetter:
    cold = ColdStorage(folder / "cold" / "memories.jsonl") if folder else None
    return Forgetter(bank, RefinerConfig(**config), cold=cold)


def told(node: MemoryNode) -> dict[str, Any]:
    """All that is known of a memory, but for what restoring changes."""
    values = node.to_dict()
    del values["last_accessed"]
    return values


@given(
    nodes=st.lists(
        st.builds(
            lambda text, owner, worth, used, days, end, category, found: note(
                text,
                owner,
                importance=worth,
                time_created=NOW - days * DAY,
                last_accessed=NOW - used * DAY if used is not None else None,
                expires_at=NOW + end * DAY if end is not None else None,
                category=category,
                access_count=found,
                tags=("a",),
                metadata={"useful": found // 2, "where": "Paris"},
            ),
            st.sampled_from([f"keeps goat {n}" for n in range(6)] + ["打算 2024-04-01 去爬山", "打算下周去爬山"]),
            st.sampled_from([ALICE, BOB]),
            st.sampled_from([0.05, 0.15, 0.5, 0.95]),
            st.none() | st.integers(0, 400),
            st.integers(0, 400),
            st.none() | st.integers(-20, 20),
            st.sampled_from(["fact", "plan"]),
            st.integers(0, 4),
        ),
        max_size=12,
        unique_by=lambda node: node.key,
    ),
    asked=st.sets(st.integers(0, 11)),
    has_file=st.booleans(),
)
def test_restore_after_forget_gives_the_same_memory(tmp_path_factory, nodes, asked, has_file):
    async def main() -> None:
        folder = tmp_path_factory.mktemp("bank")
        async with bank_in(folder) as bank:
            forgetter = forgetter_of(bank, folder if has_file else None)
            before = {node.key: node for node in await bank.add(nodes)}
            await forgetter.forget([node for at, node in enumerate(nodes) if at in asked], cause="asked")
            swept = await forgetter.sweep([ALICE])
            assert swept.is_complete
            left = {node.key for node in await bank.list()}
            for at, node in enumerate(nodes):
                gone = node.key not in left
                assert gone or at not in asked
                assert not (gone and at not in asked and node.owner == BOB.key)  # whose memories were not swept
                assert not (gone and at not in asked and node.importance >= 0.9 and node.expires_at is None)
            for node in nodes:
                back = await forgetter.restore(node.memory_id, next(o for o in (ALICE, BOB) if o.key == node.owner))
                was, now = told(before[node.key]), told(back)
                if now.pop("expires_at") != was.pop("expires_at"):
                    assert before[node.key].expires_at is None or before[node.key].expires_at <= NOW
                assert now == was
            assert {node.key for node in await bank.list()} == set(before)
            again = await forgetter.sweep()
            assert (again.archived, again.expired, again.cold) == (0, 0, 0)  # what was had back stays

    asyncio.run(main())


def test_the_sweep_archives_freezes_and_expires_and_says_so(tmp_path):
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            events = []
            bank.events.subscribe(events.append)
            await bank.add(
                [
                    note("worth little", importance=0.15),
                    note("worth nothing", importance=0.05),
                    note("worth nothing, and useful", importance=0.05, metadata={"useful": 1}),
                    note("allergic to nuts", importance=0.95),
                    note("worth the usual"),
                    note("meets Li on Friday, 2024-05-10", **PLAN),
                    note("will move to Rome on 2024-09-01", **PLAN),
                ]
            )
            forgetter = forgetter_of(bank, tmp_path)
            assert await forgetter.is_due()
            clock.go_on(days=61)
            swept = await forgetter.sweep()
            assert (swept.looked_at, swept.archived, swept.expired, swept.cold) == (7, 1, 1, 1)
            assert sorted(texts(await active(bank))) == sorted(
                ["worth nothing, and useful", "allergic to nuts", "worth the usual", "will move to Rome on 2024-09-01"]
            )
            found = await MemoryRetriever(bank).retrieve("the usual worth", [ALICE], limit=1)
            assert texts(found) == ["worth the usual"]  # old, unused, and an exact match
            assert [each.node.content for each in await forgetter.cold.all()] == ["worth nothing"]
            assert sorted((e.details["action"], len(e.details["ids"])) for e in events if e.kind == "memory_changed")[
                :3
            ] == [("archived", 1), ("cold", 1), ("created", 7)]
            [event] = [event for event in events if event.kind == EventKind.MEMORIES_SWEPT]
            assert (event.details["owner"], event.details["cold"]) == ("", 1)
            row = (await bank.history(note("worth nothing").memory_id))[-1]
            assert (row.action, row.actor) == ("cold", "sweep")
            assert "unused for more than 60 days" in row.cause
            assert not await forgetter.is_due()
            clock.go_on(days=7)
            assert await forgetter.is_due()
            assert await forgetter.is_due(BOB)
            with pytest.raises(MemoryNotFound):
                await bank.get(note("worth nothing").memory_id)
            await forgetter.restore(note("worth nothing").memory_id)
            assert await forgetter.cold.all() == []

    asyncio.run(main())


def test_a_sweep_that_is_stopped_or_breaks_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeper, "_PAGE", 10)

    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add([note(f"number {n}", importance=0.15) for n in range(35)])
            clock.go_on(days=100)
            seen = []
            first = await forgetter_of(bank).sweep(progress=lambda *n: seen.append(n), should_stop=lambda: True)
            assert (first.looked_at, first.archived, first.is_complete, seen) == (10, 10, False, [(10, 35)])
            patch, calls = bank.patch, []

            async def breaking(*args, **named):
                calls.append(args)
                if len(calls) == 2:
                    raise OSError("the disk is gone")
                return await patch(*args, **named)

            monkeypatch.setattr(bank, "patch", breaking)
            with pytest.raises(OSError, match="the disk"):
                await forgetter_of(bank).sweep()
        async with bank_in(tmp_path, clock) as bank:
            forgetter = forgetter_of(bank)
            assert await forgetter.is_due()
            rest = await forgetter.sweep()
            assert (rest.looked_at, rest.archived, rest.is_complete) == (15, 15, True)
            assert await active(bank) == []

    asyncio.run(main())


def test_what_a_crash_leaves_in_the_store_and_in_the_file_is_one_memory(tmp_path, monkeypatch):
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            [memory] = await bank.add([note("worth nothing", importance=0.05)])
            clock.go_on(days=100)
            forgetter = forgetter_of(bank, tmp_path)
            with monkeypatch.context() as patched:

                async def crash(*_: object, **__: object) -> None:
                    raise KeyboardInterrupt

                patched.setattr(bank, "withdraw", crash)
                with pytest.raises(KeyboardInterrupt):
                    await forgetter.sweep()
            assert texts(await active(bank)) == ["worth nothing"]
            await forgetter.sweep()
            assert await active(bank) == []
            assert told(await forgetter.restore(memory.memory_id)) == told(memory)
            assert await forgetter.cold.all() == []

    asyncio.run(main())


def test_a_request_to_forget_is_previewed_confirmed_and_undone(tmp_path):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(
                [
                    note("打算通过跑步减肥"),
                    note("减肥期间不吃晚饭"),
                    note("晚饭喜欢吃川菜"),
                    note("在学弹钢琴"),
                    note("要减肥", BOB),
                ]
            )
            forgetter = forgetter_of(bank)
            shown = await forgetter.preview("忘掉我之前说的关于减肥的事", [ALICE])
            assert set(texts(shown[:2])) == {"打算通过跑步减肥", "减肥期间不吃晚饭"}
            assert "在学弹钢琴" not in texts(shown)
            assert len(await active(bank)) == 4  # nothing has happened yet
            assert texts(await forgetter.preview("减肥", [ALICE], limit=1)) == texts(shown[:1])
            gone = await forgetter.forget(shown[:2], actor="alice", cause="asked for")
            assert gone == shown[:2]
            assert await forgetter.forget(shown[:2]) == []
            assert texts(await active(bank))
            assert not any("减肥" in text for text in texts(await active(bank)))
            assert len(await active(bank, BOB)) == 1
            assert all(
                is_forgotten(node) for node in await bank.list([ALICE], {"is_active": False}, include_inactive=True)
            )
            row = (await bank.history(gone[0].memory_id))[-1]
            assert (row.action, row.actor, row.cause) == ("forgotten", "alice", "asked for")
            await forgetter.restore(gone[0].memory_id, actor="alice")
            assert len(await active(bank)) == 3
            with pytest.raises(ConfigError, match="say what"):
                await forgetter.preview(" ", [ALICE])

    asyncio.run(main())


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        ("忘掉我之前说的关于减肥的事。", {"打算通过跑步减肥"}),
        ("Please forget what I told you about my knee.", {"Her left knee hurts after running."}),
        ("别忘了减肥的事", set()),
        ("Don't forget about my knee", set()),
        ("我忘了减肥的事怎么说的了？", set()),
        ("Remember that my knee is fine", set()),
    ],
)
def test_a_message_that_asks_to_forget_is_obeyed_and_no_other(tmp_path, asked, gone):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            known = ["打算通过跑步减肥", "Her left knee hurts after running.", "喜欢跑步", "She runs in the park."]
            await bank.add([note(text) for text in known])
            assert set(texts(await forgetter_of(bank).obey(asked, [ALICE]))) == gone
            assert set(texts(await active(bank))) == set(known) - gone

    asyncio.run(main())


def test_a_refined_memory_is_forgotten_with_its_sources_and_comes_back_with_them(tmp_path):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat(importance=0.4))
            await refiner_of(bank).run([ALICE])
            refined = [node for node in await active(bank) if node.source_ids]
            assert refined
            forgetter, retriever = forgetter_of(bank), RefinedRetriever(bank, cache_seconds=0)
            everything = {node.key: told(node) for node in await bank.list([ALICE], include_inactive=True)}
            await forgetter.forget(refined)
            for query in ("弹钢琴", "上海出差"):
                found = await retriever.retrieve(query, [ALICE], expand=True)
                assert not any(
                    query[:2] in node.content for node in found if node.source_ids or "过敏" not in node.content
                )
            for node in refined:
                await forgetter.restore(node.memory_id)
            after = {node.key: told(node) for node in await bank.list([ALICE], include_inactive=True)}
            for values in (*everything.values(), *after.values()):
                values["metadata"].pop("archived_at", None)
            assert after == everything
            assert texts(await retriever.expand(refined[0]))

    asyncio.run(main())


def test_forgetting_a_source_takes_its_refined_memory_apart_and_loses_nothing_else(tmp_path):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat(importance=0.4))
            await refiner_of(bank).run([ALICE])
            [source] = [
                n
                for n in await bank.list([ALICE], include_inactive=True)
                if "弹钢琴" in n.content and n.metadata.get("refined_into")
            ]
            others = {
                n.key
                for n in await bank.list(
                    [ALICE], {"metadata.refined_into": source.metadata["refined_into"]}, include_inactive=True
                )
            } - {source.key}
            assert others
            forgetter = forgetter_of(bank)
            await forgetter.forget([source])
            left = {node.key for node in await active(bank)}
            assert others <= left
            assert not any("钢琴课" in node.content or "弹钢琴" in node.content for node in await active(bank))
            back = await forgetter.restore(source.memory_id)
            assert back.is_active

    asyncio.run(main())


def test_sources_that_were_kept_long_enough_move_to_the_file_and_can_be_had_back(tmp_path):
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add(chat(importance=0.4))
            await refiner_of(bank).run([ALICE])
            sources = await bank.list([ALICE], {"is_active": False}, include_inactive=True)
            assert sources
            clock.go_on(days=89)
            forgetter = forgetter_of(bank, tmp_path)
            assert (await forgetter.sweep()).cold == 0
            clock.go_on(days=2)
            assert (await forgetter.sweep()).cold == len(sources)
            assert (await forgetter.restore(sources[0].memory_id)).content == sources[0].content
            assert (await forgetter_of(bank, tmp_path, retention_days=float("inf")).sweep()).cold == 0

    asyncio.run(main())


def test_an_id_of_several_owners_in_the_file_asks_for_the_owner(tmp_path):
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add([note("worth nothing", owner, importance=0.05) for owner in (ALICE, BOB)])
            clock.go_on(days=100)
            forgetter = forgetter_of(bank, tmp_path)
            assert (await forgetter.sweep()).cold == 2
            memory_id = note("worth nothing").memory_id
            with pytest.raises(AmbiguousMemoryId):
                await forgetter.restore(memory_id)
            assert (await forgetter.restore(memory_id, BOB)).owner == BOB.key
            assert texts(await active(bank)) == []
            with pytest.raises(MemoryNotFound):
                await forgetter.restore("0" * 16)
            [one] = await bank.add([replace(note("there to stay"))])
            assert (await forgetter.restore(one.memory_id)).to_dict() == one.to_dict()

    asyncio.run(main())
