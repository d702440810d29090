# -*- coding: utf-8 -*-
"""Search equals disk: any history of files against a dictionary and a scan of the files (laws 7 and 9)."""

import asyncio
import datetime as dt
import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from _note_world import embedder, make_workspace, put, turn
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agentscope_reme.embedding import EmbeddingCache
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.note_index import _areas as areas_module
from agentscope_reme.note_index._draft import Draft
from agentscope_reme.note_index._notes import note_drafts
from agentscope_reme.note_index._turns import TurnReader
from agentscope_reme.search import NOTES_RECIPE
from agentscope_reme.testing import HashEmbedding

SHANGHAI = ZoneInfo("Asia/Shanghai")
WORDS = ("alpha", "bravo", "charlie", "delta", "评审", "排期", "香菜")
PATHS = (
    "MEMORY.md",
    "memory/2026-03-01.md",
    "memory/2026-03-02.md",
    "memory/sub/a.md",
    "memory/sub/b.md",
    "docs/c.txt",
)

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
lines = st.lists(
    st.one_of(
        words,
        words.map("- {}".format),
        words.map("## {}".format),
        st.just(""),
        st.just("---"),
        words.map("{}\r".format),
    ),
    min_size=1,
    max_size=6,
)


class Lexical(HashEmbedding):
    """Vectors that are all alike unless texts are: words decide what is found."""

    floor = 0.97


