# -*- coding: utf-8 -*-
"""Every test that all stores share, to be run with one more store that is only started for it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

from _store_world import every_store

SharedTest = Callable[[str, Path], None]


def shared_tests() -> list[SharedTest]:
    """The functions of the test files beside this one that are marked `every_store`."""
    found = sorted(Path(__file__).parent.glob("*_test.py"))
    files = [path.stem for path in found if "\n@every_store\n" in path.read_text(encoding="utf-8")]
    return [test for name in files for test in _of(name)]


def _of(module: str) -> Iterator[SharedTest]:
    for value in vars(importlib.import_module(module)).values():
        if isinstance(value, FunctionType) and every_store.mark in getattr(value, "pytestmark", ()):
            yield value
