# -*- coding: utf-8 -*-
"""Each report of the groups and each fault has a test that exists, or a reason."""

import ast
from functools import cache
from pathlib import Path

import pytest
from reports import FAULTS, GROUPS, LAST_FAULT, REPORTS, Report

TESTS = Path(__file__).parent.parent
SERVICES = range(83, LAST_FAULT + 1)
NAMED = {**REPORTS, **{f"fault {number}": fault for number, fault in FAULTS.items()}}


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


@cache
def collected(file: str) -> bool:
    """Whether pytest would find the file."""
    return file.endswith("_test.py")


def faults_of(name: str, report: Report) -> list[str]:
    found = [] if report.tests or report.reason else [f"{name} has neither a test nor a reason"]
    for test in report.tests:
        file, _, function = test.partition("::")
        if not (TESTS / file).is_file():
            found.append(f"{name}: there is no {file}")
        elif not collected(file) or not function.startswith("test_") or function not in functions_of(file):
            found.append(f"{name}: there is no {test}")
    return found


def test_every_report_has_a_test_or_a_reason():
    expected = {f"{group}{number}" for group, count in GROUPS.items() for number in range(1, count + 1)}
    assert expected <= set(REPORTS)
    assert set(FAULTS) == set(range(1, LAST_FAULT + 1))
    assert all(report.kind for report in NAMED.values())


def test_every_test_that_is_named_exists():
    assert not [fault for name, report in NAMED.items() for fault in faults_of(name, report)]


def test_nothing_is_put_off_but_services():
    assert not [name for name, report in REPORTS.items() if report.reason]
    assert [number for number, fault in FAULTS.items() if fault.reason or not fault.tests] == list(SERVICES)


def test_every_re_enactment_is_of_a_report():
    """A test in this folder that no report names would be one that nobody can look up."""
    used = {test for report in NAMED.values() for test in report.tests}
    written = {
        f"reports/{path.name}::{function}"
        for path in Path(__file__).parent.glob("reported_*_test.py")
        for function in functions_of(f"reports/{path.name}")
        if function.startswith("test_")
    }
    assert written - used == set()


@pytest.mark.parametrize(
    "report",
    [
        Report("nothing to show for it"),
        Report("no such file", ("reports/nowhere_test.py::test_it",)),
        Report("no such function", ("reports/reports_test.py::test_that_nobody_wrote",)),
        Report("no test", ("reports/reports_test.py::functions_of",)),
    ],
)
def test_a_gap_in_the_table_is_found(report):
    assert faults_of("X1", report)
