# -*- coding: utf-8 -*-
"""The archive holds each message once, whole, under its own day, whoever writes beside it and whatever tore."""

import json
import multiprocessing
import threading
from zoneinfo import ZoneInfo

import pytest
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import StorageError
from agentscope_reme.dialog import DialogArchive

CONTENTS = st.text(st.characters(), max_size=40) | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.text(st.characters(), max_size=20)}),
    max_size=3,
)


@st.composite
def messages(draw):
    msg = Msg(draw(st.sampled_from(["甲", "bob"])), draw(CONTENTS), "user", metadata={"k": draw(st.integers())})
    msg.id = draw(st.sampled_from("abcdef"))
    msg.timestamp = f"2026-0{draw(st.integers(1, 3))}-01 23:59:59.999"
    msg.invocation_id = draw(st.none() | st.just("call-1"))
    return msg


def archive_in(folder) -> DialogArchive:
    return DialogArchive(folder / "dialog", folder / "lock")


def lines_of(folder) -> list[dict]:
    files = sorted((folder / "dialog").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines() if line]


@given(batches=st.lists(st.lists(messages(), max_size=6), max_size=5), reopen=st.booleans())
@settings(max_examples=60)
def test_each_message_once_and_nothing_missing(tmp_path_factory, batches, reopen):
    folder = tmp_path_factory.mktemp("archive")
    archive, expected = archive_in(folder), set()
    for batch in batches:
        archive = archive_in(folder) if reopen else archive
        archive.append(batch, "s1")
        for msg in batch:
            expected.add(json.dumps({**msg.to_dict(), "invocation_id": msg.invocation_id}, sort_keys=True))
    found = [{key: value for key, value in line.items() if key != "session_id"} for line in lines_of(folder)]
    assert sorted(json.dumps(line, sort_keys=True) for line in found) == sorted(expected)
    for day in archive.days():
        assert all(line["timestamp"].startswith(day) for line in archive.read(day))


def test_a_line_is_the_hosts_dictionary_with_where_it_came_from(tmp_path):
    msg = Msg("甲", "你好", "user", timestamp="2026-09-15 00:30:00.000", invocation_id="r1")
    archive_in(tmp_path).append([msg], "s1")
    assert lines_of(tmp_path) == [{**msg.to_dict(), "invocation_id": "r1", "session_id": "s1"}]
    assert [path.name for path in (tmp_path / "dialog").iterdir()] == ["2026-09-15.jsonl"]


def test_a_hostile_timestamp_is_no_path(tmp_path):
    archive_in(tmp_path).append([Msg("x", "y", "user", timestamp="../../x 1")], None)
    (path,) = (tmp_path / "dialog").iterdir()
    assert path.suffix == ".jsonl"
    assert len(path.stem) == 10


def test_days_follow_the_zone_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    import time

    time.tzset()
    try:
        archive = DialogArchive(tmp_path / "d", tmp_path / "l", timezone=ZoneInfo("Asia/Shanghai"))
        assert archive.day_of(Msg("x", "y", "user", timestamp="2026-09-14 16:30:00.000")) == "2026-09-15"
        assert archive.day_of(Msg("x", "y", "user", timestamp="2026-09-14 15:30:00.000")) == "2026-09-14"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_torn_last_line_leaves_the_rest_readable(tmp_path):
    first = Msg("x", "one", "user", timestamp="2026-01-01 00:00:00.000")
    archive_in(tmp_path).append([first], "s")
    path = tmp_path / "dialog" / "2026-01-01.jsonl"
    with open(path, "ab") as file:
        file.write(b'{"role":"us')
    assert [line["content"] for line in archive_in(tmp_path).read("2026-01-01")] == ["one"]
    archive_in(tmp_path).append([Msg("x", "two", "user", timestamp="2026-01-01 00:00:01.000")], "s")
    assert [line["content"] for line in lines_of(tmp_path)] == ["one", "two"]


def test_what_was_taken_back_can_be_written_again_and_others_stay(tmp_path):
    archive = archive_in(tmp_path)
    msgs = [Msg("x", str(n), "user", timestamp="2026-01-01 00:00:00.000") for n in range(4)]
    archive.append(msgs[:2], "other")
    archive.append(msgs[2:], "mine")
    assert archive.remove("mine", {msg.id for msg in msgs}, ["2026-01-01", "2026-01-02"]) == 2
    assert [line["content"] for line in lines_of(tmp_path)] == ["0", "1"]
    assert archive.append(msgs, "mine") == [msg.id for msg in msgs]
    assert archive.append(msgs, "mine") == []


