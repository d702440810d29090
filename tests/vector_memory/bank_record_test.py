# -*- coding: utf-8 -*-
"""What a bank knows of the past: versions, retired ids, who did what and why."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from _bank_world import ALICE, BOB, Clock, bank_of, local_bank, note, said
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import AmbiguousMemoryId, ConfigError, Event, MemoryNotFound
from agentscope_reme._events import EventBus
from agentscope_reme.record import memory_id_of
from agentscope_reme.vector_memory import AuditRow
from agentscope_reme.vector_store import LocalVectorStore


def test_a_retired_id_leads_to_what_became_of_it_through_a_chain_and_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [memory] = await bank.add([note("step 0")])
            for number in range(1, 5):
                await bank.update(memory.memory_id, ALICE, content=f"step {number}")
        async with local_bank(tmp_path) as bank:
            for number in range(5):
                assert (await bank.get(memory_id_of(f"step {number}"))).content == "step 4"
            assert said(await bank.versions(memory_id_of("step 2"))) == [f"step {number}" for number in range(4)]
            assert (await bank.update(memory_id_of("step 1"), content="last")).content == "last"
            assert await bank.delete(memory_id_of("step 3")) is True
            for number in range(5):
                assert await bank.delete(memory_id_of(f"step {number}")) is False
                with pytest.raises(MemoryNotFound, match="was deleted"):
                    await bank.get(memory_id_of(f"step {number}"))

    asyncio.run(main())


@given(st.lists(st.sampled_from("ABC"), min_size=2, max_size=8))
def test_a_memory_that_goes_back_to_an_old_text_is_found_by_every_id_it_had(
    tmp_path_factory: pytest.TempPathFactory, course: list[str]
) -> None:
    async def main() -> None:
        async with local_bank(tmp_path_factory.mktemp("bank"), clock=Clock()) as bank:  # a clock that stands still
            [memory] = await bank.add([note(course[0])])
            for content in course[1:]:
                memory = await bank.update(memory.memory_id, content=content)
            for content in course:
                assert (await bank.get(memory_id_of(content))).content == course[-1]
            changes = [text for text, after in itertools.pairwise(course) if text != after]
            assert said(await bank.versions(memory.memory_id)) == changes
            assert await bank.delete(memory_id_of(course[0]))
            assert await bank.list() == []

    asyncio.run(main())


def test_versions_are_the_memories_as_they_were(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [first] = await bank.add([note("old", importance=0.3, tags=["x"], metadata={"deep": {"a": [1, None]}})])
            await bank.update(first.memory_id, content="new", when_to_use="later", importance=0.9)
            [version] = await bank.versions(first.memory_id)
            assert version.to_dict() == first.to_dict()

    asyncio.run(main())


def test_every_change_is_on_record_with_time_actor_and_cause(tmp_path: Path) -> None:
    clock = Clock()

    async def main() -> None:
        async with local_bank(tmp_path, clock=clock) as bank:
            [memory] = await bank.add([note("likes tea", time_modified=clock())], actor="extractor", cause="said so")
            clock.go_on(hours=1)
            memory = await bank.update(memory.memory_id, content="likes green tea", actor="alice", cause="corrected")
            clock.go_on(hours=1)
            await bank.patch({memory.key: {"importance": 0.8}}, action="strengthened", actor="feedback")
            clock.go_on(hours=1)
            await bank.patch({memory.key: {"is_active": False}}, action="forgotten", actor="sweep", cause="unused")
            clock.go_on(hours=1)
            await bank.add([note("likes green tea")], actor="extractor")
            clock.go_on(hours=1)
            await bank.delete(memory.memory_id, actor="alice", cause="asked")
            rows = await bank.history(memory_id_of("likes tea"))
            assert [(row.action, row.actor, row.cause) for row in rows] == [
                ("created", "extractor", "said so"),
                ("updated", "alice", "corrected"),
                ("strengthened", "feedback", ""),
                ("forgotten", "sweep", "unused"),
                ("restored", "extractor", ""),
                ("deleted", "alice", "asked"),
            ]
            assert [row.time for row in rows] == sorted(row.time for row in rows)
            assert {row.owner for row in rows} == {ALICE}
            assert rows[2].details == {"fields": ["importance"]}
            assert await bank.history(memory_id_of("likes green tea")) == rows

    asyncio.run(main())


def test_a_deleted_text_is_in_no_file_any_more(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [memory] = await bank.add([note("the first secret xyzzy-1")])
            await bank.update(memory.memory_id, content="the second secret xyzzy-2", when_to_use="xyzzy-3")
            await bank.delete(memory.memory_id, cause="asked")
            await bank.add([note("something else")])
            for node in await bank.ledger.find():
                assert "xyzzy" not in str(node.to_dict())
            assert [row.action for row in await bank.history(memory.memory_id)] == ["created", "updated", "deleted"]
            assert await bank.versions(memory.memory_id) == []

    asyncio.run(main())


def test_what_a_crash_left_of_a_deleted_memory_goes_with_the_next_try(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [memory] = await bank.add([note("secret plan A")])
            await bank.update(memory.memory_id, content="secret plan B")
            write, calls = bank.ledger.write, []

            async def dies_the_second_time(*args: object, **options: object) -> None:
                calls.append(args)
                if len(calls) == 2:
                    raise KeyboardInterrupt
                await write(*args, **options)  # type: ignore[arg-type]

            bank.ledger.write = dies_the_second_time  # type: ignore[method-assign]
            with pytest.raises(KeyboardInterrupt):
                await bank.delete(memory.memory_id)
            bank.ledger.write = write  # type: ignore[method-assign]
            assert await bank.delete(memory.memory_id) is False
            assert not any("secret plan" in str(node.to_dict()) for node in await bank.ledger.find())

    asyncio.run(main())


def test_listeners_are_told_what_was_done(tmp_path: Path) -> None:
    heard: list[Event] = []

    async def main() -> None:
        events = EventBus()
        events.subscribe(heard.append)
        async with local_bank(tmp_path, events=events) as bank:
            [memory] = await bank.add([note("a")])
            await bank.add([note("a")])  # nothing is done
            memory = await bank.update(memory.memory_id, content="c")
            await bank.delete(memory.memory_id)

    asyncio.run(main())
    told = [(each.details["action"], each.details["owner"]) for each in heard if each.kind == "memory_changed"]
    assert told == [("created", "personal/alice"), ("updated", "personal/alice"), ("deleted", "personal/alice")]


def test_a_patch_that_cannot_be_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [one, other] = await bank.add([note("one"), note("other")])
            with pytest.raises(ConfigError, match="importance"):
                await bank.patch({one.key: {"importance": 0.9}, other.key: {"importance": 7}})
            with pytest.raises(ConfigError, match="content"):
                await bank.patch({one.key: {"importance": 0.9, "content": "x"}})
            assert {each.importance for each in await bank.list()} == {0.5}

    asyncio.run(main())


def test_a_bare_id_means_the_one_memory_that_it_stands_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_of(LocalVectorStore(tmp_path / "m.db")) as bank:
            mine, theirs = await bank.add([note("shared"), note("shared", "bob")])
            await bank.delete(theirs.memory_id, BOB)
            assert (await bank.get(mine.memory_id)).owner == ALICE.key
            await bank.add([note("shared", "bob")])
            await bank.update(mine.memory_id, ALICE, content="mine alone")
            # alice's id leads elsewhere, bob's is still there: two memories
            with pytest.raises(AmbiguousMemoryId, match="2 owners"):
                await bank.delete(mine.memory_id)
            assert (await bank.get(memory_id_of("mine alone"))).owner == ALICE.key

    asyncio.run(main())


def test_new_memories_and_changes_of_others_are_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    async def main() -> None:
        async with local_bank(tmp_path, clock=clock) as bank:
            sources = await bank.add([note(f"source {number}", time_modified=clock()) for number in range(3)])
            as_of = {node.key: node.time_modified for node in sources}
            archived = {node.key: {"is_active": False} for node in sources}
            whole = note("the three sources in one sentence", source_ids=[node.memory_id for node in sources])
            write, calls = bank.store.write, []

            async def counted(*args: object, **options: object) -> None:
                calls.append(args)
                await write(*args, **options)  # type: ignore[arg-type]

            monkeypatch.setattr(bank.store, "write", counted)
            [made] = await bank.exchange(  # type: ignore[misc]
                [whole], archived, as_of=as_of, action="refined", actor="refiner", details={"run": 7}
            )
            assert len(calls) == 1
            assert said(await bank.list([ALICE])) == ["the three sources in one sentence"]
            assert len(await bank.list([ALICE], include_inactive=True)) == 4
            row = (await bank.history(sources[0].memory_id))[-1]
            assert (row.action, row.actor, row.details) == ("refined", "refiner", {"run": 7, "fields": ["is_active"]})
            assert [row.action for row in await bank.history(made.memory_id)] == ["created"]
            clock.go_on(hours=1)
            changed = await bank.update(made.memory_id, content="and then somebody changed it")
            for stale in ({made.key: made.time_modified}, {changed.key: made.time_modified}):
                assert await bank.exchange([note("too late")], {}, as_of=stale) is None
            assert said(await bank.list([ALICE])) == ["and then somebody changed it"]
            again = await bank.exchange([note("source 0"), note("source 0")], {"0" * 32: {"importance": 1.0}})
            assert [(each.content, each.is_active) for each in again or ()] == [("source 0", True)] * 2

    asyncio.run(main())


def test_something_of_ones_own_can_be_put_on_record(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [memory] = await bank.add([note("likes tea")])
            row = AuditRow(bank.clock(), "previewed", ALICE, (memory.memory_id,), "sweep", "weekly")
            await bank.record([row], [memory.key])
            assert (await bank.history(memory.memory_id))[-1] == row

    asyncio.run(main())


def test_what_is_withdrawn_is_on_record_and_comes_back_with_its_versions(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            [first] = await bank.add([note("likes tea")])
            memory = await bank.update(first.memory_id, content="likes coffee")
            taken = await bank.withdraw([memory.key, "0" * 32], action="cold", actor="sweep", cause="unused")
            assert [each.to_dict() for each in taken] == [memory.to_dict()]
            assert await bank.list([ALICE], include_inactive=True) == []
            with pytest.raises(MemoryNotFound):
                await bank.get(memory.memory_id)
            assert (await bank.history(memory.memory_id))[-1].action == "cold"
            await bank.add(taken)
            assert (await bank.get(first.memory_id)).to_dict() == memory.to_dict()
            assert said(await bank.versions(first.memory_id)) == ["likes tea"]

    asyncio.run(main())
