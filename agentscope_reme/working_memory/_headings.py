# -*- coding: utf-8 -*-
"""The headings of a summary: their names in both languages, and lines of Markdown that are such headings."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "PARTS_OF_PROGRESS",
    "SECTIONS",
    "TITLES",
    "Heading",
    "any_heading",
    "field_named",
    "known_heading",
    "split_label",
]

TITLES = {
    "goal": ("Goal", "目标"),
    "constraints": ("Constraints", "约束"),
    "progress": ("Progress", "进展"),
    "progress_done": ("Done", "已完成"),
    "progress_doing": ("In Progress", "进行中"),
    "progress_blocked": ("Blocked", "受阻"),
    "decisions": ("Key Decisions", "关键决策"),
    "next_steps": ("Next Steps", "下一步"),
    "context": ("Critical Context", "关键上下文"),
}
"""English and Chinese title of each field."""

SECTIONS = ("goal", "constraints", "progress", "decisions", "next_steps", "context")
"""The six sections in their order."""

PARTS_OF_PROGRESS = ("progress_done", "progress_doing", "progress_blocked")
"""The fields that stand under the heading of progress."""

_VARIANTS = {
    "goal": "goals, objective, objectives, task, user goal, user goals, primary goal, primary request, user request, "
    "user requests, 任务目标, 用户目标, 总体目标, 核心目标, 目的, 任务, 需求, 用户需求, 用户请求",
    "constraints": "constraint, preferences, requirements, 约束条件, 限制, 限制条件, 偏好, 用户偏好, 要求",
    "progress": "status, current status, current state, progress so far, "
    "进度, 当前进展, 工作进展, 任务进展, 当前进度, 状态, 当前状态",
    "progress_done": "completed, complete, finished, accomplished, 完成, 完成的工作, 已完成的工作, 已完成工作, 完成项",
    "progress_doing": "doing, ongoing, wip, in-progress, currently in progress, work in progress, "
    "正在进行, 进行中的工作, 正在处理, 处理中, 当前工作",
    "progress_blocked": "blockers, blocker, stuck, issues, problems, errors, "
    "阻塞, 阻塞项, 被阻塞, 受阻的工作, 卡住, 遇到的问题, 问题, 错误, 障碍",
    "decisions": "decisions, key decision, important decisions, decisions made, "
    "决策, 重要决策, 关键决定, 决定, 已做决策, 主要决策",
    "next_steps": "next step, next, todo, to do, to-do, todos, remaining, remaining work, pending tasks, "
    "下一步计划, 下一步行动, 后续步骤, 后续计划, 后续工作, 待办, 待办事项, 接下来, 后续",
    "context": "context, key context, important context, additional context, critical information, key information, "
    "notes, 上下文, 重要上下文, 关键信息, 重要信息, 关键背景, 背景, 背景信息, 补充信息, 备注",
}
_FIELD_OF_TITLE = {title.casefold(): field for field, titles in TITLES.items() for title in titles}
_FIELD_OF_NAME = _FIELD_OF_TITLE | {name: field for field, names in _VARIANTS.items() for name in names.split(", ")}

_HEADING = re.compile(r"\s{0,3}(?P<marks>#{1,6})(?:\s+|(?=[^\s#]))(?P<title>.*?)\s*#*\s*$")
_BOLD = re.compile(r"\s{0,3}(?P<mark>\*\*|__)(?P<title>[^*_]{1,60}?)(?P=mark)(?P<rest>.*)$")
_PLAIN = re.compile(r"\s{0,3}(?P<title>[^\s:：*-][^:：]{0,40}?)\s*(?P<rest>[:：].*)?$")
_PLAIN_DEPTH = 6
_ORNAMENT = re.compile(
    r"^(?:[^\w(（]|\d{1,2}[.)、．]|[一二三四五六七八九十]{1,2}[、.．]|[(（]\d{1,2}[)）])+|[^\w)）]+$",
)
_REMARK = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_JOINT = re.compile(r"\s*[/&＆|、]\s*|\s+and\s+|与|和|及")
_COLON = re.compile(r"\s*[:：]\s*")


class Heading(NamedTuple):
    """A heading: the field it opens, its depth (1 to 6), and what follows it on the line."""

    field: str
    depth: int
    rest: str = ""


def known_heading(line: str, inside_progress: bool = False) -> Heading | None:
    """The heading of a section that a line is: a `#` line, a bold line, or a line such as `Goal:`.

    Args:
        line (`str`):
            One line.
        inside_progress (`bool`):
            Whether a bare `Done:` may be meant as a heading.
    """
    if found := _HEADING.match(line):
        title, rest = split_label(found["title"].replace("**", ""))
        field = field_named(title)
        return Heading(field, len(found["marks"]), rest) if field else None
    if found := _BOLD.match(line):
        field = field_named(found["title"])
    elif found := _PLAIN.match(line):
        field = _FIELD_OF_TITLE.get(found["title"].casefold())
        field = None if field in PARTS_OF_PROGRESS and not inside_progress else field
    return Heading(field, _PLAIN_DEPTH, _COLON.sub("", found["rest"] or "", count=1)) if found and field else None


def any_heading(line: str) -> tuple[str, int] | None:
    """Title and depth of a `#` heading, whatever it is called."""
    found = _HEADING.match(line)
    return (found["title"], len(found["marks"])) if found else None


def field_named(title: str) -> str | None:
    """The field that a title names, however it is dressed up."""
    name = " ".join(_ORNAMENT.sub("", _REMARK.sub("", title.strip())).casefold().split())
    return _FIELD_OF_NAME.get(name) or _FIELD_OF_NAME.get(_JOINT.split(name)[0])


def split_label(text: str) -> tuple[str, str]:
    """What stands before the first colon and what stands after it; nothing after it where there is none."""
    parts = _COLON.split(text, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""
