# -*- coding: utf-8 -*-
"""`agentscope-reme refine`: condensing, reviewing, and what is said where it cannot be done."""

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from agentscope_reme import ReMe
from agentscope_reme.cli import main

START = datetime(2026, 3, 2, 9, 0, tzinfo=timezone.utc)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    async def fill() -> None:
        async with ReMe(tmp_path / "kept", embedding_model=None) as reme:
            for name in ("anna", "bert"):
                for at in range(12):
                    text = f"The hotel in street {at} of Lisbon cost {100 + at} euros a night and breakfast was {at}."
                    when = START + timedelta(minutes=at)
                    await reme.add_memory(text, user_name=name, author=name, message_time=when, ref_memory_id="trip")

    asyncio.run(fill())
    return tmp_path / "kept"


@pytest.fixture(autouse=True)
def _words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentscope_reme.embedding.LocalEmbedding.available", staticmethod(lambda: False))


def test_it_condenses_once_and_shows_what_became_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refine", "--dir", str(folder), "--review", "2"]) == 0
    assert "There are no refined memories yet" in capsys.readouterr().out
    assert main(["refine", "--dir", str(folder), "--user", "anna", "--plain"]) == 0
    first = capsys.readouterr().out
    assert "steps: 24 of 24" in first
    assert "0 calls of a model" in first
    assert main(["refine", "--dir", str(folder), "--user", "anna", "--plain"]) == 0
    assert "Nothing is new" in capsys.readouterr().out
    assert main(["refine", "--dir", str(folder), "--user", "anna", "--review", "1"]) == 0
    shown = capsys.readouterr().out
    assert "personal/anna" in shown
    assert "-- from" in shown
    assert shown.count("The hotel in street") >= 12
    assert main(["refine", "--dir", str(folder), "--user", "bert", "--review", "1"]) == 0
    assert "There are no refined memories yet" in capsys.readouterr().out


def test_a_wrong_use_is_named(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refine", "--dir", str(tmp_path / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["refine", "--dir", str(folder), "--review", "0"]) == 2
    assert "--review 0" in capsys.readouterr().err
    assert main(["refine", "--dir", str(folder), "--model"]) == 2
    assert "--model needs a model and no key is set" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
