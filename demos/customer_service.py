# -*- coding: utf-8 -*-
"""客服：一个记忆库服务许多客户。每位客户只看得到自己的记忆，删除一位客户不影响别人。不需要密钥和网络。

A service desk: one store for many customers. Each sees only what is theirs, and deleting one touches nobody else. No
key, no network.

    python demos/customer_service.py
"""

import asyncio
import tempfile
import time
from pathlib import Path

from _stage import Lesson, a_model
from agentscope.agent import ReActAgent
from agentscope.formatter import FormatterBase
from agentscope.message import Msg
from agentscope.model import ChatModelBase

from agentscope_reme import MemoryManager, ReMe

CUSTOMERS = [f"客户{number:03d}" for number in range(200)]
LESSONS = (
    Lesson("换成 42 码", "李雷的订单 A-1042 要换成 42 码。", "plan"),
    Lesson("不要打电话", "李雷希望用短信联系，不要打电话。", "preference"),
    Lesson("换成 38 码", "韩梅梅的订单 B-2210 要换成 38 码。", "plan"),
)


def speak(asked: str, seen: str) -> str:
    """The scripted agent answers from what it is shown."""
    for lesson in LESSONS:
        if "订单" in asked and "码。" in lesson.content and lesson.content in seen:
            return f"查到了：{lesson.content}"
    return "好的，已经记下。" if "换成" in asked else "没有查到您的订单。"


async def talk(
    reme: ReMe, folder: Path, name: str, request: str, model: ChatModelBase, formatter: FormatterBase
) -> None:
    """One customer's conversation, with an agent and a working memory of their own."""
    agent = ReActAgent("service", "你是客服，只根据这位客户的记忆回答。", model, formatter)
    agent.set_console_output_enabled(False)
    async with MemoryManager(folder / name, recall_from=reme, enable_notes=False) as manager:
        memory = manager.attach(agent, user_name=name)
        reply = await agent(Msg(name, request, "user"))
        print(f"{name}：{request}\n客服：{reply.get_text_content()}\n")
        await reme.summarize_memory(await memory.get_memory(), user_name=name)


async def main(folder: Path) -> None:
    model, formatter = a_model(speak, LESSONS)
    async with ReMe(folder, model=model, formatter=formatter, timezone="Asia/Shanghai") as reme:
        # What an older system knew: no model is needed to take it over.
        for name in CUSTOMERS:
            await reme.add_memory(
                "常用收货地址在公司，工作日送货。", user_name=name, tags=["地址"], category="preference"
            )

        # Two conversations at the same time.
        await asyncio.gather(
            talk(reme, folder, "李雷", "订单 A-1042 请换成 42 码，不要打电话。", model, formatter),
            talk(reme, folder, "韩梅梅", "订单 B-2210 请换成 38 码。", model, formatter),
        )
        await talk(reme, folder, "李雷", "我的订单怎么样了？", model, formatter)
        await talk(reme, folder, "路人甲", "我的订单怎么样了？", model, formatter)

        began = time.perf_counter()
        found = await reme.retrieve_memory("送到哪里？", user_name="客户042", filters={"tags": {"contains": "地址"}})
        print(f"客户042 的地址（{1000 * (time.perf_counter() - began):.1f} ms）：{found[0]}")
        everything = sum([len(await reme.list_memory(user_name=name)) for name in [*CUSTOMERS, "李雷", "韩梅梅"]])
        removed = await reme.delete_all(user_name="李雷")
        left = sum([len(await reme.list_memory(user_name=name)) for name in [*CUSTOMERS, "李雷", "韩梅梅"]])
        print(f"应李雷的要求删除了 {removed} 条记忆，连同对话原文；其余 {left} 条（共 {everything} 条）都还在。")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
