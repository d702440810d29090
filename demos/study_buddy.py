# -*- coding: utf-8 -*-
"""学习伙伴：说“记住……”的立刻记下，其余每十轮提炼一次；几天后还想得起来，偏好变了旧的让位，要求忘掉的就忘掉。
不需要密钥和网络；环境里有密钥时由真实的模型来回答和提炼。

A study buddy: what it is asked to remember is stored at once, the rest is drawn every ten rounds; days later it is
recalled, a changed preference gives way, and what is to be forgotten is forgotten. No key, no network.

    python demos/study_buddy.py
"""

import asyncio
import tempfile
from pathlib import Path

from _stage import a_model
from agentscope.agent import ReActAgent
from agentscope.message import Msg

from agentscope_reme import MemoryManager, ReMe
from agentscope_reme.refine import RefinerConfig, TagSchema
from agentscope_reme.testing import ScriptedChatModel

USER = "小明"
CONFIG = RefinerConfig(trigger_rules=["user_contains:记住", "round_count:10", "session_end"])
SCHEMA = TagSchema.of(
    {
        "type": ["fact", "preference", "plan", "event"],
        "topic": ["列表", "推导式", "递归", "二叉树", "装饰器"],
        "status": ["学完了", "没学会"],
    }
)
FIRST_DAY = (
    "你好！",
    "我昨天学完了 Python 列表的基本操作，但列表推导式还是有点绕。",
    "记住，我递归总是学不好。",
    "我喜欢先看例子，再看概念。",
    "列表推导式里可以写 if 吗？",
    "好的，谢谢。",
    "我打算下个月学完装饰器。",
    "今天好累啊。",
    "我讨厌背语法，一背就忘。",
    "明天见！",
)
DAYS_LATER = (
    "我们再来看看二叉树遍历吧，要用递归的那种。",
    "我现在不喜欢先看例子了。",
    "忘掉我之前说的关于装饰器的事。",
)

SIGNS = {"words": "用词", "meaning": "语义", "neighbours": "上下文", "speaker": "说话人", "date": "日期"}
PLACES = {"memories": "记忆", "records": "操作记录", "replies": "回答所用的记忆", "vectors": "向量"}


def speak(asked: str, seen: str) -> str:
    """The scripted buddy knows nothing but what it is shown."""
    if "二叉树" in asked and "递归总是学不好" in seen:
        return "好的。递归是你的难点，我们先用迭代和图示讲清遍历，再回头看递归。"
    return "好的，二叉树遍历就是递归地访问左右子树。" if "二叉树" in asked else "好的。"


async def session(reme: ReMe, folder: Path, requests: tuple[str, ...]) -> list[Msg]:
    """A conversation with a new agent: what it knows of earlier ones comes from the vector memory, and what is said
    goes there. The replies come back."""
    agent = ReActAgent("学习伙伴", "你是一个耐心、专业的 Python 学习伙伴。", *a_model(speak))
    agent.set_console_output_enabled(False)
    replies = []
    async with MemoryManager(folder, recall_from=reme, capture=True, enable_notes=False) as manager:
        manager.attach(agent, user_name=USER)
        for request in requests:
            replies.append(await agent(Msg(USER, request, "user")))
            print(f"{USER}：{request}\n伙伴：{replies[-1].get_text_content()}")
        await manager.new()  # the session is over
    await reme.await_capture()  # memories are drawn in the background
    return replies


async def show(reme: ReMe, title: str) -> None:
    """What is known, what it is worth, and what is not found any more."""
    print(f"\n{title}")
    for memory in await reme.list_memory(user_name=USER, reverse=False, include_inactive=True):
        gone = {"forgotten": "已忘掉，可恢复", "superseded_by": "已被取代，可恢复"}
        reason = next((f"［{gone[key]}］" for key in gone if memory.metadata.get(key)), "")
        tags = " ".join([memory.category, *memory.tags])
        print(f"  - {memory.importance:.2f} {memory.content}（{tags}）{reason}")


async def main(folder: Path) -> None:
    model, formatter = a_model(speak)
    if isinstance(model, ScriptedChatModel):  # no key is set: memories are drawn by rules, without a model
        model, formatter = None, None
    options = {"model": model, "formatter": formatter, "refiner": CONFIG, "schema": SCHEMA}
    async with ReMe(folder, **options) as reme:
        await session(reme, folder / "sessions", FIRST_DAY)
        await show(reme, "第一天以后记得的（重要性、内容、类别和标签）：")

    async with ReMe(folder, **options) as reme:
        print("\n———— 几天以后，另一个进程 ————\n")
        replies = await session(reme, folder / "sessions", DAYS_LATER)
        await show(reme, "几天以后记得的：")

        for memory in await reme.feedback(replies[0], 1, actor=USER):
            print(f"\n第一个回答得了个赞，它用到的记忆更重要了：{memory.importance:.3f} {memory.content}")
        hit = (await reme.retrieve_memory("递归", user_name=USER))[0]
        why = await reme.explain("递归", hit.memory_id, user_name=USER)
        signs = "，".join(f"{SIGNS.get(name, name)} {share:.0%}" for name, share in why.parts.items())
        print(f"为什么问“递归”会想起它：排第 {why.rank}，相关性来自{signs}；重要性 {why.importance:.2f}")

        [forgotten] = await reme.list_memory(
            user_name=USER, filters={"content": {"contains": "装饰器"}, "is_active": False}
        )
        await reme.restore(forgotten.memory_id, actor=USER, cause="又想学了")
        print(f"\n忘掉的可以要回来：{forgotten.content}")
        for row in await reme.memory_history(forgotten.memory_id):
            print(f"  {row.time:%m-%d %H:%M} {row.action}（{row.actor}：{row.cause}）")
        purged = await reme.purge(forgotten.memory_id)
        counts = "，".join(f"{PLACES.get(place, place)} {count} 条" for place, count in purged.counts.items() if count)
        print(f"彻底清除就什么也不剩，一共删去：{counts}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
