# -*- coding: utf-8 -*-
"""When refinement runs, and refined memories beside their sources."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _refine_world import ALICE, BOB, CHAT, NOW, Clock, active, bank_in, chat, note, refiner_of
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import StorageError
from agentscope_reme._events import Event, EventKind
from agentscope_reme.refine._due import due_for
from agentscope_reme.refine._refined import is_refined
from agentscope_reme.refine._review import review
from agentscope_reme.refine._schedule import RefineSchedule


def run(main: Any) -> Any:
    return asyncio.run(main)


def test_a_run_is_due_by_capacity_and_by_the_clock(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            refiner = refiner_of(bank, capacity_memories=9)
            assert await due_for(bank, refiner.config, ALICE) == ""
            await bank.add(chat(CHAT[:9]))
            assert await due_for(bank, refiner.config, ALICE) == ""
            await bank.add([note("他住在苏州河边的老房子里")])
            assert await due_for(bank, refiner.config, ALICE) == "capacity"
            assert await due_for(bank, refiner.config, BOB) == ""
            small = refiner_of(bank, capacity_chars=100).config
            assert await due_for(bank, small, ALICE) == "capacity"
            daily = refiner_of(bank).config
            assert await due_for(bank, daily, ALICE) == ""
            clock.go_on(hours=24)
            assert await due_for(bank, daily, ALICE) == "schedule"
            await refiner.run([ALICE])
            assert await due_for(bank, daily, ALICE) == ""
            clock.go_on(hours=30)
            assert await due_for(bank, daily, ALICE) == "", "nothing is new"
            await bank.add([note("他养了一只会说话的鹦鹉")])
            assert await due_for(bank, daily, ALICE) == "schedule"

    run(main())


def test_sessions_that_end_and_quiet_owners(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add([*chat(), *chat(owner=BOB)])
            told: list[Any] = []
            refiner = refiner_of(bank, after_session=True, idle_seconds=600)
            schedule = RefineSchedule(refiner, done=lambda *each: told.append(each[:2]))
            schedule.heard(ALICE)
            schedule.heard(BOB)
            assert await schedule.look() == {}
            schedule.ended(ALICE)
            assert await schedule.look() == {ALICE: "session"}
            assert await schedule.look() == {}
            clock.go_on(minutes=10)
            assert await schedule.look() == {BOB: "idle"}
            assert told == [(ALICE, "session"), (BOB, "idle")]
            assert len(await active(bank, BOB)) == 1

    run(main())


def test_it_works_in_the_background_and_outlives_a_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            refiner = refiner_of(bank, after_session=True)
            looks = 0

            async def sleep(seconds: float) -> None:
                nonlocal looks
                looks += 1
                await asyncio.sleep(0)

            schedule = RefineSchedule(refiner, sleep=sleep)
            schedule.ended(ALICE)
            run_once = refiner.run

            async def failing(*_: Any, **__: Any) -> None:
                refiner.run = run_once  # type: ignore[method-assign]
                schedule.ended(ALICE)
                raise StorageError("the disk is full")

            refiner.run = failing  # type: ignore[method-assign, assignment]
            schedule.start()
            schedule.start()
            for _ in range(500):
                if any(map(is_refined, await active(bank))):
                    break
                await asyncio.sleep(0.01)
            await schedule.close()
            assert any(map(is_refined, await active(bank)))
            assert looks >= 2
            assert "the disk is full" in caplog.text

    run(main())


def test_everybody_with_something_new_is_looked_at_also_after_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        many = [f"他说起第{n}件事：{n}号仓库的钥匙在门后" for n in range(40)]
        async with bank_in(tmp_path, clock) as bank:
            schedule = RefineSchedule(refiner_of(bank, capacity_memories=20))
            await bank.add(chat(many))
            assert await schedule.look() == {ALICE: "capacity"}, "nobody told of them"
            assert await schedule.look() == {}
            await bank.add(chat(many, owner=BOB))
            assert await schedule.look() == {BOB: "capacity"}
            await bank.add([note("他养了一只会说话的鹦鹉")])
            assert await schedule.look() == {}
        async with bank_in(tmp_path, clock) as bank:
            clock.go_on(hours=30)
            schedule = RefineSchedule(refiner_of(bank, capacity_memories=2000))
            assert await schedule.look() == {ALICE: "schedule"}
            async with bank_in(tmp_path, clock) as other:
                await other.add(chat([f"又{text}" for text in many], owner=BOB))
            clock.go_on(minutes=59)
            assert await schedule.look() == {}
            clock.go_on(hours=30)
            assert await schedule.look() == {BOB: "schedule"}, "what another process wrote is seen in the end"
            await schedule.close()

    run(main())


def test_a_look_costs_nothing_where_nothing_happens(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add([*chat(), *chat(owner=BOB)])
            schedule = RefineSchedule(refiner_of(bank, idle_seconds=7200))
            assert await schedule.look() == {}
            asked: list[str] = []
            for place in (bank.store, bank.ledger):
                for name in ("find", "count", "get", "owners"):
                    work = getattr(place, name)

                    async def told(*args: Any, work: Any = work, name: str = name, **options: Any) -> Any:
                        asked.append(name)
                        return await work(*args, **options)

                    setattr(place, name, told)
            for _ in range(50):
                clock.go_on(minutes=1)
                assert await schedule.look() == {}
            assert asked == []
            clock.go_on(minutes=75)
            assert await schedule.look() == {ALICE: "idle", BOB: "idle"}
            await schedule.look()
            asked.clear()
            await schedule.look()
            assert asked == [], "nothing is new"

    run(main())


def test_what_a_run_leaves_over_the_capacity_is_not_gone_through_at_once_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            refiner = refiner_of(bank, capacity_memories=40)
            await bank.add([note(f"我对{n}号药过敏，千万别忘了", importance=0.95) for n in range(60)])
            assert await due_for(bank, refiner.config, ALICE) == "capacity"
            await refiner.run([ALICE])
            assert len(await active(bank)) == 60, "protected"
            await bank.add([note("他养了一只会说话的鹦鹉")])
            assert await due_for(bank, refiner.config, ALICE) == ""
            await bank.add([note("他养了一只会唱歌的金丝雀")])
            assert await due_for(bank, refiner.config, ALICE) == "capacity"
            long = refiner_of(bank, capacity_memories=10**6, capacity_chars=500).config
            assert await due_for(bank, long, ALICE) == ""
            await bank.add([note("他说：" + "今天的天气真不错，" * 5)])
            assert await due_for(bank, long, ALICE) == "capacity"

    run(main())


def test_a_failure_keeps_nobody_else_waiting_and_is_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([*chat(), *chat(owner=BOB)])
            refiner = refiner_of(bank, after_session=True)
            told: list[Event] = []
            bank.events.subscribe(told.append)
            schedule = RefineSchedule(refiner)
            schedule.ended(ALICE)
            schedule.ended(BOB)
            run_once = refiner.run

            async def failing(owners: Any, *_: Any) -> Any:
                if owners == [ALICE]:
                    raise ValueError("no such thing")
                return await run_once(owners)

            refiner.run = failing  # type: ignore[method-assign, assignment]
            assert await schedule.look() == {BOB: "session"}
            (failed,) = [event for event in told if event.kind is EventKind.MEMORY_UPKEEP_FAILED]
            assert (failed.details["owner"], failed.error) == (ALICE.key, "ValueError: no such thing")
            refiner.run = run_once  # type: ignore[method-assign]
            assert await schedule.look() == {ALICE: "session"}, "it is tried again"

    run(main())


# ---------------------------------------------------------------- bounded memory, review


def test_no_more_than_a_page_is_read_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            for day in range(7):
                said = [f"第{day}天第{n}件事：我和同事讨论了第{n}号方案的细节" for n in range(100)]
                await bank.add(chat(said, session=f"s{day}", start=NOW + timedelta(days=day)))
            most = 0
            get, find = bank.store.get, bank.store.find

            async def counted_get(keys: Any, **options: Any) -> Any:
                nonlocal most
                most = max(most, len(list(keys)))
                return await get(keys, **options)

            async def counted_find(*args: Any, **options: Any) -> Any:
                nonlocal most
                found = await find(*args, **options)
                most = max(most, len(found))
                return found

            bank.store.get, bank.store.find = counted_get, counted_find  # type: ignore[method-assign]
            report = await refiner_of(bank).run()
            assert report.sources == 700
            assert most <= 500

    run(main())


def test_a_review_shows_refined_memories_beside_their_sources(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            assert await review(bank, 3) == []
            later = [f"后来又说：{text}" for text in CHAT[4:]]
            await bank.add([*chat(), *chat(later, session="s2", start=NOW + timedelta(days=2)), *chat(owner=BOB)])
            await refiner_of(bank).run()
            shown = await review(bank, 5)
            assert len(shown) == 3
            assert [str(each) for each in await review(bank, 5)] == [str(each) for each in shown]
            (mine,) = await review(bank, 5, [BOB])
            assert [node.content for node in mine.sources] == CHAT
            assert mine.faults == ()
            assert 0 < mine.ratio < 0.6
            assert "我对青霉素过敏" in str(mine)
            assert "-- from" in str(mine)

    run(main())


@settings(max_examples=10)
@given(st.floats(0.1, 100), st.floats(0, 200))
def test_the_clock_decides_by_hours(every: float, passed: float) -> None:
    async def main(folder: Path) -> None:
        clock = Clock()
        async with bank_in(folder, clock) as bank:
            await bank.add([note("他养了一只会说话的鹦鹉")])
            clock.go_on(hours=passed)
            reason = await due_for(bank, refiner_of(bank, schedule_hours=every).config, ALICE)
            assert reason == ("schedule" if passed >= every else "") or abs(passed - every) < 1e-6

    with TemporaryDirectory() as folder:
        run(main(Path(folder)))
