# -*- coding: utf-8 -*-
"""Reading around a hit, and nothing else of the disk."""

import os
from pathlib import Path

import pytest
from _note_world import make_workspace, put, run, turn

from agentscope_reme import PathNotAllowedError, StorageError
from agentscope_reme.note_index import NoteIndex

DAY = "dialog/2026-03-01.jsonl"


def test_lines_are_numbered_as_in_a_hit(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "\n\n".join(f"## Part {n}\nalpha{n} is here" for n in range(30)) + "\r\n")
        index = NoteIndex(workspace, chunk_tokens=16)
        hit, *_ = await index.search("alpha17")
        chunk = hit.chunk
        excerpt = await index.read(chunk.path, chunk.start_line, chunk.end_line - chunk.start_line + 1)
        assert excerpt.text == chunk.text
        assert (excerpt.start_line, excerpt.end_line) == (chunk.start_line, chunk.end_line)
        assert excerpt.total_lines == 89
        assert (await index.read(str(workspace.root / "memory/a.md"), 1, 1)).text == "## Part 0"
        past = await index.read("memory/a.md", 500)
        assert (past.text, past.end_line) == ("", 499)
        await index.close()

    run(work())


def test_what_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "short\n" + "x" * 5000 + "\nend")
        index = NoteIndex(workspace)
        first = await index.read("memory/a.md", 1, 10, max_chars=100)
        assert (first.text, first.end_line, first.is_cut) == ("short", 1, False)
        second = await index.read("memory/a.md", 2, 10, max_chars=100)
        assert (second.text, second.end_line, second.is_cut) == ("x" * 100, 2, True)
        await index.close()

    run(work())


def test_messages_are_readable(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        result = [{"type": "tool_result", "id": "c", "name": "grep", "output": "x" * 9000}]
        lines = turn(1, "你好", name="小明") + b'{"torn": \n' + turn(2, result, role="system") + turn(3, "end")
        put(workspace, DAY, lines + b"no json")
        index = NoteIndex(workspace)
        excerpt = await index.read(DAY)
        assert (excerpt.start_line, excerpt.end_line, excerpt.total_lines) == (1, 5, 5)
        assert excerpt.text.startswith('[2026-03-01 10:00:01] user 小明:\n你好\n{"torn": \n')
        assert "tool grep result:" in excerpt.text
        assert len(excerpt.text) < 5_000
        assert excerpt.text.endswith("end\nno json")
        await index.close()

    run(work())


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "memory",
        "memory/../secret.md",
        "../w2/MEMORY.md",
        "/etc/passwd",
        "/etc/../etc/passwd.md",
        "memory/a.md/../../secret.md",
        ".state/index.db",
        "memory/.hidden.md",
        "tool_result/a.txt",
        "secret.md",
        "memory/link.md",
        "memory/a.png",
        "memory/a.md\0",
        "x" * 5000,
        "memory2/a.md",
    ],
)
def test_only_notes_can_be_read(tmp_path: Path, path: str) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path / "w")
        for name in (
            "secret.md",
            "memory/.hidden.md",
            "tool_result/a.txt",
            "memory/a.png",
            "memory/a.md",
            "memory2/a.md",
        ):
            put(workspace, name, "secret")
        put(make_workspace(tmp_path / "w2"), "MEMORY.md", "secret")
        os.symlink(workspace.root / "secret.md", workspace.notes_dir / "link.md")
        index = NoteIndex(workspace)
        with pytest.raises(PathNotAllowedError, match=r"MEMORY.md, memory/, dialog/|character"):
            await index.read(path)
        await index.close()

    run(work())


def test_a_note_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    async def work() -> None:
        index = NoteIndex(make_workspace(tmp_path))
        with pytest.raises(StorageError, match=r"memory/gone\.md"):
            await index.read("memory/gone.md")
        await index.close()

    run(work())
