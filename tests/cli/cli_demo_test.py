# -*- coding: utf-8 -*-
"""The demo, run whole: the real agents, their tools, their memory, both sessions, and the numbers that it shows."""

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _loopback import faults_of, qwen_tokens

from agentscope_reme.cli import main
from agentscope_reme.cli._second_process import OPTION
from agentscope_reme.cli.demo import (
    DIALOGUES,
    TEXTS,
    DemoRun,
    Investigation,
    Outcome,
    PlainView,
    Recollection,
    Remembered,
    SampleProject,
    SecondSession,
    Tally,
    second_report,
)
from agentscope_reme.cli.demo._census import Census
from agentscope_reme.cli.demo._columns import cells
from agentscope_reme.cli.demo._passages import passages_in
from agentscope_reme.testing import ScriptedChatModel, call

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from _loopback import Loopback

WINDOW = 10_000


@dataclass
class Played:
    outcome: Outcome
    lines: list[str]
    requests: list[dict[str, Any]]
    folder: Path
    language: str
    session: Any
    """The memory itself, and what was said, as the census of the run was given them."""
    said: Any

    @property
    def memory(self) -> Path:
        return self.folder / "memory"


@dataclass
class Later:
    """The second session, played in the first one's folder."""

    remembered: Remembered
    lines: list[str]
    requests: list[dict[str, Any]]
    first: Played


def play(folder: Path, language: str, window: int = WINDOW) -> Played:
    written: list[str] = []
    demo = DemoRun(folder, language=language, window=window)
    take, given = Census.take, list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Census, "take", lambda *them: (given.extend(them), take(*them))[1])
        outcome = asyncio.run(demo.play(PlainView(language, written.append), Tally()))
    return Played(outcome, written, requests_of(demo.model), folder, language, *given)


def requests_of(model: ScriptedChatModel) -> list[dict[str, Any]]:
    return [{"messages": each.messages, "tools": each.tools} for each in model.requests]


def play_second(first: Played, model: ScriptedChatModel | None = None) -> Later:
    written: list[str] = []
    session = SecondSession(first.folder, language=first.language, window=WINDOW)
    session.model = model or session.model
    remembered = asyncio.run(session.play(PlainView(first.language, written.append), Tally()))
    return Later(remembered, written, requests_of(session.model), first)


@pytest.fixture(scope="module", params=["en", pytest.param("zh", marks=pytest.mark.slow)])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp(f"demo_{request.param}"), request.param)


@pytest.fixture(scope="module")
def later(played: Played) -> Later:
    return play_second(played)


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
    assert len({line["id"] for line in lines}) == len(lines) == census.said, "the rest went with /new"
    assert len(list(played.memory.glob("tool_result/*.txt"))) == census.files > 10


def test_the_lines_tell_what_happened(played: Played) -> None:
    tally = played.outcome.tally
    text = "".join(played.lines)
    assert len(re.findall(r"^  (?:truncated|截断) +\w+.*→", text, re.M)) == tally.truncations
    assert len(re.findall(r"^  (?:folded|压缩) +\d+ .*→", text, re.M)) == tally.folds
    assert len(re.findall(r"^  (?:grep|read)_working_memory ", text, re.M)) == tally.reloads
    assert re.search(r"^  (?:warning|警告)", text, re.M) is None


def test_the_session_ends_in_notes(played: Played) -> None:
    (day,) = played.memory.glob("memory/*.md")
    memory_md = (played.memory / "MEMORY.md").read_text(encoding="utf-8")
    wish = {
        "en": "begin every answer about an incident with its ticket number",
        "zh": "今后回答故障问题，请一律先写工单号",
    }
    assert memory_md.count("\n- ") == 1
    assert wish[played.language] in memory_md
    assert day.read_text(encoding="utf-8").count("\n- ") == 5
    noted = re.findall(r"^  (?:noted|笔记) +(\S+)  - .* \+(\d) (?:lines?|行)$", "".join(played.lines), re.M)
    assert noted == [(f"memory/{day.name}", "5"), ("MEMORY.md", "1")]


