# -*- coding: utf-8 -*-
import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import NotStartedError, StorageError
from agentscope_reme.storage._database import Database


def make_table(connection):
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")


def add_column(connection):
    connection.execute("ALTER TABLE note ADD COLUMN day TEXT DEFAULT '2026-03-01'")


def insert(connection, *texts):
    connection.executemany("INSERT INTO note (text) VALUES (?)", [(text,) for text in texts])
    return len(texts)


def texts(connection):
    return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY id")]


@pytest.fixture
def opened(tmp_path):
    made = []

    def build(name="用户/记忆.db", **options):
        options.setdefault("migrations", [make_table])
        made.append(Database(tmp_path / name, **options))
        return made[-1]

    yield build
    for database in made:
        database.close_sync()


def test_a_write_is_read_back_in_other_event_loops_and_after_a_reopen(opened):
    first = opened()
    asyncio.run(first.run(insert, "一", "two"))
    assert asyncio.run(first.read(texts)) == ["一", "two"]
    asyncio.run(first.close())
    assert opened().read_sync(texts) == ["一", "two"]


def test_nothing_is_opened_before_the_first_use(opened, tmp_path):
    opened("later.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_file_log_and_folder_belong_to_their_owner_alone(opened):
    database = opened("private/x.db")
    database.run_sync(insert, "secret")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.path.parent.iterdir()}
    assert {"x.db", "x.db-wal"} <= set(modes)
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(database.path.parent.stat().st_mode) == 0o700


def test_the_journal_is_a_write_ahead_log_and_sync_fits_the_kind(opened):
    def state(connection):
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    assert opened("truth.db").read_sync(state) == ["wal", 2]
    assert opened("cache.db", cache=True).read_sync(state) == ["wal", 1]


def test_a_failing_write_leaves_nothing(opened):
    database = opened()
    database.run_sync(insert, "kept")

    def half(connection):
        insert(connection, "half")
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        database.run_sync(half)
    with pytest.raises(StorageError, match=r"记忆\.db.*UNIQUE"):
        database.run_sync(insert, "new", "kept")
    assert database.read_sync(texts) == ["kept"]
    database.run_sync(insert, "later")
    assert database.read_sync(texts) == ["kept", "later"]


def test_a_read_cannot_write(opened):
    database = opened()
    with pytest.raises(StorageError, match="readonly"):
        database.read_sync(insert, "x")
    assert database.read_sync(texts) == []


def test_work_runs_off_the_loop_on_one_thread_and_a_read_does_not_wait_for_a_write(opened):
    database = opened()
    database.run_sync(insert, "before")
    release = threading.Event()

    def slow(connection):
        insert(connection, "during")
        assert release.wait(5)
        return threading.get_ident()

    async def main():
        writing = asyncio.ensure_future(database.run(slow))
        seen = await asyncio.wait_for(database.read(texts), 5)
        release.set()
        others = [await database.run(lambda connection: threading.get_ident()) for _ in range(3)]
        return seen, {await writing, *others}

    seen, threads = asyncio.run(main())
    assert seen == ["before"]
    assert len(threads) == 1
    assert threading.get_ident() not in threads
    assert database.read_sync(texts) == ["before", "during"]


def test_a_cancelled_wait_drops_waiting_work_and_lets_running_work_end(opened):
    database = opened()
    database.read_sync(texts)
    release, begun = threading.Event(), threading.Event()

    def slow(connection):
        begun.set()
        assert release.wait(5)
        insert(connection, "running")

    async def main():
        running = asyncio.ensure_future(database.run(slow))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        waiting = asyncio.ensure_future(database.run(insert, "waiting"))
        await asyncio.sleep(0)
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        release.set()
        await database.run(insert, "after")

    asyncio.run(main())
    assert database.read_sync(texts) == ["running", "after"]


def test_close_finishes_what_was_handed_in_and_joins_the_threads(opened):
    database = opened("joined.db")

    async def main():
        waits = [asyncio.ensure_future(database.run(insert, str(n))) for n in range(20)]
        await asyncio.sleep(0)
        await database.close()
        await asyncio.gather(*waits)

    asyncio.run(main())
    assert not [thread for thread in threading.enumerate() if "joined.db" in thread.name]
    database.close_sync()
    with pytest.raises(NotStartedError, match=r"joined\.db"):
        database.run_sync(insert, "x")
    with pytest.raises(NotStartedError):
        asyncio.run(database.read(texts))
    assert not database.path.with_name("joined.db-wal").exists()
    assert len(opened("joined.db").read_sync(texts)) == 20


