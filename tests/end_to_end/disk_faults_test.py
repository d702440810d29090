# -*- coding: utf-8 -*-
"""A disk that refuses: nothing is lost, nothing is half done, events tell, and it goes on where the disk does."""

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import archived, assert_one_copy, resumed
from _faulty_disk import CAN_TELL, FaultyDisk
from _kill_session import Session, Teller, the_message
from agentscope.message import Msg

from agentscope_reme import Event, EventKind

pytestmark = pytest.mark.skipif(not CAN_TELL, reason="it takes a system with /proc")

FULL = range(14)
TOLD = {
    EventKind.FOLD_FAILED,
    EventKind.JOURNAL_DEGRADED,
    EventKind.TRUNCATE_FAILED,
    EventKind.OVER_BUDGET,
}


class Watched:
    """A session on a disk that can be broken, what it was told, and what it was given."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.session = Session(str(folder), "s", Teller("/dev/null"))
        self.events: list[Event] = []
        self.session.manager.subscribe(self.events.append)
        self.said: dict[str, Msg] = {}

    @property
    def memory(self) -> Any:
        return self.session.memory

    async def add(self, numbers: Any) -> None:
        for number in numbers:
            for msg in the_message("s", number):
                self.said[msg.id] = msg
                await self.memory.add(msg)

    async def hook(self) -> list[Event]:
        self.events.clear()
        await self.session.manager._before_reasoning(self.session.agent, {})
        return list(self.events)

    def assert_conserved(self) -> None:
        assert_one_copy(self.said.values(), [msg for msg, _ in self.memory.content], archived(self.folder))

    async def end(self) -> None:
        """Close it, and find in its journal what it held."""
        state = [msg.to_dict() for msg, _ in self.memory.content], self.memory.get_compressed_summary()
        await self.session.manager.close()
        again = resumed(self.folder, "s")
        assert ([msg.to_dict() for msg, _ in again.content], again.get_compressed_summary()) == state
        again.close()


async def watched(folder: Path) -> Watched:
    it = Watched(folder)
    await it.session.begin(resume=False)
    return it


def calls_of(scene: Callable[[Watched], Any], folder: Path) -> int:
    """How often a scene asks the disk for something."""
    disk = FaultyDisk(lambda *_: False)

    async def main() -> None:
        it = await watched(folder)
        await it.add(FULL)
        with disk.broken():
            await scene(it)
        await it.session.manager.close()

    asyncio.run(main())
    assert any(name == "replace" for name, _ in disk.calls)
    return len(disk.calls)


async def the_hook(it: Watched) -> None:
    await it.hook()


async def more_and_the_hook(it: Watched) -> None:
    await it.add(range(20, 24))
    await it.hook()


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize(
    ("scene", "torn", "every"),
    [
        (the_hook, False, 9),
        pytest.param(the_hook, False, 1, marks=pytest.mark.slow),
        pytest.param(the_hook, True, 1, marks=pytest.mark.slow),
        pytest.param(more_and_the_hook, False, 1, marks=pytest.mark.slow),
        pytest.param(more_and_the_hook, True, 1, marks=pytest.mark.slow),
    ],
)
def test_every_call_to_the_disk_is_refused_in_turn(
    tmp_path: Path, scene: Callable[[Watched], Any], torn: bool, every: int, for_good: bool
) -> None:
    """The n-th call alone, or all from the n-th on, until the hook is over."""

    async def main(at: int) -> None:
        it = await watched(tmp_path / f"{at}")
        await it.add(FULL)
        before = it.memory.get_compressed_summary(), len(it.memory.content)
        disk = FaultyDisk(lambda _, __, number: number == at or (for_good and number > at), torn=torn)
        with disk.broken():
            await scene(it)
        assert disk.refused
        kinds = {event.kind for event in it.events}
        assert EventKind.HOOK_FAILED not in kinds
        folded = EventKind.FOLDED in kinds
        assert folded == (it.memory.get_compressed_summary() != before[0])
        if not for_good:
            it.assert_conserved()
        await it.add(range(30, 36))
        await it.hook()
        it.assert_conserved()
        assert it.memory.journal_state == "ok"
        assert it.memory.get_compressed_summary()
        await it.end()

    for at in range(1, calls_of(scene, tmp_path / "rehearsal") + 1, every):
        asyncio.run(main(at))


def test_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    """Messages are kept, the state says so, nothing is folded; the first success puts down all of it."""
    disk = FaultyDisk(lambda _, path, __: "/sessions/" in path)

    async def main() -> None:
        it = await watched(tmp_path / "w")
        await it.add(FULL)
        it.events.clear()
        with disk.broken():
            await it.add(range(20, 30))
            assert it.memory.journal_state == "degraded"
            assert it.session.manager.status()["journal"] == "degraded"
            told = [event.kind for event in it.events if event.kind in TOLD]
            assert told == [EventKind.JOURNAL_DEGRADED]
            kinds = [event.kind for event in await it.hook()]
            assert EventKind.FOLD_FAILED in kinds
            assert EventKind.FOLDED not in kinds
            it.assert_conserved()
            assert archived(it.folder) == []
            await it.memory.delete(["s-20a"])
            del it.said["s-20a"]
            it.memory.pin("s-21a")
        it.events.clear()
        await it.add([40])
        assert EventKind.JOURNAL_RECOVERED in [event.kind for event in it.events]
        assert it.memory.journal_state == "ok"
        other = resumed_copy(it.folder)
        assert [msg.id for msg, _ in other.content] == [msg.id for msg, _ in it.memory.content]
        assert other.pins == {"s-21a"}
        assert EventKind.FOLDED in [event.kind for event in await it.hook()]
        it.assert_conserved()
        await it.end()

    asyncio.run(main())


def resumed_copy(folder: Path) -> Any:
    """The session as another process would find it if this one died now."""
    import shutil

    copy = shutil.copytree(folder, folder.with_name("copy"))
    other = resumed(copy, "s")
    other.close()
    return other


def test_a_journal_that_recovers_only_at_the_end(tmp_path: Path) -> None:
    disk = FaultyDisk(lambda _, path, __: "/sessions/" in path)

    async def main() -> None:
        it = await watched(tmp_path / "w")
        await it.add([0, 1])
        with disk.broken():
            await it.add([2, 3])
        await it.end()

    asyncio.run(main())


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, *(pytest.param(each, marks=pytest.mark.slow) for each in (errno.EACCES, errno.EROFS))]
)
def test_a_folder_for_long_texts_that_cannot_be_written(tmp_path: Path, number: int) -> None:
    """Long results stay whole, and that is told; older ones are folded into the archive as they are."""
    disk = FaultyDisk(lambda _, path, __: "/tool_result/" in path, number=number)

    async def main() -> None:
        it = await watched(tmp_path / "w")
        with disk.broken():
            await it.add(FULL)
            assert EventKind.TRUNCATE_FAILED in {event.kind for event in it.events}
            kinds = {event.kind for event in await it.hook()}
            assert EventKind.FOLDED in kinds
            assert EventKind.HOOK_FAILED not in kinds
            it.assert_conserved()
            kept = [Msg.from_dict(line) for line in archived(it.folder)] + [msg for msg, _ in it.memory.content]
            assert {msg.id: msg.content for msg in kept} == {msg.id: msg.content for msg in it.said.values()}
        await it.add(range(20, 34))
        kinds = {event.kind for event in await it.hook()}
        assert {EventKind.FOLDED, EventKind.OVER_BUDGET} & kinds == {EventKind.FOLDED}
        it.assert_conserved()
        await it.end()

    asyncio.run(main())


@pytest.mark.parametrize("command", ["clear", "new"])
def test_a_clear_that_the_disk_refuses_changes_nothing(tmp_path: Path, command: str) -> None:
    disk = FaultyDisk(lambda _, path, __: "/dialog/" in path)

    async def main() -> None:
        it = await watched(tmp_path / "w")
        await it.add(FULL)
        await it.hook()
        state = [msg.id for msg, _ in it.memory.content], it.memory.get_compressed_summary()
        with disk.broken(), pytest.raises(OSError, match="No space left"):
            await getattr(it.session.manager, command)()
        assert ([msg.id for msg, _ in it.memory.content], it.memory.get_compressed_summary()) == state
        it.assert_conserved()
        await getattr(it.session.manager, command)()
        assert it.memory.content == []
        it.assert_conserved()
        await it.end()

    asyncio.run(main())
