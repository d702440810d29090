# -*- coding: utf-8 -*-
"""The demo, run whole: the real agent, its tools, its memory, and the numbers that it shows."""

import asyncio
import codecs
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _loopback import faults_of, qwen_tokens

from agentscope_reme.cli import main
from agentscope_reme.cli.demo import DIALOGUES, DemoRun, Investigation, Outcome, PlainView, Tally
from agentscope_reme.cli.demo._census import Census
from agentscope_reme.cli.demo._columns import cells

if TYPE_CHECKING:
    from _loopback import Loopback

WINDOW = 8_000


@dataclass
class Played:
    outcome: Outcome
    lines: list[str]
    requests: list[dict[str, Any]]
    memory: Path


def play(folder: Path, language: str, window: int = WINDOW) -> Played:
    written: list[str] = []
    demo = DemoRun(folder, language=language, window=window)
    outcome = asyncio.run(demo.play(PlainView(language, written.append), Tally()))
    requests = [{"messages": each.messages, "tools": each.tools} for each in demo.model.requests]
    return Played(outcome, written, requests, folder / "memory")


@pytest.fixture(scope="module", params=["en", "zh"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp(f"demo_{request.param}"), request.param)


def test_it_takes_several_folds_and_many_truncations(played: Played) -> None:
    tally, census = played.outcome.tally, played.outcome.census
    assert tally.folds >= 3
    assert tally.truncations >= 10
    assert tally.reloads >= 3
    assert census.ratio > 20
    assert census.said_tokens > 10 * WINDOW


def test_no_request_is_above_the_window_by_qwen_s_own_count(played: Played) -> None:
    sizes = [qwen_tokens(json.dumps([each["messages"], each["tools"]], ensure_ascii=False)) for each in played.requests]
    assert len(sizes) == len(played.outcome.requests) == played.outcome.tally.steps
    assert max(sizes) <= WINDOW
    assert max(played.outcome.requests) <= WINDOW


def test_no_request_would_be_refused(played: Played) -> None:
    assert [fault for request in played.requests for fault in faults_of(request)] == []


def test_the_report_is_right_and_a_part_of_it_was_looked_up_again(played: Played) -> None:
    outcome = played.outcome
    assert not outcome.missing
    assert len(outcome.right) == 13
    assert sum(finding.source == "archive" for finding in outcome.findings) >= 2
    reported = {name: value for finding in outcome.findings for name, value in finding.values.items()}
    assert set(reported) == set(outcome.right)


def test_what_it_reports_was_in_no_message_that_the_script_did_not_see(played: Played) -> None:
    last = json.dumps(played.requests[-1]["messages"], ensure_ascii=False)
    for finding in played.outcome.findings:
        for value in finding.values.values():
            assert value in last


def test_everything_that_was_said_is_in_one_place(played: Played) -> None:
    census = played.outcome.census
    assert (census.lost, census.doubled, census.altered) == (0, 0, 0)
    assert census.said == census.kept + census.archived
    assert census.archived >= 30
    assert played.outcome.sound
    # ... and by the files themselves, without the census
    archive = b"".join(path.read_bytes() for path in played.memory.glob("dialog/*.jsonl"))
    lines = [json.loads(line) for line in archive.split(b"\n") if line]
    assert len({line["id"] for line in lines}) == len(lines) == census.archived
    assert len(list(played.memory.glob("tool_result/*.txt"))) == census.files > 10


def test_the_lines_tell_what_happened(played: Played) -> None:
    tally = played.outcome.tally
    text = "".join(played.lines)
    assert len(re.findall(r"^  (?:truncated|截断) +\w+.*→", text, re.M)) == tally.truncations
    assert len(re.findall(r"^  (?:folded|压缩) +\d+ .*→", text, re.M)) == tally.folds
    assert len(re.findall(r"^  (?:grep|read)_working_memory ", text, re.M)) == tally.reloads
    assert re.search(r"^  (?:warning|警告)", text, re.M) is None


def test_a_large_window_needs_no_fold(tmp_path: Path) -> None:
    outcome = play(tmp_path, "en", 400_000).outcome
    assert outcome.tally.folds == outcome.tally.reloads == 0
    assert {finding.source for finding in outcome.findings} == {"kept"}
    assert not outcome.missing
    assert outcome.sound


def test_the_command_prints_plain_lines_and_keeps_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    assert main(["demo", "--plain", "--lang", "en", "--window", "9000", "--dir", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "replayed from a script" in out
    assert "extracted from the conversation's own sentences" in out
    assert out.count("  ✓ ") == 5
    assert "✗" not in out
    assert "\x1b" not in out
    assert str(folder) in out
    assert "It is removed now" not in out
    assert {path.name for path in folder.iterdir()} == {"memory", "project"}


def test_the_proof_would_notice_what_is_missing_twice_there_or_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[Any, Any]] = []
    take = Census.take.__func__

    def taking(cls: type[Census], memory: Any, said: Any) -> Census:
        taken.append((memory, said))
        return take(cls, memory, said)

    monkeypatch.setattr(Census, "take", classmethod(taking))
    outcome = play(tmp_path, "en").outcome
    ((memory, said),) = taken
    (archive,) = (tmp_path / "memory/dialog").glob("*.jsonl")
    lines = archive.read_bytes().splitlines(keepends=True)

    def census_of(changed: list[bytes]) -> Census:
        archive.write_bytes(b"".join(changed))
        return take(Census, memory, said)

    assert outcome.sound
    assert census_of(lines[3:]).lost == 3
    assert census_of([*lines, *lines[:2]]).doubled == 2
    assert census_of([lines[0].replace(b"overview", b"oversight"), *lines[1:]]).altered == 1
    assert census_of(lines) == outcome.census
    longest = max((tmp_path / "memory/tool_result").glob("*.txt"), key=lambda path: path.stat().st_size)
    longest.write_bytes(longest.read_bytes()[:-1])
    assert census_of(lines).altered == 1


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

at_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


class Screen:
    """A pseudo-terminal: what is written to `slave` appears in `text`."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with contextlib.suppress(OSError):  # Linux says so at the end
            while data := os.read(self._master, 65_536):
                self.text += decoder.decode(data)

    @property
    def plain(self) -> str:
        return ESCAPE.sub("", self.text)

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.text:
            assert time.monotonic() < end, self.text
            time.sleep(0.02)

    def end(self) -> None:
        self._thread.join(30)
        os.close(self._master)


@at_a_terminal
@pytest.mark.parametrize(
    ("columns", "language", "panel"), [(80, "zh", "上下文"), pytest.param(120, "en", "context", marks=pytest.mark.slow)]
)
def test_the_live_view_draws_at_a_terminal(
    columns: int, language: str, panel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentscope_reme.cli._demo_command._PACE", 0.0)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = Screen(columns)
    with open(screen.slave, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["demo", "--lang", language]) == 0
    screen.end()
    text, width = screen.text, min(columns, 110)
    assert text.count("\x1b[1A") > 100, "the panel is drawn over itself"
    assert text.index("\x1b[?25l") < text.rindex("\x1b[?25h"), "the cursor is hidden, and shown again"
    assert f"╭─ {panel} ─" in screen.plain
    assert "┃" in screen.plain
    assert screen.plain.count("✓") == 5
    framed = [line for line in re.split(r"[\r\n]+", screen.plain) if line.startswith("│")]
    assert len(framed) > 90
    assert {cells(line) for line in framed} == {width}
    assert max(cells(line) for line in re.split(r"[\r\n]+", screen.plain)) <= width


@pytest.mark.slow
@at_a_terminal
def test_ctrl_c_ends_it_quietly_and_removes_the_folder(tmp_path: Path) -> None:
    screen = Screen()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES", "CI")}
    process = subprocess.Popen(
        [sys.executable, "-m", "agentscope_reme.cli", "demo", "--lang", "en"],
        stdin=screen.slave,
        stdout=screen.slave,
        stderr=screen.slave,
        env={**env, "TERM": "xterm-256color", "PYTHONUTF8": "1", "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    os.close(screen.slave)
    screen.wait_for("folded")
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 130
    screen.end()
    assert "Traceback" not in screen.text
    assert "Interrupted." in screen.text
    assert screen.text.rindex("\x1b[?25h") > screen.text.rindex("\x1b[?25l")
    assert list(tmp_path.iterdir()) == []


SUMMARY = """\
## Goal
- Find why customers get 502.

## Constraints
- Change nothing.

## Progress
### Done
- read logs/server.log

## Key Decisions
- none

## Next Steps
- go on

## Critical Context
- orderdesk/paylane.py
"""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_real_model_s_requests_fit_and_a_poor_summary_loses_nothing(
    language: str,
    loopback: "Callable[..., Loopback]",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The server decides as the script does, writes summaries that say little, and refuses what is over the window."""
    script = Investigation(language)

    def answer(body: dict[str, Any], _number: int) -> Any:
        agent = DIALOGUES[language].system_prompt in json.dumps(body["messages"][0], ensure_ascii=False)
        return script(body["messages"], body["tools"]) if agent else SUMMARY

    server = loopback(answer, window=WINDOW)
    monkeypatch.setenv("LLM_API_KEY", "none")
    monkeypatch.setenv("LLM_BASE_URL", server.url)
    assert main(["demo", "--live", "--model", "m", "--plain", "--lang", language, "--window", str(WINDOW)]) == 0
    out = capsys.readouterr().out
    assert not server.violations
    assert out.count("  ✓ ") == 4
    assert "✗" not in out
    assert len(re.findall(r"^  (?:folded|压缩) +\d+ .*(?:by the model|模型撰写)", out, re.M)) >= 3


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentscope_reme.cli", "demo", "--plain", "--lang", "en"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"agentscope-reme ")
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141
