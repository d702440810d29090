# -*- coding: utf-8 -*-
"""Sessions of one folder: their names, their owners, and what closing them leaves."""

import asyncio

import pytest
from agentscope.message import Msg

from agentscope_reme import ConfigError, ReMeLight, SessionExistsError, SessionInUseError, SessionNotFoundError


def test_sessions_are_listed_by_the_ids_that_resume_takes(tmp_path):
    async def main():
        names = ["../x", "Alice", "alice", "用户 一", "a/b"]
        async with ReMeLight(tmp_path, model=None) as reme:
            for name in names:
                await reme.get_in_memory_memory(name).add(Msg("u", f"of {name}", "user"))
        async with ReMeLight(tmp_path, model=None) as reme:
            assert reme.sessions() == sorted(names)
            for name in reme.sessions():
                assert (await (await reme.resume(name)).get_memory())[0].content == f"of {name}"
        assert not [path for path in tmp_path.parent.iterdir() if path.name == "x"]

    asyncio.run(main())


def test_a_session_has_one_owner_and_closing_frees_it(tmp_path):
    async def main():
        first, second = ReMeLight(tmp_path, model=None), ReMeLight(tmp_path, model=None)
        mine = first.get_in_memory_memory("s")
        await mine.add(Msg("u", "x", "user"))
        with pytest.raises(SessionInUseError):
            await second.resume("s")
        await first.close()
        memory = await second.resume("s")
        with pytest.raises((SessionInUseError, SessionExistsError)):
            second.get_in_memory_memory("s")
        with pytest.raises(SessionNotFoundError, match="nobody"):
            await second.resume("nobody")
        assert await memory.size() == 1
        await second.close()
        await second.close()

    asyncio.run(main())


def test_two_starts_at_once_are_one(tmp_path):
    async def main():
        reme = ReMeLight(tmp_path, model=None)
        told = []
        reme.subscribe(lambda event: told.append(str(event.kind)))
        await asyncio.gather(reme.start(), reme.start(), reme.start())
        assert told.count("started") == 1
        reme.add_async_summary_task([{"role": "user", "content": "remember me"}])
        await reme.close()

    asyncio.run(main())


def test_one_object_lives_through_two_loops(tmp_path):
    reme = ReMeLight(tmp_path, model=None)
    for _ in range(2):
        asyncio.run(reme.start())
        asyncio.run(reme.memory_search("anything"))
        asyncio.run(reme.close())


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "fr"},
        {"timezone": "Mars/Olympus"},
        {"timezone": 8},
        {"redact": "x"},
        {"prompts": "zh"},
        {"working_dir": ""},
        {"formatter": "any"},
        {"default_llm_config": {"model": "x"}},
        {"default_llm_config": {"model_name": "x"}, "default_as_llm_config": {"model_name": "x"}},
        {"default_file_store_config": {"fts": True}},
        {"default_file_store_config": {"fts_enabled": False, "vector_enabled": False}},
        {"default_embedding_model_config": {"name": "x", "model_name": "y"}},
        {"vector_weight": 2},
        {"candidate_multiplier": 0},
    ],
    ids=str,
)
def test_what_cannot_work_is_refused_where_it_is_given(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError):
        ReMeLight(**{"working_dir": tmp_path, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_a_keyword_that_is_not_known_is_refused_by_name(tmp_path):
    with pytest.raises(TypeError, match="max_tokens"):
        ReMeLight(tmp_path, max_tokens=3)
