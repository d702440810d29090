# -*- coding: utf-8 -*-
"""`kill -9` at any point: after `resume` each message that was not deleted has one live copy, in memory or archive."""

import asyncio
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _driven import archived
from _faulty_disk import CAN_TELL
from _kill_session import PATCHED, Session, Teller, the_message
from _kill_zygote import Zygote
from agentscope.message import Msg

from agentscope_reme.message import blocks_of, output_text
from agentscope_reme.working_memory import ReMeInMemoryMemory, Turn, resume_memory

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CAN_TELL, reason="it takes a system with /proc")]

WHOLE_SESSION = 0.2
"""Seconds that a child's operations take, about; deaths are spread over them."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    it = Zygote()
    yield it
    it.close()


class Told:
    """What a child said before it died, and what therefore must be on disk, and what may be."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.session_id = session_id
        self.alive: set[str] = set()
        self.maybe: set[str] = set()
        self.held: set[str] = set()
        self.summary = ""
        self.pins: list[str] = []
        self.calls: list[str] = []
        self.again = False
        """Whether it added what it had cleared: then a copy in memory is a message of its own."""
        self.flight: str | None = None
        self.value: Any = None
        for line in path.read_bytes().splitlines() if path.exists() else ():
            self._take(json.loads(line))
        if self.flight == "add":
            self.maybe = self._ids(self.value) - self.alive
        elif self.flight == "delete":
            self.maybe = set(self.value)
            self.alive -= self.maybe

    def _take(self, record: dict[str, Any]) -> None:
        if "calls" in record:
            self.calls = record["calls"]
        elif "intent" in record:
            self.flight, self.value = record["intent"], record["value"]
            self.held = {each for each in record.get("held", ()) if "hint" not in each}
        else:
            self.flight = None
            self.summary, self.pins = record["summary"], record["pins"]
            if record["done"] == "add":
                self.alive |= self._ids(record["value"])
            elif record["done"] == "delete":
                self.alive -= set(record["value"])

    def _ids(self, numbers: list[int]) -> set[str]:
        return {msg.id for number in numbers for msg in the_message(self.session_id, number)}


def judge(folder: Path, told: Told, *, notes: bool = False) -> None:
    """Law 4 over what a dead session left, and again after it has gone on."""
    session = Session(str(folder), told.session_id, Teller("/dev/null"), notes=notes)

    async def main() -> None:
        memory = await gone_on_with(session, start=notes)
        held = {msg.id for msg, _ in memory.content}
        assert_conserved(folder, told, held)
        assert_old_or_new(told, held, memory.get_compressed_summary())
        if told.flight in (None, "hook", "compact", "add", "hint", "summary", "begin"):
            assert sorted(memory.pins) == told.pins
        assert_whole(session, memory, folder)
        new = [1000 + at for at in range(9)]
        for number in new:
            await memory.add(the_message(told.session_id, number))
        for force in (False, True):
            manager = session.manager
            await manager._keeper.pipeline(Turn(memory, manager._compactor(manager._services.context), force=force))
        assert memory.get_compressed_summary()
        told.alive |= told._ids(new)
        assert_conserved(folder, told, {msg.id for msg, _ in memory.content})
        state = [msg.to_dict() for msg, _ in memory.content], memory.get_compressed_summary(), memory.pins
        memory.close()
        await session.manager.close()
        again = Session(str(folder), told.session_id, Teller("/dev/null"), notes=notes)
        memory = await gone_on_with(again, start=notes)
        assert state == ([msg.to_dict() for msg, _ in memory.content], memory.get_compressed_summary(), memory.pins)
        memory.close()
        await again.manager.close()

    asyncio.run(main())


async def gone_on_with(session: Session, *, start: bool) -> ReMeInMemoryMemory:
    """The session's memory as another process resumes it, with all that a manager does at its start, or without."""
    if start:
        await session.begin(resume=True)
        return session.memory
    return resume_memory(session.id, session.manager._services)


def lines_of(folder: Path, session_id: str) -> list[dict[str, Any]]:
    return [line for line in archived(folder) if line["session_id"] == session_id]


