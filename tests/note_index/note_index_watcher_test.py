# -*- coding: utf-8 -*-
"""Changes are indexed before they are searched for, and a watcher that fails costs nothing but that."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from _note_world import found, make_workspace, put, run

from agentscope_reme.note_index import NoteIndex
from agentscope_reme.note_index import _watcher as watcher_module
from agentscope_reme.workspace import Workspace


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher_module, "_LOOK", 100)
    monkeypatch.setattr(watcher_module, "_DEBOUNCE", 50)
    monkeypatch.setattr(watcher_module, "_STEP", 5)
    monkeypatch.setattr(watcher_module, "_FIRST_PAUSE", 0.05)


async def until(is_so: Callable[[], Awaitable[bool]], seconds: float = 10.0) -> None:
    for _ in range(int(seconds / 0.02)):
        if await is_so():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to be so")


async def files(index: NoteIndex) -> int:
    """What is indexed, without a synchronization."""
    return (await index.status()).files


async def watched(index: NoteIndex) -> None:
    async def is_on() -> bool:
        return (await index.status()).watcher == "on"

    await until(is_on)
    await asyncio.sleep(0.15)


def test_new_changed_replaced_and_removed_files_are_seen(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        async with NoteIndex(workspace) as index:
            await watched(index)
            put(workspace, "memory/a.md", "alpha")
            await until(lambda: has(index, 1))
            put(workspace, "MEMORY.md", "bravo")
            await until(lambda: has(index, 2))
            put(workspace, "memory/sub/deep.md", "charlie")
            await until(lambda: has(index, 3))
            put(workspace, ".MEMORY.tmp", "delta")
            os.replace(tmp_path / ".MEMORY.tmp", tmp_path / "MEMORY.md")
            await until(lambda: says(index, "delta"))
            put(workspace, "memory/b.md", "\ud83c".encode("utf-8", "surrogatepass") + b"\xff")
            await until(lambda: has(index, 4))
            shutil.rmtree(tmp_path / "memory" / "sub")
            await until(lambda: has(index, 3))

    run(work())


def test_folders_that_come_later_go_and_are_replaced(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = Workspace(tmp_path / "later" / "w")
        async with NoteIndex(workspace, extra_folders=[tmp_path / "wiki"]) as index:
            await watched(index)
            workspace.create()
            await asyncio.sleep(0.3)
            put(workspace, "memory/a.md", "alpha")
            await until(lambda: has(index, 1))
            os.rename(workspace.notes_dir, tmp_path / "old")
            put(workspace, "memory/b.md", "bravo")
            put(workspace, "memory/c.md", "charlie")
            await until(lambda: has(index, 2))
            await asyncio.sleep(0.3)
            put(workspace, "memory/d.md", "delta")
            await until(lambda: has(index, 3))
            (tmp_path / "wiki").mkdir()
            (tmp_path / "wiki" / "e.md").write_text("echo")
            await until(lambda: has(index, 4))

    run(work())


def test_close_and_start_watch_again(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        index = NoteIndex(workspace)
        for count in (1, 2):
            await index.start()
            await watched(index)
            put(workspace, f"memory/{count}.md", f"alpha {count}")
            await until(lambda count=count: has(index, count))
            await index.close()

    run(work())


def test_a_watcher_that_fails_is_started_again_and_searches_stay_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import watchfiles

    broken, real = [True], watchfiles.awatch

    def awatch(*places: str, **options: object) -> object:
        if broken[0]:
            raise OSError("no more watches")
        return real(*places, **options)

    monkeypatch.setattr(watchfiles, "awatch", awatch)

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        async with NoteIndex(workspace) as index:
            put(workspace, "memory/a.md", "alpha")
            assert await found(index, "alpha") == ["memory/a.md"]
            put(workspace, "memory/b.md", "bravo")
            await until(lambda: has(index, 2))  # it polls
            assert "no more watches" in (await index.status()).watcher
            broken[0] = False
            await watched(index)
            put(workspace, "memory/c.md", "charlie")
            await until(lambda: has(index, 3))

    run(work())
    assert "no more watches" in caplog.text


async def has(index: NoteIndex, count: int) -> bool:
    return await files(index) == count


async def says(index: NoteIndex, text: str) -> bool:
    query = "SELECT count(*) FROM chunk WHERE text = ?"
    return bool(await index._open().database.read(lambda connection: connection.execute(query, (text,)).fetchone()[0]))
