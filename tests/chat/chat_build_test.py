# -*- coding: utf-8 -*-
"""Models built of dictionaries and the environment."""

import os
from pathlib import Path
from typing import Any

import pytest
from agentscope.formatter import DashScopeChatFormatter, DeepSeekChatFormatter, OpenAIChatFormatter
from agentscope.model import DashScopeChatModel, OpenAIChatModel

from agentscope_reme._errors import ConfigError, MissingModelError
from agentscope_reme.chat import build_model, load_env

NAMED = {"model_name": "qwen-plus"}


@pytest.mark.parametrize(
    ("config", "env", "key", "host"),
    [
        ({"api_key": "own"}, {"LLM_API_KEY": "llm"}, "own", "api.openai.com"),
        ({}, {"LLM_API_KEY": "llm", "OPENAI_API_KEY": "openai"}, "llm", "api.openai.com"),
        ({}, {"LLM_API_KEY": " ", "OPENAI_API_KEY": "openai"}, "openai", "api.openai.com"),
        ({}, {"OPENAI_API_KEY": "k", "LLM_BASE_URL": "http://model.test/v1"}, "k", "model.test"),
        ({"base_url": "http://own.test/v1"}, {"OPENAI_API_KEY": "k", "LLM_BASE_URL": "http://x.test"}, "k", "own.test"),
        ({"backend": "zhipu", "base_url": "http://z.test"}, {"ZHIPU_API_KEY": "z"}, "z", "z.test"),
        ({"base_url": "https://dashscope.test/compatible-mode/v1"}, {"DASHSCOPE_API_KEY": "d"}, "d", "dashscope.test"),
        (
            {"backend": "dashscope", "base_url": "https://dashscope.test/compatible-mode/v1"},
            {"DASHSCOPE_API_KEY": "d"},
            "d",
            "dashscope.test",
        ),
    ],
)
def test_key_and_address(config: dict[str, Any], env: dict[str, str], key: str, host: str) -> None:
    model, formatter = build_model({**NAMED, **config}, env=env)
    assert isinstance(model, OpenAIChatModel)
    assert isinstance(formatter, OpenAIChatFormatter)
    assert (model.client.api_key, model.client.base_url.host) == (key, host)
    assert (model.model_name, model.stream) == ("qwen-plus", True)


def test_dashscope_has_its_own_protocol() -> None:
    config = {**NAMED, "backend": "DashScope", "stream": False, "temperature": 0.1, "enable_thinking": False}
    model, formatter = build_model(config, env={"OPENAI_API_KEY": "not mine", "DASHSCOPE_API_KEY": "d"})
    assert isinstance(model, DashScopeChatModel)
    assert isinstance(formatter, DashScopeChatFormatter)
    assert (model.api_key, model.stream, model.enable_thinking) == ("d", False, False)
    assert model.generate_kwargs["temperature"] == 0.1


def test_sampling_reaches_the_model() -> None:
    config = {
        **NAMED,
        "max_tokens": 900,
        "generate_kwargs": {"extra_body": {"k": 1}},
        "client_kwargs": {"max_retries": 7},
    }
    model, _ = build_model(config, env={"LLM_API_KEY": "k"})
    assert model.generate_kwargs == {"max_tokens": 900, "extra_body": {"k": 1}}
    assert model.client.max_retries == 7


def test_deepseek_wants_plain_strings() -> None:
    _, formatter = build_model({**NAMED, "base_url": "https://api.deepseek.test/v1", "api_key": "k"}, env={})
    assert isinstance(formatter, DeepSeekChatFormatter)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"backend": "openai"}, "model_name"),
        ({**NAMED, "modle": 1}, "'modle'"),
        ({**NAMED, "enable_thinking": True}, "'enable_thinking'"),
        ({**NAMED, "backend": "zhipu"}, "base_url"),
        ({**NAMED, "api_key": 7}, "api_key"),
        ({**NAMED, "generate_kwargs": [1]}, "generate_kwargs"),
    ],
)
def test_what_cannot_work_is_refused_by_name(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        build_model(config, env={"LLM_API_KEY": "k"})
    assert not isinstance(caught.value, MissingModelError)


@pytest.mark.parametrize(
    ("backend", "other", "names"),
    [
        ("openai", "DASHSCOPE_API_KEY", "LLM_API_KEY or OPENAI_API_KEY"),
        ("dashscope", "OPENAI_API_KEY", "LLM_API_KEY or DASHSCOPE_API_KEY"),
    ],
)
def test_a_missing_key_names_the_variables(backend: str, other: str, names: str) -> None:
    with pytest.raises(MissingModelError, match=names):
        build_model({**NAMED, "backend": backend}, env={other: "of somebody else"})


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "from the process")
    assert build_model(NAMED)[0].client.api_key == "from the process"


def test_env_file_never_overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REME_TEST_SET", "shell")
    monkeypatch.delenv("REME_TEST_UNSET", raising=False)
    load_env(tmp_path)
    (tmp_path / ".env").write_text("REME_TEST_SET=file\nREME_TEST_UNSET=文件\n", encoding="utf-8")
    load_env(tmp_path)
    assert (os.environ["REME_TEST_SET"], os.environ["REME_TEST_UNSET"]) == ("shell", "文件")
    monkeypatch.delenv("REME_TEST_UNSET")
    load_env(tmp_path / ".env")
    assert os.environ["REME_TEST_UNSET"] == "文件"
    monkeypatch.delenv("REME_TEST_UNSET")
