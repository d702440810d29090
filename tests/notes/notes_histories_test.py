# -*- coding: utf-8 -*-
"""Laws 6 and 8 over histories: people and several sets of tools change the same notes, in tasks and in processes."""

import asyncio
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from _note_scenes import is_part_in_order, ok, put, read
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.notes import FileTools
from agentscope_reme.workspace import Workspace

PATHS = ("MEMORY.md", "memory/2026-09-15.md")


class Model:
    """The notes as a dictionary: for each file its content, and which lines a person typed into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.content: dict[str, str] = {}
        self.typed: set[str] = set()
        self.seen: list[dict[str, str]] = [{}, {}]
        self.tools = [FileTools(Workspace(root), max_failures=999) for _ in self.seen]
        self.count = 0

    def fresh(self, who: str) -> str:
        """A line that occurs nowhere else."""
        self.count += 1
        return f"- {who} wrote line number {self.count}" + "  " * (self.count % 3 == 0)

    def lines(self, path: str) -> list[str]:
        return self.content.get(path, "").replace("\r", "").split("\n")

    def by_hand(self, text: str) -> list[str]:
        return [line for line in text.split("\n") if line.rstrip("\r") in self.typed]

    def person(self, path: str, choice: random.Random) -> None:
        """A person adds, changes and removes lines in an editor."""
        newline = choice.choice(["\n", "\n", "\r\n"])
        lines = [line for line in self.content.get(path, "").split("\n") if line]
        for _ in range(choice.randint(1, 3)):
            at = choice.randint(0, len(lines))
            line = choice.choice([self.fresh("A person"), self.fresh("人"), ""])
            self.typed.add(line) if line else None
            if lines and choice.random() < 0.3:
                lines[at % len(lines)] = line + newline.strip("\n")
            elif lines and choice.random() < 0.2:
                lines.pop(at % len(lines))
            else:
                lines.insert(at, line + newline.strip("\n"))
        self.content[path] = "\n".join(lines) + choice.choice(["", "\n"])
        put(self.root, path, self.content[path])

    async def tool(self, who: int, kind: str, path: str, choice: random.Random) -> None:
        tools, before = self.tools[who], self.content.get(path)
        seen = self.seen[who].get(path)
        if kind == "read":
            await tools.read(path)
            self.seen[who][path] = before or ""
            return
        response = await self.asked(tools, kind, path, choice)
        after = read(self.root, path)
        kept, now = self.by_hand(before or ""), self.by_hand(after)
        assert is_part_in_order([line.rstrip("\r") for line in kept], [line.rstrip("\r") for line in now])
        assert len(now) == len(kept), "a line of a person stands twice"
        stale = seen is not None and seen != (before or "")
        if stale and kind in ("write", "edit"):
            assert not ok(response)
        if kind == "write" and before is not None and seen is None:
            assert not ok(response)
        if not ok(response):
            assert after == (before or "")
        elif not stale and (seen is not None or before is None or kind == "write"):
            self.seen[who][path] = after
        if before is not None or after:
            self.content[path] = after

    async def asked(self, tools: FileTools, kind: str, path: str, choice: random.Random) -> Any:
        known = [line for line in self.lines(path) if line]
        if kind == "edit":
            text = self.content.get(path, "").replace("\r", "")
            at = choice.randint(0, max(0, len(text) - 1))
            old = choice.choice([text[at : at + choice.randint(1, 40)], choice.choice(known or ["no"]), "number"])
            return await tools.edit(path, old, choice.choice(["", self.fresh("tool"), old + "\n" + self.fresh("tool")]))
        content = choice.sample(known, choice.randint(0, len(known))) + [self.fresh("tool") for _ in range(2)]
        choice.shuffle(content)
        if kind == "append":
            return await tools.append(path, "\n".join(content))
        return await tools.write(path, "\n".join(line.rstrip() for line in content))


STEPS = st.lists(
    st.tuples(st.sampled_from(["person", "read", "write", "edit", "append"]), st.integers(0, 1), st.integers(0, 1)),
    min_size=2,
    max_size=14,
)


@given(STEPS, st.integers(0, 10**6))
def test_no_history_loses_or_doubles_what_a_person_wrote(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]], seed: int
) -> None:
    model, choice = Model(tmp_path_factory.mktemp("n")), random.Random(seed)

    async def go() -> None:
        for kind, who, which in steps:
            if kind == "person":
                model.person(PATHS[which], choice)
            else:
                await model.tool(who, kind, PATHS[which], choice)

    asyncio.run(go())
    assert set(model.root.rglob("*.md")) <= {model.root / path for path in PATHS}


# ---------------------------------------------------------------------- processes


def _append_all(root: str, who: int, count: int) -> None:
    def acknowledge(line: str) -> None:
        with open(Path(root) / f"acknowledged.{who}", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    async def go() -> None:
        tools = FileTools(Workspace(root), max_failures=10**6)
        for n in range(count):
            line = f"- writer {who} puts down fact {n}"
            if n % 4 == 3:  # the hard way: read, and write all of it again
                while True:
                    await tools.read(PATHS[1])
                    if ok(await tools.write(PATHS[1], read(Path(root), PATHS[1]) + line)):
                        break
            else:
                while not ok(await tools.append(PATHS[1], line)):
                    pass
            acknowledge(line)

    asyncio.run(go())


def _writers(root: Path, method: str, count: int, kill_at: int | None) -> None:
    """Three processes write at once; one of them, which would never end, is killed after so many of its lines."""
    context = multiprocessing.get_context(method)
    counts = [count if kill_at is None else 10**6, count, count]
    processes = [context.Process(target=_append_all, args=(str(root), who, counts[who])) for who in range(3)]
    for process in processes:
        process.start()
    if kill_at is not None:
        while len(_acknowledged(root, 0)) < kill_at:
            assert processes[0].is_alive()
            time.sleep(0.001)
        os.kill(processes[0].pid or 0, signal.SIGKILL)
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes[1:]] == [0, 0]


def _acknowledged(root: Path, who: int) -> list[str]:
    """The lines that a process was told to be written, whole ones only."""
    return read(root, f"acknowledged.{who}").split("\n")[:-1]


def _check_whole(root: Path) -> None:
    text = read(root, PATHS[1])
    lines = text.split("\n")
    assert {line for who in range(3) for line in _acknowledged(root, who)} <= set(lines)
    assert len(lines) == len(set(lines))
    assert text.startswith("- a person wrote this\n")
    for line in lines[1:]:
        assert not line or (line.startswith("- writer ") and line.split(" ")[-1].isdigit())


def test_several_processes_lose_no_line_and_tear_none(tmp_path: Path) -> None:
    put(tmp_path, PATHS[1], "- a person wrote this\n")
    _writers(tmp_path, "fork", 8, None)
    assert [len(_acknowledged(tmp_path, who)) for who in range(3)] == [8, 8, 8]
    _check_whole(tmp_path)


@pytest.mark.parametrize("kill_at", [3, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 6))])
def test_a_writer_that_is_killed_leaves_whole_files_and_no_lock(tmp_path: Path, kill_at: int) -> None:
    put(tmp_path, PATHS[1], "- a person wrote this\n")
    _writers(tmp_path, "fork", 8, kill_at)
    assert len(_acknowledged(tmp_path, 0)) >= kill_at
    _check_whole(tmp_path)


@pytest.mark.slow
def test_several_processes_that_share_nothing(tmp_path: Path) -> None:
    for kill_at in (None, 2, 7, 12):
        root = tmp_path / str(kill_at)
        put(root, PATHS[1], "- a person wrote this\n")
        _writers(root, "spawn", 16, kill_at)
        _check_whole(root)
