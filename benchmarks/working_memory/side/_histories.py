# -*- coding: utf-8 -*-
"""The messages that both sides get: rounds of a request, a call, its result and an answer, in two languages."""

from agentscope.message import Msg

__all__ = ["history", "long_results"]

_ASKED = ("Please look at module {n} and say what calls it. ", "请看一下模块 {n}，说明谁调用了它，以及为什么。")
_TOLD = ("def run_{n}(value):  # line {n}\n    return value + {n}\n", "第 {n} 行：读取配置，返回 {n} 条记录。\n")
_SAID = ("Module {n} is called from the scheduler, once a minute. ", "模块 {n} 由调度器每分钟调用一次，没有别的入口。")


def history(count: int) -> list[Msg]:
    """So many messages, each with a text of its own; the same for the same number."""
    return [_message(at) for at in range(count)]


def long_results(count: int, size: int) -> list[Msg]:
    """A request, and so many calls with results of `size` bytes each, of which no two are equal."""
    messages = [Msg("user", "Read all the logs.", "user")]
    for number in range(count):
        line = f"{number:05d} 2025-01-31 10:00:00 INFO worker: handled request in 12 ms\n"
        messages += [_call(number, f"log_{number}.txt"), _result(number, (line * (size // len(line) + 1))[:size])]
    return messages


def _message(at: int) -> Msg:
    number, kind = divmod(at, 4)
    language = number % 2
    if kind == 0:
        return Msg("user", _ASKED[language].format(n=number) * 4, "user")
    if kind == 1:
        return _call(number, f"src/module_{number}.py")
    if kind == 2:
        return _result(number, "".join(_TOLD[language].format(n=number + line) for line in range(10)))
    return Msg("agent", _SAID[language].format(n=number) * 4, "assistant")


def _call(number: int, path: str) -> Msg:
    call = {"type": "tool_use", "id": f"call_{number}", "name": "read_text", "input": {"path": path}}
    return Msg("agent", [call], "assistant")


def _result(number: int, text: str) -> Msg:
    output = [{"type": "text", "text": text}]
    return Msg(
        "system", [{"type": "tool_result", "id": f"call_{number}", "name": "read_text", "output": output}], "system"
    )
