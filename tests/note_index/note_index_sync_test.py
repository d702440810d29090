# -*- coding: utf-8 -*-
"""What the files hold is what is found, however they came to hold it."""

import asyncio
import os
import shutil
import threading
from pathlib import Path

import pytest
from _note_world import embedder, found, make_workspace, places, put, run

from agentscope_reme import ConfigError, NotStartedError
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.note_index import _reconciler as reconciler_module
from agentscope_reme.note_index._areas import FoundFile, read_file
from agentscope_reme.note_index._file_state import Stamp
from agentscope_reme.text import WordTokenizer


def test_a_note_is_found_right_after_it_was_written(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == []
        for number in range(5):
            path = f"memory/2026-03-0{number + 1}.md"
            put(workspace, path, f"alpha word{'abcde'[number]}x")
            assert await found(index, f"word{'abcde'[number]}x") == [path]
        put(workspace, "MEMORY.md", "- bravo")
        assert await found(index, "bravo") == ["MEMORY.md"]
        await index.close()

    run(work())


def test_files_of_sub_folders_and_extra_folders_are_found(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path / "w")
        outside = tmp_path / "wiki"
        outside.mkdir()
        (outside / "page.txt").write_text("bravo page")
        put(workspace, "memory/2026-09/09.md", "alpha note")
        put(workspace, "docs/deep/er/guide.markdown", "charlie guide")
        put(workspace, "memory/.hidden.md", "alpha hidden")
        put(workspace, "memory/picture.png", "alpha")
        index = NoteIndex(workspace, extra_folders=["docs", outside])
        assert await found(index, "alpha") == ["memory/2026-09/09.md"]
        (hit,) = await index.search("bravo")
        assert (hit.chunk.path, hit.chunk.source) == ("wiki/page.txt", "wiki")
        assert (await index.read("wiki/page.txt")).text == "bravo page"
        (hit,) = await index.search("charlie", sources="docs")
        assert (hit.chunk.path, hit.chunk.source) == ("docs/deep/er/guide.markdown", "docs")
        assert index.sources == ("notes", "docs", "wiki", "dialog")
        await index.close()
        with pytest.raises(ConfigError, match="taken"):
            NoteIndex(workspace, extra_folders=["a/dialog"])

    run(work())


def test_an_edit_of_one_file_leaves_the_others_alone(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for name in ("a", "b", "c"):
            put(workspace, f"memory/{name}.md", f"alpha {name}{name}{name}")
        index = NoteIndex(workspace)
        assert len(await found(index, "alpha")) == 3
        put(workspace, "memory/b.md", "bravo")
        assert sorted(await found(index, "alpha")) == ["memory/a.md", "memory/c.md"]
        assert await found(index, "bravo") == ["memory/b.md"]
        await index.close()

    run(work())


def test_an_atomic_save_is_an_edit_and_a_rename_is_a_move(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        note = put(workspace, "memory/a.md", "alpha old")
        index = NoteIndex(workspace)
        await index.sync()
        fresh = put(workspace, "memory/.a.tmp", "alpha new")
        os.replace(fresh, note)
        assert [hit.snippet for hit in await index.search("alpha")] == ["alpha new"]
        os.rename(note, workspace.root / "memory" / "b.md")
        assert await found(index, "alpha") == ["memory/b.md"]
        os.rename(workspace.notes_dir, tmp_path / "elsewhere")
        assert await found(index, "alpha") == []
        shutil.copytree(tmp_path / "elsewhere", workspace.notes_dir)
        assert await found(index, "alpha") == ["memory/b.md"]
        await index.close()

    run(work())


def test_a_change_without_a_trace_in_size_and_time_is_seen(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        note = put(workspace, "memory/a.md", "alpha")
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == ["memory/a.md"]
        status = note.stat()
        note.write_text("bravo")
        os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert await found(index, "bravo") == ["memory/a.md"]
        await index.close()

    run(work())


def test_changes_within_one_tick_of_a_coarse_clock_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = 1_000_000_000

    def coarse(status: os.stat_result) -> Stamp:
        return Stamp(status.st_size, status.st_mtime_ns // second * second, status.st_ctime_ns // second * second, 1)

    monkeypatch.setattr(Stamp, "of", coarse)

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        index = NoteIndex(workspace)
        for word in ("alpha", "bravo", "charl", "delta"):
            put(workspace, "memory/a.md", word)
            assert await found(index, word) == ["memory/a.md"]
        await index.close()

    run(work())


def test_an_index_finds_the_same_after_a_restart_and_what_changed_meanwhile(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha one\n\n## Two\nalpha two")
        put(workspace, "memory/b.md", "alpha three")
        async with NoteIndex(workspace) as index:
            before = places(await index.search("alpha"))
        put(workspace, "memory/c.md", "alpha four")
        (workspace.notes_dir / "b.md").unlink()
        words = CountingWords()
        async with NoteIndex(workspace, tokenizer=words) as index:
            assert sorted(places(await index.search("alpha"))) == sorted(
                [place for place in before if place[0] != "memory/b.md"] + [("memory/c.md", 1)]
            )
        assert words.texts == ["alpha four"]

    run(work())


def test_an_edit_cuts_only_the_words_of_what_changed(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        parts = [f"## Part {n}\ntext of part {n}\n" for n in range(6)]
        put(workspace, "memory/a.md", "".join(parts))
        words = CountingWords()
        index = NoteIndex(workspace, tokenizer=words)
        await index.sync()
        assert len(words.texts) == 6
        put(
            workspace, "memory/a.md", "## New\nalpha\n" + "".join(parts[:3]) + "## Part 3\nbravo\n" + "".join(parts[4:])
        )
        assert places(await index.search("bravo")) == [("memory/a.md", 9)]
        assert sorted(words.texts[6:]) == ["## New\nalpha", "## Part 3\nbravo"]
        os.rename(workspace.notes_dir / "a.md", workspace.notes_dir / "z.md")
        assert places(await index.search("bravo")) == [("memory/z.md", 9)]
        assert len(words.texts) == 8
        await index.close()

    run(work())


class CountingWords(WordTokenizer):
    """Remembers what it cut."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name=name)
        self.texts: list[str] = []

    def tokens(self, text: str) -> list[str]:
        self.texts.append(text)
        return super().tokens(text)


def test_another_tokenizer_cuts_everything_again(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha one\n\n## Two\nbravo two")
        async with NoteIndex(workspace) as index:
            await index.sync()
        words = CountingWords("other/2")
        async with NoteIndex(workspace, tokenizer=words) as index:
            assert await found(index, "alpha") == ["memory/a.md"]
            assert len(words.texts) == 2
        words = CountingWords("other/2")
        async with NoteIndex(workspace, tokenizer=words) as index:
            assert await found(index, "bravo") == ["memory/a.md"]
            assert words.texts == []

    run(work())


def test_words_of_another_tokenizer_are_not_copied_to_the_same_text_elsewhere(tmp_path: Path) -> None:
    class Bees(WordTokenizer):
        def tokens(self, text: str) -> list[str]:
            return [*super().tokens(text), "bee"]

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha")
        async with NoteIndex(workspace) as index:
            await index.sync()
        put(workspace, "memory/b.md", "alpha")
        put(workspace, "memory/c.md", "bravo")
        async with NoteIndex(workspace, tokenizer=Bees(name="bees")) as index:
            await index.sync()
            words = await index._open().database.read(lambda c: c.execute("SELECT words FROM chunk").fetchall())
            assert all(row[0].endswith("\nbee") for row in words)
            assert len(await found(index, "bee")) == 2  # the same text twice is one result

    run(work())


def test_other_chunks_are_cut_where_their_size_changes(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "\n\n".join(f"paragraph {n} alpha" for n in range(40)))
        counts = []
        for size in (400, 50, 400):
            async with NoteIndex(workspace, chunk_tokens=size) as index:
                await index.sync()
                counts.append((await index.status()).chunks)
        assert counts[0] == counts[2] < counts[1]

    run(work())


def test_bad_files_do_not_stop_the_others_and_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "明天下午三点开项目评审会议，讨论排期和预算".encode("gbk"))
        put(workspace, "memory/b.md", "飞书的插件在后台配置 \ud83c 完成")
        put(workspace, "memory/c.md", b"\x00\x01\x02\xff" * 50)
        put(workspace, "memory/d.md", "")
        put(workspace, "memory/e.md", "---\ntitle: x\n---\n")
        put(workspace, "memory/f.md", "今天 bravo\r\n")
        os.mkdir(workspace.notes_dir / "g.md")
        os.symlink("/etc/passwd", workspace.notes_dir / "h.md")
        os.symlink(tmp_path, workspace.notes_dir / "loop")
        locked = put(workspace, "memory/i.md", "charlie")
        index = NoteIndex(workspace)
        assert await found(index, "项目评审") == ["memory/a.md"]
        assert await found(index, "飞书插件") == ["memory/b.md"]
        put(workspace, "memory/a.md", "- 项目评审改到周五\n".encode("gbk") + "- 密码短语是青山\n".encode())
        assert await found(index, "项目评审") == await found(index, "青山") == ["memory/a.md"]
        assert await found(index, "bravo") == ["memory/f.md"]
        assert await found(index, "root bin") == []
        faults = (await index.status()).faults
        assert "memory/a.md" in faults
        assert "gb18030" in faults["memory/a.md"]
        assert not {"memory/f.md", "memory/h.md"} & set(faults)
        locked.unlink()
        os.mkfifo(locked)  # would block whoever opens it
        assert await found(index, "charlie") == []
        await index.close()

    run(work())
    assert "memory/a.md: it is not all UTF-8" in caplog.text


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="a superuser reads everything")
def test_a_file_that_cannot_be_read_now_keeps_what_was_known(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/sub/a.md", "alpha")
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == ["memory/sub/a.md"]
        os.chmod(workspace.notes_dir / "sub", 0)
        assert await found(index, "alpha") == ["memory/sub/a.md"]
        os.chmod(workspace.notes_dir / "sub", 0o700)
        await index.close()

    run(work())


def test_a_folder_that_leads_out_of_the_workspace_is_not_indexed(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path / "w")
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret" / "a.md").write_text("alpha")
        workspace.notes_dir.rmdir()
        os.symlink(tmp_path / "secret", workspace.notes_dir)
        os.symlink(tmp_path / "secret" / "a.md", workspace.memory_md)
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == []
        await index.close()

    run(work())


def test_names_in_another_encoding_are_found(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        names = [b"\xbd\xf1\xcc\xec.md", b"\xbd\xf1\xcc\xed.md"]
        for name in names:
            with open(os.fsencode(workspace.notes_dir) + b"/" + name, "w") as file:
                file.write("alpha")
        put(workspace, "memory/会议 纪要.md", "bravo")
        index = NoteIndex(workspace)
        assert len(await found(index, "alpha")) == 1  # the same text twice is one result
        assert (await index.status()).files == 3
        assert await found(index, "bravo") == ["memory/会议 纪要.md"]
        await index.close()

    run(work())


def test_a_lost_or_damaged_database_is_made_again(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha")
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == ["memory/a.md"]
        (workspace.state_dir / "index.db").unlink()
        assert await found(index, "alpha") == ["memory/a.md"]
        put(workspace, "memory/b.md", "bravo")
        assert await found(index, "bravo") == ["memory/b.md"]
        await index.close()
        (workspace.state_dir / "index.db").write_bytes(b"no database at all" * 500)
        again = NoteIndex(workspace)
        assert await found(again, "alpha") == ["memory/a.md"]
        await again.close()

    run(work())


def test_before_start_it_works_and_after_close_it_says_so(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha")
        index = NoteIndex(workspace)
        assert await found(index, "alpha") == ["memory/a.md"]
        await index.close()
        await index.close()
        for call in (index.search("alpha"), index.sync(), index.status()):
            with pytest.raises(NotStartedError, match="start"):
                await call
        await index.start(watch=False)
        put(workspace, "memory/b.md", "bravo")
        assert await found(index, "bravo") == ["memory/b.md"]
        await index.close()

    run(work())


def test_close_while_files_are_read_ends_at_once_and_loses_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for number in range(300):
            put(workspace, f"memory/{number}.md", f"alpha word{number}")
        index = NoteIndex(workspace)
        await index.start(watch=False)
        await asyncio.sleep(0.05)
        await index.close()
        async with NoteIndex(workspace) as again:
            await again.sync()
            status = await again.status()
            assert (status.files, status.chunks) == (300, 300)

    run(work())


def test_many_searches_at_once_and_a_second_loop(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    index = NoteIndex(workspace)

    async def work(word: str) -> None:
        put(workspace, f"memory/{word}.md", f"{word} alpha")
        results = await asyncio.gather(*(found(index, word) for _ in range(30)))
        assert results == [[f"memory/{word}.md"]] * 30

    run(work("bravo"))
    run(work("charlie"))
    run(index.close())


def test_words_are_cut_and_files_read_off_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()

    class Watched(WordTokenizer):
        def tokens(self, text: str) -> list[str]:
            threads.add(threading.get_ident())
            return super().tokens(text)

        def query_tokens(self, text: str) -> list[str]:
            threads.add(threading.get_ident())
            return super().query_tokens(text)

    def reading(file: FoundFile) -> tuple[bytes, Stamp, int]:
        threads.add(threading.get_ident())
        return read_file(file)

    monkeypatch.setattr(reconciler_module, "read_file", reading)

    async def work() -> None:
        workspace = make_workspace(tmp_path / "用户" / "记忆")
        put(workspace, "memory/a.md", "alpha 评审")
        async with NoteIndex(workspace, tokenizer=Watched(), embedder=embedder()) as index:
            await index.sync()
            assert await found(index, "评审") == ["memory/a.md"]
        assert threads
        assert threading.get_ident() not in threads

    run(work())


def test_what_is_redacted_is_neither_stored_nor_found(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "# Key\nthe password is hunter")
        index = NoteIndex(workspace, redact=lambda text: text.replace("hunter", "***"))
        assert await found(index, "hunter") == []
        (hit,) = await index.search("password")
        assert "***" in hit.snippet
        await index.close()
        assert b"hunter" not in (workspace.state_dir / "index.db").read_bytes()

    run(work())
