# -*- coding: utf-8 -*-
"""`agentscope-reme reindex`: what it embeds, what it says, and that it goes on where it was killed."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _loopback import Status

from agentscope_reme import ReMe
from agentscope_reme.cli import main
from agentscope_reme.cli._progress import progress_bar
from agentscope_reme.cli._terminal import Terminal
from agentscope_reme.testing import HashEmbedding

if TYPE_CHECKING:
    from _loopback import Loopback

Started = Callable[..., "Loopback"]
TEXTS = [f"{topic} is item {number}" for number in range(150) for topic in ("tea", "coffee")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Memories of two people with vectors of some other model."""

    async def fill() -> None:
        async with ReMe(tmp_path / "memories", model=None, embedding_model=HashEmbedding(32)) as reme:
            await reme.add_memories(TEXTS[:-1], user_name="张三")
            await reme.add_memory(TEXTS[-1], user_name="alice")

    asyncio.run(fill())
    return tmp_path / "memories"


def found_by_meaning(folder: Path, server: "Loopback") -> bool:
    """Whether the memories have vectors of the server's model and are searched with them."""

    async def look() -> bool:
        async with ReMe(folder, model=None, embedding_model=server.embedding()) as reme:
            [best, *_] = await reme.retrieve_memory("tea is item 7", user_name="张三")
            assert best.content == "tea is item 7"
            return reme.degraded is None

    return asyncio.run(look())


def options(server: "Loopback", folder: Path) -> list[str]:
    address = ["--base-url", server.url, "--model", "loopback", "--dimensions", "64"]
    return ["reindex", "--dir", str(folder), "--embedding", "openai", *address]


def test_all_memories_get_their_vectors_and_a_second_time_nothing_is_asked(
    folder: Path, loopback: Started, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMBEDDING_API_KEY", "secret")
    server = loopback()
    assert main(options(server, folder)) == 0
    captured = capsys.readouterr()
    assert captured.out == "memories: 300 of 300\n300 of 300 memories were embedded: loopback, 64 dimensions.\n"
    assert captured.err == ""
    asked = len(server.embedding_requests)
    assert main(options(server, folder)) == 0
    assert capsys.readouterr().out == "Of 300 memories none was left: loopback, 64 dimensions.\n"
    assert len(server.embedding_requests) == asked
    assert found_by_meaning(folder, server)


def test_a_model_that_fails_half_way_is_told_and_the_next_run_goes_on(
    folder: Path, loopback: Started, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMBEDDING_API_KEY", "secret")
    embedded = Counter[str]()
    up = [False]

    def embed(texts: list[str], number: int) -> Any:
        if number > 4 and not up[0]:
            return Status(400, "the balance is used up")
        embedded.update(texts)
        return [HashEmbedding(64).vector(text) for text in texts]

    server = loopback(embed=embed)
    assert main(options(server, folder)) == 1
    said = capsys.readouterr().err
    assert "the balance is used up" in said
    assert "of 300 memories are done: the same command goes on there." in said
    assert "secret" not in said
    up[0] = True
    assert main(options(server, folder)) == 0
    assert set(TEXTS) <= set(embedded)
    assert max(embedded[text] for text in TEXTS) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such kill")
def test_it_goes_on_where_it_was_killed(folder: Path, loopback: Started) -> None:
    embedded = Counter[str]()
    pause = [0.05]

    def embed(texts: list[str], _: int) -> Any:
        time.sleep(pause[0])
        embedded.update(texts)
        return [HashEmbedding(64).vector(text) for text in texts]

    server = loopback(embed=embed)
    command = [sys.executable, "-m", "agentscope_reme.cli", *options(server, folder)]
    env = {**os.environ, "EMBEDDING_API_KEY": "secret"}
    for share in (0.3, 0.6):
        with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as process:
            until = time.monotonic() + 60
            while sum(embedded[text] > 0 for text in TEXTS) < share * len(TEXTS) and time.monotonic() < until:
                assert process.poll() is None, "it ended before it could be killed"
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    pause[0] = 0
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "of 300 memories were embedded" in done.stdout
    assert set(TEXTS) <= set(embedded)
    again = sum(embedded[text] - 1 for text in TEXTS)
    assert again <= 2 * 100, "no more than was under way at each kill"
    assert found_by_meaning(folder, server)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dir", "nowhere"], "--dir nowhere: there is no such folder"),
        (["--embedding", "openai", "--dir", "."], "EMBEDDING_API_KEY"),
        (["--model", "hash", "--dimensions", "3", "--dir", "."], "--model, --dimensions needs --embedding openai"),
        (["--embedding", "mine"], "mine"),
        (["--store", "x"], "'x' is no JSON"),
        (["--store", "[]"], "no JSON object"),
        (["--store", '{"backend": "heap"}'], "'heap' is unknown"),
    ],
)
def test_a_wrong_use_is_named_and_nothing_is_made(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("EMBEDDING_API_KEY", "OPENAI_API_KEY", "EMBEDDING_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    if "heap" in said or "no JSON" in said:
        monkeypatch.setattr("agentscope_reme.cli._reindex_command._model", lambda *_: HashEmbedding())
    assert main(["reindex", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_there_is_a_bar() -> None:
    out = io.StringIO()
    terminal = Terminal(out, io.StringIO(), {"TERM": "xterm", "COLUMNS": "100"})
    with progress_bar(terminal, "memories") as advance:
        advance(150, 300)
        advance(300, 300)
    assert "300/300" in out.getvalue()
    assert "100%" in out.getvalue()
