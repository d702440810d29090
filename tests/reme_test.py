# -*- coding: utf-8 -*-
"""The vector-based memory as its users call it: without a model, without a key, without a server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from agentscope.message import Msg

from agentscope_reme import (
    AmbiguousMemoryId,
    ConfigError,
    Event,
    MemoryNode,
    MemoryNotFound,
    MissingModelError,
    NotStartedError,
    ReMe,
    ToolCallRecord,
)
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.vector_store import LocalVectorStore


def with_reme(folder: Path, body: Callable[[ReMe], Awaitable[None]], **options: Any) -> None:
    """Run a test with the memory of a folder."""

    async def inside() -> None:
        options.setdefault("embedding_model", HashEmbedding(64))
        async with ReMe(folder, model=None, **options) as reme:
            await body(reme)

    asyncio.run(inside())


def said(nodes: Any) -> list[str]:
    return [node.content for node in nodes]


def test_memories_of_people_tasks_and_tools_are_apart_and_combine(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        await reme.add_memory("prefers pytest fixtures", user_name="alice")
        await reme.add_memory("run pytest with -x first", task_name="testing")
        await reme.add_memory("pytest needs the venv", tool_name="shell", when_to_use="before running pytest")
        await reme.add_memory("prefers pytest markers", user_name="bob")
        assert said(await reme.retrieve_memory("pytest", user_name="alice")) == ["prefers pytest fixtures"]
        both = await reme.retrieve_memory("pytest", user_name=["alice", "bob"], task_name="testing")
        assert set(said(both)) == {"prefers pytest fixtures", "prefers pytest markers", "run pytest with -x first"}
        assert len(await reme.list_memory(user_name=["alice", "bob"], tool_name=["shell"])) == 3
        found = await reme.retrieve_memory("pytest", tool_name="shell")
        assert (found[0].memory_type, found[0].memory_target) == ("tool", "shell")
        assert str(found[0]) == "(before running pytest) pytest needs the venv"

    with_reme(tmp_path, body)


def test_nobody_is_everybody(tmp_path: Path) -> None:
    """What is not limited to somebody is refused, not searched among all."""

    async def body(reme: ReMe) -> None:
        await reme.add_memory("a secret", user_name="alice")
        for call in (
            reme.retrieve_memory("secret"),
            reme.retrieve_memory("secret", user_name=""),
            reme.retrieve_memory("secret", user_name=[]),
            reme.list_memory(),
            reme.add_memory("x"),
            reme.add_memory("x", user_name=["a", "b"]),
            reme.add_memory("x", user_name="a", task_name="b"),
            reme.summarize_memory([{"role": "user", "content": "hi"}]),
            reme.delete_all(),
            reme.delete_all(user_name=""),
            reme.delete_all(user_name="", confirm=True),
            reme.delete_all(user_name=[], confirm=True),
            reme.read_conversation("ref"),
        ):
            with pytest.raises(ConfigError, match="name"):
                await call
        for blank in (" ", ["alice", ""], ["\t"], [None], 3):
            for call in (
                reme.retrieve_memory("secret", user_name=blank),
                reme.add_memory("x", user_name=blank),
                reme.list_memory(user_name=blank),
                reme.delete_all(user_name=blank),
            ):
                with pytest.raises(ConfigError, match="user_name"):
                    await call
        assert said(await reme.list_memory(user_name="alice")) == ["a secret"]
        await reme.add_memory("another", task_name="t")
        assert await reme.delete_all(confirm=True) == 2

    with_reme(tmp_path, body)


def test_a_memory_from_its_first_day_to_its_last(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        added = await reme.add_memory(
            "likes tea", user_name="alice", importance=0.7, tags=["drink"], category="preference", source="chat"
        )
        assert (added.importance, added.tags, added.category) == (0.7, ("drink",), "preference")
        assert dict(added.metadata) == {"source": "chat"}
        assert (await reme.get_memory(added.memory_id)).content == "likes tea"
        changed = await reme.update_memory(
            added.memory_id, "likes green tea", user_name="alice", importance=0.9, checked=True
        )
        assert (changed.content, changed.importance, changed.tags) == ("likes green tea", 0.9, ("drink",))
        assert dict(changed.metadata) == {"source": "chat", "checked": True}
        assert (await reme.get_memory(added.memory_id)).memory_id == changed.memory_id
        assert said(await reme.memory_versions(changed.memory_id)) == ["likes tea"]
        assert [row.action for row in await reme.memory_history(added.memory_id)] == ["created", "updated"]
        assert await reme.delete_memory(added.memory_id) is True
        assert await reme.delete_memory(added.memory_id, user_name="alice") is False
        with pytest.raises(MemoryNotFound):
            await reme.get_memory(changed.memory_id)

    with_reme(tmp_path, body)


def test_a_name_checks_the_owner_and_moves_nothing(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        mine = await reme.add_memory("shared words", user_name="alice")
        for call in (
            reme.update_memory(mine.memory_id, "stolen", user_name="bob"),
            reme.delete_memory(mine.memory_id, user_name="bob"),
            reme.get_memory(mine.memory_id, task_name="alice"),
        ):
            with pytest.raises(MemoryNotFound):
                await call
        await reme.add_memory("shared words", user_name="bob", memory_target="alice", owner="personal/alice")
        for call in (
            reme.get_memory(mine.memory_id),
            reme.update_memory(mine.memory_id, "whose?"),
            reme.delete_memory(mine.memory_id),
        ):
            with pytest.raises(AmbiguousMemoryId, match="user_name"):
                await call
        assert (await reme.delete_memories([mine.memory_id]))[mine.memory_id] is False
        assert await reme.delete_all(user_name="bob") == 1
        assert said(await reme.list_memory(user_name="alice")) == ["shared words"]

    with_reme(tmp_path, body)


def test_several_at_once(tmp_path: Path) -> None:
    model = HashEmbedding(64)

    async def body(reme: ReMe) -> None:
        added = await reme.add_memories([f"fact {n} of many" for n in range(120)], user_name="alice", tags=["batch"])
        assert len({node.memory_id for node in added}) == 120
        assert {node.tags for node in added} == {("batch",)}
        assert model.calls <= 13
        ids = [node.memory_id for node in added[:3]]
        found = await reme.get_memories([*ids, "nothing"], user_name="alice")
        assert list(found) == ids
        assert await reme.delete_memories([*ids, "nothing"]) == {**dict.fromkeys(ids, True), "nothing": False}
        assert len(await reme.list_memory(user_name="alice")) == 117
        with pytest.raises(ConfigError, match="list of texts"):
            await reme.add_memories("one text", user_name="alice")
        with pytest.raises(ConfigError, match="content"):
            await reme.add_memories(["good", ""], user_name="alice")
        assert len(await reme.list_memory(user_name="alice")) == 117

    with_reme(tmp_path, body, embedding_model=model)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-02-28 10:00:00", "2026-02-28T10:00:00+08:00"),
        ("2026-02-28T10:00:00Z", "2026-02-28T10:00:00+00:00"),
        ("2026-02-28", "2026-02-28T00:00:00+08:00"),
        (date(2026, 2, 28), "2026-02-28T00:00:00+08:00"),
        (datetime(2026, 2, 28, 10), "2026-02-28T10:00:00+08:00"),
        (datetime(2026, 2, 28, 10, tzinfo=timezone.utc), "2026-02-28T10:00:00+00:00"),
        (1772244000, "2026-02-28T02:00:00+00:00"),
        ("", None),
        (None, None),
    ],
)
def test_times_in_any_notation(tmp_path: Path, value: Any, moment: str | None) -> None:
    async def body(reme: ReMe) -> None:
        node = await reme.add_memory("said something", user_name="alice", message_time=value)
        wanted = None if moment is None else datetime.fromisoformat(moment)
        assert node.message_time == wanted
        assert (await reme.get_memory(node.memory_id)).message_time == wanted

    with_reme(tmp_path, body, timezone="Asia/Shanghai")


@pytest.mark.parametrize(
    "fields",
    [
        {"message_time": "yesterday"},
        {"importance": 2},
        {"importance": "high"},
        {"score": None, "importance": True},
        {"memory_content": ""},
        {"memory_content": None},
        {"expires_at": object()},
        {"tags": [1]},
        {"note": object()},
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(tmp_path: Path, fields: dict[str, Any]) -> None:
    async def body(reme: ReMe) -> None:
        with pytest.raises(ConfigError):
            await reme.add_memory(**{"memory_content": "x", "user_name": "alice", **fields})
        assert await reme.list_memory(user_name="alice") == []

    with_reme(tmp_path, body)


def test_conversations_are_taken_as_they_come(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        await reme.add_memory("The stroller she looked at is a Joie Nitro.", user_name="alice")
        await reme.add_memory("The laptop she looked at is a ThinkPad.", user_name="alice")
        messages = [
            Msg("alice", "I am looking at the Joie stroller", "user"),
            {"role": "assistant", "content": "It costs 120 euros."},
            {"role": "user", "content": [{"type": "text", "text": "any cheaper ones?"}]},
        ]
        found = await reme.retrieve_memory(messages=messages, user_name="alice", limit=1)
        assert said(found) == ["The stroller she looked at is a Joie Nitro."]
        assert await reme.retrieve_memory("laptop", messages=messages, user_name="alice", retrieve_top_k=1)
        with pytest.raises(ConfigError, match="query"):
            await reme.retrieve_memory(messages=[], user_name="alice")
        with pytest.raises(ConfigError, match="two names"):
            await reme.retrieve_memory("x", user_name="alice", limit=1, retrieve_top_k=1)
        for limit in (0, -1, 1.5, True, "3"):
            with pytest.raises(ConfigError, match="limit"):
                await reme.retrieve_memory("x", user_name="alice", limit=limit)  # type: ignore[arg-type]

    with_reme(tmp_path, body)


def test_a_keyword_that_there_is_not_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="llm_api_key"):
        ReMe(tmp_path, llm_api_key="x")  # type: ignore[call-arg]

    async def body(reme: ReMe) -> None:
        with pytest.raises(TypeError, match="top"):
            await reme.retrieve_memory("x", user_name="a", top=3)  # type: ignore[call-arg]
        with pytest.raises(ConfigError, match="colour"):
            await reme.list_memory(user_name="alice", filters={"colour": "red"})

    with_reme(tmp_path, body)


@pytest.mark.parametrize(
    ("options", "said_of_it"),
    [
        ({"default_vector_store_config": {"backend": "oracle"}}, "oracle"),
        ({"default_vector_store_config": {"backend": "local", "urll": "x"}}, "urll"),
        ({"vector_store": object(), "default_vector_store_config": {}}, "vector_store"),
        ({"embedding_model": HashEmbedding(), "default_embedding_model_config": {"model_name": "m"}}, "embedding"),
        ({"default_llm_config": {"model_name": "a"}, "default_as_llm_config": {"model_name": "a"}}, "two names"),
        ({"default_llm_config": {"model_nam": "a"}}, "model_nam"),
        ({"default_embedding_model_config": {"dimension": 3}}, "dimension"),
        ({"hybrid_weights": (0, 0)}, "hybrid_weights"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"language": "klingon"}, "language"),
        ({"redact": "secret"}, "redact"),
        ({"working_dir": " "}, "working_dir"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused_at_once(
    tmp_path: Path, options: dict[str, Any], said_of_it: str
) -> None:
    with pytest.raises(ConfigError, match=said_of_it):
        ReMe(**{"working_dir": tmp_path / "reme", **options})
    assert not (tmp_path / "reme").exists()


def test_everything_lies_in_one_folder_for_its_owner_alone(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        await reme.add_memory("x", user_name="../../etc/alice")
        await reme.update_profile("../../etc/alice", {"k": "v"})
        assert said(await reme.list_memory(user_name="../../etc/alice")) == ["x"]

    with_reme(tmp_path / "reme", body)
    assert [path.name for path in tmp_path.iterdir()] == ["reme"]
    assert {path.name for path in (tmp_path / "reme" / ".state").iterdir()} >= {"memories.db", "embeddings.db"}
    for path in (tmp_path / "reme", tmp_path / "reme" / ".state"):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in (tmp_path / "reme" / ".state").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_restart_embeds_nothing_again_and_a_second_loop_works(tmp_path: Path) -> None:
    model = HashEmbedding(64)
    reme = ReMe(tmp_path, model=None, embedding_model=model)

    async def first() -> None:
        await reme.add_memory("keeps bees", user_name="alice")  # starts by itself

    async def second() -> None:
        assert said(await reme.retrieve_memory("bees", user_name="alice")) == ["keeps bees"]
        await reme.close()
        with pytest.raises(NotStartedError, match="start"):
            await reme.list_memory(user_name="alice")

    async def third() -> None:
        await reme.start()
        await reme.start()
        await reme.delete_memory((await reme.list_memory(user_name="alice"))[0].memory_id)
        await reme.add_memory("keeps bees", user_name="bob")
        assert said(await reme.retrieve_memory("bees", user_name="bob")) == ["keeps bees"]
        await reme.close()
        await reme.close()

    for each in (first, second, third):
        asyncio.run(each())
    assert model.texts.count("keeps bees") == 1


def test_a_store_may_be_given_or_described(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        await reme.add_memory("in a place of its own", user_name="alice")

    config = {"backend": "local", "persist_directory": str(tmp_path / "elsewhere"), "collection_name": "mine"}
    with_reme(tmp_path / "a", body, default_vector_store_config=config)

    async def again(reme: ReMe) -> None:
        assert said(await reme.list_memory(user_name="alice")) == ["in a place of its own"]
        assert await reme.bank.store.collections() == ["mine", "mine_ledger"]

    with_reme(tmp_path / "b", again, vector_store=LocalVectorStore(tmp_path / "elsewhere" / "memories.db", "mine"))


def test_weights_can_be_set_while_it_runs(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        assert reme.retriever.hybrid_weights == (0.7, 0.3)
        reme.retriever.hybrid_weights = (0.5, 0.5)
        await reme.add_memory("x y z", user_name="alice")
        assert await reme.retrieve_memory("x y", user_name="alice")
        with pytest.raises(ConfigError, match="hybrid_weights"):
            reme.retriever.hybrid_weights = (0, 0)

    with_reme(tmp_path, body)


def test_without_key_and_model_it_works_and_says_what_is_missing(tmp_path: Path) -> None:
    heard: list[Event] = []

    async def main() -> None:
        reme = ReMe(
            tmp_path,
            default_llm_config={"backend": "openai", "model_name": "qwen3.5-plus"},
            default_embedding_model_config={"backend": "openai", "model_name": "text-embedding-v4", "dimensions": 1024},
        )
        reme.subscribe(heard.append)
        async with reme:
            await reme.add_memory("用中文写注释", user_name="alice")
            assert said(await reme.retrieve_memory("注释用什么语言", user_name="alice")) == ["用中文写注释"]
            with pytest.raises(MissingModelError):
                await reme.summarize_memory([{"role": "user", "content": "我喜欢喝绿茶"}], user_name="alice")
            with pytest.raises(MissingModelError):
                await reme.retrieve_memory("茶", user_name="alice", agentic=True)

    asyncio.run(main())
    assert [each.kind.value for each in heard if each.kind.value == "model_missing"] == ["model_missing"] * 2
    assert heard[-1].kind.value == "closed"


def test_profiles(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        assert await reme.update_profile("alice", {"name": "Alice", "city": "Berlin"}) == {
            "name": "Alice",
            "city": "Berlin",
        }
        assert await reme.retrieve_profile("alice", "which city does she live in") == {"city": "Berlin"}
        assert await reme.retrieve_profile("bob") == {}
        assert await reme.delete_profile("alice", "city") == 1
        assert await reme.delete_profile("alice") == 1
        assert await reme.retrieve_profile("alice") == {}

    with_reme(tmp_path, body)


def test_calls_of_tools_are_kept_once(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        call = ToolCallRecord("search", {"q": "x"}, "found", time_cost=0.2, token_cost=7)
        assert await reme.record_tool_calls([call, {"tool_name": "search", "input": {"q": "y"}, "success": False}])
        await reme.record_tool_calls(call)
        assert len(await reme.tool_records.of("search")) == 2
        for bad in ("search", [3], [{"input": {}}], 3):
            with pytest.raises(ConfigError):
                await reme.record_tool_calls(bad)  # type: ignore[arg-type]

    with_reme(tmp_path, body)


def test_what_expires_is_not_found_and_still_listed(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        ended = datetime.now(timezone.utc) - timedelta(seconds=1)
        await reme.add_memory("dentist at nine", user_name="alice", expires_at=ended)
        assert await reme.retrieve_memory("dentist", user_name="alice") == []
        assert said(await reme.list_memory(user_name="alice")) == ["dentist at nine"]

    with_reme(tmp_path, body)


def test_a_list_of_memories_can_be_printed(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        await reme.add_memory("likes tea", user_name="alice", message_time="2026-02-28 10:00:00")
        memories = await reme.retrieve_memory("tea", user_name="alice")
        assert "likes tea" in f"{memories}"
        assert "vector" not in f"{memories}"
        assert str(memories[0]) == "[2026-02-28 10:00] likes tea"
        assert isinstance(memories[0], MemoryNode)

    with_reme(tmp_path, body)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it takes a system that forks")
def test_two_processes_use_one_folder(tmp_path: Path) -> None:
    def in_a_process(number: int) -> int:
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:

            async def body(reme: ReMe) -> None:
                for each in range(10):
                    await reme.add_memory(f"fact {each}", user_name="alice")
                    await reme.add_memory(f"fact {each} of process {number}", user_name="alice")

            with_reme(tmp_path, body)
            status = 0
        finally:
            os._exit(status)

    statuses = [os.waitpid(pid, 0)[1] for pid in [in_a_process(number) for number in range(2)]]
    assert statuses == [0, 0]

    async def body(reme: ReMe) -> None:
        assert len(await reme.list_memory(user_name="alice")) == 30
        assert len(await reme.retrieve_memory("fact", user_name="alice", limit=100)) == 30

    with_reme(tmp_path, body)
