# -*- coding: utf-8 -*-
"""Words around what a note claims: they tell nothing of where it comes from."""

import re

__all__ = ["CHINESE", "FRAME", "SECTIONS"]

_FRAME = """
    user users prefer preference preferences like likes want wants rule rules note notes remember remind
    standing said say says ask asked told name named fact facts identity profile always never must should please
    memory use uses now 用户 偏好 喜欢 希望 要求 规则 记住 记得 记忆 身份 姓名 名字 称呼 总是 始终 永远 一直
    以后 今后 每次 必须 应该 应当 需要 不要 请 务必
"""
FRAME = tuple(_FRAME.split())
"""Words that a note puts around a statement."""

_SECTIONS = """
    personal information info details background basic about contact contacts people family work job career
    projects project team coding code style communication language languages tools environment setup workflow
    conventions guidelines goals requirements constraints plans interests hobbies habits schedule health diet
    dietary food drinks restrictions allergies travel location home other general long term current important
    favorite favourite preferred called working technical stack 个人 信息 基本 资料 背景 联系方式 工作 职业 项目
    团队 编码 代码 风格 沟通 语言 工具 环境 流程 约定 规范 目标 计划 兴趣 爱好 习惯 日程 健康 饮食 禁忌 限制
    旅行 地点 家庭 其他 其它 长期 当前 重要 事项 设置 技术 说过的话
"""
SECTIONS = tuple(_SECTIONS.split())
"""Words of headings and labels, which claim nothing."""

CHINESE = re.compile("|".join(sorted((each for each in (*FRAME, *SECTIONS) if not each.isascii()), key=len)[::-1]))
"""The Chinese ones among them, the longest first."""