def test_it_says_what_it_is_about_to_write_before_the_first_byte(tmp_path):
    archive, said = archive_in(tmp_path), []
    msg = Msg("x", "y", "user")

    def announce(ids, digests):
        assert len(set(digests)) == len(ids)
        said.append((ids, list((tmp_path / "dialog").glob("*")) if (tmp_path / "dialog").exists() else []))

    archive.append([msg], "s", announce=announce)
    archive.append([msg], "s", announce=announce)
    assert said == [([msg.id], [])]


def test_a_refusing_disk_is_told(tmp_path):
    (tmp_path / "dialog").write_text("a file in the way")
    with pytest.raises(StorageError):
        archive_in(tmp_path).append([Msg("x", "y", "user")], "s")


def _write_many(folder, name):
    archive = DialogArchive(folder / "dialog", folder / "lock")
    for number in range(30):
        msg = Msg(name, f"{number}", "user", timestamp="2026-01-01 00:00:00.000")
        msg.id = f"{name}-{number}"
        archive.append([msg], name)


def test_several_processes_write_beside_each_other(tmp_path):
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_write_many, args=(tmp_path, name)) for name in ("a", "b", "c")]
    for child in children:
        child.start()
    for child in children:
        child.join(30)
    found = [line["id"] for line in lines_of(tmp_path)]
    assert sorted(found) == sorted(f"{name}-{number}" for name in "abc" for number in range(30))


def test_what_another_session_wrote_may_be_taken_back(tmp_path):
    archive = archive_in(tmp_path)
    shared = Msg("x", "y", "user", timestamp="2026-01-01 00:00:00.000")
    assert archive.append([shared], "A") == archive.append([shared], "B") == [shared.id]
    assert archive.append([shared], "A") == archive.append([shared], "B") == []
    archive.remove("A", [shared.id], ["2026-01-01"])
    assert [line["session_id"] for line in lines_of(tmp_path)] == ["B"]


def test_another_version_stays_when_one_is_taken_back(tmp_path):
    archive, announced = archive_in(tmp_path), []
    msg = Msg("x", "version 1", "user", timestamp="2026-01-01 00:00:00.000")
    archive.append([msg], "s")
    msg.content = "version 2"
    archive.append([msg], "s", announce=lambda ids, digests: announced.extend(digests))
    archive.remove("s", [msg.id], ["2026-01-01"], announced)
    assert [line["content"] for line in lines_of(tmp_path)] == ["version 1"]


def test_many_days_cost_no_memory_and_stay_exact(tmp_path):
    archive = archive_in(tmp_path)
    msgs = [Msg("x", f"{n}", "user", timestamp=f"2026-{n % 12 + 1:02}-01 00:00:00.000") for n in range(60)]
    assert len(archive.append(msgs, "s")) == 60
    assert archive.append(msgs, "s") == []
    assert len(archive._days) == 8
    assert [msg.id for msg in archive.find([msg.id for msg in msgs], archive.days())] == [msg.id for msg in msgs]


def test_threads_that_look_at_the_same_time_read_each_line_once(tmp_path):
    archive = archive_in(tmp_path)
    msgs = [Msg("x", f"{n}", "user", timestamp="2026-01-01 00:00:00.000") for n in range(400)]
    archive_in(tmp_path).append(msgs, "s")
    threads = [threading.Thread(target=archive.warm, args=(["2026-01-01"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert archive.append(msgs, "s") == []


@given(content=st.none() | st.integers() | st.fixed_dictionaries({"type": st.just("text"), "text": CONTENTS}))
@settings(max_examples=20)
def test_a_message_in_any_state_comes_back(tmp_path_factory, content):
    archive = archive_in(tmp_path_factory.mktemp("archive"))
    msg = Msg("x", "y", "user", timestamp="2026-01-01 00:00:00.000", metadata={("a", 1): {1, 2}})
    msg.content = content
    archive.append([msg], "s")
    (found,) = archive.find([msg.id], ["2026-01-01"])
    assert found.content == ([content] if isinstance(content, dict) else content)
    assert found.id == msg.id
