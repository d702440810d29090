# -*- coding: utf-8 -*-
"""What a row of the tables is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

__all__ = ["Report", "elsewhere", "joined", "kept"]

Name = TypeVar("Name")


@dataclass(frozen=True)
class Report:
    """One report or fault.

    Attributes:
        kind (`str`): what went wrong.
        tests (`tuple[str, ...]`): what re-enacts it, as `folder/file.py::function` below `tests/`.
        reason (`str`): why there is no test here, where there is none.
    """

    kind: str
    tests: tuple[str, ...] = ()
    reason: str = ""


def kept(kind: str, *tests: str) -> Report:
    return Report(kind, tests)


def elsewhere(kind: str, reason: str, *tests: str) -> Report:
    return Report(kind, tests, reason)


def joined(*tables: Mapping[Name, Report]) -> dict[Name, Report]:
    """All rows; of one that stands in several tables the tests of all."""
    rows: dict[Name, Report] = {}
    for table in tables:
        for name, row in table.items():
            before = rows.get(name)
            rows[name] = replace(before, tests=before.tests + row.tests) if before else row
    return rows
