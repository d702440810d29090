# -*- coding: utf-8 -*-
"""No path leads out of the workspace."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import PathNotAllowedError, StorageError
from agentscope_reme.workspace import Workspace
from agentscope_reme.workspace import _confined as confined


@pytest.fixture
def workspace(tmp_path):
    made = Workspace(tmp_path / "work")
    made.create()
    return made


def test_folders_are_private_and_made_once(tmp_path):
    workspace = Workspace(tmp_path / "deep" / "work")
    workspace.create()
    workspace.memory_md.write_text("kept")
    workspace.create()
    folders = [p for p in (tmp_path / "deep").rglob("*") if p.is_dir()]
    assert {p.relative_to(workspace.root).as_posix() for p in folders} == {
        ".",
        "memory",
        "dialog",
        "tool_result",
        ".state",
        ".state/sessions",
    }
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in folders)
    assert workspace.memory_md.read_text() == "kept"


def test_a_root_that_is_there_keeps_its_mode(tmp_path):
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o750)
    Workspace(root).create()
    assert stat.S_IMODE(root.stat().st_mode) == 0o750


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "dialog").write_text("")
    with pytest.raises(StorageError, match="dialog"):
        Workspace(tmp_path).create()


def test_the_root_does_not_follow_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workspace = Workspace("here")
    monkeypatch.chdir("/")
    assert workspace.root == tmp_path / "here"


@pytest.mark.parametrize(
    "path", ["memory/2025-01-31.md", "MEMORY.md", "memory/../MEMORY.md", "记录/会议 1.md", ".state/x", "a..b", "."]
)
def test_what_is_inside(workspace, path):
    real = workspace.resolve(path)
    assert real == workspace.root / os.path.normpath(path)
    assert workspace.resolve(str(workspace.root / path)) == real
    assert workspace.relative(real) == os.path.normpath(path)


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x.md",
        "../../etc/passwd",
        "/etc/passwd",
        "memory/../../x",
        "~/x/../../..",
        "a\0b",
        "",
        "\ud800",
        "a:b",
        "C:\\Windows",
        "C:x",
        "..\\..\\x",
        "memory\\x",
        "CON",
        "memory/nul.txt",
        "COM1",
        "lpt¹.log",
        "a./b",
        "a /b",
        "...",
        "x" * 256,
        "字" * 86,
        "a/" * 3000,
        "a\nb",
        "file.txt::$DATA",
        "a?b",
        "a|b",
        "//server/share",
    ],
)
def test_what_is_refused(workspace, path):
    for act in (workspace.resolve, workspace.read_bytes, lambda p: workspace.write_bytes(p, b"x")):
        with pytest.raises(PathNotAllowedError):
            act(path)
    assert sorted(os.listdir(workspace.root.parent)) == ["work"]


def test_the_value_is_named(workspace):
    with pytest.raises(PathNotAllowedError, match=r"'\.\./x\.md'.*leads out of the workspace"):
        workspace.resolve("../x.md")


def test_a_sibling_with_the_same_prefix_is_outside(tmp_path):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "s.txt").write_text("secret")
    with pytest.raises(PathNotAllowedError):
        Workspace(tmp_path / "work").resolve(str(tmp_path / "workspace" / "s.txt"))


def test_inside_a_folder_of_the_workspace(workspace):
    assert workspace.resolve("dialog/a.jsonl", inside=workspace.dialog_dir) == workspace.dialog_dir / "a.jsonl"
    for path in ("MEMORY.md", "dialog/../MEMORY.md", "dialogue/x", "tool_result/a.txt"):
        with pytest.raises(PathNotAllowedError, match="dialog/"):
            workspace.resolve(path, inside=workspace.dialog_dir)


def test_links_that_lead_out_are_refused(workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (workspace.notes_dir / "folder").symlink_to(outside)
    (workspace.notes_dir / "file.md").symlink_to(outside / "secret.md")
    (workspace.notes_dir / "loop").symlink_to(workspace.notes_dir / "loop")
    for path in ("memory/folder/secret.md", "memory/file.md", "memory/folder/new.md", "memory/folder/../x"):
        with pytest.raises(PathNotAllowedError):
            workspace.read_text(path)
        with pytest.raises(PathNotAllowedError):
            workspace.write_text(path, "x")
    with pytest.raises(PathNotAllowedError):
        workspace.read_text("memory/loop")
    assert os.listdir(outside) == ["secret.md"]


def test_an_area_that_is_a_link_out_is_refused(workspace, tmp_path):
    workspace.tool_result_dir.rmdir()
    (tmp_path / "elsewhere").mkdir()
    workspace.tool_result_dir.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathNotAllowedError):
        workspace.resolve("tool_result/a.txt", inside=workspace.tool_result_dir)


def test_links_inside_and_a_linked_root_work(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "disk")
    workspace = Workspace(tmp_path / "work")
    workspace.create()
    workspace.write_text("memory/a.md", "甲")
    (workspace.notes_dir / "today.md").symlink_to("a.md")
    assert workspace.read_text("memory/today.md") == "甲"
    assert workspace.relative(workspace.root / "memory" / "today.md") == "memory/a.md"
    assert workspace.read_text(str(tmp_path / "disk" / "memory" / "a.md")) == "甲"


@pytest.mark.skipif(not confined._HAS_DIR_FD, reason="the system cannot open relative to a folder")
@pytest.mark.parametrize("swapped", ["memory", "memory/a.md"])
def test_a_link_that_is_swapped_in_after_the_check_leads_nowhere(workspace, tmp_path, monkeypatch, swapped):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    workspace.write_text("memory/a.md", "mine")
    resolve = Workspace.resolve

    def swap_after_resolve(self, path, **kwargs):
        real = resolve(self, path, **kwargs)
        os.rename(workspace.root / swapped, tmp_path / "moved")
        (workspace.root / swapped).symlink_to(outside if swapped == "memory" else outside / "a.md")
        return real

    monkeypatch.setattr(Workspace, "resolve", swap_after_resolve)
    with pytest.raises(PathNotAllowedError, match="link"):
        workspace.read_text("memory/a.md")
    (workspace.root / swapped).unlink()
    os.rename(tmp_path / "moved", workspace.root / swapped)
    if swapped == "memory":
        with pytest.raises(PathNotAllowedError, match="link"):
            workspace.write_text("memory/a.md", "x")
    else:
        workspace.write_text("memory/a.md", "x")  # replaces the link itself
    assert (outside / "a.md").read_text() == "secret"


def test_what_is_no_file_is_refused(workspace):
    os.mkfifo(workspace.notes_dir / "pipe")
    for path in ("memory", "memory/pipe"):
        with pytest.raises(StorageError):
            workspace.read_bytes(path)
    with pytest.raises(StorageError, match="folder"):
        workspace.write_bytes("memory", b"")
    with pytest.raises(StorageError) as caught:
        workspace.read_bytes("memory/none.md")
    assert caught.value.errno == errno.ENOENT


def test_writing_makes_private_folders(workspace):
    path = workspace.write_text("memory/2025/01/a.md", "x")
    assert path == workspace.notes_dir / "2025" / "01" / "a.md"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_bytes_survive_reading_and_writing_as_text(tmp_path_factory, data):
    workspace = Workspace(tmp_path_factory.mktemp("w"))
    workspace.write_bytes("a.md", data)
    workspace.write_text("b.md", workspace.read_text("a.md"))
    assert workspace.read_bytes("b.md") == data


@given(st.text(alphabet=st.characters(), max_size=50))
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_written(tmp_path_factory, text):
    workspace = Workspace(tmp_path_factory.mktemp("w"))
    path = workspace.write_text("a.md", text)
    clean = "".join(char for char in text if not "\udc80" <= char <= "\udcff")
    if clean == text:
        assert path.read_bytes().decode("utf-8", "surrogatepass") == text


PART = st.one_of(
    st.sampled_from(["..", ".", "memory", "out", "loop", "a.md", "", "dialog", "~", "C:", "..\\..", "in"]),
    st.text(max_size=5),
)


@given(st.lists(PART, max_size=6).map("/".join), st.booleans())
@settings(max_examples=300, deadline=None)
def test_whatever_is_resolved_lies_inside(tmp_path_factory, path, absolute):
    base = tmp_path_factory.getbasetemp() / "resolve"
    workspace = Workspace(base / "work")
    if not base.exists():
        workspace.create()
        (base / "outside").mkdir()
        (workspace.root / "out").symlink_to(base / "outside")
        (workspace.root / "in").symlink_to(workspace.notes_dir)
        (workspace.root / "loop").symlink_to(workspace.root / "loop")
    try:
        real = workspace.resolve(f"/{path}" if absolute else path)
    except PathNotAllowedError:
        return
    assert Path(os.path.realpath(real)).is_relative_to(os.path.realpath(workspace.root))
    assert real == workspace.root / workspace.relative(real)
