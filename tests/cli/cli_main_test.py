# -*- coding: utf-8 -*-
"""The command line around the demo: help, errors, exit codes, and the model of `--live`."""

import io
import json
import os
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import agentscope_reme
from agentscope_reme.cli import main
from agentscope_reme.cli.demo import DIALOGUES
from agentscope_reme.testing import call

if TYPE_CHECKING:
    from _loopback import Loopback


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentscope-reme {agentscope_reme.__version__}\n"


@pytest.mark.parametrize("module", ["agentscope_reme", "agentscope_reme.cli"])
def test_it_runs_as_a_module_too(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["-m", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module(module, run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("agentscope-reme ")


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: agentscope-reme")
    assert "demo" in out
    assert "--second-session" not in out


def test_nothing_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dmeo"], "dmeo"),
        (["demo", "--fast"], "--fast"),
        (["demo", "--lang", "fr"], "fr"),
        (["demo", "--window", "much"], "'much' is no number"),
        (["demo", "--window", "400"], "400 is too small"),
        (["demo", "--model", "qwen-plus"], "--live"),
        (["demo", "--live"], "LLM_API_KEY"),
        (["demo", "--dir", "."], "not empty"),
        (["demo", "--second-session", "nowhere"], "no first session"),
    ],
)
def test_a_wrong_use_is_named_and_exits_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_an_own_endpoint_needs_a_model_s_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret-1")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    assert main(["demo", "--live"]) == 2
    assert "LLM_MODEL_NAME" in capsys.readouterr().err


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from agentscope_reme.cli.demo import DemoRun

    async def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DemoRun, "play", interrupted)
    assert main(["demo", "--plain", "--lang", "en"]) == 130
    captured = capsys.readouterr()
    assert captured.out.endswith("Interrupted.\n")
    assert captured.err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way")
def test_a_closed_pipe_is_141(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["--help"]) == 141


@pytest.mark.parametrize(
    ("env", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({}, "en"),
    ],
)
def test_the_language_is_the_locale_s(env: dict[str, str], language: str) -> None:
    from agentscope_reme.cli._terminal import Terminal

    assert Terminal(io.StringIO(), io.StringIO(), env).language == language


class Service:
    """What the server of a live model answers: to the agent of each session, and to the note writer."""

    def __init__(self, first: list[Any], second: list[Any]) -> None:
        self.first: list[dict[str, Any]] = []
        self.second: list[dict[str, Any]] = []
        self.notes = 0
        self._first, self._second = iter(first), iter(second)

    def __call__(self, body: dict[str, Any], _number: int) -> Any:
        prompt = json.dumps(body["messages"][0], ensure_ascii=False)
        if DIALOGUES["en"].system_prompt in prompt:
            self.first.append(body)
            return next(self._first)
        if DIALOGUES["en"].desk_prompt in prompt:
            self.second.append(body)
            return next(self._second)
        self.notes += 1
        if body["messages"][-1]["role"] == "tool":
            return "Noted."
        line = "- From now on, begin every answer about an incident with its ticket number."
        return call("append", file_path="MEMORY.md", content=line)


@pytest.mark.slow
def test_a_real_model_drives_both_sessions(
    loopback: "Callable[..., Loopback]",
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    service = Service(
        [
            ["I look around.", call("list_files", path=".")],
            [call("read_file", path="../../../etc/passwd"), call("run_command", command="rm -rf .")],
            "Found.",
            "CHG-4127, I think.",
        ],
        [call("memory_search", query="ticket CHG-4127"), "CHG-4127: perhaps l.moreno."],
    )
    server = loopback(service, window=16_000)
    monkeypatch.setenv("LLM_API_KEY", "secret-1")
    monkeypatch.setenv("LLM_BASE_URL", server.url.replace("http://", "http://user:secret-2@"))
    monkeypatch.setenv("LLM_MODEL_NAME", "some-model")
    assert main(["demo", "--live", "--plain", "--lang", "en", "--dir", str(tmp_path / "d")]) == 0
    captured = capfd.readouterr()
    first, second = captured.out.split("── a second process")
    assert f"Driven by some-model at {server.url}." in first.splitlines()[1]
    assert "secret" not in captured.out + captured.err
    assert "Summaries and notes are written by the same model." in first
    assert "the answer has 1 of 13 values" in first
    assert "noted               MEMORY.md  - From now on, begin every answer" in first
    assert not server.violations
    refused = [each["content"] for each in service.first[2]["messages"] if each["role"] == "tool"][1:]
    assert "leads out" in refused[0]
    assert "there is no command 'rm -rf .'" in refused[1]
    assert (len(service.first), len(service.second), service.notes > 1) == (4, 2, True)
    assert "shown               MEMORY.md  - From now on, begin every answer" in second
    assert re.search(r"^  ✓ CHG-4127: (?:recalled|found by memory_search), dialog/\S+:\d+$", second, re.M)
    assert "  ✗ l.moreno: in the answer, and in nothing that the memory showed" in second
    assert "  ✗ the answer has not all that was asked for; missing: extension" in second
    assert "  ✓ it begins with the ticket number, the wish in MEMORY.md:" in second


def test_a_service_that_refuses_is_one_line(
    loopback: "Callable[..., Loopback]", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from _loopback import Status

    server = loopback(lambda _body, _number: Status(401, "no such key"))
    monkeypatch.setenv("LLM_API_KEY", "secret-1")
    monkeypatch.setenv("LLM_BASE_URL", server.url)
    assert main(["demo", "--live", "--model", "m", "--plain", "--lang", "en"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"agentscope-reme: error: m at {server.url} failed: ")
    assert "no such key" in captured.err
    assert "Traceback" not in captured.out + captured.err
