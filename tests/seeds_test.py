# -*- coding: utf-8 -*-
"""The programs of the articles that describe the system, with our import line and their printing faults mended."""

import asyncio
import json
from typing import Any

import pytest

from agentscope_reme import ReMe, ReMeLight


def conversation(rounds: int = 6) -> list[dict]:
    """OpenAI-style messages with a long tool result in each round."""
    messages = []
    for number in range(rounds):
        stamp = f"2026-02-28 10:0{number}:00"
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "a"}'},
        }
        messages += [
            {"role": "user", "content": f"帮我看看 requirements.txt，第 {number} 次", "time_created": stamp},
            {"role": "assistant", "content": None, "tool_calls": [call], "time_created": stamp},
            {
                "role": "tool",
                "tool_call_id": f"call_{number}",
                "name": "read_file",
                "content": "flask==2.3.3\n" * 2_000,
            },
            {"role": "assistant", "content": "好的，已经看过了。", "time_created": stamp},
        ]
    return messages


def test_the_pre_reasoning_hook_section(tmp_path):
    async def main():
        raw_messages, previous_summary = conversation(), ""
        before = json.dumps(raw_messages)
        reme = ReMeLight(working_dir=tmp_path)
        await reme.start()
        processed_messages, new_summary = await reme.pre_reasoning_hook(
            messages=raw_messages,
            system_prompt="You are a helpful assistant.",
            compressed_summary=previous_summary,
            max_input_length=16000,
            compact_ratio=0.7,
            memory_compact_reserve=10000,
            enable_tool_result_compact=True,
            tool_result_compact_keep_n=1,
        )
        await reme.close()
        assert json.dumps(raw_messages) == before
        assert "## 目标" in new_summary
        assert "requirements.txt" in new_summary
        texts = [json.dumps(msg.to_dict(), ensure_ascii=False) for msg in processed_messages]
        assert any("第 5 次" in text for text in texts)
        assert len(list((tmp_path / "tool_result").glob("*.txt"))) == 1
        lines = (tmp_path / "dialog" / "2026-02-28.jsonl").read_text("utf-8").splitlines()
        assert len(processed_messages) + len(lines) >= len(raw_messages) - 6

    asyncio.run(main())


def test_a_history_without_times_and_ids_is_archived_once_however_often_it_is_handed_over(tmp_path):
    async def main():
        said, summary = [], ""
        async with ReMeLight(working_dir=tmp_path) as reme:
            for number in range(12):
                said += [
                    {"role": "user", "content": f"第 {number} 个问题 " * 60},
                    {"role": "assistant", "content": "好的"},
                ]
                _, summary = await reme.pre_reasoning_hook(said, compressed_summary=summary, max_input_length=2000)
        lines = [
            line for path in (tmp_path / "dialog").glob("*.jsonl") for line in path.read_text("utf-8").splitlines()
        ]
        assert 0 < len(lines) <= len(said)
        assert len({json.loads(line)["id"] for line in lines}) == len(lines)

    asyncio.run(main())


def test_the_in_memory_memory_section(tmp_path, capsys):
    async def main():
        from agentscope_reme.message import as_msgs

        reme = ReMeLight(working_dir=tmp_path)
        message_stream = as_msgs(conversation(2))
        memory = reme.get_in_memory_memory()
        for msg in message_stream:
            await memory.add(msg)
            token_stats = await memory.estimate_tokens(max_input_length=3000)
            if token_stats["context_usage_ratio"] > 85:
                print(f"上下文使用率较高: {token_stats['context_usage_ratio']:.1f}%")
        assert token_stats["total_messages"] == len(message_stream)
        assert "上下文使用率较高" in capsys.readouterr().out
        processed = await memory.get_memory()
        await memory.clear_content()
        assert await memory.size() == 0
        for msg in processed:
            await memory.add(msg)
        assert await memory.size() == len(message_stream)
        await memory.clear_content()
        days = [path.read_text("utf-8").splitlines() for path in (tmp_path / "dialog").glob("*.jsonl")]
        ids = [json.loads(line)["id"] for lines in days for line in lines]
        assert sorted(ids) == sorted(msg.id for msg in message_stream)
        await reme.close()

    asyncio.run(main())


def test_the_quick_start_of_the_file_based_memory(tmp_path, monkeypatch, capsys):
    """The whole program; nothing is configured but a model name, so that there is no key and no model."""
    monkeypatch.chdir(tmp_path)

    async def main():
        reme = ReMeLight(
            default_as_llm_config={"model_name": "qwen3.5-35b-a3b"},
            default_file_store_config={"fts_enabled": True, "vector_enabled": False},
            enable_load_env=True,
        )
        await reme.start()
        messages = [
            {"role": "user", "content": "记住：我的项目只用 Python 3.12。", "time_created": "2026-02-28 09:00:00"},
            *conversation(4),
        ]
        messages_to_compact, messages_to_keep, is_valid = await reme.check_context(
            messages=messages, memory_compact_threshold=90000, memory_compact_reserve=10000
        )
        assert (messages_to_compact, len(messages_to_keep), is_valid) == ([], len(messages), True)
        summary = await reme.compact_memory(
            messages=messages, previous_summary="", max_input_length=128000, compact_ratio=0.7, language="zh"
        )
        assert "Python 3.12" in summary
        messages = await reme.compact_tool_result(messages)
        processed_messages, compressed_summary = await reme.pre_reasoning_hook(
            messages=messages,
            system_prompt="你是一个有用的 AI 助手。",
            compressed_summary="",
            max_input_length=128000,
            compact_ratio=0.7,
            memory_compact_reserve=10000,
            enable_tool_result_compact=True,
            tool_result_compact_keep_n=3,
        )
        assert (len(processed_messages), compressed_summary) == (len(messages), "")
        summary_result = await reme.summary_memory(messages=messages, language="zh")
        assert summary_result
        result = await reme.memory_search(query="Python 版本偏好", max_results=5)
        assert "Python 3.12" in result.content[0]["text"]
        memory = reme.get_in_memory_memory()
        for msg in messages:
            await memory.add(msg)
        token_stats = await memory.estimate_tokens(max_input_length=128000)
        print(f"当前上下文使用率: {token_stats['context_usage_ratio']:.1f}%")
        print(f"消息 token 数量: {token_stats['messages_tokens']}")
        print(f"估计总 token 数量: {token_stats['estimated_tokens']}")
        assert await memory.mark_messages_compressed(messages[:1]) == 1
        await reme.close()

    asyncio.run(main())
    assert "当前上下文使用率" in capsys.readouterr().out
    assert "Python 3.12" in (tmp_path / ".reme" / "MEMORY.md").read_text("utf-8")
    assert (tmp_path / ".reme" / "memory" / "2026-02-28.md").exists()