def assert_conserved(folder: Path, told: Told, held: set[str]) -> None:
    copies = Counter(held) + Counter(line["id"] for line in lines_of(folder, told.session_id))
    if told.again:
        copies = +(copies - Counter(held & {line["id"] for line in lines_of(folder, told.session_id)}))
    assert {each: copies[each] for each in told.alive} == dict.fromkeys(told.alive, 1)
    assert set(copies) <= told.alive | told.maybe, "what was deleted, or never said, is there"
    assert {copies[each] for each in told.maybe} in (set(), {0}, {1}), "half of an operation"


def assert_old_or_new(told: Told, held: set[str], summary: str) -> None:
    left = told.held - held
    if told.flight in ("hook", "compact"):
        changed = summary != told.summary
        assert left or not changed, "half a fold"
        assert changed or not left or told.session_id != "s", "half a fold"  # chance may fold what adds nothing
    elif told.flight in ("clear", "new"):
        assert left in (set(), told.held)
        assert summary == ("" if left else told.summary) or not told.held
    elif told.flight == "summary":
        assert summary in (told.summary, told.value)
    else:
        assert summary == told.summary


def assert_whole(session: Session, memory: ReMeInMemoryMemory, folder: Path) -> None:
    """Nothing that was said is cut short without a pointer to all of it."""
    copies = [*(msg for msg, _ in memory.content), *map(Msg.from_dict, lines_of(folder, session.id))]
    for msg in map(session.manager._services.results.original, copies):
        number = int(msg.id.rpartition("-")[2][:-1])
        said = next(each for each in the_message(session.id, number) if each.id == msg.id)
        assert spoken(msg) == spoken(said)


def spoken(msg: Msg) -> list[Any]:
    return [output_text(block) or block.get("text") or block.get("input") for block in blocks_of(msg)]


def order(folder: Path, session_id: str, **values: Any) -> dict[str, Any]:
    return {"folder": str(folder), "session": session_id, "told": str(folder / f"{session_id}.told"), **values}


