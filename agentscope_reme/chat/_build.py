# -*- coding: utf-8 -*-
"""A host chat model and its formatter, made of a dictionary and the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._errors import ConfigError, MissingModelError

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["build_model", "check_config", "load_env"]

_OWN = ("backend", "model_name", "api_key", "base_url", "stream")
_GENERATE = ("temperature", "top_p", "max_tokens", "seed", "stop", "presence_penalty", "frequency_penalty")
_BY_WIRE = {
    "openai": ("generate_kwargs", "client_kwargs", "reasoning_effort"),
    "dashscope": ("generate_kwargs", "enable_thinking", "multimodality"),
}


def build_model(
    config: Mapping[str, Any],
    *,
    env: Mapping[str, str] | None = None,
) -> "tuple[ChatModelBase, FormatterBase]":
    """Build the host's chat model and the formatter that goes with it.

    Args:
        config (`Mapping[str, Any]`):
            ``backend``: "openai" (default), "dashscope", or any other name with a ``base_url`` that speaks OpenAI's
            protocol. ``model_name``: required. ``api_key``, ``base_url``, ``stream`` (default `True`). Sampling:
            ``temperature``, ``top_p``, ``max_tokens``, ``seed``, ``stop``, ``presence_penalty``,
            ``frequency_penalty``, and whatever else the back end knows in the dictionary ``generate_kwargs``. For
            OpenAI's protocol also ``client_kwargs`` and ``reasoning_effort``, for DashScope's ``enable_thinking``
            and ``multimodality``.
        env (`Mapping[str, str] | None`):
            Where keys and addresses are looked up that the dictionary does not give; the process environment by
            default. The key: ``LLM_API_KEY``, then ``<BACKEND>_API_KEY`` (``OPENAI_API_KEY``,
            ``DASHSCOPE_API_KEY``). The address: ``LLM_BASE_URL``.

    Returns:
        `tuple[ChatModelBase, FormatterBase]`: The model, and its formatter.

    Raises:
        `MissingModelError`: there is no key; the variables that were looked at are named.
        `ConfigError`: a key of the dictionary is unknown or a value cannot work.
    """
    env = os.environ if env is None else env
    backend = _text(config, "backend", "openai").lower()
    model_name = _text(config, "model_name")
    base_url = _text(config, "base_url") or env.get("LLM_BASE_URL", "").strip()
    wire = "dashscope" if backend == "dashscope" and "compatible-mode" not in base_url else "openai"
    _refuse_unknown(config, wire)
    if not model_name:
        raise ConfigError("The model configuration has no model_name: name the model, such as 'qwen-plus'.")
    if backend not in _BY_WIRE and not base_url:
        raise ConfigError(f"backend {backend!r} needs a base_url (or LLM_BASE_URL) that speaks OpenAI's protocol.")
    options = {key: config[key] for key in _BY_WIRE[wire] if config.get(key) is not None}
    options["generate_kwargs"] = _generate_kwargs(config)
    options.update(model_name=model_name, api_key=_api_key(config, backend, base_url, env))
    options["stream"] = bool(config.get("stream", True))
    build = _dashscope if wire == "dashscope" else _openai
    return build(options, base_url, backend)


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse a dictionary that `build_model` would refuse for its keys, without building anything.

    Raises:
        `ConfigError`: it is no dictionary, or one of its keys is unknown.
    """
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"The model configuration is {config!r}: give a dictionary such as {{'model_name': 'qwen-plus'}}."
        )
    _refuse_unknown(config, "dashscope" if _text(config, "backend").lower() == "dashscope" else "openai")


def load_env(path: str | os.PathLike[str]) -> None:
    """Read a ``.env`` file into the process environment, never over what is set; a file that is not there is none.

    Args:
        path (`str | PathLike`): The file, or the folder that holds ``.env``.
    """
    source = Path(path)
    source = source / ".env" if source.is_dir() else source
    if not source.is_file():
        return
    try:
        from dotenv import load_dotenv
    except ImportError as error:
        raise ConfigError(f"Reading {source.name} needs python-dotenv: pip install python-dotenv.") from error
    load_dotenv(source, override=False, encoding="utf-8")


def _text(config: Mapping[str, Any], key: str, default: str = "") -> str:
    value = config.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{key} of the model configuration is {type(value).__name__}: give a string.")
    return (value or "").strip() or default


def _refuse_unknown(config: Mapping[str, Any], wire: str) -> None:
    known = (*_OWN, *_GENERATE, *_BY_WIRE[wire])
    unknown = [key for key in config if key not in known]
    if unknown:
        raise ConfigError(
            f"The model configuration does not know {', '.join(map(repr, unknown))}: it knows {', '.join(known)}. "
            "What is the back end's own goes into generate_kwargs.",
        )


def _generate_kwargs(config: Mapping[str, Any]) -> dict[str, Any]:
    given = config.get("generate_kwargs") or {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"generate_kwargs is {type(given).__name__}: give a dictionary.")
    return {**given, **{key: config[key] for key in _GENERATE if config.get(key) is not None}}


def _api_key(config: Mapping[str, Any], backend: str, base_url: str, env: Mapping[str, str]) -> str:
    names = ["LLM_API_KEY"]
    if "dashscope" in _host(base_url):
        names.append("DASHSCOPE_API_KEY")
    own = f"{backend.upper().replace('-', '_')}_API_KEY"
    names += [own] if own not in names else []
    key = _text(config, "api_key") or next(filter(None, (env.get(name, "").strip() for name in names)), "")
    if not key:
        raise MissingModelError(
            f"There is no key for the model back end {backend!r}: give api_key, or set {' or '.join(names)}. "
            "A server that wants none takes any text as api_key.",
        )
    return key


def _host(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def _openai(options: dict[str, Any], base_url: str, backend: str) -> "tuple[ChatModelBase, FormatterBase]":
    from agentscope.formatter import DeepSeekChatFormatter, OpenAIChatFormatter
    from agentscope.model import OpenAIChatModel

    client = dict(options.pop("client_kwargs", None) or {})
    if base_url:
        client["base_url"] = base_url
    plain = backend == "deepseek" or "deepseek" in _host(base_url)
    formatter = DeepSeekChatFormatter() if plain else OpenAIChatFormatter()
    return OpenAIChatModel(client_kwargs=client or None, **options), formatter


def _dashscope(options: dict[str, Any], base_url: str, _backend: str) -> "tuple[ChatModelBase, FormatterBase]":
    from agentscope.formatter import DashScopeChatFormatter
    from agentscope.model import DashScopeChatModel

    return DashScopeChatModel(base_http_api_url=base_url or None, **options), DashScopeChatFormatter()
