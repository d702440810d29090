# -*- coding: utf-8 -*-
"""Appended lines and journals: nothing acknowledged is lost, a torn tail costs only itself, one owner at a time."""

import json
import os
import resource
import signal
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import SessionExistsError, SessionInUseError, SessionNotFoundError, StorageError
from agentscope_reme.storage import Journal, JsonlFile, OwnerLock, dump_line, parse_lines, short_lock
from agentscope_reme.storage._database_file import DatabaseFile

ANY_TEXT = st.text(st.characters(), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(ANY_TEXT, VALUES, max_size=4), max_size=8)


@given(RECORDS)
def test_lines_come_back_as_they_were(records):
    data = b"".join(dump_line(record) for record in records)
    assert data.count(b"\n") == len(records)
    assert list(parse_lines(data, "here")) == records
    data.decode("utf-8")


@given(records=RECORDS, torn=st.binary(min_size=1, max_size=20), more=RECORDS)
def test_a_torn_tail_costs_only_itself(tmp_path_factory, records, torn, more):
    path = tmp_path_factory.mktemp("torn") / "a.jsonl"
    JsonlFile(path).append([dump_line(record) for record in records])
    torn = b'{"id": "' + torn.replace(b"\n", b"")
    with open(path, "ab") as file:
        file.write(torn)
    file = JsonlFile(path)
    file.append([dump_line(record) for record in more])
    found = list(parse_lines(file.read(), "here"))
    if more:
        assert found == records + more
        assert torn not in path.read_bytes()


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}')
    file = JsonlFile(path)
    file.append([dump_line({"n": 3})])
    assert [record["n"] for record in parse_lines(file.read(), "here")] == [1, 2, 3]


def test_lone_surrogates_and_what_json_does_not_know_are_written(tmp_path):
    line = dump_line({"text": "\ud83c", "path": Path("x")})
    assert json.loads(line) == {"text": "\ud83c", "path": "x"}


def test_files_are_the_owners_alone(tmp_path):
    file = JsonlFile(tmp_path / "deep" / "a.jsonl")
    file.append([b"{}\n"], durable=True)
    assert file.path.stat().st_mode & 0o077 == 0
    assert file.path.parent.stat().st_mode & 0o077 == 0


def test_a_refusing_disk_is_a_storage_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="Could not append"):
        JsonlFile(tmp_path / "file" / "a.jsonl").append([b"{}\n"])


@given(before=RECORDS, past=st.sets(st.text("abc", min_size=1), max_size=4), after=RECORDS)
def test_a_checkpoint_replaces_and_the_past_stays(tmp_path_factory, before, past, after):
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder, "s")
    journal.create()
    for record in before:
        journal.append(record)
    journal.checkpoint([{"state": 1}], past)
    for record in after:
        journal.append(record, durable=True)
    journal.checkpoint([{"state": 2}, *after], {"later"})
    journal.close()
    again = Journal(folder, "s")
    assert again.open() == [{"state": 2}, *after]
    assert again.past() == past | {"later"}
    again.close()


def test_one_owner_at_a_time(tmp_path):
    first, second = Journal(tmp_path, "s"), Journal(tmp_path, "s")
    first.create()
    first.append({"n": 1})
    with pytest.raises(SessionInUseError, match="open elsewhere"):
        second.open()
    first.close()
    assert second.open() == [{"n": 1}]
    with pytest.raises(SessionInUseError):
        first.append({}) if first.is_open else first.create()
    second.close()
    first.create()
    first.append({"n": 2})
    assert [record["n"] for record in parse_lines(first.path.read_bytes(), "s")] == [1, 2]


def test_a_session_is_made_once_and_opened_where_it_is(tmp_path):
    journal = Journal(tmp_path, "s")
    with pytest.raises(SessionNotFoundError, match="no session 's'"):
        journal.open()
    journal.create()
    journal.append({})
    journal.close()
    with pytest.raises(SessionExistsError, match="resume"):
        Journal(tmp_path, "s").create()


def test_an_unused_session_leaves_no_trace(tmp_path):
    journal = Journal(tmp_path, "s")
    journal.create()
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_the_owner_in_another_process_counts_and_its_death_frees(tmp_path):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        held = OwnerLock(tmp_path / "l")
        held.acquire("x")
        os.write(tell, b"held")
        time.sleep(60)
        os._exit(0)
    try:
        assert os.read(told, 4) == b"held"
        lock = OwnerLock(tmp_path / "l")
        with pytest.raises(SessionInUseError):
            lock.acquire("It")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(tell)
    lock.acquire("It")
    lock.release()


def test_a_short_lock_says_who_waited_in_vain(tmp_path):
    with (
        short_lock(tmp_path / "l"),
        pytest.raises(StorageError, match="held"),
        short_lock(tmp_path / "l", timeout=0.05),
    ):
        pass


def test_a_fork_does_not_let_go_of_its_parents_lock(tmp_path):
    lock = OwnerLock(tmp_path / "l")
    lock.acquire("It")
    pid = os.fork()
    if pid == 0:
        lock.release()
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(SessionInUseError):
        OwnerLock(tmp_path / "l").acquire("It")
    lock.release()