@pytest.mark.parametrize(
    ("deaths", "notes"),
    [
        (10, False),
        pytest.param(400, False, marks=pytest.mark.slow),
        pytest.param(100, True, marks=pytest.mark.slow),
    ],
)
def test_killed_at_random(zygote: Zygote, tmp_path: Path, deaths: int, notes: bool) -> None:
    """Two sessions of one workspace at a time, each killed at another moment of its life."""
    pick = random.Random(deaths)
    killed = 0
    for pair in range(deaths // 2):
        folder = tmp_path / f"{pair // 10}"
        orders = [
            order(
                folder,
                f"s{pair}{side}",
                seed=pick.randrange(10**9),
                count=60,
                kill_after=pick.uniform(0, WHOLE_SESSION),
                notes=notes,
            )
            for side in "ab"
        ]
        killed += sum(status == -9 for status in zygote.run(*orders))
        for each in orders:
            told = Told(Path(each["told"]), each["session"])
            if (folder / ".state" / "sessions" / f"{each['session']}.jsonl").exists():
                judge(folder, told, notes=notes)
            else:
                assert not told.alive
    assert killed > deaths / 2


FULL = ["add", list(range(14))]
"""Enough to be folded: pairs among them with results that are put into files, over two days."""

SCRIPTS: dict[str, tuple[list[list[Any]], int]] = {
    "the first add": ([["add", [2, 4, 5]]], 0),
    "an add": ([["add", [0]], ["add", [2, 4, 5]]], 1),
    "a hook that folds": ([FULL, ["hook", None]], 1),
    "a second fold": ([FULL, ["hook", None], ["add", list(range(20, 34))], ["hook", None]], 3),
    "a compaction": ([FULL, ["compact", None]], 1),
    "a deletion": ([FULL, ["delete", ["s-1a", "s-3a"]]], 1),
    "a clear": ([FULL, ["hook", None], ["add", [20, 21]], ["clear", None]], 3),
    "a clear and back": ([FULL, ["clear", None], FULL, ["clear", None]], 3),
    "marks": ([FULL, ["mark", ["s-1a", "s-3a"]]], 1),
}
SOME = {"the first add", "a hook that folds"}
CHANGES = ("write", "replace", "ftruncate", "unlink")
"""The calls that change what a file says."""


@pytest.mark.parametrize("name", [each for each in SCRIPTS if each in SOME])
def test_killed_at_each_write(zygote: Zygote, tmp_path: Path, name: str) -> None:
    """At each call that changes the disk: before it, in the middle of it, or before its last byte, in turn."""
    killed_at_each(zygote, tmp_path, name, CHANGES, lambda at: (at % 3,))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_killed_at_each_part_of_each_write(zygote: Zygote, tmp_path: Path, name: str) -> None:
    killed_at_each(zygote, tmp_path, name, PATCHED, lambda _: (0, 1, 2))


def killed_at_each(
    zygote: Zygote, tmp_path: Path, name: str, kinds: tuple[str, ...], parts: Callable[[int], tuple[int, ...]]
) -> None:
    ops, armed = SCRIPTS[name]
    calls = rehearsed(zygote, tmp_path / "rehearsal", ops=ops, armed=armed)
    deaths = [
        (at, torn)
        for at, call in enumerate(calls, start=1)
        for torn in (parts(at) if call == "write" else (0,))
        if call in kinds
    ]
    orders = [order(tmp_path / f"{at}{torn}", "s", ops=ops, armed=armed, die_at=at, torn=torn) for at, torn in deaths]
    for batch in in_batches(orders):
        assert zygote.run(*batch) == [-9] * len(batch)
    for each in orders:
        folder, told = Path(each["folder"]), Told(Path(each["told"]), "s")
        if name == "the first add" and not (folder / ".state" / "sessions" / "s.jsonl").exists():
            assert not told.alive
            continue
        told.again = name == "a clear and back"
        judge(folder, told)


@pytest.mark.parametrize(("every", "apart"), [(30, 4), pytest.param(1, 1, marks=pytest.mark.slow)])
def test_killed_while_it_recovers(zygote: Zygote, tmp_path: Path, every: int, apart: int) -> None:
    """A process dies in a fold, the next one at each write of its `resume`; the third has everything."""
    ops, armed = SCRIPTS["a hook that folds"]
    calls = rehearsed(zygote, tmp_path / "rehearsal", ops=ops, armed=armed)
    last_write = max(at for at, call in enumerate(calls, start=1) if call == "write")
    for at in range(last_write, 0, -every):
        first = order(tmp_path / f"{at}", "s", ops=ops, armed=armed, die_at=at, torn=at % 3)
        assert zygote.run(first) == [-9]
        folder = Path(first["folder"])

        def again(name: str, folder: Path = folder, **values: Any) -> dict[str, Any]:
            copy = shutil.copytree(folder, folder.with_name(f"{folder.name}-{name}"))
            made = order(copy, "s", ops=[["add", [50]]], resume=True, **values)
            return {**made, "told": str(copy / "second.told")}

        whole = again("whole")
        assert zygote.run(whole) == [0]
        deaths = len(Told(Path(whole["told"]), "s").calls)
        orders = [again(f"{died}", die_at=died, torn=died % 3) for died in range(1, deaths + 1, apart)]
        for batch in in_batches(orders):
            assert zygote.run(*batch) == [-9] * len(batch)
        for each in orders:
            judge(Path(each["folder"]), Told(Path(each["folder"]) / "s.told", "s"))


def rehearsed(zygote: Zygote, folder: Path, **values: Any) -> list[str]:
    """The calls that the armed operation makes, in a process that nobody kills."""
    rehearsal = order(folder, "s", **values)
    assert zygote.run(rehearsal) == [0]
    calls = Told(Path(rehearsal["told"]), "s").calls
    assert "write" in calls
    return calls


def in_batches(orders: list[dict[str, Any]], size: int = 4) -> Iterator[list[dict[str, Any]]]:
    return (orders[at : at + size] for at in range(0, len(orders), size))