def test_data_version_changes_when_somebody_else_wrote_and_only_then(opened):
    mine, theirs = opened(), opened()
    before = mine.data_version_sync()
    mine.run_sync(insert, "mine")
    assert asyncio.run(mine.data_version()) == before
    theirs.run_sync(insert, "theirs")
    after = mine.data_version_sync()
    assert after != before
    assert mine.data_version_sync() == after


def test_migrations_run_once_in_order_and_a_failing_one_changes_nothing(opened):
    opened().run_sync(insert, "old")

    def broken(connection):
        connection.execute("DROP TABLE note")
        raise sqlite3.OperationalError("no such luck")

    with pytest.raises(StorageError, match="no such luck"):
        opened(migrations=[make_table, broken]).read_sync(texts)
    grown = opened(migrations=[make_table, add_column])
    assert grown.read_sync(lambda c: c.execute("SELECT text, day FROM note").fetchall()) == [("old", "2026-03-01")]
    assert opened(migrations=[make_table, add_column]).read_sync(texts) == ["old"]


@pytest.mark.parametrize("cache", [False, True])
def test_a_file_of_a_newer_version_is_refused_with_both_numbers_and_kept(opened, cache):
    opened(migrations=[make_table, add_column]).run_sync(insert, "old")
    with pytest.raises(StorageError, match=r"schema 2.*knows 1.*upgrade"):
        opened(cache=cache).read_sync(texts)
    assert opened(migrations=[make_table, add_column]).read_sync(texts) == ["old"]


def damage(path: Path, where: str) -> bytes:
    """Spoil a closed database: its header, or every page after the first."""
    raw = path.read_bytes()
    spoiled = b"not a database, but text " * 400 if where == "header" else raw[:4096] + b"\xa5" * (len(raw) - 4096)
    path.write_bytes(spoiled)
    return spoiled


@pytest.mark.parametrize("where", ["header", "pages"])
def test_a_damaged_cache_is_set_aside_and_begins_empty(opened, where, caplog):
    first = opened(cache=True)
    first.run_sync(insert, *(f"{n} " + "词" * 900 for n in range(50)))
    first.close_sync()
    spoiled = damage(first.path, where)
    again = opened(cache=True)
    if where == "pages":  # what only a page shows is found while reading, and is an error once
        with pytest.raises(StorageError, match="set aside"):
            again.read_sync(texts)
    assert again.read_sync(texts) == []
    again.run_sync(insert, "new")
    assert again.path.with_name("记忆.db.corrupt-1").read_bytes() == spoiled
    assert again.generation == (1 if where == "header" else 2)
    assert "corrupt-1" in caplog.text
    again.close_sync()
    assert opened(cache=True).read_sync(texts) == ["new"]
    damage(first.path, "header")
    opened(cache=True).read_sync(texts)
    assert again.path.with_name("记忆.db.corrupt-2").exists()


@pytest.mark.parametrize("where", ["header", "pages"])
def test_a_damaged_truth_is_an_error_and_stays_as_it_is(opened, where):
    first = opened()
    first.run_sync(insert, *(f"{n} " + "词" * 900 for n in range(50)))
    first.close_sync()
    spoiled = damage(first.path, where)
    with pytest.raises(StorageError, match=r"记忆\.db"):
        opened().read_sync(texts)
    assert first.path.read_bytes() == spoiled
    assert not list(first.path.parent.glob("*corrupt*"))


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_a_file_removed_while_open_is_made_again_or_refused(opened):
    cache, truth = opened("cache.db", cache=True), opened("truth.db")
    for database in (cache, truth):
        database.run_sync(insert, "x")
        database.read_sync(texts)
        database.path.unlink()
    version = cache.generation
    assert cache.read_sync(texts) == []
    cache.run_sync(insert, "y")
    assert cache.read_sync(texts) == ["y"]
    assert cache.generation == version + 1
    with pytest.raises(StorageError, match="removed or replaced"):
        truth.run_sync(insert, "y")


