# -*- coding: utf-8 -*-
"""Full texts on disk: once each, whole, and gone only when they may go."""

import errno
import hashlib
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, StorageError
from agentscope_reme.working_memory import _offload as offload
from agentscope_reme.working_memory._expired import read_expired
from agentscope_reme.working_memory._offload import OffloadStore

DAY = 86_400
NOW = 1_900_000_000.0
TEXT = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\r\n\x1b漢字👍\ud83c")), max_size=400)


def never(_name: str) -> bool:
    return False


def aged(store: OffloadStore, text: str, days: float) -> str:
    stored = store.put(text)
    os.utime(stored.path, (NOW - days * DAY,) * 2)
    return stored.name


@given(TEXT)
@settings(max_examples=100, deadline=None)
def test_every_text_comes_back_byte_for_byte(tmp_path_factory, text):
    store = OffloadStore(tmp_path_factory.mktemp("o") / "tool_result")
    stored = store.put(text)
    data = text.encode("utf-8", "surrogatepass")
    assert store.read(stored.name) == text
    assert stored.path.read_bytes() == data
    assert (stored.sha256, stored.n_bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert stored.sha256.startswith(stored.name.removesuffix(".txt"))
    assert stored.path == store.folder / stored.name


def test_the_same_text_is_written_once_and_lives_longer(tmp_path, monkeypatch):
    store = OffloadStore(tmp_path)
    name = aged(store, "结果" * 999, days=9)
    inode = (tmp_path / name).stat().st_ino
    assert OffloadStore(tmp_path).put("结果" * 999).name == name
    assert (tmp_path / name).stat().st_ino == inode
    assert store.expire(3, never) == []


@pytest.mark.parametrize("broken", [b"", b"torn", b"\0" * 5000])
def test_what_a_power_cut_broke_is_written_again(tmp_path, broken):
    store = OffloadStore(tmp_path)
    stored = store.put("x" * 5000)
    stored.path.write_bytes(broken)
    assert store.read(stored.name) is None
    store.put("x" * 5000)
    assert store.read(stored.name) == "x" * 5000


def test_a_link_in_the_place_of_a_text_is_not_trusted(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("x" * 5000)
    store = OffloadStore(tmp_path / "tool_result")
    stored = store.put("x" * 5000)
    stored.path.unlink()
    stored.path.symlink_to(outside)
    assert store.read(stored.name) is None
    store.put("x" * 5000)
    assert not stored.path.is_symlink()
    assert store.read(stored.name) == "x" * 5000


@pytest.mark.parametrize(
    "name", ["", "..", "../x.txt", "/etc/passwd", "a" * 24, "A" * 24 + ".txt", "a" * 24 + ".txt\n", ".lock"]
)
def test_only_names_of_ours_are_read(tmp_path, name):
    assert OffloadStore(tmp_path).read(name) is None


def test_redaction_comes_before_the_disk(tmp_path):
    store = OffloadStore(tmp_path, redact=lambda text: text.replace("sk-123", "***"))
    stored = store.put("key sk-123 钥匙")
    assert store.read(stored.name) == "key *** 钥匙" == store.redacted("key sk-123 钥匙")
    assert not any(b"sk-123" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_redaction_that_fails_writes_nothing(tmp_path):
    def redact(_text: str) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        OffloadStore(tmp_path, redact=redact).put("secret")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageError, match="No space"):
        OffloadStore(tmp_path).put("x")
    assert os.listdir(tmp_path) == []


def test_sync_reaches_every_file_and_the_folder_once(tmp_path, monkeypatch):
    store = OffloadStore(tmp_path / "tool_result")
    synced: list[str] = []
    monkeypatch.setattr(offload, "sync_file", lambda path: synced.append(path.name))
    monkeypatch.setattr(offload, "sync_folder", lambda path: synced.append(path.name))
    names = sorted(store.put(text).name for text in "abc")
    store.put("a")
    store.sync()
    assert synced == [*names, "tool_result"]
    store.sync()
    assert len(synced) == 4


def test_a_sync_that_failed_is_tried_again(tmp_path, monkeypatch):
    store = OffloadStore(tmp_path)
    name = store.put("a").name

    def refuse(_path):
        raise StorageError("no")

    with monkeypatch.context() as patch:
        patch.setattr(offload, "sync_file", refuse)
        with pytest.raises(StorageError):
            store.sync()
    synced = []
    monkeypatch.setattr(offload, "sync_file", lambda path: synced.append(path.name))
    store.sync()
    assert synced == [name]


def test_sync_reaches_what_an_earlier_process_put(tmp_path, monkeypatch):
    name = OffloadStore(tmp_path).put("a").name
    store = OffloadStore(tmp_path)
    synced: list[str] = []
    monkeypatch.setattr(offload, "sync_file", lambda path: synced.append(path.name))
    store.sync([name, "../x", name])
    store.sync([name])
    store.put("a")
    store.sync()
    assert synced == [name]


def test_a_text_that_is_gone_does_not_hold_up_the_others(tmp_path):
    store = OffloadStore(tmp_path)
    store.put("a").path.unlink()
    store.put("b")
    store.sync(["0" * 24 + ".txt"])
    assert store._unsynced == set()


def test_expiry_keeps_head_tail_and_hash(tmp_path):
    store = OffloadStore(tmp_path)
    text = "开头\n" + "中间👍\n" * 3000 + "结尾"
    name = aged(store, text, days=3)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    assert store.expire(3, set(), now=NOW, head_tail_bytes=101) == [name]
    data = (tmp_path / name).read_bytes()
    left = read_expired(name, data)
    assert left is not None
    assert (left.sha256, left.n_bytes, left.n_lines) == (sha256, len(text.encode()), 3002)
    assert text.startswith(left.head)
    assert text.endswith(left.tail)
    assert 95 <= len((left.head + left.tail).encode()) <= 101
    assert left.when == "2030-03-17T17:46:40+00:00"
    assert len(data) < 400
    assert store.read(name) is None


@given(TEXT, st.integers(0, 300), st.integers(0, 300))
def test_what_remains_is_a_true_head_and_tail(tmp_path_factory, text, keep, again):
    store = OffloadStore(tmp_path_factory.mktemp("o"))
    name = aged(store, text, days=1)
    data = text.encode("utf-8", "surrogatepass")
    assert store.expire(0, never, now=NOW, head_tail_bytes=keep) == ([name] if len(data) > keep else [])
    left = read_expired(name, (store.folder / name).read_bytes())
    if len(data) <= keep:
        assert left is None
        assert store.read(name) == text
    else:
        assert text.startswith(left.head)
        assert text.endswith(left.tail)
        assert len((left.head + left.tail).encode("utf-8", "surrogatepass")) <= keep
    before = (store.folder / name).read_bytes()
    os.utime(store.folder / name, (0, 0))
    if left is not None:
        assert store.expire(0, never, now=NOW, head_tail_bytes=again) == []
        assert (store.folder / name).read_bytes() == before
    assert store.put(text).name == name
    assert store.read(name) == text


def test_only_what_is_old_and_unused_expires(tmp_path):
    store = OffloadStore(tmp_path)
    old, used, young = (aged(store, char * 5000, days) for char, days in (("a", 8), ("b", 8), ("c", 2)))
    assert store.expire(None, never, now=NOW) == []
    assert store.expire(30, never, now=NOW) == []
    assert store.expire(3, [used], now=NOW) == [old]
    assert [store.read(name) is None for name in (old, used, young)] == [True, False, False]
    assert store.expire(0, lambda name: name == used, now=NOW) == [young]


def test_retention_of_no_days_and_nonsense(tmp_path):
    store = OffloadStore(tmp_path / "none")
    assert store.expire(0, never) == []
    name = store.put("x" * 5000).name
    assert store.expire(0, never) == [name]
    for days in (-1, float("nan")):
        with pytest.raises(ConfigError, match="retention_days"):
            store.expire(days, never)


def test_nothing_else_is_touched(tmp_path):
    folder = tmp_path / "tool_result"
    store = OffloadStore(folder)
    victim = tmp_path / "victim.txt"
    victim.write_text("v" * 5000)
    (folder / "deeper").mkdir(parents=True)
    strangers = [
        folder / "notes.txt",
        folder / f"{'a' * 24}.TXT",
        folder / "deeper" / f"{'a' * 24}.txt",
        folder / f"{'0' * 24}.txt",
    ]
    for path in strangers:
        path.write_text("s" * 5000)
    (folder / f"{'b' * 24}.txt").symlink_to(victim)
    (folder / f"{'c' * 24}.txt").mkdir()
    for path in [victim, *strangers]:
        os.utime(path, (0, 0))
    assert store.expire(0, never, now=NOW) == []
    assert all(path.stat().st_size == 5000 for path in [victim, *strangers])


def test_a_text_that_quotes_the_remains_of_another_is_a_text(tmp_path):
    store = OffloadStore(tmp_path)
    first = aged(store, "x" * 5000, days=9)
    store.expire(3, never, now=NOW)
    quote = (tmp_path / first).read_bytes().decode() + "y" * 5000
    second = aged(store, quote, days=9)
    assert read_expired(second, (tmp_path / second).read_bytes()) is None
    assert store.read(second) == quote
    assert store.expire(3, never, now=NOW) == [second]


def test_one_file_that_cannot_be_replaced_does_not_stop_the_others(tmp_path, monkeypatch, caplog):
    store = OffloadStore(tmp_path)
    names = sorted(aged(store, char * 5000, days=9) for char in "abc")
    write = offload.write_atomic

    def picky(path, data, **kwargs):
        if path.name == names[1]:
            raise StorageError("broken sector")
        write(path, data, **kwargs)

    monkeypatch.setattr(offload, "write_atomic", picky)
    assert store.expire(3, never, now=NOW) == [names[0], names[2]]
    assert "broken sector" in caplog.text
    assert store.read(names[1]) is not None


def test_putting_a_text_while_it_expires_never_loses_it(tmp_path, monkeypatch):
    text = "x" * 50_000
    store = OffloadStore(tmp_path)
    name = aged(store, text, days=9)
    other = threading.Thread(target=lambda: OffloadStore(tmp_path).put(text))
    remains = offload.remains_of

    def slowly(*args):
        other.start()
        other.join(0.2)
        assert other.is_alive(), "put must wait, for it found the file and is about to trust it"
        return remains(*args)

    monkeypatch.setattr(offload, "remains_of", slowly)
    assert store.expire(3, never, now=NOW) == [name]
    other.join()
    assert store.read(name) == text


def test_a_text_that_was_put_again_before_its_turn_stays(tmp_path, monkeypatch):
    store = OffloadStore(tmp_path)
    name = aged(store, "x" * 5000, days=9)
    monkeypatch.setattr(store, "_names_before", lambda cutoff: (OffloadStore(tmp_path).put("x" * 5000), [name])[1])
    assert store.expire(3, never) == []
    assert store.read(name) is not None
