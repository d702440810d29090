# -*- coding: utf-8 -*-
"""A file is the old one or the new one."""

import errno
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import StorageError
from agentscope_reme.storage._atomic import make_folder, read_bytes, sync_file, sync_folder, write_atomic


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@given(st.binary(max_size=300), st.binary(max_size=300), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_last_write_is_what_is_read(tmp_path_factory, first, second, durable):
    path = tmp_path_factory.mktemp("w") / "a.bin"
    write_atomic(path, first, durable=durable)
    write_atomic(path, second, durable=durable)
    assert read_bytes(path) == second
    assert os.listdir(path.parent) == ["a.bin"]


def test_newlines_are_not_translated(tmp_path):
    write_atomic(tmp_path / "a", b"a\r\nb\rc\n")
    assert read_bytes(tmp_path / "a") == b"a\r\nb\rc\n"


def test_modes_of_new_files_and_folders(tmp_path):
    path = tmp_path / "x" / "y" / "记录.md"
    write_atomic(path, b"1")
    assert [mode(tmp_path / "x"), mode(tmp_path / "x" / "y"), mode(path)] == [0o700, 0o700, 0o600]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
@pytest.mark.parametrize("before", [0o644, 0o664, 0o640, 0o600, 0o400, 0o4755])
def test_a_file_that_is_there_keeps_its_permissions(tmp_path, before):
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"a person's")
    path.chmod(before)
    write_atomic(path, b"ours")
    assert (path.read_bytes(), mode(path)) == (b"ours", before & 0o777)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        write_atomic(path.name, b"again", dir_fd=folder)
    finally:
        os.close(folder)
    assert (path.read_bytes(), mode(path)) == (b"again", before & 0o777)


def test_a_foreign_folder_keeps_its_mode(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    make_folder(folder / "mine")
    assert [mode(folder), mode(folder / "mine")] == [0o755, 0o700]


@pytest.mark.parametrize("broken", ["replace", "fsync"])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch, broken, old):
    path = tmp_path / "a.txt"
    if old is not None:
        path.write_bytes(old)

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(StorageError, match=r"a\.txt") as caught:
        write_atomic(path, b"new" * 1000)
    monkeypatch.undo()
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == ([] if old is None else ["a.txt"])
    assert old is None or path.read_bytes() == old


def test_an_interruption_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"untouched")
    (tmp_path / "victim").chmod(0o644)
    (tmp_path / "a").symlink_to(tmp_path / "victim")
    write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_bytes() == b"untouched"
    assert not (tmp_path / "a").is_symlink()
    assert mode(tmp_path / "a") == 0o600


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "memory").write_bytes(b"")
    for path in (tmp_path / "memory", tmp_path / "memory" / "x"):
        with pytest.raises(StorageError, match="memory"):
            make_folder(path)
    with pytest.raises(StorageError, match="memory"):
        write_atomic(tmp_path / "memory" / "a.md", b"")


def test_what_is_missing_can_be_told_apart(tmp_path):
    for act in (read_bytes, sync_file, sync_folder):
        with pytest.raises(StorageError, match="nowhere") as caught:
            act(tmp_path / "nowhere")
        assert caught.value.errno == errno.ENOENT


def test_a_longest_name_can_be_written(tmp_path):
    write_atomic(tmp_path / ("n" * 255), b"x")
    assert read_bytes(tmp_path / ("n" * 255)) == b"x"


def test_relative_to_an_open_folder(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        write_atomic("a.txt", b"x", dir_fd=descriptor)
    finally:
        os.close(descriptor)
    assert read_bytes(tmp_path / "a.txt") == b"x"


def test_parts_are_written_as_they_come_and_a_fault_among_them_leaves_the_old_file(tmp_path):
    path = tmp_path / "big"
    write_atomic(path, (b"%d\n" % n for n in range(1000)))
    assert path.read_bytes().split() == [b"%d" % n for n in range(1000)]

    def breaking():
        yield b"half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomic(path, breaking())
    assert path.stat().st_size == 3890
    assert list(tmp_path.iterdir()) == [path]
