# -*- coding: utf-8 -*-
"""What the two READMEs show runs as it stands, and both show the same."""

import asyncio
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README_zh.md")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", READMES)
def test_the_twelve_lines_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program = blocks(name, "python")[0]
    exec(compile(program, name, "exec"), {"__name__": "__main__"})
    assert re.search("Hello!|你好！", capsys.readouterr().out)
    assert (tmp_path / ".reme" / ".state" / "sessions").is_dir()


@pytest.mark.parametrize("name", READMES)
def test_the_other_programs_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for program in blocks(name, "python")[1:]:
        body = "".join(f"    {line}\n" for line in program.splitlines())
        space: dict = {}
        exec("from agentscope_reme import *\nasync def main():\n" + body, space)
        asyncio.run(space["main"]())
    assert "pytest" in capsys.readouterr().out


def test_both_show_the_same():
    ours, zh = ((ROOT / name).read_text("utf-8") for name in READMES)
    commands = [[line.split("#")[0].strip() for line in blocks(name, "bash")[0].splitlines()] for name in READMES]
    assert commands[0] == commands[1]
    assert len(re.findall("^## ", ours, re.MULTILINE)) == len(re.findall("^## ", zh, re.MULTILINE))
    assert len(re.findall(r"^\| ", ours, re.MULTILINE)) == len(re.findall(r"^\| ", zh, re.MULTILINE))


@pytest.mark.parametrize("name", [*READMES, "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/from_reme.md"])
def test_links_and_named_files_exist(name):
    text = (ROOT / name).read_text("utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert ((ROOT / name).parent / target).exists(), target
    for path in re.findall(r"`((?:tests|demos|docs|agentscope_reme)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
