# -*- coding: utf-8 -*-
"""The parts of the demo: the sample project, the tools' confinement, the scripts' honesty, the texts, the columns."""

import asyncio
import json
import os
import re
import string
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import Event, EventKind
from agentscope_reme.cli.demo import (
    DIALOGUES,
    FACTS,
    TEXTS,
    Commands,
    Investigation,
    Passage,
    ProjectTools,
    Recollection,
    SampleProject,
    Tally,
)
from agentscope_reme.cli.demo._columns import cells, fitted, padded, row, wrapped
from agentscope_reme.cli.demo._passages import holds, line_of, passages_in
from agentscope_reme.cli.demo._recollection import REMEMBERED
from agentscope_reme.cli.demo._report import heading
from agentscope_reme.cli.demo._witness import Witness
from agentscope_reme.message import MessageTokens, delimited
from agentscope_reme.testing import ToolCall
from agentscope_reme.workspace import Workspace


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    return SampleProject.write(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> SampleProject:
    """A project with a link that leads out."""
    project = SampleProject.write(tmp_path_factory.mktemp("linked"))
    os.symlink("/etc", project.root / "link")
    return project


def files_of(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def text_of(response: Any) -> str:
    return "\n".join(block["text"] for block in response.content)


def ask(project: SampleProject, tool: str, **arguments: Any) -> str:
    return text_of(asyncio.run(getattr(ProjectTools(project.root), tool)(**arguments)))


# ---------------------------------------------------------------------- the project


def test_the_project_is_the_same_every_time(project: SampleProject, tmp_path: Path) -> None:
    again = SampleProject.write(tmp_path)
    assert files_of(again.root) == files_of(project.root)
    assert again.answers == project.answers == SampleProject.at(project.root).answers


def test_the_log_is_long_and_shows_what_the_answers_say(project: SampleProject) -> None:
    log = (project.root / "logs/server.log").read_text(encoding="utf-8")
    assert 100_000 < len(log) < 200_000
    lines = log.splitlines()
    failed = [line for line in lines if " PoolEmpty" in line]
    assert len(failed) == int(project.answers["failed"])
    assert project.answers["first_time"] in failed[0]
    assert project.answers["first_request"] in failed[0]
    before = lines[: lines.index(failed[0])]
    assert sum(" timeout," in line for line in before) == int(project.answers["timeouts"])
    path, number = project.answers["code"].split(":")
    assert (project.root / path).read_text(encoding="utf-8").splitlines()[int(number) - 1].strip() == "continue"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_fact_can_be_found_with_the_tools_alone(language: str, tmp_path: Path) -> None:
    project = SampleProject.write(tmp_path, language)
    shown = "\n".join(
        [
            ask(project, "read_file", path="docs/deploys.md"),
            ask(project, "read_file", path="docs/runbook.md"),
            ask(project, "search_files", pattern="continue", path="orderdesk"),
            *(ask(project, "run_command", command=command) for command in ("settings", "log_stats", "replay")),
        ]
    )
    found = {}
    for fact in FACTS:
        match = re.search(fact.pattern, shown)
        assert match is not None, fact.names
        assert fact.search[language] in shown
        found.update(zip(fact.names, match.groups(), strict=True))
    assert found == project.answers


def test_the_tests_of_the_project_find_the_fault(project: SampleProject) -> None:
    printed = ask(project, "run_command", command="tests")
    assert len(printed) > 30_000
    assert "a connection that timed out is lost" in printed
    assert printed.endswith("[exit code 1]")


# ---------------------------------------------------------------------- the tools


@pytest.mark.parametrize("tool", ["read_file", "list_files", "search_files"])
@pytest.mark.parametrize("path", ["..", "../../etc/passwd", "/etc/passwd", "docs/../../x", "link/passwd", "\0", ""])
def test_no_tool_leads_out(tool: str, path: str, linked: SampleProject) -> None:
    project = linked
    arguments = {"path": path, "pattern": "root"} if tool == "search_files" else {"path": path}
    answer = ask(project, tool, **arguments)
    assert answer.startswith("Error: ")
    assert "root:" not in answer


def test_nothing_in_the_project_changes(project: SampleProject) -> None:
    before = files_of(project.root)
    for command in ("settings", "log_stats", "replay"):
        ask(project, "run_command", command=command)
    ask(project, "search_files", pattern="x")
    assert files_of(project.root) == before


def test_arguments_are_taken_as_a_model_writes_them(project: SampleProject) -> None:
    answer = ask(project, "read_file", path="logs/server.log", start_line="7", lines="2")
    assert answer.splitlines()[0].startswith("logs/server.log, lines 7 to 8 of ")
    assert len(answer.splitlines()) == 3
    assert ask(project, "read_file", path="README.md", start_line=900) == "Error: README.md has 10 lines."
    assert ask(project, "read_file", path="none.txt").startswith("Error: ")
    assert ask(project, "search_files", pattern=".*", path="docs").startswith("0 lines with '.*'")


def run(root: Path, code: str, **limits: Any) -> str:
    return asyncio.run(Commands(root, {"it": (sys.executable, "-c", code)}, **limits).run("it"))


def test_a_command_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    printed = run(tmp_path, "import time; print('begun', flush=True); time.sleep(60)", timeout=0.5)
    assert printed == "$ it\nbegun\n[stopped after 0.5 seconds]"


def test_a_command_that_prints_without_end_is_stopped(tmp_path: Path) -> None:
    printed = run(tmp_path, "while True: print('y' * 99)", max_bytes=10_000)
    assert printed.endswith("[stopped after 10000 bytes of output]")
    assert len(printed) < 10_100


def test_a_command_sees_no_keys_and_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret")
    printed = run(tmp_path, "import os, sys; print(sorted(os.environ), repr(sys.stdin.read()), os.getcwd())")
    assert "LLM_API_KEY" not in printed
    assert "'' " in printed
    assert os.path.realpath(tmp_path) in printed


# ---------------------------------------------------------------------- the script


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_script_that_is_shown_nothing_reports_nothing(language: str) -> None:
    script = Investigation(language)
    nothing = [{"role": "system", "content": "..."}, {"role": "user", "content": "..."}]
    replies = []
    while not (replies and isinstance(replies[-1], str) and len(replies) > 24):
        replies.append(script(nothing, None))
    report = replies[-1]
    assert report.count(DIALOGUES[language].unknown) == sum(report_places(language).values())
    assert script.findings == []
    searched = [call.arguments["pattern"] for reply in replies[24:-1] for call in reply if not isinstance(call, str)]
    assert len(searched) == len(set(searched)) == len({fact.search[language] for fact in FACTS})


def report_places(language: str) -> Mapping[str, int]:
    names = [name for _, name, _, _ in string.Formatter().parse(DIALOGUES[language].report) if name]
    return {name: names.count(name) for name in names}


def test_the_person_s_words_are_no_findings() -> None:
    from agentscope_reme.cli.demo._facts import Seen

    said = "pool.size                    24                       from config/default.ini:15"
    fact = next(fact for fact in FACTS if fact.names == ("pool",))
    assert Seen([{"role": "system", "content": said}, {"role": "user", "content": said}]).find(fact) is None
    found = Seen([{"role": "assistant", "content": [{"type": "text", "text": said}]}]).find(fact)
    assert found is not None
    assert (found.values, found.source) == ({"pool": "24"}, "kept")


# ---------------------------------------------------------------------- the second script, and what it reads


def shown(*passages: Passage) -> list[dict[str, Any]]:
    """A request that shows passages of the memory, as it does, and then the person's question."""
    memory_md = "\n".join(each.text for each in passages if each.how == "shown")
    recalled = "\n".join(f"- [{each.path}:{each.line}] {each.text}" for each in passages if each.how == "recalled")
    return [
        {"role": "system", "content": "..."},
        {"role": "user", "content": f"...\n{delimited(memory_md, 'memories', source='MEMORY.md')}"},
        {"role": "user", "content": f"...\n{delimited(recalled, 'memories')}"},
        {"role": "user", "content": [{"type": "text", "text": "- [a.md:1] CHG-1 by x: paylane.timeout_ms 1 -> 2"}]},
    ]


def test_passages_are_what_the_memory_shows_and_no_words_of_the_person() -> None:
    passages = [Passage("shown", "MEMORY.md", 1, "# Memory\n\n- a"), Passage("recalled", "memory/a [b].md", 7, "c: d")]
    hits = [{"path": "dialog/1.jsonl", "start_line": 3, "snippet": "e\nf", "score": 0.5}]
    answers = [
        {"role": "tool", "content": json.dumps(hits) + "\n1 more is left out."},
        {"role": "tool", "content": delimited("g", "memory", path="MEMORY.md", lines="4-9", of=12)},
        {"role": "tool", "content": "[]\nNothing was found."},
        {"role": "tool", "content": "[1, 2]"},
        {"role": "tool", "content": "logs/server.log, lines 1 to 2 of 9"},
        {"role": "assistant", "content": None},
    ]
    request = [*shown(*passages[:1], replace(passages[1], path="memory/a b.md")), *answers]
    assert list(passages_in(request)) == [
        passages[0],
        Passage("recalled", "memory/a b.md", 7, "c: d"),
        Passage("searched", "dialog/1.jsonl", 3, "e\nf"),
        Passage("searched", "MEMORY.md", 4, "g"),
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_script_that_is_shown_nothing_answers_nothing(language: str) -> None:
    script, request = Recollection(language), shown()
    searches = script(request, None)
    assert isinstance(searches, list)
    asked = [each.arguments["query"] for each in searches if isinstance(each, ToolCall)]
    assert asked == [fact.search[language] for fact in REMEMBERED]
    answer = script(request, None)
    assert str(answer).count(DIALOGUES[language].unknown) == 6
    assert not re.search("CHG|5530|2500", str(answer))
    assert script.values == {}


def test_a_script_answers_what_it_is_shown_whatever_that_is() -> None:
    report = "CHG-9 by a.b: paylane.timeout_ms 7 -> 8 Setting x/y.ini:3 Tell the treasury desk, ext. 99, before"
    rule = "7 | 4. Tell the treasury desk (ext. 98) before anybody refunds. 8 |"
    script = Recollection("en")
    answer = str(script(shown(Passage("recalled", "m.md", 1, report), Passage("recalled", "n.md", 1, rule)), None))
    assert answer.startswith("Before you refund, tell the treasury desk, ext. 99.")
    assert '"4. Tell the treasury desk (ext. 98) before anybody refunds."' in answer
    assert "a.b's change: paylane.timeout_ms from 7 to 8 (x/y.ini:3)" in answer
    wish = Passage("shown", "MEMORY.md", 1, "- Begin every answer about an incident with its ticket.".replace("B", "b"))
    script = Recollection("en")
    passages = (wish, Passage("recalled", "m.md", 1, report), Passage("recalled", "n.md", 1, rule))
    assert str(script(shown(*passages), None)) == f"CHG-9: {answer}"


@pytest.mark.parametrize(
    ("text", "held"),
    [("250", True), ("=250, 从250改", True), ("2500", False), ("1.250", False), ("a_250", False), ("250ms", False)],
)
def test_a_value_stands_by_itself(text: str, held: bool) -> None:
    assert holds(text, "250") is held


def test_the_line_of_a_value_is_looked_up_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x\n5530\ny 5530\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(f"{json.dumps({'a': '“规则 4”，分机 5530。'})}\nno json 42\n", "utf-8")
    workspace = Workspace(tmp_path)

    def line(path: str, start: int, value: str) -> int | None:
        return line_of(workspace, Passage("recalled", path, start, "whatever it claims: 7777"), value)

    assert [line("a.md", 1, "5530"), line("a.md", 3, "5530"), line("a.md", 4, "5530")] == [2, 3, None]
    assert [line("b.jsonl", 1, "“规则 4”，分机 5530。"), line("b.jsonl", 1, "42")] == [1, None]
    assert [line("a.md", 1, "7777"), line("none.md", 1, "5530"), line("../a.md", 1, "5530")] == [None, None, None]


# ---------------------------------------------------------------------- the texts


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_say_the_same_things() -> None:
    en, zh = TEXTS["en"], TEXTS["zh"]
    assert set(en) == set(zh)
    for key in en:
        assert places(en[key]) == places(zh[key]), key
    english, chinese = DIALOGUES["en"], DIALOGUES["zh"]
    assert set(english.chapters) == set(chinese.chapters)
    for field in fields(chinese):
        said = getattr(chinese, field.name)
        words = "".join(said.values()) if isinstance(said, Mapping) else said
        assert re.search("[一-鿿]", words) or not re.search(r"\w", re.sub(r"{\w+}", "", words))
        assert isinstance(said, Mapping) or places(said) == places(getattr(english, field.name))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_stands_alone_fits_eighty_columns(language: str) -> None:
    for chapter in DIALOGUES[language].chapters.values():
        assert cells(chapter) <= 76
    for name in ("answer", "became", "proof", "second", "checked", "where"):
        ((_, line),) = heading(TEXTS[language][name], 80)
        assert cells(line) == 80


# ---------------------------------------------------------------------- the columns

MIXED = st.text(st.sampled_from("ab z中文，。é\u0301—…"), max_size=80)


@given(MIXED, st.integers(0, 40))
def test_fitted_text_fits_and_is_cut_only_where_it_must_be(text: str, width: int) -> None:
    shown = fitted(text, width)
    assert cells(shown) <= max(width, 0)
    assert shown == text or (cells(text) > width and (not shown or shown[-1] == "…"))


@given(MIXED, st.integers(4, 40), st.sampled_from(["", "  "]))
def test_wrapped_text_fits_and_loses_only_spaces(text: str, width: int, indent: str) -> None:
    lines = list(wrapped(text, width, indent))
    assert all(cells(line) <= width for line in lines)
    assert all(line.startswith(indent) and line.strip() for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(MIXED, MIXED, st.sampled_from(["", "5,561 → 436", "27,034 tokens"]), st.integers(60, 120))
def test_a_row_is_exactly_as_wide_as_the_screen(label: str, text: str, figure: str, width: int) -> None:
    line = row(label, text, figure, width)
    assert cells(line) == width
    assert line.endswith(figure)


@given(MIXED, st.integers(0, 60))
def test_padded_text_is_as_wide_as_asked(text: str, width: int) -> None:
    assert cells(padded(text, width)) == max(width, cells(text))
    assert padded(text, width, right=True).endswith(text)


def test_of_a_note_that_was_there_only_the_new_lines_are_told(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    path, told = "memory/2026-01-01.md", list[tuple[str, int]]()
    workspace.write_text(path, "- a\n- b\n")
    memory: Any = SimpleNamespace(services=SimpleNamespace(workspace=workspace), shown=[])
    view: Any = SimpleNamespace(noted=lambda note, lines, _: told.append((note, lines)), gauged=lambda _: None)
    witness = Witness(view, MessageTokens(len), Tally(), memory)
    workspace.write_text(path, "- a\n- b\n- c\n")
    workspace.write_text("MEMORY.md", "- d\n")
    witness.told(Event(EventKind.NOTED, details={"files": [path], "memory_md": True}))
    assert told == [(path, 1), ("MEMORY.md", 1)]