# ---------------------------------------------------------------------- the second session


def test_what_the_sessions_tell_of_their_notes_adds_up(later: Later) -> None:
    (day,) = later.first.memory.glob("memory/*.md")
    told = re.findall(r"\+(\d+) (?:lines?|行)$", "".join([*later.first.lines, *later.lines]), re.M)
    files = [day, later.first.memory / "MEMORY.md"]
    assert sum(map(int, told)) == sum(path.read_text(encoding="utf-8").count("\n- ") for path in files)


def test_a_new_session_answers_from_what_the_first_one_wrote(later: Later) -> None:
    remembered, answers = later.remembered, SampleProject.at(later.first.folder).answers
    assert remembered.sound
    assert remembered.answer.startswith("CHG-4127")
    for name in ("ticket", "author", "before", "after", "setting", "extension"):
        assert answers[name] in remembered.answer
    assert DIALOGUES[later.first.language].unknown not in remembered.answer


def test_it_began_with_nothing_and_had_no_tool_but_the_memory_s(later: Later) -> None:
    first = later.requests[0]
    assert {tool["function"]["name"] for tool in first["tools"]} == {
        "grep_working_memory",
        "read_working_memory",
        "memory_search",
        "memory_get",
    }
    roles = [message["role"] for message in first["messages"]]
    assert roles == ["system", "user", "user", "user"], "MEMORY.md, what was recalled, and the question"
    assert len(list(passages_in(first["messages"]))) == 3
    own = [each for each in first["messages"] if "<memories" not in json.dumps(each)]
    assert len(own) == 2
    assert re.search(r"CHG|5530|l\.moreno|2500", json.dumps(own)) is None


def test_each_value_stands_where_it_is_said_to_stand(later: Later) -> None:
    remembered = later.remembered
    cited = {value for citation in remembered.citations for value in citation.values}
    assert len(cited) == 7, "six values, and the rule of the runbook"
    assert all(value in remembered.answer for value in cited)
    for each in (*remembered.citations, remembered.wish):
        assert each is not None
        line = (later.first.memory / each.path).read_text(encoding="utf-8").splitlines()[each.line - 1]
        text = json.dumps(json.loads(line), ensure_ascii=False) if each.path.endswith(".jsonl") else line
        assert all(value in text for value in each.values)
    assert {each.how for each in remembered.citations} <= {"recalled", "searched"}


def test_its_requests_fit_and_would_not_be_refused(later: Later) -> None:
    assert [fault for request in later.requests for fault in faults_of(request)] == []
    sizes = [qwen_tokens(json.dumps([each["messages"], each["tools"]], ensure_ascii=False)) for each in later.requests]
    assert len(sizes) == len(later.remembered.requests)
    assert max(*sizes, *later.remembered.requests) <= WINDOW


def test_its_lines_tell_what_was_recalled_and_searched(later: Later) -> None:
    text = "".join(later.lines)
    assert len(re.findall(r"^  (?:shown|载入) +MEMORY\.md  - ", text, re.M)) == 1
    assert len(re.findall(r"^  (?:recalled|回忆) +(?:dialog|memory)/\S+:\d+  \S", text, re.M)) == 2
    searches = sum(len(each.get("tool_calls") or []) for each in later.requests[-1]["messages"])
    assert len(re.findall(r"^  memory_search +\S", text, re.M)) == searches
    assert re.search(r"^  (?:warning|警告)", text, re.M) is None
    report = list(second_report(later.remembered, TEXTS[later.first.language], 80))
    assert max(cells(line) for _, line in report) <= 80
    assert sum(line.startswith("  ✓ ") for _, line in report) == len(later.remembered.citations) + 2
    assert not any("✗" in line for _, line in report)


