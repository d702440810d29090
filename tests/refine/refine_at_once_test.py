# -*- coding: utf-8 -*-
"""What is asked outright is done, whatever fails in between; what is forgotten is not drawn from what waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _refine_world import ALICE, BOB, active, bank_in, texts
from agentscope.message import Msg, TextBlock, ToolResultBlock
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import ReMe, StorageError
from agentscope_reme.refine import Forgetter, RefinerConfig
from agentscope_reme.refine._capture import Capture
from agentscope_reme.refine._cutting import about, without
from agentscope_reme.refine._lexicon import default_lexicon
from agentscope_reme.vector_memory import MemoryBank

CONFIG = RefinerConfig(trigger_rules=["explicit", "session_end"])
numbers = iter(range(10**9))


def run(main: Any) -> Any:
    return asyncio.run(main)


def user(text: str) -> Msg:
    number = next(numbers)
    msg = Msg("alice", text, "user", timestamp=f"2024-05-06 12:{number // 60 % 60:02}:{number % 60:02}.000")
    msg.id = f"m{number}"
    return msg


def capture_of(bank: MemoryBank) -> Capture:
    return Capture(bank, CONFIG, forgetter=Forgetter(bank, CONFIG))


class Failing:
    """Makes the writes of a bank fail: the one of this number, before or after it is done."""

    def __init__(self, bank: MemoryBank, at: int, *, done: bool) -> None:
        self.left, self.done = at, done
        for store in (bank.store, bank.ledger):
            for name in ("write", "patch"):
                setattr(store, name, self._failing(getattr(store, name)))

    def _failing(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.done:
                raise StorageError("the disk is away")
            answer = await write(*args, **options)
            if self.left == 0:
                raise StorageError("the disk went away")
            return answer

        return call


async def ended(capture: Capture, session: str = "s") -> None:
    await capture.end(ALICE, session)
    await capture.drain()


# ---------------------------------------------------------------- nothing that was asked is lost

SAID = [
    "记住，我对青霉素过敏",
    "Remember that my gate code is 4711.",
    "忘掉我喜欢看电影",
    "我喜欢看电影。记住，我喜欢看电影",
    "你好",
    "我喜欢川菜",
]


@settings(max_examples=6)
@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=5), st.integers(1, 14), st.booleans(), st.booleans())
def test_whichever_write_fails_the_memories_are_those_without_a_failure(
    said: list[str], at: int, done: bool, again: bool
) -> None:
    messages = [user(text) for text in said]

    async def life(folder: Path, fails: bool) -> list[tuple[str, float, Any]]:
        async with bank_in(folder) as bank:
            capture = capture_of(bank)
            if fails:
                Failing(bank, at, done=done)
            for msg in messages:
                try:
                    await capture.hear(ALICE, [msg], "s")
                except StorageError:
                    if not again:
                        break
                    await capture.hear(ALICE, [msg], "s")
        async with bank_in(folder) as bank:  # another process
            capture = capture_of(bank)
            await capture.resume()
            await capture.hear(ALICE, messages, "s")
            await ended(capture)
            await ended(capture)  # what could not be drawn at once
            assert await capture.heard.waiting(ALICE) == []
            return [(node.content, node.importance, node.metadata.get("times")) for node in await active(bank)]

    with TemporaryDirectory() as smooth, TemporaryDirectory() as rough:
        assert run(life(Path(rough), True)) == run(life(Path(smooth), False))


def test_what_could_not_be_done_is_done_at_the_next_start(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None, refiner=CONFIG) as reme:
            Failing(reme.bank, 2, done=False)
            with pytest.raises(StorageError):
                await reme.add_interaction([user("记住，我对青霉素过敏")], "alice", "s")
            assert await reme.list_memory(user_name="alice") == []
        async with ReMe(tmp_path, model=None, refiner=CONFIG) as reme:
            assert texts(await reme.list_memory(user_name="alice")) == ["我对青霉素过敏"]

    run(main())


# ---------------------------------------------------------------- what is forgotten is not drawn


@pytest.mark.parametrize(
    ("said", "request_to_forget", "left"),
    [
        (["我打算下个月学完装饰器"], "忘掉我之前说的关于装饰器的事", []),
        (["我喜欢看电影。记住，我喜欢看电影"], "忘掉我喜欢看电影", []),
        (["我打算学完装饰器。我喜欢吃川菜。"], "忘掉关于装饰器的事", ["我喜欢吃川菜。"]),
        (["I plan to learn Rust. I love tea."], "Please forget everything about Rust.", ["I love tea."]),
        (["我喜欢看电影"], "忘掉关于电影的事。我现在喜欢看书", ["我现在喜欢看书"]),
        ([], "我喜欢老电影。忘掉关于电影的事。我现在最喜欢新电影", ["我现在最喜欢新电影"]),
    ],
)
def test_a_request_to_forget_reaches_what_waits(
    tmp_path: Path, said: list[str], request_to_forget: str, left: list[str]
) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            capture = capture_of(bank)
            for at, text in enumerate(said):
                await capture.hear(ALICE, [user(text)], f"session {at}")
                await capture.hear(BOB, [user(text)], "s")
            await capture.hear(ALICE, [user(request_to_forget)], "s")
            waiting = await capture.heard.waiting(ALICE)
            assert not any("装饰器" in (each.message.get_text_content() or "") for each in waiting)
            for session in {"s", *(each.session for each in waiting)}:
                await ended(capture, session)
            assert texts(await active(bank)) == left
            await capture.end(BOB, "s")
            await capture.drain()
            assert bool(said) == bool(await active(bank, BOB))
            await capture.hear(ALICE, [user("我打算学完装饰器了，我喜欢看电影")], "s")
            await ended(capture)
            assert len(await active(bank)) == len(left) + 1  # what is said afterwards counts again

    run(main())


def test_what_is_forgotten_by_hand_is_not_drawn_from_what_was_said_before(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None, refiner=CONFIG) as reme:
            await reme.add_interaction([user("我喜欢看电影！记住，我喜欢看电影")], "alice", "s")
            await reme.forget(await reme.list_memory(user_name="alice"))
            await reme.end_session("alice", "s")
            assert await reme.list_memory(user_name="alice") == []

    run(main())


def test_what_is_being_drawn_when_it_is_forgotten_is_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            capture = capture_of(bank)
            await capture.hear(ALICE, [user("我打算下个月学完装饰器")], "s")
            await capture.end(ALICE, "s")
            await capture.hear(ALICE, [user("忘掉关于装饰器的事")], "t")
            await capture.drain()
            assert await active(bank) == []

    run(main())


# ---------------------------------------------------------------- cutting


LEXICON = default_lexicon()


@given(st.lists(st.sampled_from(["我喜欢电影。", "I love tea. ", "今天下雨！\n", "电影票在桌上；", "ok "]), max_size=8))
def test_cutting_takes_the_sentences_that_are_meant_and_no_others(parts: list[str]) -> None:
    msg = Msg("alice", "".join(parts), "user")
    left = without(msg, about(["电影"], LEXICON))
    rest = "" if left is None else left.get_text_content() or ""
    assert "电影" not in rest
    if not any("电影" in part for part in parts):
        assert left is msg
    assert rest.count("tea") <= "".join(parts).count("tea")
    if not any("；" in part for part in parts):
        assert rest.count("tea") == "".join(parts).count("tea")


def test_a_tools_result_that_is_meant_goes_whole() -> None:
    result = ToolResultBlock(type="tool_result", id="1", name="find", output="电影票两张")
    said = Msg("bot", [TextBlock(type="text", text="好的。"), result], "assistant")
    left = without(said, about(["电影"], LEXICON))
    assert left is not None
    assert left.get_content_blocks() == [{"type": "text", "text": "好的。"}]
    assert (left.id, left.timestamp) == (said.id, said.timestamp)
    assert without(said, about(["茶"], LEXICON)) is said


@pytest.mark.parametrize(
    ("text", "subject", "left"),
    [
        ("我对猫毛过敏。我养了一只猫。", "猫", "我对猫毛过敏。"),
        ("我对猫毛过敏。我养了一只猫。", "对猫毛过敏", "我养了一只猫。"),
        ("I am allergic to cats. I have a cat. ", "cat", "I am allergic to cats."),
    ],
)
def test_what_waits_of_health_and_safety_stays_unless_it_is_meant(text: str, subject: str, left: str) -> None:
    """As with memories that are stored: see `Forgetter.obey`."""
    msg = without(Msg("alice", text, "user"), about([subject], LEXICON))
    assert msg is not None
    assert msg.get_text_content() == left
