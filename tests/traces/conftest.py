# -*- coding: utf-8 -*-
"""Where the runs come from: the sample in tests/data always, the full sets where their path is given."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from _trace_formats import FOLDERS, SAMPLE, Trace, load_traces

_FIGURES: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--traces", help="the folder of the full sets: swe_agent, openhands and tau_bench in it")


def pytest_terminal_summary(terminalreporter) -> None:
    if _FIGURES:
        terminalreporter.section("traces")
        for line in _FIGURES:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session", params=FOLDERS)
def source(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session", params=["sample", pytest.param("full", marks=pytest.mark.slow)])
def size(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def report(size: str) -> Callable[[str], None]:
    """Takes lines about the full sets for the end of the run."""
    return _FIGURES.append if size == "full" else lambda _: None


@pytest.fixture(scope="session")
def traces(request: pytest.FixtureRequest, size: str, source: str) -> list[Trace]:
    """The runs of one source, of the sample or of the full set."""
    if size == "sample":
        return load_traces(SAMPLE, source)
    given = request.config.getoption("traces", None) or os.environ.get("REME_TRACES")
    if not given:
        pytest.skip(
            "no full sets: pytest tests/traces --traces PATH, or REME_TRACES=PATH; tests/data/README.md says what"
        )
    folder = Path(given) / source
    if not folder.is_dir():
        pytest.skip(f"{folder} is no folder: the full sets are incomplete there")
    return load_traces(Path(given), source)
