# -*- coding: utf-8 -*-
"""The temperature of one request: a model's own holds, what takes none is asked without, and so is what refuses it."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import agentscope.model
import pytest
from _loopback import Loopback, Status
from agentscope.formatter import DashScopeChatFormatter, OpenAIChatFormatter
from agentscope.message import TextBlock
from agentscope.model import ChatModelBase, ChatResponse, DashScopeChatModel, OllamaChatModel

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.chat import ask
from agentscope_reme.chat._sampling import sampling

Served = Callable[..., Loopback]


def asked(model: Any, formatter: Any = None, **options: Any) -> str:
    return asyncio.run(ask(model, formatter or OpenAIChatFormatter(), "be brief", "question", **options)).text


def of_class(kind: type[Any], **fields: Any) -> Any:
    """A model of a host class without its client, which may not be installed."""
    model = kind.__new__(kind)
    model.__dict__.update(fields)
    return model


@pytest.mark.parametrize("stream", [False, True])
def test_a_temperature_reaches_the_server(loopback: Served, stream: bool) -> None:
    server = loopback(["yes", "yes", "yes"])
    model = server.model(stream)
    assert asked(model, temperature=0.1) == "yes"
    assert asked(model) == "yes"
    model.generate_kwargs["temperature"] = 0.7
    assert asked(model, temperature=0.1) == "yes"
    assert [request.body.get("temperature") for request in server.requests] == [0.1, None, 0.7]


def test_a_model_that_refuses_a_temperature_is_asked_without(loopback: Served) -> None:
    server = loopback(
        lambda body, _: (
            Status(400, "Unsupported value: 'temperature' does not support 0.1") if "temperature" in body else "yes"
        )
    )
    assert asked(server.model(), temperature=0.1) == "yes"
    assert ["temperature" in request.body for request in server.requests] == [True, False]


def test_another_failure_is_asked_no_second_time(loopback: Served) -> None:
    server = loopback([Status(500, "out of order")])
    with pytest.raises(ModelReplyError, match="out of order"):
        asked(server.model(), temperature=0.1)
    assert len(server.requests) == 1


def test_dashscope_takes_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import dashscope

    seen: list[dict[str, Any]] = []

    async def call(**given: Any) -> Any:
        seen.append(given)
        raise ValueError("no network")

    monkeypatch.setattr(dashscope.aigc.generation.AioGeneration, "call", call)
    with pytest.raises(ModelReplyError, match="no network"):
        asked(DashScopeChatModel("qwen-plus", "none"), DashScopeChatFormatter(), temperature=0.1)
    assert [each["temperature"] for each in seen] == [0.1]


@pytest.mark.parametrize(
    "name", [name for name in agentscope.model.__all__ if name.endswith("ChatModel") and name != "OllamaChatModel"]
)
def test_every_class_of_the_host_takes_it_by_call(name: str) -> None:
    model = of_class(getattr(agentscope.model, name), generate_kwargs={})
    assert sampling(model, 0.1) == {"temperature": 0.1}
    assert sampling(model, None) == {}


def test_ollama_has_it_among_its_options() -> None:
    assert sampling(of_class(OllamaChatModel, options={"num_ctx": 8}, generate_kwargs={}), 0.1) == {
        "options": {"num_ctx": 8, "temperature": 0.1}
    }
    own = [
        of_class(OllamaChatModel, options={"temperature": 1}),
        of_class(OllamaChatModel, generate_kwargs={"options": {"temperature": 1}}),
    ]
    assert [sampling(model, 0.1) for model in own] == [{}, {}]


def test_a_class_of_ones_own_may_take_none() -> None:
    class Plain(ChatModelBase):
        async def __call__(self, messages: Any) -> ChatResponse:
            return ChatResponse(content=[TextBlock(type="text", text="yes")])

    assert asked(Plain("plain", False), temperature=0.1) == "yes"
    assert sampling(SimpleNamespace(), 0.1) == {}
