# -*- coding: utf-8 -*-
import pytest

from agentscope_reme._errors import ConfigError
from agentscope_reme.embedding import LocalEmbedding, build_embedding

COMPATIBLE = "https://dashscope.aliyuncs.com/compatible-mode/v1"


def facts(model):
    client = getattr(model, "client", None)
    key = client.api_key if client else model.api_key
    address = str(client.base_url).rstrip("/") if client else ""
    return type(model).__name__, model.model_name, model.dimensions, key, address


@pytest.mark.parametrize(
    ("config", "env", "expected"),
    [
        (
            {
                "backend": "openai",
                "model_name": "m",
                "dimensions": 64,
                "api_key": "k",
                "base_url": "http://localhost:1/v1",
            },
            {"EMBEDDING_API_KEY": "no", "EMBEDDING_BASE_URL": "http://no"},
            ("OpenAITextEmbedding", "m", 64, "k", "http://localhost:1/v1"),
        ),
        (
            {},
            {"EMBEDDING_API_KEY": "e", "OPENAI_API_KEY": "o"},
            ("OpenAITextEmbedding", "text-embedding-3-small", 1536, "e", "https://api.openai.com/v1"),
        ),
        (
            {"backend": "openai"},
            {"OPENAI_API_KEY": "o", "EMBEDDING_BASE_URL": "http://localhost:2/v1"},
            ("OpenAITextEmbedding", "text-embedding-3-small", 1536, "o", "http://localhost:2/v1"),
        ),
        (
            {"backend": "openai", "base_url": COMPATIBLE},
            {"OPENAI_API_KEY": "o", "DASHSCOPE_API_KEY": "d"},
            ("OpenAITextEmbedding", "text-embedding-v4", 1024, "d", COMPATIBLE),
        ),
        (
            {"backend": "DashScope"},
            {"DASHSCOPE_API_KEY": "d", "OPENAI_API_KEY": "o"},
            ("DashScopeTextEmbedding", "text-embedding-v4", 1024, "d", ""),
        ),
        (
            {"backend": "dashscope", "model_name": "text-embedding-v3", "dimensions": 512},
            {"EMBEDDING_API_KEY": "e", "EMBEDDING_BASE_URL": "http://for-another"},
            ("DashScopeTextEmbedding", "text-embedding-v3", 512, "e", ""),
        ),
        (
            {"backend": "dashscope", "api_key": "k"},
            {"EMBEDDING_BASE_URL": COMPATIBLE},
            ("OpenAITextEmbedding", "text-embedding-v4", 1024, "k", COMPATIBLE),
        ),
    ],
)
def test_dictionary_first_then_the_environment_then_the_default(config, env, expected):
    assert facts(build_embedding(config, env)) == expected


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"backend": "openai"}, ["EMBEDDING_API_KEY", "OPENAI_API_KEY", "api_key"]),
        ({"backend": "dashscope"}, ["EMBEDDING_API_KEY", "DASHSCOPE_API_KEY", "api_key"]),
        ({"backend": "gemini", "api_key": "k"}, ["'gemini'", "openai, dashscope, local"]),
        ({"api_key": "k", "dimension": 8, "batch": 1}, ["'dimension'", "'batch'", "dimensions"]),
        ({"api_key": "k", "dimensions": 0}, ["dimensions is 0"]),
        ({"api_key": "k", "dimensions": True}, ["dimensions is True"]),
        ({"api_key": "k", "dimensions": "1024"}, ["dimensions is '1024'"]),
        ({"api_key": 7}, ["api_key", "int"]),
        ({"backend": "dashscope", "api_key": "k", "base_url": "https://x/api/v1"}, ["https://x/api/v1", "compatible"]),
    ],
)
def test_what_cannot_work_is_refused_by_name(config, words):
    with pytest.raises(ConfigError) as caught:
        build_embedding(config, {})
    for word in words:
        assert word in str(caught.value)


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("EMBEDDING_API_KEY", "from the shell")
    assert facts(build_embedding({}))[3] == "from the shell"


def test_the_offline_model_needs_no_key(monkeypatch):
    monkeypatch.setattr(LocalEmbedding, "available", staticmethod(lambda: True))
    assert isinstance(build_embedding({"backend": "local"}, {}), LocalEmbedding)
    with pytest.raises(ConfigError, match=r"dimensions is 1024.*512"):
        build_embedding({"backend": "local", "dimensions": 1024}, {})
    monkeypatch.setattr(LocalEmbedding, "available", staticmethod(lambda: False))
    with pytest.raises(ConfigError, match=r"agentscope-reme\[local\]"):
        build_embedding({"backend": "local"}, {})
