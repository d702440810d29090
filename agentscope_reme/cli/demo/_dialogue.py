# -*- coding: utf-8 -*-
"""What is said in the demo, in both languages: the requests, the system prompt, and the lines of the script."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["DIALOGUES", "Dialogue"]


@dataclass(frozen=True)
class Dialogue:
    """The words of one language.

    Args:
        system_prompt (`str`):
            The agent's.
        task (`str`), follow_up (`str`):
            The person's two requests.
        chapters (`Mapping[str, str]`):
            What the scripted agent says as it begins a part of the work.
        conclusion (`str`):
            Its answer to the first request.
        missing (`str`):
            As it looks things up that it does not see any more.
        report (`str`):
            Its answer to the second, with a place for each fact.
        unknown (`str`):
            What stands for a fact that could not be found.
        desk_prompt (`str`), question (`str`):
            The agent's system prompt and the person's request in the second session.
        checking (`str`):
            As the scripted agent looks up what it was not shown of its memory.
        answer (`str`), ticket_first (`str`):
            Its answer there, and the form in which the person wants answers if they ever said so.
    """

    system_prompt: str
    task: str
    follow_up: str
    chapters: Mapping[str, str]
    conclusion: str
    missing: str
    report: str
    unknown: str
    desk_prompt: str
    question: str
    checking: str
    answer: str
    ticket_first: str


_EN = Dialogue(
    system_prompt=(
        "You investigate incidents in a software project. Work with the tools, one finding at a time; state only what "
        "you have read. What you need and no longer see in your context you look up in working memory."
    ),
    task=(
        "Since this morning customers get a 502 page when they pay. Find out why, from the files alone: do not change "
        "anything. Go through the logs completely and rule out other causes. I will ask for the report afterwards."
    ),
    follow_up=(
        "Thanks. Now write the incident report: ticket and author of the change, the setting with file and line, the "
        "line of code at fault, timeouts until the first failure, its time and request id, the number of failed "
        "checkouts, and whom the runbook wants told. Exact values only. "
        "From now on, begin every answer about an incident with its ticket number."
    ),
    chapters={
        "look": "First an overview, and what the runbook says.",
        "customers": "What do the customers see, and since when?",
        "server": "The gateway only passes it on. What does the service itself log first?",
        "code": "The pool runs empty. Who takes connections, and who gives them back?",
        "settings": "A timeout skips the release. Which timeout is in force, and who set it?",
        "proof": "A theory is no proof: replay the log against the real code, run the tests.",
        "others": "Rule out the database, the gateway, the restart. Read the rest of the log.",
    },
    conclusion=(
        "Found. Every payment that times out loses its connection for good. Since this morning's change timeouts are "
        "frequent, and once the pool is empty nobody can pay. The database and the gateway are not to blame. Ask me "
        "for the report when you want it."
    ),
    missing="Some of these values are not in my context any more. I look them up instead of guessing.",
    report="""\
{ticket}, incident report: 502 at checkout, 2025-03-11

Change    {ticket} by {author}: paylane.timeout_ms {before} -> {after}
Setting   {setting}
Fault     {code}: after a timeout the connection is not given back
Effect    {timeouts} timeouts took all {pool} connections
First     {first_time}, {first_request}
Damage    {failed} of {checkouts} checkouts failed
Tell      the treasury desk, ext. {extension}, before anybody refunds
Repair    release in a `finally`; timeout_ms back to {before}""",
    unknown="(not found)",
    desk_prompt=(
        "You answer questions about past incidents. Your memory is all you have: use what you are shown of it, and "
        "look up the rest with memory_search. State only what you have read there."
    ),
    question=(
        "Hello again. A customer who ran into the 502 wants her money back. Whom do I have to tell first, and who had "
        "changed which setting?"
    ),
    checking="Before you rely on it, I look up the exact wording.",
    answer=(
        'Before you refund, tell the treasury desk, ext. {extension}. The runbook says: "{rule}" The cause was '
        "{author}'s change: paylane.timeout_ms from {before} to {after} ({setting})."
    ),
    ticket_first="{ticket}: {answer}",
)

_ZH = Dialogue(
    system_prompt=(
        "你负责排查软件项目的故障。使用工具逐步查证，只陈述读到过的内容。"
        "需要、但上下文里已经看不到的信息，到工作记忆中查找。"
    ),
    task=(
        "今天上午开始，顾客付款时看到 502 页面。请只根据文件查明原因，不要修改任何东西。"
        "日志要完整看一遍，并排除其他原因。之后我会请你写报告。"
    ),
    follow_up=(
        "谢谢。现在请写故障报告：变更的工单号和变更人、相关配置及其文件和行号、出错的代码行、"
        "首次失败前的超时次数、首次失败的时间和请求号、失败的订单数，以及手册要求通知谁。只写准确的值。"
        "今后回答故障问题，请一律先写工单号。"
    ),
    chapters={
        "look": "先了解项目概况，看看故障手册怎么说。",
        "customers": "顾客看到的是什么？从什么时候开始？",
        "server": "网关只是转发错误。服务自己最早记录了什么？",
        "code": "连接池被耗尽了。谁取走了连接，谁负责归还？",
        "settings": "超时之后跳过了归还。现在生效的超时是多少，是谁改的？",
        "proof": "推测不等于证据：用真实代码重放日志，再跑一遍测试。",
        "others": "排除其他原因：数据库、网关、重启。再把其余日志看完。",
    },
    conclusion=(
        "查明了。每一笔超时的付款都会永久丢失一条连接。今天上午的变更之后超时变得频繁，"
        "连接池耗尽后所有人都无法付款。数据库和网关没有问题。需要报告时请告诉我。"
    ),
    missing="其中一些值已经不在我的上下文里了。我去查找，不靠猜测。",
    report="""\
{ticket} 故障报告：2025-03-11 付款时出现 502

变更　{ticket}，变更人 {author}：paylane.timeout_ms {before} -> {after}
配置　{setting}
缺陷　{code}：超时后没有归还连接
影响　{timeouts} 次超时占尽全部 {pool} 条连接
首次　{first_time}，{first_request}
损失　{checkouts} 笔订单中有 {failed} 笔失败
通知　任何人退款之前，先通知资金部（分机 {extension}）
修复　在 finally 中归还连接；timeout_ms 改回 {before}""",
    unknown="（未找到）",
    desk_prompt=(
        "你负责回答有关以往故障的问题。你能依靠的只有记忆：先看已经展示给你的内容，其余的用 memory_search 查找。"
        "只陈述在那里读到过的内容。"
    ),
    question="又来麻烦你了。有位遇到 502 的顾客要求退款，我要先通知谁？当时是谁改了哪项配置？",
    checking="答复之前，我再查一下原文。",
    answer=(
        "退款之前先通知资金部，分机 {extension}。手册原文：“{rule}”"
        "起因是 {author} 把 paylane.timeout_ms 从 {before} 改成了 {after}（{setting}）。"
    ),
    ticket_first="{ticket}：{answer}",
)

DIALOGUES: Mapping[str, Dialogue] = {"en": _EN, "zh": _ZH}
