# -*- coding: utf-8 -*-
"""The programs in demos/ run as a reader would run them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
QUICKSTART = ROOT / "demos" / "quickstart.py"


@pytest.mark.slow
def test_the_quickstart_runs_and_shows_what_it_promises(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(QUICKSTART)],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    first, second = done.stdout.split("you, in another process: ")
    assert first.count("  folded  ") >= 3
    assert first.count("  cut     ") >= 3
    assert "CHG-4127 by l.moreno" in first
    assert "- From now on, begin every answer about an incident with its ticket number." in first
    assert "  noted   " in first
    assert "  found   " in second
    assert "agent: CHG-4127: Before you refund, tell the treasury desk, ext. 5530." in second
    assert "(not found)" not in done.stdout
    assert "Journal: ok" in done.stdout
    assert list(tmp_path.iterdir()) == [], "it leaves nothing behind"


def test_the_quickstart_is_short_and_uses_public_names_alone() -> None:
    text = QUICKSTART.read_text(encoding="utf-8")
    assert 60 <= len(text.splitlines()) <= 110
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentscope_reme"):
            assert not any(part.startswith("_") for part in [*node.module.split("."), *(a.name for a in node.names)])
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