def test_what_the_memory_did_not_show_is_found_out(played: Played, tmp_path: Path) -> None:
    invented = ScriptedChatModel(["It was l.moreno, CHG-4127. Call 5530."])
    later = play_second(replace(played, folder=tmp_path), invented)
    remembered = later.remembered
    assert set(remembered.unfounded) == {"l.moreno", "CHG-4127", "5530"}
    assert (remembered.citations, remembered.wish, remembered.sound) == ([], None, False)
    assert not re.search(r"^  (?:shown|recalled)", "".join(later.lines), re.M)
    report = [line for _, line in second_report(remembered, TEXTS["en"], 110)]
    assert sum(line.startswith("  ✗ ") for line in report) == 3, "made up, incomplete, and not as was wished"


@pytest.mark.parametrize(("answer", "wish"), [("CHG-4127: 5530, l.moreno", True), ("5530, l.moreno, CHG-4127", False)])
def test_the_wish_is_checked(answer: str, wish: bool, played: Played) -> None:
    remembered = play_second(played, ScriptedChatModel([answer])).remembered
    assert (remembered.wish is not None) is wish
    assert not remembered.sound, "it has not all that the script's answer has"


def test_values_that_are_left_out_are_missing(played: Played) -> None:
    remembered = play_second(played, ScriptedChatModel(["CHG-4127: I do not know."])).remembered
    assert remembered.missing == ["extension", "author", "before", "after", "setting", "rule"]
    assert not remembered.sound


# ---------------------------------------------------------------------- the whole command


def test_a_large_window_needs_no_fold(tmp_path: Path) -> None:
    outcome = play(tmp_path, "en", 400_000).outcome
    assert outcome.tally.folds == outcome.tally.reloads == 0
    assert {finding.source for finding in outcome.findings} == {"kept"}
    assert not outcome.missing
    assert outcome.sound


