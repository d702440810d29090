# -*- coding: utf-8 -*-
"""A real model for a command, from the environment's keys; what is shown of it never holds a key."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._errors import ConfigError, MissingModelError, ModelReplyError, ReMeError
from ..chat import build_model

if TYPE_CHECKING:
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase

__all__ = ["LiveModel", "NAME_VARIABLE", "failures_of", "live_model"]

NAME_VARIABLE = "LLM_MODEL_NAME"

_DASHSCOPE = "DASHSCOPE_API_KEY"
_OPENAI = "OPENAI_API_KEY"
_DEFAULT_NAMES = {_DASHSCOPE: "qwen-plus", _OPENAI: "gpt-4.1-mini"}


@dataclass(frozen=True)
class LiveModel:
    """A model, and what to call it.

    Args:
        model (`ChatModelBase`), formatter (`FormatterBase`):
            The pair.
        name (`str`):
            The model's name.
        endpoint (`str`):
            Where its requests go, without user, password and query.
    """

    model: "ChatModelBase"
    formatter: "FormatterBase"
    name: str
    endpoint: str


def live_model(name: str | None, env: Mapping[str, str], option: str = "--live") -> LiveModel:
    """The model that the environment has a key for.

    `LLM_API_KEY` and `LLM_BASE_URL` name any endpoint that speaks OpenAI's protocol; without them `DASHSCOPE_API_KEY`,
    then `OPENAI_API_KEY`.

    Args:
        name (`str | None`):
            The model's name; `LLM_MODEL_NAME` unless given, else a small one of the provider.
        env (`Mapping[str, str]`):
            The environment.
        option (`str`):
            What asks for it, to be named where there is no key.

    Raises:
        `MissingModelError`: there is no key.
        `ConfigError`: an endpoint of your own is set and no model is named.
    """
    source = _source(env, option)
    name = name or env.get(NAME_VARIABLE, "").strip() or _DEFAULT_NAMES.get(source)
    if not name:
        raise ConfigError(f"{source} is set and no model is named: give --model NAME, or set {NAME_VARIABLE}.")
    model, formatter = build_model(
        {"backend": "dashscope" if source == _DASHSCOPE else "openai", "model_name": name}, env=env
    )
    return LiveModel(model, formatter, name, _endpoint(model, env))


@contextmanager
def failures_of(live: LiveModel | None) -> Iterator[None]:
    """What the service of a live model refuses becomes one line that says which service it was.

    Raises:
        `ModelReplyError`: it refused.
    """
    if live is None:
        yield
        return
    import openai

    try:
        yield
    except ReMeError:
        raise
    except (openai.OpenAIError, RuntimeError) as error:  # a RuntimeError is what the host makes of DashScope's refusals
        raise ModelReplyError(f"{live.name} at {live.endpoint} failed: {error}") from error


def _source(env: Mapping[str, str], option: str) -> str:
    for variable in ("LLM_BASE_URL", "LLM_API_KEY", _DASHSCOPE, _OPENAI):
        if env.get(variable, "").strip():
            return variable
    raise MissingModelError(
        f"{option} needs a model and no key is set: set LLM_API_KEY (and LLM_BASE_URL), {_DASHSCOPE} or {_OPENAI}. "
        f"Without {option} none is needed.",
    )


def _endpoint(model: Any, env: Mapping[str, str]) -> str:
    client = getattr(model, "client", None)
    address = getattr(client, "base_url", None) or env.get("LLM_BASE_URL", "")
    if not address:
        import dashscope

        address = dashscope.base_http_api_url
    parts = urlsplit(str(address))
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}".rstrip("/")
