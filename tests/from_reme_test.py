# -*- coding: utf-8 -*-
"""What the page for those who come from ReMe names is there, and takes what the page gives it."""

import inspect
import re
from pathlib import Path

import pytest

from agentscope_reme import MemoryManager, PromptBook, ReMe
from agentscope_reme.refine import RefinerConfig, TagSchema
from agentscope_reme.vector_memory import RankWeights

PAGE = (Path(__file__).parent.parent / "docs" / "from_reme.md").read_text("utf-8")
OURS = "\n".join(line.split(" | ", 1)[1] for line in PAGE.splitlines() if line.startswith("| ") and " | " in line)
OWNERS = {"reme": ReMe, "manager": MemoryManager}


@pytest.mark.parametrize(("owner", "name"), sorted(set(re.findall(r"\b(reme|manager)\.(\w+)\(", OURS))))
def test_the_methods_are_there(owner: str, name: str) -> None:
    assert callable(getattr(OWNERS[owner], name))


@pytest.mark.parametrize(("name", "given"), sorted(set(re.findall(r"\b(RefinerConfig|RankWeights)\(([^)]*)\)", OURS))))
def test_the_configurations_can_be_made(name: str, given: str) -> None:
    if "..." not in given:
        assert eval(f"{name}({given})", {"RefinerConfig": RefinerConfig, "RankWeights": RankWeights})


@pytest.mark.parametrize("name", ["preview_forget", "forget", "restore", "purge", "purge_all"])
def test_the_bare_names_are_methods_too(name: str) -> None:
    assert f"`{name}" in OURS
    assert callable(getattr(ReMe, name))


def test_the_arguments_are_those_of_the_constructors() -> None:
    assert {"refiner", "schema", "prompts"} <= inspect.signature(ReMe).parameters.keys()
    assert {"recall_from", "capture"} <= inspect.signature(MemoryManager).parameters.keys()
    assert TagSchema.of({"type": ["fact"], "topic": ["列表"]}).categories == ("fact",)
    assert PromptBook