def test_the_second_session_by_itself_prints_plain_lines(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    """What the second process runs, in this one."""
    arguments = ["--plain", "--lang", played.language, "--window", str(WINDOW), OPTION, str(played.folder)]
    assert main(["demo", *arguments]) == 0
    out = capsys.readouterr().out
    assert out.count("  ✓ ") >= 4
    assert "✗" not in out
    assert "\x1b" not in out
    assert re.search(rf"\b{os.getpid()}\b.*\b{os.getppid()}\b", out), "whose process it is"


@pytest.mark.slow
def test_the_command_prints_plain_lines_and_keeps_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kept"
    assert main(["demo", "--plain", "--lang", "en", "--window", "9000", "--dir", str(folder)]) == 0
    captured = capsys.readouterr()
    out = captured.out
    assert captured.err == ""
    assert "replayed from a script" in out
    assert "made of the conversation's own sentences" in out
    first, second = out.split("── a second process, a new session")
    assert first.count("  ✓ ") == 5
    assert second.count("  ✓ ") >= 4
    started = re.search(r"^Process (\d+), started by (\d+),", second, re.M)
    assert started is not None
    assert int(started[2]) == os.getpid() != int(started[1])
    assert "\nCHG-4127: Before you refund, tell the treasury desk, ext. 5530." in second
    assert "memory/MEMORY.md             what stays true (1 line)" in second
    assert re.search(r"memory/memory/\d{4}-\d\d-\d\d\.md  the notes of the day \(7 lines\)", second)
    assert "63 archived messages" in second
    assert "✗" not in out
    assert "\x1b" not in out
    assert str(folder) in out
    assert "It is removed now" not in out
    assert {path.name for path in folder.iterdir()} == {"memory", "project"}


def test_the_proof_would_notice_what_is_missing_twice_there_or_changed(played: Played) -> None:
    (archive,) = played.memory.glob("dialog/*.jsonl")
    lines = archive.read_bytes().splitlines(keepends=True)

    def census_of(changed: list[bytes]) -> Census:
        archive.write_bytes(b"".join(changed))
        return Census.take(played.session, played.said)

    ended = census_of(lines)
    assert (ended.lost, ended.doubled, ended.altered, ended.kept) == (0, 0, 0, 0)
    assert ended.said == ended.archived == played.outcome.census.said
    assert census_of(lines[3:]).lost == 3
    assert census_of([*lines, *lines[:2]]).doubled == 2
    at = next(at for at, line in enumerate(lines) if b"orderdesk" in line)
    assert census_of([*lines[:at], lines[at].replace(b"orderdesk", b"orderdusk"), *lines[at + 1 :]]).altered == 1
    assert census_of(lines) == ended
    longest = max(played.memory.glob("tool_result/*.txt"), key=lambda path: path.stat().st_size)
    text = longest.read_bytes()
    longest.write_bytes(text[:-1])
    assert census_of(lines).altered == 1
    longest.write_bytes(text)
    assert census_of(lines) == ended


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
    ("columns", "language", "panel", "sessions"),
    [
        (80, "zh", "上下文", 1),
        pytest.param(80, "zh", "上下文", 2, marks=pytest.mark.slow),
        pytest.param(120, "en", "context", 2, marks=pytest.mark.slow),
    ],
)
def test_the_live_view_draws_at_a_terminal(
    columns: int, language: str, panel: str, sessions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sessions == 1:
        monkeypatch.setattr("agentscope_reme.cli._first_session.run_second_process", lambda *_, **__: 0)
    monkeypatch.setattr("agentscope_reme.cli._first_session._PACE", 0.0)
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
    assert screen.plain.count("✓") >= (5, 9)[sessions - 1]
    assert "✗" not in screen.plain
    answers = int(language == "zh" and sessions == 2)
    assert screen.plain.count("CHG-4127：") == screen.text.count("CHG-4127：") == answers
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == sessions, "one picture each"
    framed = [line for line in re.split(r"[\r\n]+", screen.plain) if line.startswith("│")]
    assert len(framed) > 90
    assert {cells(line) for line in framed} == {width}
    assert max(cells(line) for line in re.split(r"[\r\n]+", screen.plain)) <= width


@pytest.mark.slow
@at_a_terminal
@pytest.mark.parametrize("at", ["folded", "a second process"])
def test_ctrl_c_ends_it_quietly_and_removes_the_folder(at: str, tmp_path: Path) -> None:
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
    screen.wait_for(at)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.wait(30) == 130
    screen.end()
    assert "Traceback" not in screen.text
    assert screen.text.count("Interrupted.") == 1
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
    words, first, second = DIALOGUES[language], Investigation(language), Recollection(language)
    wish = re.split(r"(?:\. |。)\b", words.follow_up)[-1]

    def answer(body: dict[str, Any], _number: int) -> Any:
        prompt = json.dumps(body["messages"][0], ensure_ascii=False)
        if words.system_prompt in prompt:
            return first(body["messages"], body["tools"])
        if words.desk_prompt in prompt:
            return second(body["messages"], body["tools"])
        if not body.get("tools"):
            return SUMMARY
        if body["messages"][-1]["role"] == "tool" or wish not in json.dumps(body["messages"], ensure_ascii=False):
            return "NOTHING TO NOTE"
        return call("append", file_path="MEMORY.md", content=f"- {wish}")

    server = loopback(answer, window=WINDOW)
    monkeypatch.setenv("LLM_API_KEY", "none")
    monkeypatch.setenv("LLM_BASE_URL", server.url)
    assert main(["demo", "--live", "--model", "m", "--plain", "--lang", language, "--window", str(WINDOW)]) == 0
    out = capsys.readouterr().out
    assert not server.violations
    assert out.count("  ✓ ") >= 7
    assert "✗" not in out
    assert len(re.findall(r"^  (?:folded|压缩) +\d+ .*(?:by the model|模型撰写)", out, re.M)) >= 3
    assert re.search(rf"^  (?:noted|笔记) +MEMORY\.md  - {wish[:20]}", out, re.M)


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
