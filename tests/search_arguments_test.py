# -*- coding: utf-8 -*-
"""What cannot work is refused where it is given, with its value and what to give instead."""

import re
from pathlib import Path
from typing import Any

import pytest

from agentscope_reme import ConfigError, ReMeLight

CASES = [
    ("extra_folders", "docs", "give a list of folders"),
    ("extra_folders", Path("docs"), "give a list of folders"),
    ("extra_folders", 5, "give a list of folders"),
    ("extra_folders", None, "give a list of folders"),
    ("extra_folders", [5], "give the path of a folder"),
    ("extra_folders", ["docs", " "], "give the path of a folder"),
    ("extra_folders", {"docs": None}, "give the path of a folder"),
    ("vector_weight", "x", "give a share from 0"),
    ("vector_weight", "0.5", "give a share from 0"),
    ("vector_weight", True, "give a share from 0"),
    ("vector_weight", float("nan"), "give a share from 0"),
    ("vector_weight", [0.7], "give a share from 0"),
    ("candidate_multiplier", "a", "give a number of at least 1"),
    ("candidate_multiplier", 0, "give a number of at least 1"),
    ("candidate_multiplier", float("inf"), "give a number of at least 1"),
    ("candidate_multiplier", None, "give a number of at least 1"),
    ("working_dir", None, "name a folder"),
    ("working_dir", 5, "name a folder"),
    ("working_dir", " ", "name a folder"),
    ("default_file_store_config", 5, "give a dictionary"),
    ("default_file_store_config", {"fts_enabled": "no"}, "give True or False"),
    ("default_embedding_model_config", 5, "give a dictionary"),
]


@pytest.mark.parametrize(("argument", "value", "cure"), CASES)
def test_what_cannot_work_is_refused_by_name(tmp_path: Path, argument: str, value: Any, cure: str) -> None:
    arguments = {"working_dir": tmp_path / "w", argument: value}
    with pytest.raises(ConfigError, match=re.escape(cure)) as refused:
        ReMeLight(**arguments)
    if isinstance(value, (str, int)) and str(value).strip():
        assert str(value) in str(refused.value)
    assert not (tmp_path / "w").exists()


def test_folders_that_are_given_once_are_there_after_a_second_start(tmp_path: Path) -> None:
    reme = ReMeLight(working_dir=tmp_path / "w", extra_folders=iter(["docs"]))
    assert reme._search._made().sources == ("notes", "docs", "dialog")
    reme._search._index = None
    assert reme._search._made().sources == ("notes", "docs", "dialog")
