# -*- coding: utf-8 -*-
"""Invented memories with vectors, the same each time, and what an exact search finds among them."""

import json
from pathlib import Path

import numpy as np

__all__ = ["write_memories"]

TOP = 10
USERS = 100
_SEED = 20_260_301
_WORDS = """
meeting train garden invoice budget doctor lesson recipe flight weekend project release customer server printer guitar
marathon coffee window painting holiday passport keyboard dinner library museum contract deadline sister neighbour
violin ticket umbrella sandwich password balcony festival medicine bicycle airport notebook
"""
_CHINESE = """
会议 火车 花园 发票 预算 医生 课程 菜谱 航班 周末 项目 发布 客户 服务器 打印机 吉他 马拉松 咖啡 窗户 绘画
假期 护照 键盘 晚餐 图书馆 博物馆 合同 截止日期 姐姐 邻居 小提琴 门票 雨伞 三明治 密码 阳台 节日 药 自行车 机场 笔记本
"""


def write_memories(folder: Path, size: int, dimensions: int, queries: int) -> None:
    """Write the memories, the questions and the right answers.

    A vector is what all texts have in common, its topic's centre and a deviation of its own, in a spectrum that falls
    as that of embedding models does. There are as many topics as the square root of the memories, unevenly large. A
    question is as near to one memory as a paraphrase is.

    Args:
        folder (`Path`): where they are written.
        size (`int`): memories.
        dimensions (`int`): of a vector.
        queries (`int`): questions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(_SEED)
    spectrum = (np.arange(1, dimensions + 1) ** -0.4).astype(np.float32)
    topics = max(4, int(size**0.5))
    centres = _normal(chance, topics, spectrum)
    common = _normal(chance, 1, spectrum)
    shares = 1 / np.arange(1, topics + 1) ** 0.7
    topic_of = chance.choice(topics, size, p=shares / shares.sum())
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (size, dimensions))
    for start in range(0, size, 10_000):
        part = topic_of[start : start + 10_000]
        own = _normal(chance, len(part), spectrum)
        vectors[start : start + 10_000] = 0.5 * common + 0.75 * centres[part] + 0.6 * own
    asked = chance.integers(0, size, queries)
    questions = vectors[asked] + 0.5 * _normal(chance, queries, spectrum)
    users = chance.integers(0, USERS, size)
    np.save(folder / "questions.npy", questions)
    texts = _texts(chance, size, topic_of)
    _write(folder / "memories.json", [list(row) for row in zip(texts, users.tolist(), strict=True)])
    answers = _exact(vectors, questions, np.arange(size))
    mine = [
        _exact(vectors, question[None], np.flatnonzero(users == users[memory]))[0]
        for question, memory in zip(questions, asked, strict=True)
    ]
    rows = zip(_texts(chance, queries, topic_of[asked]), users[asked].tolist(), answers, mine, strict=True)
    _write(folder / "questions.json", [list(row) for row in rows])


def _normal(chance: np.random.Generator, rows: int, spectrum: np.ndarray) -> np.ndarray:
    drawn = chance.standard_normal((rows, len(spectrum)), dtype=np.float32) * spectrum
    return drawn / np.linalg.norm(spectrum)


def _texts(chance: np.random.Generator, count: int, topic_of: np.ndarray) -> list[str]:
    """A sentence or two each, half of them Chinese, with the topic's own words among others."""
    english, chinese = _WORDS.split(), _CHINESE.split()
    found = []
    for number, topic in enumerate(topic_of.tolist()):
        words, joint = (chinese, "") if number % 2 else (english, " ")
        drawn = chance.integers(0, len(words), 10).tolist()
        own = [words[(topic * 7 + at) % len(words)] for at in range(3)]
        found.append(f"{joint.join([*own, *(words[each] for each in drawn)])} {number}")
    return found


def _exact(vectors: np.ndarray, questions: np.ndarray, rows: np.ndarray) -> list[list[int]]:
    """The numbers of the nearest memories of each question."""
    cosines = np.empty((len(questions), len(rows)), dtype=np.float32)
    units = questions / np.linalg.norm(questions, axis=1, keepdims=True)
    for start in range(0, len(rows), 10_000):
        part = vectors[rows[start : start + 10_000]]
        cosines[:, start : start + 10_000] = units @ (part / np.linalg.norm(part, axis=1, keepdims=True)).T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :TOP]
    return [rows[each].tolist() for each in best]


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