class FilesAndIndex(RuleBasedStateMachine):
    """Files come, change and go by every way there is; two indexes follow them, one of them from time to time."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp())
        self.workspace = make_workspace(self.root / "w")
        self.turns = 0
        self.moment = dt.datetime(2026, 3, 1, 22, 0, tzinfo=SHANGHAI)
        self.model = Lexical(32)
        self.cache = EmbeddingCache(self.root / "cache.db")
        # Files are read an hour after they were written, as far as the index can tell: it trusts their stamps.
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(areas_module.time, "time_ns", lambda now=time.time_ns: now() + 3_600_000_000_000)
        self.index = self.opened()
        self.other = self.opened()

    def opened(self) -> NoteIndex:
        return NoteIndex(
            self.workspace,
            embedder=embedder(self.model, cache=self.cache),
            extra_folders=["docs"],
            timezone=SHANGHAI,
            clock=lambda: self.moment,
            recipes={"dialog": NOTES_RECIPE},
            chunk_tokens=24,
        )

    def teardown(self) -> None:
        for index in (self.index, self.other):
            self.loop.run_until_complete(index.close())
        self.loop.run_until_complete(self.cache.close())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self.patch.undo()
        shutil.rmtree(self.root)

    # ------------------------------------------------------------------ what people and programs do

    @rule(path=st.sampled_from(PATHS), text=lines, seen_by_the_other=st.booleans())
    def write(self, path: str, text: list[str], seen_by_the_other: bool) -> None:
        put(self.workspace, path, "\n".join(text))
        if seen_by_the_other:
            self.the_other_looks()

    @rule(path=st.sampled_from(PATHS), text=lines)
    def insert_at_the_top(self, path: str, text: list[str]) -> None:
        place = self.workspace.root / path
        put(self.workspace, path, "\n".join([*text, ""]).encode() + (place.read_bytes() if place.exists() else b""))

    @rule(path=st.sampled_from(PATHS), text=lines)
    def append(self, path: str, text: list[str]) -> None:
        (self.workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        with open(self.workspace.root / path, "ab") as file:
            file.write("\n".join(["", *text]).encode())

    @rule(path=st.sampled_from(PATHS), text=lines)
    def replace(self, path: str, text: list[str]) -> None:
        os.replace(put(self.workspace, f"{path}.tmp", "\n".join(text)), self.workspace.root / path)

    @rule(path=st.sampled_from(PATHS), word=st.sampled_from(WORDS[:4]), new=st.sampled_from(WORDS[:4]))
    def edit_without_a_trace(self, path: str, word: str, new: str) -> None:
        place = self.workspace.root / path
        if place.exists():
            status = place.stat()
            data = place.read_bytes()
            place.write_bytes(data.replace(word.encode(), new[: len(word)].ljust(len(word), "x").encode()))
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(path=st.sampled_from(PATHS), other=st.sampled_from(PATHS))
    def rename(self, path: str, other: str) -> None:
        place = self.workspace.root / path
        if place.exists():
            (self.workspace.root / other).parent.mkdir(parents=True, exist_ok=True)
            os.replace(place, self.workspace.root / other)

    @rule(path=st.sampled_from(PATHS))
    def delete(self, path: str) -> None:
        (self.workspace.root / path).unlink(missing_ok=True)

    @rule()
    def delete_a_folder(self) -> None:
        shutil.rmtree(self.workspace.notes_dir / "sub", ignore_errors=True)

    @rule()
    def move_the_folder_away_and_back(self) -> None:
        os.rename(self.workspace.notes_dir, self.root / "away")
        self.loop.run_until_complete(self.other.search("alpha"))
        os.rename(self.root / "away", self.workspace.notes_dir)

    @rule(texts=st.lists(words, min_size=1, max_size=3), hours=st.sampled_from([0, 0, 3]))
    def speak(self, texts: list[str], hours: int) -> None:
        self.moment += dt.timedelta(hours=hours, minutes=1)
        day = self.workspace.dialog_dir / f"{self.moment:%Y-%m-%d}.jsonl"
        with open(day, "ab") as file:
            for text in texts:
                self.turns += 1
                file.write(turn(self.turns, text, time=self.moment.isoformat()))

    @rule(at=st.integers(0, 5), texts=st.lists(words, max_size=4))
    def take_a_turn_out_and_speak(self, at: int, texts: list[str]) -> None:
        for day in self.workspace.dialog_dir.glob("*.jsonl"):
            kept = day.read_bytes().splitlines(keepends=True)
            if at < len(kept):
                put(self.workspace, f"dialog/{day.name}", b"".join(kept[:at] + kept[at + 1 :]))
        if texts:
            self.speak(texts, 0)

    @rule()
    def restart(self) -> None:
        self.loop.run_until_complete(self.index.close())
        self.index = self.opened()

    @rule()
    def the_other_looks(self) -> None:
        self.loop.run_until_complete(self.other.sync())

    @precondition(lambda self: self.model.texts)
    @rule()
    def the_index_is_lost(self) -> None:
        self.loop.run_until_complete(self.index.close())
        self.loop.run_until_complete(self.other.close())
        (self.workspace.state_dir / "index.db").unlink(missing_ok=True)
        self.index, self.other = self.opened(), self.opened()

    # ------------------------------------------------------------------ what must be

    @invariant()
    def search_is_disk(self) -> None:
        self.loop.run_until_complete(self.check())

    async def check(self) -> None:
        await asyncio.sleep(0.012)  # the tick of a file system's clock
        expected = self.on_disk()
        await self.index.sync()
        rows, without_vectors = await self.index._open().database.read(_rows)
        assert Counter(rows) == Counter(
            (path, draft.start_line, draft.end_line, draft.digest, draft.text) for path, draft, _ in expected
        )
        assert without_vectors == 0
        for word in WORDS:
            hits = await self.index.search(word, max_results=100, min_score=0.001)
            assert said(hit.chunk.text for hit in hits) == said(
                draft.text for _, draft, _ in expected if word in draft.searched.split()
            )
            assert all(0.2 <= hit.score <= 1 for hit in hits)
        day = self.moment.date().isoformat()
        hits = await self.index.search(" ".join(WORDS), max_results=100, since=day, until=day)
        assert said(hit.chunk.text for hit in hits) == said(
            draft.text for _, draft, when in expected if when == day and set(draft.searched.split()) & set(WORDS)
        )
        for text in sorted({draft.text for _, draft, _ in expected if draft.kind == "turn"})[:3]:
            hits = await self.index.search(text, max_results=100, sources="dialog")
            scores = [hit.score for hit in hits if hit.chunk.text == text]
            assert scores
            assert min(scores) > 0.99  # words alone are never so sure
        assert not [text for text, count in Counter(self.model.texts).items() if count > 1]

    def on_disk(self) -> list[tuple[str, Draft, str]]:
        """What a plain reading of the files gives: chunks and their days in Shanghai."""
        found = []
        for path in PATHS:
            place = self.workspace.root / path
            for draft in note_drafts(path, place.read_bytes(), 24)[0] if place.exists() else ():
                found.append((path, draft, draft.time))
        for day in self.workspace.dialog_dir.glob("*.jsonl"):
            reader = TurnReader(f"dialog/{day.name}", 24, {})
            for number, line in enumerate(day.read_bytes().splitlines(), start=1):
                for draft in reader.read(number, line):
                    local = dt.datetime.fromisoformat(draft.time).astimezone(SHANGHAI).date().isoformat()
                    found.append((f"dialog/{day.name}", draft, local))
        return found


def said(texts: Iterable[str]) -> set[str]:
    """Texts without their white space: of notes that differ in nothing else one is enough."""
    return {" ".join(text.split()) for text in texts}


def _rows(connection: sqlite3.Connection) -> tuple[list[tuple], int]:
    rows = connection.execute(
        "SELECT f.path, c.start_line, c.end_line, c.digest, c.text FROM chunk c JOIN file f ON f.id = c.file"
    ).fetchall()
    query = "SELECT count(*) FROM chunk c LEFT JOIN vector v ON v.chunk = c.id WHERE v.chunk IS NULL OR c.waiting"
    return rows, connection.execute(query).fetchone()[0]


FilesAndIndex.TestCase.settings = settings(
    max_examples=int(os.environ.get("REME_EXAMPLES", "5")), stateful_step_count=12, deadline=None
)
TestFilesAndIndex = FilesAndIndex.TestCase