def test_a_folder_that_cannot_be_made_and_a_busy_file_name_the_path(opened, tmp_path):
    (tmp_path / "taken").write_text("a file, not a folder")
    with pytest.raises(StorageError, match="taken"):
        opened("taken/x.db").read_sync(texts)
    database = opened("busy.db", busy_timeout=0.05)
    database.run_sync(insert, "x")
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"busy\.db.*locked"):
        database.run_sync(insert, "y")
    other.execute("ROLLBACK")
    other.close()
    database.run_sync(insert, "y")
    assert database.read_sync(texts) == ["x", "y"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forks_copy_is_refused_instead_of_waiting_for_ever(opened):
    database = opened()
    database.run_sync(insert, "x")
    child = os.fork()
    if child == 0:
        try:
            database.run_sync(insert, "y")
        except StorageError as error:
            database.close_sync()
            os._exit(7 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert database.read_sync(texts) == ["x"]


WRITER = """
import sys
from agentscope_reme.storage._database import Database
def make(c): c.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")
database = Database(sys.argv[1], migrations=[make])
for n in range(int(sys.argv[3])):
    database.run_sync(lambda c: c.execute("INSERT INTO note (text) VALUES (?)", (f"{sys.argv[2]}-{n}",)).rowcount)
    print(n, flush=True)
"""


def writer(path, name, count):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


@pytest.mark.slow
def test_processes_that_start_together_both_write_and_a_killed_one_leaves_whole_rows(tmp_path):
    path = tmp_path / "shared.db"
    steady, killed = writer(path, "steady", 40), writer(path, "killed", 100_000)
    while int(killed.stdout.readline()) < 30:
        pass
    killed.kill()
    acknowledged = 31 + len(killed.stdout.readlines())
    assert steady.wait(20) == 0
    killed.wait(20)
    database = Database(path, migrations=[make_table])
    rows = database.read_sync(texts)
    database.run_sync(insert, "after")
    database.close_sync()
    assert sum(row.startswith("steady") for row in rows) == 40
    assert acknowledged <= sum(row.startswith("killed") for row in rows) <= acknowledged + 1
    for process in (steady, killed):
        process.stdout.close()


@given(st.lists(st.tuples(st.text("ab词", max_size=3), st.booleans()), max_size=12))
@settings(max_examples=12, deadline=None)
def test_what_is_read_is_what_was_committed(tmp_path_factory, steps):
    database = Database(tmp_path_factory.mktemp("law") / "x.db", migrations=[make_table], cache=True)
    expected = []

    def write(connection, text, fail):
        insert(connection, text)
        if fail:
            raise KeyError(text)

    for text, fail in steps:
        try:
            database.run_sync(write, text, fail)
            expected.append(text)
        except (KeyError, StorageError):
            assert fail or text in expected
        assert database.read_sync(texts) == expected
    database.close_sync()


def test_an_empty_transaction_is_cheap(opened):
    database = opened(cache=True)
    database.read_sync(texts)
    started = time.perf_counter()
    for _ in range(200):
        database.read_sync(lambda connection: None)
    assert (time.perf_counter() - started) / 200 < 0.005


def folder_bytes(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_after_compact_no_byte_of_what_was_deleted_is_left_and_the_rest_is(opened, tmp_path):
    database = opened(cache=True)
    kept = [f"kept {n} " + "x" * 200 for n in range(300)]
    secrets = [f"SECRET {n} " + "y" * 200 for n in range(300)]
    database.run_sync(insert, *[text for pair in zip(kept, secrets, strict=True) for text in pair])
    database.read_sync(texts)
    database.run_sync(lambda connection: connection.execute("DELETE FROM note WHERE text LIKE 'SECRET%'").rowcount)
    assert b"SECRET" in folder_bytes(tmp_path)  # what compact is for
    assert asyncio.run(database.compact()) is True
    assert b"SECRET" not in folder_bytes(tmp_path)
    assert database.read_sync(texts) == kept
    database.run_sync(insert, "later")
    assert database.read_sync(texts) == [*kept, "later"]


def test_compact_says_that_somebody_is_reading_what_was_deleted(opened, tmp_path):
    database = opened(busy_timeout=0.1)
    database.run_sync(insert, "SECRET")
    reader = sqlite3.connect(database.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM note").fetchall()
    database.run_sync(lambda connection: connection.execute("DELETE FROM note").rowcount)
    assert asyncio.run(database.compact()) is False
    assert reader.execute("SELECT text FROM note").fetchall() == [("SECRET",)]
    reader.close()
    assert asyncio.run(database.compact()) is True
    assert b"SECRET" not in folder_bytes(tmp_path)
