# -*- coding: utf-8 -*-
"""The house rule over the whole package, and over small files with a fault planted in each."""

import gc
import time
from collections.abc import Callable, Iterator

import _house as house
import pytest
from _house import Source
from _machine import allowed

SOURCES = house.read_package()
BY_PATH = {source.path: source for source in SOURCES}
DECLARED = house.declared_requirements()

RULES: dict[str, Callable[[Source], Iterator[str]]] = {
    "names": house.name_faults,
    "layers": house.import_faults,
    "light imports": house.heavy_import_faults,
    "declared": lambda source: house.undeclared_faults(source, DECLARED),
    "habits": house.habit_faults,
}


@pytest.mark.parametrize("rule", RULES)
def test_the_package_keeps(rule: str) -> None:
    faults = [f"{source.path}: {fault}" for source in SOURCES for fault in RULES[rule](source)]
    assert not faults, "\n" + "\n".join(faults)


def test_every_folder_has_an_exact_front_door() -> None:
    doors = [source for source in SOURCES if source.name == "__init__.py"]
    folders = {source.path.rsplit("/", 1)[0] for source in SOURCES if "/" in source.path}
    missing = [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in BY_PATH]
    faults = [f"{door.path}: {fault}" for door in doors for fault in house.front_door_faults(door, BY_PATH)]
    assert not missing + faults, "\n" + "\n".join(missing + faults)


def test_prompts_hold_only_prompts() -> None:
    files = [path for path in (house.PACKAGE / "prompts").rglob("*") if path.is_file()]
    assert files
    assert {path.suffix for path in files} == {".yaml"}


def cost_of_a_whole_check() -> float:
    """Seconds of CPU, from reading the files to the last rule."""
    start = time.process_time()
    sources = house.read_package()
    by_path = {source.path: source for source in sources}
    for source in sources:
        for rule in RULES.values():
            list(rule(source))
        if source.name == "__init__.py":
            list(house.front_door_faults(source, by_path))
    return time.process_time() - start


def test_the_whole_check_takes_well_under_a_second() -> None:
    gc.disable()  # what the other tests left in memory is not this check's cost
    try:
        spent = next((s for s in (cost_of_a_whole_check() for _ in range(3)) if s < allowed(1)), None)
    finally:
        gc.enable()
    assert spent is not None, "three times over a second"


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("text/_a.py", "from ..storage import Journal", "sideways"),
        ("text/_a.py", "def f():\n    from ..message import Pair", "up"),
        ("text/_a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..cli import main", "up"),
        ("text/_a.py", "from .. import MemoryManager", "up"),
        ("text/_a.py", "from .. import notes", "up"),
        ("notes/_a.py", "from ..working_memory import X", "sideways"),
        ("notes/_a.py", "from ..text._words import X", "past the __init__"),
        ("notes/_a.py", "from ... import X", "beyond the package"),
        ("notes/_a.py", "import agentscope_reme.text", "relative"),
        ("notes/_a.py", "from agentscope_reme import ReMe", "relative"),
        ("_errors.py", "from ._config import X", "up"),
        ("_reme.py", "from ._reme_light import X", "sideways"),
        ("__init__.py", "from .cli import main", "up"),
    ],
)
def test_a_wrong_import_is_found(path: str, text: str, fault: str) -> None:
    assert fault in " ".join(house.import_faults(Source(path, text)))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("text/_a.py", "from ._b import X\nfrom .._errors import Y\nimport json\nimport agentscope"),
        ("notes/_a.py", "from ..text import X\nfrom .._events import Event\nfrom ..dialog import D"),
        ("vector_memory/kinds/_a.py", "from .._b import X\nfrom ...text import Y\nfrom ..kinds import _z"),
        ("cli/_a.py", "from .. import MemoryManager, __version__\nfrom ..testing import call"),
        ("_memory_manager.py", "from ._reme_light import ReMeLight\nfrom .notes import N"),
        ("__init__.py", "from ._agent import A\nfrom ._version import __version__"),
    ],
)
def test_a_right_import_is_not_found(path: str, text: str) -> None:
    assert not list(house.import_faults(Source(path, text)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import faiss", True),
        ("try:\n    import chromadb\nexcept ImportError:\n    chromadb = None", True),
        ("class A:\n    import numpy as np", True),
        ("if True:\n    from rich.live import Live", True),
        ("def f():\n    import faiss", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy", False),
        ("import json, anyio, yaml\nfrom agentscope.message import Msg\nfrom ._x import y", False),
    ],
)
def test_a_heavy_import_is_found(text: str, found: bool) -> None:
    assert bool(list(house.heavy_import_faults(Source("text/_a.py", text)))) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [("def f():\n    import pandas", True), ("def f():\n    import faiss, chromadb, yaml, json", False)],
)
def test_an_undeclared_package_is_found(text: str, found: bool) -> None:
    assert bool(list(house.undeclared_faults(Source("text/_a.py", text), DECLARED))) is found


@pytest.mark.parametrize(
    "path",
    [
        "text/words.py",
        "text/_Words.py",
        "attic/_a.py",
        "_new.py",
        "text/_utils.py",
        "text/_json_helper.py",
        "text/_words_v2.py",
        "_manager2.py",
        "notes/_tool_handlers.py",
        "utils/__init__.py",
    ],
)
def test_a_bad_file_name_is_found(path: str) -> None:
    assert list(house.name_faults(Source(path, "")))


@pytest.mark.parametrize("path", ["search/_bm25.py", "text/__init__.py", "vector_memory/kinds/_tool.py", "_reme.py"])
def test_a_good_file_name_is_not_found(path: str) -> None:
    assert not list(house.name_faults(Source(path, "")))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("from ._a import X", "no literal __all__"),
        ("from ._a import X, Y\n__all__ = ['X']", "Y is public and not in __all__"),
        ("from ._a import X\n__all__ = ['X', 'Z']", "names Z, which is not there"),
        ("from ._a import X\n__all__ = ['X', 'X']", "X twice"),
        ("from ._a import Q\n__all__ = ['Q']", "text/_a has no Q"),
        ("from ._b import X\n__all__ = ['X']", "there is no text/_b"),
        ("import logging\nfrom ._a import X\n__all__ = ['X']", "logging is public"),
    ],
)
def test_an_inexact_front_door_is_found(text: str, fault: str) -> None:
    siblings = {"text/_a.py": Source("text/_a.py", "X = 1\nclass Y: ...")}
    assert fault in " ".join(house.front_door_faults(Source("text/__init__.py", text), siblings))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("print('x')", True),
        ("import loguru", True),
        ("from loguru import logger", True),
        ("x = 1  # TODO: later", True),
        ("import logging\nlogger = logging.getLogger(__name__)", True),
        ("class A:\n    def f(self):\n        raise NotImplementedError", True),
        ("def f():\n    raise NotImplementedError('x')", True),
        ("def f():\n    ...", True),
        ("from abc import ABC\nclass A(ABC):\n    def f(self):\n        raise NotImplementedError", False),
        ("class StoreBase:\n    def f(self):\n        raise NotImplementedError", False),
        ("from typing import Protocol\nclass A(Protocol):\n    def f(self): ...", False),
        ("class A:\n    @abstractmethod\n    def f(self): ...", False),
        ("console.print('x')\nWORDS = ('TODO', 'FIXME')\nimport logging\nlogging.getLogger('agentscope_reme')", False),
    ],
)
def test_a_bad_habit_is_found(text: str, found: bool) -> None:
    assert bool(list(house.habit_faults(Source("text/_a.py", text)))) is found