SAID = [
    {"role": "user", "content": "Help me write a Python script", "time_created": "2026-02-28 10:00:00"},
    {"role": "assistant", "content": "Sure, I'll help you with that.", "time_created": "2026-02-28 10:00:05"},
    {"role": "user", "content": "I write all my scripts in Python 3.12.", "time_created": "2026-02-28 10:00:30"},
]


async def use_the_vector_based_memory(reme: ReMe, *, has_model: bool) -> None:
    """The program of the article from `start` to `close`."""
    await reme.start()

    # 1. draw memories from a conversation
    if has_model:
        result = await reme.summarize_memory(messages=SAID, user_name="alice")
        print(f"Summary result: {result}")
        assert [memory.content for memory in result] == ["alice writes all scripts in Python 3.12."]
        [said] = [
            msg for msg in await reme.read_conversation(result[0].ref_memory_id, "alice") if "3.12" in msg.content
        ]
        assert said.timestamp.startswith("2026-02-28 10:00:30")
    else:
        await reme.add_memory("alice writes all scripts in Python 3.12.", user_name="alice")

    # 2. find what is relevant
    memories = await reme.retrieve_memory(query="Python programming", user_name="alice")
    print(f"Retrieved memories: {memories}")
    assert [memory.content for memory in memories] == ["alice writes all scripts in Python 3.12."]

    # 3. add one by hand
    memory_node = await reme.add_memory(memory_content="The user prefers concise code style.", user_name="alice")
    print(f"Added memory: {memory_node}")
    memory_id = memory_node.memory_id

    # 4. get it by its id
    fetched_memory = await reme.get_memory(memory_id=memory_id)
    print(f"Fetched memory: {fetched_memory}")
    assert fetched_memory == memory_node

    # 5. change it
    updated_memory = await reme.update_memory(
        memory_id=memory_id,
        user_name="alice",
        memory_content="The user prefers concise code with comments.",
    )
    print(f"Updated memory: {updated_memory}")

    # 6. list all of a user's
    all_memories = await reme.list_memory(user_name="alice", limit=10, sort_key="time_created", reverse=True)
    print(f"User memory list: {all_memories}")
    assert [memory.content for memory in all_memories] == [
        "The user prefers concise code with comments.",
        "alice writes all scripts in Python 3.12.",
    ]

    # 7. delete it, by the id that it had before the change
    await reme.delete_memory(memory_id=memory_id)
    print(f"Deleted memory: {memory_id}")
    assert len(await reme.list_memory(user_name="alice")) == 1

    # 8. delete everything, which has to be meant
    with pytest.raises(ValueError, match="confirm=True"):
        await reme.delete_all()
    assert await reme.delete_all(confirm=True) == 1
    await reme.close()


@pytest.mark.parametrize("backend", ["openai", "my-provider"])  # another name with an address speaks its protocol
def test_the_vector_based_memory_with_a_model_and_an_embedding_server(tmp_path, loopback, monkeypatch, capsys, backend):
    reply = {"memories": [{"content": "The user writes all scripts in Python 3.12.", "from": [3]}], "profile": {}}
    server = loopback(lambda _body, _number: json.dumps(reply), window=16_000)
    monkeypatch.chdir(tmp_path)
    for name in ("LLM", "EMBEDDING"):
        monkeypatch.setenv(f"{name}_API_KEY", "none")
        monkeypatch.setenv(f"{name}_BASE_URL", server.url)
    reme = ReMe(
        working_dir=".reme",
        default_llm_config={"backend": backend, "model_name": "qwen3.5-plus"},
        default_embedding_model_config={"backend": "openai", "model_name": "text-embedding-v4", "dimensions": 64},
        default_vector_store_config={"backend": "local"},
    )
    asyncio.run(use_the_vector_based_memory(reme, has_model=True))
    assert "Retrieved memories: [MemoryNode(" in capsys.readouterr().out
    assert len(server.requests) == 1
    assert not server.violations
    assert server.embedding_requests


def test_the_vector_based_memory_without_any_server(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    configuration: dict[str, Any] = {
        "default_llm_config": {"backend": "openai", "model_name": "qwen3.5-plus"},
        "default_embedding_model_config": {"backend": "openai", "model_name": "text-embedding-v4", "dimensions": 1024},
        "default_vector_store_config": {"backend": "local"},
    }
    asyncio.run(use_the_vector_based_memory(ReMe(working_dir=".reme", **configuration), has_model=False))
    assert "Deleted memory: " in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == [".reme"]