def test_a_fork_writes_nothing_into_its_parents_journal(tmp_path):
    journal = Journal(tmp_path, "s", session_id="S")
    journal.create()
    journal.append({"n": 1})
    told = tmp_path / "told"
    pid = os.fork()
    if pid == 0:
        for write in (lambda: journal.append({"n": 2}), lambda: journal.checkpoint([{"n": 3}])):
            try:
                write()
            except StorageError as error:
                told.write_text((told.read_text() if told.exists() else "") + f"{error}\n")
        journal.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert told.read_text().count("'S' belongs to the process that this one was forked from: begin a session") == 2
    with pytest.raises(SessionInUseError):
        Journal(tmp_path, "s").open()
    journal.append({"n": 4})
    assert [record["n"] for record in parse_lines(journal.path.read_bytes(), "s")] == [1, 4]
    journal.close()


def test_a_forks_close_leaves_its_parents_unwritten_session_alone(tmp_path):
    journal = Journal(tmp_path, "s")
    journal.create()
    pid = os.fork()
    if pid == 0:
        journal.close()
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(SessionInUseError):
        Journal(tmp_path, "s").create()
    journal.close()


def test_more_journals_than_descriptors(tmp_path):
    before, others = resource.getrlimit(resource.RLIMIT_NOFILE), len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (others + 180, before[1]))
    try:
        journals = [Journal(tmp_path, f"s{number}") for number in range(120)]  # a lock each
        files = [JsonlFile(tmp_path / "days" / f"{number}.jsonl") for number in range(300)]
        for journal in journals:
            journal.create()
        for number in range(2):
            for each in (*journals, *files):
                each.append({"n": number}) if isinstance(each, Journal) else each.append([b"{}\n"])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    for journal in journals:
        journal.close()
        assert journal.path.read_bytes() == b'{"n": 0}\n{"n": 1}\n'


HOSTILE = st.recursive(
    st.floats() | st.binary(max_size=4) | st.sets(st.integers(), max_size=3) | st.just(object()) | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.tuples(st.integers(), ANY_TEXT) | st.integers() | st.none() | ANY_TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)


@given(HOSTILE)
def test_any_value_is_a_line_that_every_reader_takes(value):
    line = dump_line({"value": value})
    assert line.count(b"\n") == 1
    assert line == dump_line({"value": value})

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    assert set(json.loads(line, parse_constant=refuse)) == {"value"}


def test_what_holds_itself_or_lies_too_deep_is_a_line():
    circular: dict = {"name": "it"}
    circular["list"] = [circular, circular]
    circular["self"] = circular
    assert json.loads(dump_line({"c": circular}))["c"]["name"] == "it"
    deep: list = []
    for _ in range(30_000):
        deep = [deep]
    assert dump_line({"deep": deep}).endswith(b"\n")
    assert json.loads(dump_line({"huge": 10**6000, "set": {"b", "a"}}))["set"] == "{a, b}"

    class Unprintable:
        def __str__(self):
            raise ValueError("no")

    assert json.loads(dump_line([Unprintable()])) == ["<Unprintable>"]


def test_faults_are_told_but_for_a_torn_last_line(tmp_path):
    faults = []
    data = b'{"n": 1}\n{"n": 2#\n[]\n\n{"n": 3}\n{"n": 4'
    assert [record["n"] for record in parse_lines(data, "s", faults)] == [1, 3]
    assert faults == ["line 2 is not a JSON object", "line 3 is not a JSON object"]
    (tmp_path / "s.jsonl").write_bytes(data)
    journal = Journal(tmp_path, "s")
    journal.open()
    assert journal.faults == faults
    assert [journal.set_aside().name for _ in range(2)] == ["s.jsonl.corrupt-1", "s.jsonl.corrupt-2"]
    assert (tmp_path / "s.jsonl.corrupt-2").read_bytes() == data
    journal.close()


def test_a_new_journal_begins_with_its_head(tmp_path):
    journal = Journal(tmp_path, "s", head={"whose": "S"})
    journal.create()
    journal.append({"n": 1})
    journal.close()
    assert Journal(tmp_path, "s", head={"whose": "T"}).open() == [{"whose": "S"}, {"n": 1}]


@pytest.mark.parametrize("first", ["lock", "lines", "owner", "database", "journal"])
def test_every_folder_that_is_made_is_the_owners_alone(tmp_path, first):
    folder = tmp_path / "root" / "state"
    old = os.umask(0o022)
    try:
        if first == "lock":
            with short_lock(folder / "l"):
                pass
        elif first == "lines":
            JsonlFile(folder / "a.jsonl").append([b"{}\n"])
        elif first == "owner":
            OwnerLock(folder / "l").acquire("It")
        elif first == "journal":
            Journal(folder, "s").create()
        else:
            DatabaseFile(folder / "d.sqlite", [], cache=True, busy_timeout=1).ensure()
    finally:
        os.umask(old)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)] == [0o700, 0o700]
